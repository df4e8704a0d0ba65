//! Layers of an instance, and their order (LAY-120 to LAY-157).
//!
//! All functions of this module are pure: they take the layers that were found, the environment and the requests of the application, and
//! return two lists. The *app list* is reported to the application; it contains meta-layers, each after its components. The *chain list*
//! builds call chains and contains no meta-layers. Index 0 is nearest to the application.

mod by_settings;
mod expand;
mod items;
mod order;
mod without_settings;

use crate::env::{Environment, Variable};
use crate::implicit::ImplicitState;
use crate::journal::{Journal, LogBits};
use crate::layers::{DiscoveredLayers, Extent};
use crate::version::ApiVersion;
use alloc::vec::Vec;
use order::Purpose;
pub use order::sort_called_last_first;
use os::memory::{Grow, OutOfMemory};

/// Reason why a layer is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnabledBy {
    /// The settings file enables the layer.
    Settings,
    /// The layer is implicit and not disabled.
    Implicit,
    /// `VK_INSTANCE_LAYERS` lists the layer.
    InstanceLayers,
    /// `VK_LOADER_LAYERS_ENABLE` matches the layer's name.
    LayersEnable,
    /// The application requested the layer by name.
    Application,
    /// The layer is a component of an active meta-layer.
    MetaLayer,
}

impl EnabledBy {
    /// Returns the text for the reason in the call-stack log (LAY-262).
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

impl EnabledBy {
    /// Returns the word by which the trace names the reason.
    pub fn word(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Implicit => "implicit",
            Self::InstanceLayers => "VK_INSTANCE_LAYERS",
            Self::LayersEnable => "VK_LOADER_LAYERS_ENABLE",
            Self::Application => "application",
            Self::MetaLayer => "meta-layer",
        }
    }
}

/// An active layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenLayer {
    /// Index in [`DiscoveredLayers::layers`].
    pub index: usize,
    /// Reason why the layer is active.
    pub enabled_by: EnabledBy,
}

/// The active layers of an instance.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Activation {
    /// Layers, including meta-layers.
    pub app: Vec<ChosenLayer>,
    /// Layers without meta-layers. With a settings file, a name can occur twice. The loader uses the layer that is nearest to the driver,
    /// or the other one if that layer's library does not open (LAY-157).
    pub chain: Vec<ChosenLayer>,
}

/// Inputs for the choice of active layers.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The layers that were found.
    pub list: &'a DiscoveredLayers,
    /// The variables of layers, and `VK_INSTANCE_LAYERS`.
    pub environment: &'a Environment<'a>,
    /// `ppEnabledLayerNames`.
    pub application: &'a [&'a [u8]],
}

/// Returns the active layers. Skips unknown names, because [`DiscoveredLayers::can_be_requested`] has already checked the application's
/// names.
pub fn activate(request: &Request<'_>, journal: &Journal<'_>) -> Result<Activation, OutOfMemory> {
    if request.list.ordered_by_settings {
        by_settings::activate(request, journal)
    } else {
        without_settings::activate(request, journal)
    }
}

/// Sorts the active layers by the declarations of users and manifests ([`order::sort`]). In the list for the application, meta-layers keep
/// their positions.
///
/// # Errors
/// Memory ran out.
pub fn put_in_order(
    list: &DiscoveredLayers,
    activation: &mut Activation,
    journal: &Journal<'_>,
) -> Result<(), OutOfMemory> {
    if order::sort(list, &mut activation.chain, Purpose::Instance, journal)? {
        let has_library = |layer: &&mut ChosenLayer| list.layers[layer.index].components().is_none();
        let slots = activation.app.iter_mut().filter(has_library);
        for (slot, layer) in slots.zip(&activation.chain) {
            *slot = *layer;
        }
    }
    Ok(())
}

/// Returns the kinds of layers that must be searched for before [`activate`] can select the active ones. An explicit layer becomes active
/// only if the application names a layer (`named`) or a variable may name a layer (LAY-140). The scan itself handles meta-layers and the
/// settings file.
pub fn extent(named: bool, environment: &Environment<'_>) -> Extent {
    let asking = [Variable::InstanceLayers, Variable::LayersEnable];
    if named
        || asking
            .into_iter()
            .any(|asking| environment.get_non_empty(asking).is_some())
    {
        Extent::All
    } else {
        Extent::Implicit
    }
}

/// Returns the implicit layers that are active outside an instance, in discovered order, as indices into [`DiscoveredLayers::layers`]. The
/// pre-instance functions of these layers are called (LAY-270, LAY-276). Meta-layers are included; their components are included only if
/// they are also active without the meta-layer.
///
/// # Errors
/// There is not enough memory.
pub fn active_implicit(
    list: &DiscoveredLayers,
    environment: &Environment<'_>,
    journal: &Journal<'_>,
) -> Result<Vec<usize>, OutOfMemory> {
    let mut active = Vec::new();
    for (index, layer) in list.layers.iter().enumerate() {
        if layer.implicit {
            let state = ImplicitState::of(layer, environment, &list.filters, None);
            state.note(layer, journal);
            if state.active {
                active.try_push(index)?;
            }
        }
    }
    Ok(active)
}

/// Returns the layers whose instance extensions are listed if no layer is named: active implicit layers, and the components of active
/// implicit meta-layers (LAY-322). The result has indices into [`DiscoveredLayers::layers`], in the order in which the extensions are
/// listed.
///
/// # Errors
/// There is not enough memory.
pub fn implicit_with_components(
    list: &DiscoveredLayers,
    environment: &Environment<'_>,
    journal: &Journal<'_>,
) -> Result<Vec<usize>, OutOfMemory> {
    let mut expansion = expand::Expansion::new(list, environment, None, journal)?;
    let mut listed = Vec::new();
    for index in active_implicit(list, environment, journal)? {
        let known = expansion.app().len();
        expansion.add(index, EnabledBy::Implicit)?;
        let added = &expansion.app()[known..];
        listed.try_room(added.len())?;
        // A meta-layer comes after its components in the list, but its own extensions come first.
        for own in [true, false] {
            let part = added.iter().map(|layer| layer.index);
            listed.extend(part.filter(|&added| (added == index) == own));
        }
    }
    Ok(listed)
}

/// Warns about active layers that were written for an older API version than the application's (LAY-132).
pub fn note_older_layers(list: &DiscoveredLayers, activation: &Activation, version: ApiVersion, journal: &Journal<'_>) {
    for layer in &activation.chain {
        let manifest = &list.layers[layer.index];
        let layer_version = manifest.api_version;
        if layer_version.without_patch() < version.without_patch() {
            journal.note(
                LogBits::WARN | LogBits::LAYER,
                format_args!(
                    "Layer {} uses API version {}.{} which is older than the application specified API version of \
                     {}.{}. May cause issues.",
                    manifest.name,
                    layer_version.major(),
                    layer_version.minor(),
                    version.major(),
                    version.minor()
                ),
            );
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
