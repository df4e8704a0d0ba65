//! Which layers an instance gets, and in which order (sections 6 and 7 of the layer rules).
//!
//! All functions here are pure: from the layers that were found, the environment and what the application asks for to
//! two lists. The *app list* is what the application is told; it contains meta-layers, each behind its components. The
//! *chain list* builds call chains; it contains none. Index 0 is nearest the application.

mod expand;
mod ordered;
mod usual;

use crate::alloc::OutOfMemory;
use crate::discovery::implicit::ImplicitState;
use crate::discovery::layers::LayerList;
use crate::env::Environment;
use crate::journal::{Journal, LogBits};
use crate::manifest::Text;

/// What made a layer active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnabledBy {
    /// The settings file says so.
    Settings,
    /// It is implicit, and nothing switches it off.
    Implicit,
    /// `VK_INSTANCE_LAYERS` lists it.
    InstanceLayers,
    /// `VK_LOADER_LAYERS_ENABLE` matches its name.
    LayersEnable,
    /// The application named it.
    Application,
    /// It is a component of an active meta-layer.
    MetaLayer,
}

impl EnabledBy {
    /// How the call-stack log names it (LAY-262).
    pub fn text(self) -> &'static str {
        match self {
            Self::Settings => "Loader Settings File (Vulkan Configurator)",
            Self::Implicit => "Implicit Layer",
            Self::InstanceLayers => "Environment Variable VK_INSTANCE_LAYERS",
            Self::LayersEnable => "Environment Variable VK_LOADER_LAYERS_ENABLE",
            Self::Application => "By the Application",
            Self::MetaLayer => "Meta Layer (Vulkan Configurator)",
        }
    }
}

/// A layer that is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveLayer {
    /// Its place in [`LayerList::layers`].
    pub index: usize,
    /// What made it active.
    pub enabled_by: EnabledBy,
}

/// The active layers of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activation {
    /// With meta-layers.
    pub app: Vec<ActiveLayer>,
    /// Without meta-layers, each name once.
    pub chain: Vec<ActiveLayer>,
}

/// Everything that has a say.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The layers that were found.
    pub list: &'a LayerList,
    /// The variables of layers, and `VK_INSTANCE_LAYERS`.
    pub environment: &'a Environment<'a>,
    /// `ppEnabledLayerNames`.
    pub application: &'a [Text],
}

/// An application asked for a layer that is not there; the call fails with `VK_ERROR_LAYER_NOT_PRESENT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerNotPresent;

/// Checks the names an application asks for, before anything is built from them (LAY-144).
pub fn check_requested(list: &LayerList, names: &[Text], journal: &Journal<'_>) -> Result<(), LayerNotPresent> {
    let mut missing = false;
    for (index, name) in names.iter().enumerate() {
        if list.position(name).is_none() {
            missing = true;
            journal.note(
                LogBits::ERROR,
                format_args!(
                    "loader_validate_layers: Layer {index} \"{name}\" does not exist in the list of available layers"
                ),
            );
        }
    }
    if missing { Err(LayerNotPresent) } else { Ok(()) }
}

/// The active layers. Names that are not there are passed over; see [`check_requested`].
pub fn activate(request: &Request<'_>, journal: &Journal<'_>) -> Result<Activation, OutOfMemory> {
    match request.list.ordered_by_settings {
        true => ordered::activate(request, journal),
        false => usual::activate(request, journal),
    }
}

/// The implicit layers that are active outside an instance, in discovered order: those whose pre-instance functions are
/// called (LAY-270, LAY-276). Meta-layers are included, their components only as far as they are active on their own.
pub fn active_implicit(list: &LayerList, environment: &Environment<'_>, journal: &Journal<'_>) -> Vec<usize> {
    let indices = list.layers.iter().enumerate();
    let active = indices.filter(|(_, layer)| {
        layer.manifest.implicit && {
            let state = ImplicitState::of(&layer.manifest, environment, &list.filters, &[]);
            state.note(&layer.manifest, journal);
            state.active
        }
    });
    active.map(|(index, _)| index).collect()
}

/// The layers whose instance extensions are listed when no layer is asked for by name: active implicit ones and the
/// components of those that are meta-layers (LAY-322). In the order in which their extensions are listed.
pub fn implicit_with_components(
    list: &LayerList,
    environment: &Environment<'_>,
    journal: &Journal<'_>,
) -> Result<Vec<usize>, OutOfMemory> {
    let mut expansion = expand::Expansion::new(list, environment, &[], journal);
    for index in active_implicit(list, environment, journal) {
        expansion.add(index, EnabledBy::Implicit)?;
    }
    let activation = expansion.finish();
    Ok(activation.app.iter().map(|layer| layer.index).collect())
}

/// Warns about active layers for an older API than the application's (LAY-132). `version` is major and minor.
pub fn note_older_layers(list: &LayerList, activation: &Activation, version: (u32, u32), journal: &Journal<'_>) {
    let (major, minor) = version;
    for layer in &activation.chain {
        let manifest = &list.layers[layer.index].manifest;
        let (layer_major, layer_minor) = manifest.api_version.feature();
        if (layer_major, layer_minor) < version {
            journal.note(
                LogBits::WARN | LogBits::LAYER,
                format_args!(
                    "Layer {} uses API version {layer_major}.{layer_minor} which is older than the application \
                     specified API version of {major}.{minor}. May cause issues.",
                    manifest.name
                ),
            );
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
