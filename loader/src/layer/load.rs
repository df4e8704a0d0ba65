//! Opening of the libraries of active layers (LAY-200 to LAY-206).

use super::functions::{LayerFunctions, Renames};
use super::{
    ActiveLayer, InstanceLayers, LayerDeviceExtension, LayerExtensionLists, device_extension_properties, properties_of,
};
use crate::alloc::{HostAllocator, HostText, HostVec};
use crate::generated::types::VkResult;
use crate::library::log_open_error;
use crate::library::{Library, OpenError, RealPath, loaded_path};
use core::fmt::Display;
use discovery::activation::{self, Activation};
use discovery::index::{Key, NameIndex};
use discovery::journal::reason::{LayerLibraryProblem, LayerLibraryReason};
use discovery::journal::{Decision, Journal, LogBits, Reason, Subject, Verdict};
use discovery::layers::DiscoveredLayers;
use discovery::manifest::LayerManifest;
use discovery::manifest::layer::EnvironmentPair;
use discovery::text::Text;
use os::Raw;
use os::memory::{Grow, OutOfMemory, shortage};
use rust_alloc::vec::Vec;

/// Opens the libraries of the chain, starting with the layer nearest to the driver, and describes the layers for the instance.
///
/// # Errors
/// `VK_ERROR_LAYER_NOT_PRESENT` if a layer that the application requested by name is not in the chain, after all other layers were tried.
/// `VK_ERROR_OUT_OF_HOST_MEMORY` if memory runs out.
pub(crate) fn load_layers(
    discovered: &DiscoveredLayers,
    activation: &Activation,
    requested: &[&[u8]],
    allocator: HostAllocator,
    journal: &mut Journal<'_>,
) -> Result<InstanceLayers, VkResult> {
    let mut chain: HostVec<ActiveLayer> = HostVec::try_with_capacity(activation.chain.len(), allocator)?;
    let mut loaded = NameIndex::default();
    let mut failures = Vec::new();
    for active in activation.chain.iter().rev() {
        let manifest = &discovered.layers[active.index];
        // If several layers have the same name, the one nearest to the driver is used, unless it fails to load (LAY-157).
        if is_loaded(&chain, &loaded, &manifest.name) {
            continue;
        }
        match open(manifest, journal) {
            Ok(opened) => {
                loaded.add(Key::of(&[&manifest.name]), chain.len())?;
                let layer = describe(manifest, active, opened, allocator)?;
                note_insertion(&layer, journal);
                chain.try_push(layer)?;
            }
            Err(problem) => failures.try_push((manifest, problem))?,
        }
        shortage::check()?;
    }
    let mut refused = false;
    for (manifest, problem) in failures.into_iter().rev() {
        let missed = requested.contains(&manifest.name.as_bytes()) && !is_loaded(&chain, &loaded, &manifest.name);
        refused |= missed;
        skip(manifest, problem, missed, journal);
    }
    chain.reverse();
    if refused {
        for layer in &chain {
            note_unloading(RealPath(layer.library_path.bytes()), journal);
        }
        return Err(VkResult::VK_ERROR_LAYER_NOT_PRESENT);
    }
    let mut active = HostVec::try_with_capacity(activation.app.len(), allocator)?;
    for layer in &activation.app {
        active.try_push(properties_of(&discovered.layers[layer.index]))?;
    }
    Ok(InstanceLayers {
        chain,
        wanted: !activation.chain.is_empty(),
        active,
        device_extensions: LayerExtensionLists::of(discovered, allocator)?,
    })
}

/// Returns `true` if a layer called `name` is in the chain; `loaded` finds layers in the chain by name.
fn is_loaded(chain: &[ActiveLayer], loaded: &NameIndex, name: &Text) -> bool {
    let is = |place: usize| chain[place].name.bytes() == name.as_bytes();
    loaded.find(Key::of(&[name]), is).is_some()
}

/// An open library, its functions, and its path as the system reports it.
struct Opened {
    library: Library,
    functions: LayerFunctions,
    path: Text,
}

/// Opens the library of a layer; on failure, logs the system's error text (LAY-202).
///
/// # Errors
/// The reason why the layer is not used.
pub(crate) fn open_library(path: &[u8], journal: &Journal<'_>) -> Result<Library, LayerLibraryProblem> {
    Library::open_layer(path).map_err(|error| {
        log_open_error(&error, journal);
        match error {
            OpenError::WrongClass(words) => LayerLibraryProblem::WrongArchitecture(words.into()),
            OpenError::Failed(words) => LayerLibraryProblem::NotOpened(words.into()),
            OpenError::NotAPath => LayerLibraryProblem::NotOpened(Text::default()),
        }
    })
}

fn open(manifest: &LayerManifest, journal: &Journal<'_>) -> Result<Opened, LayerLibraryProblem> {
    // A missing path is treated like an empty one, which `open_layer` rejects without passing it to the system (LAY-100).
    let path = manifest.library_path().cloned().unwrap_or_default();
    let library = open_library(&path, journal)?;
    journal.note(
        LogBits::DEBUG | LogBits::LAYER,
        format_args!("Loading layer library {}", Raw(&path)),
    );
    let renames = Renames {
        negotiate: manifest.functions.negotiate.as_ref(),
        get_instance_proc_addr: manifest.functions.get_instance_proc_addr.as_ref(),
        get_device_proc_addr: manifest.functions.get_device_proc_addr.as_ref(),
    };
    let functions = LayerFunctions::of(&library, renames).inspect_err(|_| note_unloading(Raw(&path), journal))?;
    let function = functions.get_instance_proc_addr as *const ();
    let path = loaded_path(&path, function, journal);
    Ok(Opened {
        library,
        functions,
        path,
    })
}

/// Logs a layer that joined the chain. The lines are logged from the lower end upwards, each after its layer was added (LAY-230).
fn note_insertion(layer: &ActiveLayer, journal: &Journal<'_>) {
    journal.note(
        LogBits::INFO | LogBits::LAYER,
        format_args!(
            "Insert instance layer \"{}\" ({})",
            Raw(layer.name.bytes()),
            RealPath(layer.library_path.bytes())
        ),
    );
}

/// Logs a library that is about to close (LAY-201).
fn note_unloading(path: impl Display, journal: &Journal<'_>) {
    journal.note(
        LogBits::DEBUG | LogBits::LAYER,
        format_args!("Unloading layer library {path}"),
    );
}

fn skip(manifest: &LayerManifest, problem: LayerLibraryProblem, requested: bool, journal: &mut Journal<'_>) {
    journal.decide(Decision {
        subject: Subject::LayerLibrary,
        name: manifest.name.clone(),
        path: manifest.library_path().cloned().unwrap_or_default(),
        verdict: Verdict::Dropped(Reason::from(LayerLibraryReason { problem, requested })),
        source: manifest.source,
    });
}

fn describe(
    manifest: &LayerManifest,
    active: &activation::ChosenLayer,
    opened: Opened,
    allocator: HostAllocator,
) -> Result<ActiveLayer, OutOfMemory> {
    let text = |text: &Text| HostText::try_new(text, allocator);
    let pair = |pair: &EnvironmentPair| Ok::<_, OutOfMemory>((text(&pair.name)?, text(&pair.value)?));
    let mut device_extensions = HostVec::try_with_capacity(manifest.device_extensions.len(), allocator)?;
    for extension in &manifest.device_extensions {
        let mut entry_points = HostVec::try_with_capacity(extension.entrypoints.len(), allocator)?;
        for name in &extension.entrypoints {
            entry_points.try_push(text(name)?)?;
        }
        let properties = device_extension_properties(extension);
        device_extensions.try_push(LayerDeviceExtension {
            properties,
            entry_points,
        })?;
    }
    Ok(ActiveLayer {
        name: text(&manifest.name)?,
        manifest: text(&manifest.manifest)?,
        library_path: text(&opened.path)?,
        implicit: manifest.implicit,
        place: active.index,
        enabled_by: active.enabled_by,
        disable_variable: manifest
            .disable_environment
            .as_ref()
            .map(|pair| text(&pair.name))
            .transpose()?,
        enable_variable: manifest.enable_environment.as_ref().map(pair).transpose()?,
        device_extensions,
        functions: opened.functions,
        _library: opened.library,
    })
}
