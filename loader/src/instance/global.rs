//! The queries that need no instance (APP-60 to APP-73).

use super::preinstance::{Interceptors, Query};
use crate::alloc::reserve::{self, Watch};
use crate::alloc::{HostAllocator, OutOfMemory};
use crate::discovery::layers::{DiscoveredLayers, discover, discover_implicit};
use crate::driver::{self, DirectDrivers, PreloadedDrivers, ScanOptions};
use crate::env::{Environment, Variable};
use crate::ffi;
use crate::ffi::layer_interface::{
    ExtensionPropertiesFunction, LayerPropertiesFunction, PreInstanceNode, VersionFunction,
};
use crate::generated::extensions::InstanceExtension;
use crate::generated::types::{VK_HEADER_VERSION_COMPLETE, VkExtensionProperties, VkLayerProperties, VkResult};
use crate::journal::Journal;
use crate::journal::reason::DriverLibraryReason;
use crate::journal::{Decision, LogBits, Reason, Subject, Verdict};
use crate::log::{self, InstanceSink};
use crate::manifest::{PreInstanceFunction, Text};
use crate::settings::{self, Settings};
use crate::state;
use crate::wsi;
use std::ffi::c_char;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const OUT_OF_MEMORY: VkResult = VkResult::VK_ERROR_OUT_OF_HOST_MEMORY;

/// Reads the settings file anew, as every global command does (APP-60), into the process-wide copy.
fn refresh_settings(journal: &mut Journal<'_>) -> Result<Option<Arc<Settings>>, OutOfMemory> {
    let loaded = settings::load(&Environment::process(), journal)?.map(Arc::new);
    let mask = loaded.as_ref().map_or(0, |settings| settings.log_mask.word());
    state::SETTINGS_LOG_MASK.store(mask, Ordering::Relaxed);
    let previous = std::mem::replace(&mut *state::lock(&state::SETTINGS), loaded.clone());
    if let Some(settings) = loaded.as_ref().filter(|&new| previous.as_ref() != Some(new)) {
        settings.describe(journal);
    }
    Ok(loaded)
}

/// What every query starts with.
struct Prepared {
    settings: Option<Arc<Settings>>,
    /// The layers, all of them or only those that matter without a layer name.
    layers: DiscoveredLayers,
    interceptors: Interceptors,
    /// Until the query is answered, running out of memory is noticed.
    _watch: Watch,
}

/// Looks for layers with `discover` and opens those that intercept `query`.
fn prepare(
    query: Query,
    discover: fn(&Environment<'_>, Option<&Settings>, &mut Journal<'_>) -> Result<DiscoveredLayers, OutOfMemory>,
) -> Result<Prepared, OutOfMemory> {
    let watch = reserve::begin();
    let sink = InstanceSink(None);
    let mut journal = Journal::new(&sink);
    let settings = refresh_settings(&mut journal)?;
    reserve::check()?;
    let environment = Environment::process();
    let layers = discover(&environment, settings.as_deref(), &mut journal)?;
    let active: Vec<_> = layers.active_implicit(&environment, &journal).collect();
    let interceptors = Interceptors::open(query, active.into_iter(), &mut journal)?;
    reserve::check()?;
    Ok(Prepared {
        settings,
        layers,
        interceptors,
        _watch: watch,
    })
}

/// `vkEnumerateInstanceVersion`.
///
/// # Safety
/// `version` is valid for writing.
pub unsafe fn enumerate_instance_version(version: *mut u32) -> VkResult {
    let query = Query {
        function: PreInstanceFunction::EnumerateInstanceVersion,
        kind: 3,
    };
    let Ok(prepared) = prepare(query, discover_implicit) else {
        return OUT_OF_MEMORY;
    };
    // SAFETY: the symbols of this query are functions of this type; the version pointer is the application's.
    let result = unsafe {
        prepared
            .interceptors
            .call(VersionFunction(version_bottom), |function, next| {
                (function.0)(next, version)
            })
    };
    result.unwrap_or(OUT_OF_MEMORY)
}

pub(super) unsafe extern "system" fn version_bottom(
    _: *const PreInstanceNode<VersionFunction>,
    version: *mut u32,
) -> VkResult {
    if version.is_null() {
        log::fatal(format_args!(
            "vkEnumerateInstanceVersion: 'pApiVersion' must not be NULL \
             (VUID-vkEnumerateInstanceVersion-pApiVersion-parameter)"
        ));
        return OUT_OF_MEMORY;
    }
    // SAFETY: not null; the caller's to write.
    unsafe { *version = VK_HEADER_VERSION_COMPLETE };
    VkResult::VK_SUCCESS
}

/// `vkEnumerateInstanceLayerProperties`.
///
/// # Safety
/// As the Vulkan specification demands.
pub unsafe fn enumerate_instance_layer_properties(count: *mut u32, properties: *mut VkLayerProperties) -> VkResult {
    let query = Query {
        function: PreInstanceFunction::EnumerateInstanceLayerProperties,
        kind: 2,
    };
    let Ok(prepared) = prepare(query, discover) else {
        return OUT_OF_MEMORY;
    };
    if prepared.interceptors.is_empty() {
        // SAFETY: passed on.
        return unsafe { write_layers(&prepared.layers, count, properties) };
    }
    // SAFETY: the symbols of this query are functions of this type; the pointers are the application's.
    let result = unsafe {
        prepared
            .interceptors
            .call(LayerPropertiesFunction(layers_bottom), |function, next| {
                (function.0)(next, count, properties)
            })
    };
    result.unwrap_or(OUT_OF_MEMORY)
}

pub(super) unsafe extern "system" fn layers_bottom(
    _: *const PreInstanceNode<LayerPropertiesFunction>,
    count: *mut u32,
    properties: *mut VkLayerProperties,
) -> VkResult {
    let sink = InstanceSink(None);
    let mut journal = Journal::new(&sink);
    let settings = state::lock(&state::SETTINGS).clone();
    match discover(&Environment::process(), settings.as_deref(), &mut journal) {
        // SAFETY: the caller's count and array.
        Ok(layers) => unsafe { write_layers(&layers, count, properties) },
        Err(OutOfMemory) => OUT_OF_MEMORY,
    }
}

/// # Safety
/// `count` and `properties` are the caller's count and array.
unsafe fn write_layers(layers: &DiscoveredLayers, count: *mut u32, properties: *mut VkLayerProperties) -> VkResult {
    let mut list = Vec::new();
    for layer in layers.reported() {
        if list.try_reserve(1).is_err() {
            return OUT_OF_MEMORY;
        }
        list.push(crate::layer::properties_of(layer));
    }
    if reserve::check().is_err() {
        return OUT_OF_MEMORY;
    }
    // SAFETY: the caller's count and array.
    unsafe { ffi::write_all(count, properties, &list) }
}

/// `vkEnumerateInstanceExtensionProperties`.
///
/// # Safety
/// As the Vulkan specification demands.
pub unsafe fn enumerate_instance_extension_properties(
    layer_name: *const c_char,
    count: *mut u32,
    properties: *mut VkExtensionProperties,
) -> VkResult {
    let query = Query {
        function: PreInstanceFunction::EnumerateInstanceExtensionProperties,
        kind: 1,
    };
    // SAFETY: null or the caller's string.
    let discover = if unsafe { names_layer(layer_name) } {
        discover
    } else {
        discover_implicit
    };
    let Ok(prepared) = prepare(query, discover) else {
        return OUT_OF_MEMORY;
    };
    if prepared.interceptors.is_empty() {
        let settings = prepared.settings.as_deref();
        // SAFETY: passed on.
        return unsafe { write_extensions(&prepared.layers, settings, layer_name, count, properties) };
    }
    // SAFETY: the symbols of this query are functions of this type; the pointers are the application's.
    let result = unsafe {
        prepared
            .interceptors
            .call(ExtensionPropertiesFunction(extensions_bottom), |function, next| {
                (function.0)(next, layer_name, count, properties)
            })
    };
    result.unwrap_or(OUT_OF_MEMORY)
}

/// Whether a query is about one layer; an empty name is none (APP-64).
///
/// # Safety
/// `name` is null or a string of the caller.
unsafe fn names_layer(name: *const c_char) -> bool {
    // SAFETY: by this function's contract a string has a first byte.
    !name.is_null() && unsafe { *name } != 0
}

pub(super) unsafe extern "system" fn extensions_bottom(
    _: *const PreInstanceNode<ExtensionPropertiesFunction>,
    layer_name: *const c_char,
    count: *mut u32,
    properties: *mut VkExtensionProperties,
) -> VkResult {
    let sink = InstanceSink(None);
    let mut journal = Journal::new(&sink);
    let settings = state::lock(&state::SETTINGS).clone();
    // SAFETY: null or the caller's string.
    let discover = if unsafe { names_layer(layer_name) } {
        discover
    } else {
        discover_implicit
    };
    match discover(&Environment::process(), settings.as_deref(), &mut journal) {
        // SAFETY: the caller's string, count and array.
        Ok(layers) => unsafe { write_extensions(&layers, settings.as_deref(), layer_name, count, properties) },
        Err(OutOfMemory) => OUT_OF_MEMORY,
    }
}

/// # Safety
/// `layer_name` is null or a string of the caller, `count` and `properties` are its count and array.
unsafe fn write_extensions(
    layers: &DiscoveredLayers,
    settings: Option<&Settings>,
    layer_name: *const c_char,
    count: *mut u32,
    properties: *mut VkExtensionProperties,
) -> VkResult {
    let sink = InstanceSink(None);
    let mut journal = Journal::new(&sink);
    // SAFETY: by this function's contract.
    let list = if unsafe { names_layer(layer_name) } {
        // SAFETY: the caller's string.
        unsafe { extensions_of_layer(layers, layer_name, &journal) }
    } else {
        all_extensions(layers, settings, &mut journal)
    };
    match list {
        // SAFETY: the caller's count and array.
        Ok(list) => unsafe { ffi::write_all(count, properties, &list) },
        Err(result) => result,
    }
}

/// # Safety
/// `name` is a string of the caller.
unsafe fn extensions_of_layer(
    layers: &DiscoveredLayers,
    name: *const c_char,
    journal: &Journal<'_>,
) -> Result<Vec<VkExtensionProperties>, VkResult> {
    // SAFETY: by this function's contract.
    let Some(name) = (unsafe { ffi::is_valid_name(name) }) else {
        journal.note(
            LogBits::ERROR,
            format_args!("vkEnumerateInstanceExtensionProperties: pLayerName is too long or is badly formed"),
        );
        return Err(VkResult::VK_ERROR_EXTENSION_NOT_PRESENT);
    };
    let name = name.to_bytes();
    match layers.find(name) {
        Some(layer) => Ok(layer
            .instance_extensions
            .iter()
            .map(crate::layer::extension_properties)
            .collect()),
        None if layers.is_off(name) => Ok(Vec::new()),
        None => Err(VkResult::VK_ERROR_LAYER_NOT_PRESENT),
    }
}

/// Drivers in discovery order, then the loader, then enabled implicit layers; the first of equal names counts (APP-64).
fn all_extensions(
    layers: &DiscoveredLayers,
    settings: Option<&Settings>,
    journal: &mut Journal<'_>,
) -> Result<Vec<VkExtensionProperties>, VkResult> {
    let environment = Environment::process();
    let options = ScanOptions {
        environment: &environment,
        settings,
        portability: true,
    };
    let scan = driver::scan(&options, DirectDrivers::default(), journal)?;
    if !PreloadedDrivers::is_filled() {
        PreloadedDrivers::fill(
            scan.drivers
                .iter()
                .filter(|d| d.library.is_some())
                .map(|driver| driver.name.clone()),
        );
    }
    let mut list = ExtensionList {
        names: Vec::new(),
        unfiltered: unfiltered(&environment),
    };
    for driver in &scan.drivers {
        match driver::instance_extensions(driver, HostAllocator::system()) {
            Ok(offered) => offered
                .iter()
                .try_for_each(|extension| list.add_from_driver(extension))?,
            Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY) => return Err(OUT_OF_MEMORY),
            Err(error) => journal.decide(Decision {
                subject: Subject::DriverLibrary,
                name: driver.name.clone(),
                path: Text::default(),
                verdict: Verdict::Dropped(Reason::from(DriverLibraryReason::ExtensionQueryFailed(error.0))),
                source: driver.source,
            }),
        }
    }
    for extension in LOADER_EXTENSIONS {
        list.add(&properties_of(extension))?;
    }
    for layer in layers.implicit_with_components(&environment, journal)? {
        layer
            .instance_extensions
            .iter()
            .try_for_each(|e| list.add(&crate::layer::extension_properties(e)))?;
    }
    reserve::check()?;
    Ok(list.names)
}

/// Extensions that the loader implements itself, for which no driver is needed (DRV-102).
pub(super) const LOADER_EXTENSIONS: [InstanceExtension; 4] = [
    InstanceExtension::VK_EXT_debug_report,
    InstanceExtension::VK_EXT_debug_utils,
    InstanceExtension::VK_KHR_portability_enumeration,
    InstanceExtension::VK_LUNARG_direct_driver_loading,
];

/// Whether `VK_LOADER_DISABLE_INST_EXT_FILTER` lets unknown extensions through (APP-67).
pub(super) fn unfiltered(environment: &Environment<'_>) -> bool {
    environment.is_non_zero(Variable::DisableInstExtFilter)
}

/// Whether the loader lets a driver's instance extension through (DRV-103, DRV-105).
pub(super) fn lets_through(name: &[u8], unfiltered: bool) -> bool {
    match InstanceExtension::find(name) {
        Some(known) if known.platform_built_in() => true,
        Some(known) if wsi::lacks_window_system(known) => false,
        _ => unfiltered,
    }
}

fn properties_of(extension: InstanceExtension) -> VkExtensionProperties {
    let mut properties = VkExtensionProperties {
        extensionName: [0; 256],
        specVersion: extension.spec_version(),
    };
    ffi::set_fixed_text(&mut properties.extensionName, extension.name().to_bytes());
    properties
}

struct ExtensionList {
    names: Vec<VkExtensionProperties>,
    unfiltered: bool,
}

impl ExtensionList {
    fn add_from_driver(&mut self, extension: &VkExtensionProperties) -> Result<(), OutOfMemory> {
        if lets_through(ffi::fixed_text(&extension.extensionName), self.unfiltered) {
            self.add(extension)?;
        }
        Ok(())
    }

    fn add(&mut self, extension: &VkExtensionProperties) -> Result<(), OutOfMemory> {
        let name = ffi::fixed_text(&extension.extensionName);
        if !self
            .names
            .iter()
            .any(|known| ffi::fixed_text(&known.extensionName) == name)
        {
            self.names.try_reserve(1)?;
            self.names.push(*extension);
        }
        Ok(())
    }
}
