//! Global queries, which need no instance (APP-60 to APP-73).

use super::preinstance::{Interceptors, Query};
use super::{Configuration, settings_in_force};
use crate::alloc::HostAllocator;
use crate::driver::{self, DirectDrivers, PreloadedDrivers, ScanOptions};
use crate::ffi::layer_interface::{
    ExtensionPropertiesFunction, LayerPropertiesFunction, PreInstanceNode, VersionFunction,
};
use crate::ffi::{self, TwoCall};
use crate::generated::types::{VK_HEADER_VERSION_COMPLETE, VkExtensionProperties, VkLayerProperties, VkResult};
use crate::unopened::{BeforeOpening as _, KnownDrivers, Purpose, Wishes};
use core::ffi::c_char;
use discovery::activation::implicit_with_components;
use discovery::env::{Environment, Variable};
use discovery::extension::{self, InstanceExtension, InstanceExtensionSet};
use discovery::index::{Key, NameIndex};
use discovery::journal::Journal;
use discovery::journal::reason::DriverLibraryReason;
use discovery::journal::{Decision, LogBits, Reason, Subject, Verdict};
use discovery::layers::{DiscoveredLayers, Extent, discover};
use discovery::log::{self, LogSink};
use discovery::manifest::PreInstanceFunction;
use discovery::scan_cache::Cached;
use discovery::search::Search;
use discovery::text::Text;
use os::memory::shortage::{self, Watch};
use os::memory::{Grow, OutOfMemory};
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

const OUT_OF_MEMORY: VkResult = VkResult::VK_ERROR_OUT_OF_HOST_MEMORY;

/// Common state of the global queries.
struct Prepared {
    found: Arc<Cached<Configuration>>,
    interceptors: Interceptors,
    /// Detects that memory ran out, until the query is answered.
    _watch: Watch,
}

/// Looks for layers and opens those that intercept `query`.
fn prepare(query: Query, extent: Extent, journal: &mut Journal<'_>) -> Result<Prepared, OutOfMemory> {
    let watch = shortage::watch();
    let found = Configuration::by_query(extent, journal)?;
    let interceptors = Interceptors::open(query, found.layers.at(&found.active), journal)?;
    shortage::check()?;
    Ok(Prepared {
        found,
        interceptors,
        _watch: watch,
    })
}

/// Implements `vkEnumerateInstanceVersion`.
///
/// # Safety
/// `version` is writable.
pub(crate) unsafe fn enumerate_instance_version(version: *mut u32) -> VkResult {
    let query = Query {
        function: PreInstanceFunction::EnumerateInstanceVersion,
        kind: 3,
    };
    let sink = LogSink(None);
    let Ok(prepared) = prepare(query, Extent::Implicit, &mut Journal::of_call(&sink)) else {
        return OUT_OF_MEMORY;
    };
    // SAFETY: the manifests' symbols for this query have this function type, and the caller promises a writable version.
    let result = unsafe {
        prepared
            .interceptors
            .call(VersionFunction(version_terminator), |function, next| {
                (function.0)(next, version)
            })
    };
    result.unwrap_or(OUT_OF_MEMORY)
}

pub(super) unsafe extern "system" fn version_terminator(
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
    // SAFETY: the pointer is not null, and the caller may only pass a writable pointer.
    unsafe { *version = VK_HEADER_VERSION_COMPLETE };
    VkResult::VK_SUCCESS
}

/// Implements `vkEnumerateInstanceLayerProperties`.
///
/// # Safety
/// The parameters are as the Vulkan specification demands.
pub(crate) unsafe fn enumerate_instance_layer_properties(
    count: *mut u32,
    properties: *mut VkLayerProperties,
) -> VkResult {
    let query = Query {
        function: PreInstanceFunction::EnumerateInstanceLayerProperties,
        kind: 2,
    };
    let sink = LogSink(None);
    let Ok(prepared) = prepare(query, Extent::All, &mut Journal::of_call(&sink)) else {
        return OUT_OF_MEMORY;
    };
    if prepared.interceptors.is_empty() {
        // SAFETY: the caller promises a count and an array as Vulkan demands.
        return unsafe { write_layers(&prepared.found.layers, count, properties) };
    }
    // SAFETY: the manifests' symbols for this query have this function type, and the caller promises valid pointers.
    let result = unsafe {
        prepared
            .interceptors
            .call(LayerPropertiesFunction(layers_terminator), |function, next| {
                (function.0)(next, count, properties)
            })
    };
    result.unwrap_or(OUT_OF_MEMORY)
}

pub(super) unsafe extern "system" fn layers_terminator(
    _: *const PreInstanceNode<LayerPropertiesFunction>,
    count: *mut u32,
    properties: *mut VkLayerProperties,
) -> VkResult {
    // A layer may call this function outside any call of the program, so this function watches for a shortage of memory itself.
    let _watch = shortage::watch();
    let sink = LogSink(None);
    let mut journal = Journal::of_call(&sink);
    let settings = settings_in_force();
    match discover(
        Extent::All,
        &Search::new(&Environment::process()),
        settings.as_deref(),
        &mut journal,
    ) {
        // SAFETY: the layer passes a count and an array as Vulkan demands.
        Ok(layers) => unsafe { write_layers(&layers, count, properties) },
        Err(OutOfMemory) => OUT_OF_MEMORY,
    }
}

/// Answers a query with the layers.
///
/// # Safety
/// `count` and `properties` are the count and array of a caller, as Vulkan demands.
unsafe fn write_layers(layers: &DiscoveredLayers, count: *mut u32, properties: *mut VkLayerProperties) -> VkResult {
    if shortage::check().is_err() {
        return OUT_OF_MEMORY;
    }
    // SAFETY: the caller promises a count and an array as Vulkan demands.
    unsafe { TwoCall::new(count, properties) }.answer(layers.reported().map(crate::layer::properties_of))
}

/// Implements `vkEnumerateInstanceExtensionProperties`.
///
/// # Safety
/// The parameters are as the Vulkan specification demands.
pub(crate) unsafe fn enumerate_instance_extension_properties(
    layer_name: *const c_char,
    count: *mut u32,
    properties: *mut VkExtensionProperties,
) -> VkResult {
    let query = Query {
        function: PreInstanceFunction::EnumerateInstanceExtensionProperties,
        kind: 1,
    };
    // SAFETY: the caller promises a name that is null or a string.
    let extent = unsafe { extent_for(layer_name) };
    let sink = LogSink(None);
    let mut journal = Journal::of_call(&sink);
    let Ok(prepared) = prepare(query, extent, &mut journal) else {
        return OUT_OF_MEMORY;
    };
    if prepared.interceptors.is_empty() {
        // SAFETY: the caller promises a valid name, count and array.
        return unsafe { write_extensions(&prepared.found, layer_name, (count, properties), &mut journal) };
    }
    // SAFETY: the manifests' symbols for this query have this function type, and the caller promises valid pointers.
    let result = unsafe {
        prepared
            .interceptors
            .call(ExtensionPropertiesFunction(extensions_terminator), |function, next| {
                (function.0)(next, layer_name, count, properties)
            })
    };
    result.unwrap_or(OUT_OF_MEMORY)
}

/// Returns the layers that the loader must search for to answer a query of extensions: all layers if `name` names a layer, otherwise the
/// implicit ones.
///
/// # Safety
/// `name` is null or a string of the caller.
unsafe fn extent_for(name: *const c_char) -> Extent {
    // SAFETY: the caller promises a name that is null or a string.
    if unsafe { names_layer(name) } {
        Extent::All
    } else {
        Extent::Implicit
    }
}

/// Returns `true` if a query names a layer; an empty name does not name a layer (APP-64).
///
/// # Safety
/// `name` is null or a string of the caller.
unsafe fn names_layer(name: *const c_char) -> bool {
    // SAFETY: the pointer is not null, so the caller promises a string, which has at least one byte.
    !name.is_null() && unsafe { *name } != 0
}

pub(super) unsafe extern "system" fn extensions_terminator(
    _: *const PreInstanceNode<ExtensionPropertiesFunction>,
    layer_name: *const c_char,
    count: *mut u32,
    properties: *mut VkExtensionProperties,
) -> VkResult {
    // A layer may call this function outside any call of the program, so this function watches for a shortage of memory itself.
    let _watch = shortage::watch();
    let sink = LogSink(None);
    let mut journal = Journal::of_call(&sink);
    let settings = settings_in_force();
    // SAFETY: the layer passes a name that is null or a string.
    let extent = unsafe { extent_for(layer_name) };
    match discover(
        extent,
        &Search::new(&Environment::process()),
        settings.as_deref(),
        &mut journal,
    ) {
        Ok(layers) => {
            let found = Configuration {
                settings,
                layers,
                active: Vec::new(),
            };
            // SAFETY: the layer passes a valid name, count and array.
            unsafe { write_extensions(&found, layer_name, (count, properties), &mut journal) }
        }
        Err(OutOfMemory) => OUT_OF_MEMORY,
    }
}

/// Answers a query with the extensions of one layer, or of the drivers, the loader and implicit layers.
///
/// # Safety
/// `layer_name` is null or a string of the caller; `count` and `properties` are the caller's count and array.
unsafe fn write_extensions(
    found: &Configuration,
    layer_name: *const c_char,
    (count, properties): (*mut u32, *mut VkExtensionProperties),
    journal: &mut Journal<'_>,
) -> VkResult {
    // SAFETY: the caller promises a name that is null or a string.
    let list = if unsafe { names_layer(layer_name) } {
        // SAFETY: `names_layer` found a name, and the caller promises that it is a string.
        unsafe { extensions_of_layer(&found.layers, layer_name, journal) }
    } else {
        all_extensions(found, journal)
    };
    match list {
        // SAFETY: the caller promises a valid count and array.
        Ok(list) => unsafe { ffi::write_all(count, properties, &list) },
        Err(result) => result,
    }
}

/// Lists the extensions of one layer.
///
/// # Safety
/// `name` is a string of the caller.
unsafe fn extensions_of_layer(
    layers: &DiscoveredLayers,
    name: *const c_char,
    journal: &Journal<'_>,
) -> Result<Vec<VkExtensionProperties>, VkResult> {
    // SAFETY: the caller promises that `name` is a string.
    let Some(name) = (unsafe { ffi::is_valid_name(name) }) else {
        journal.note(
            LogBits::ERROR,
            format_args!("vkEnumerateInstanceExtensionProperties: pLayerName is too long or is badly formed"),
        );
        return Err(VkResult::VK_ERROR_EXTENSION_NOT_PRESENT);
    };
    let name = name.to_bytes();
    match layers.find(name) {
        Some(layer) => {
            let mut list = Vec::new();
            list.try_exact_room(layer.instance_extensions.len())?;
            list.extend(layer.instance_extensions.iter().map(crate::layer::extension_properties));
            Ok(list)
        }
        None if layers.is_off(name) => Ok(Vec::new()),
        None => Err(VkResult::VK_ERROR_LAYER_NOT_PRESENT),
    }
}

/// Lists the extensions of drivers in discovery order, then of the loader, then of enabled implicit layers. Of several extensions with the
/// same name, the list contains the first one (APP-64).
fn all_extensions(found: &Configuration, journal: &mut Journal<'_>) -> Result<Vec<VkExtensionProperties>, VkResult> {
    let environment = Environment::process();
    let known = KnownDrivers::of_call(Purpose::Query, Wishes::default(), &environment, journal);
    let options = ScanOptions {
        settings: found.settings.as_ref(),
        portability: true,
        remember: true,
        known: &known,
    };
    let mut scan = driver::scan(&options, &Search::new(&environment), DirectDrivers::default(), journal)?;
    if !PreloadedDrivers::is_filled() {
        PreloadedDrivers::fill(&scan.drivers);
    }
    let mut list = ExtensionList {
        items: Vec::new(),
        known: InstanceExtensionSet::empty(),
        others: NameIndex::default(),
        unfiltered: unfiltered(&environment),
    };
    list.items.try_exact_room(USUAL_EXTENSIONS)?;
    for (place, driver) in scan.drivers.iter().enumerate() {
        scan.answered
            .extensions_before(place, &known, |extension| list.add(extension, Origin::Driver))?;
        match driver::instance_extensions(driver, HostAllocator::system()) {
            Ok(offered) => {
                KnownDrivers::compare_extensions(driver.known, &driver.path, &offered, journal);
                offered
                    .iter()
                    .try_for_each(|extension| list.add(extension, Origin::Driver))?;
            }
            Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY) => return Err(OUT_OF_MEMORY),
            Err(error) => journal.decide(Decision {
                subject: Subject::DriverLibrary,
                name: driver.name().resolve().into(),
                path: Text::default(),
                verdict: Verdict::Dropped(Reason::from(DriverLibraryReason::ExtensionQueryFailed(error.0))),
                source: driver.source,
            }),
        }
    }
    scan.answered
        .extensions_before(usize::MAX, &known, |extension| list.add(extension, Origin::Driver))?;
    for (extension, properties) in LOADER_EXTENSIONS.into_iter().zip(&LOADER_PROPERTIES) {
        if !list.known.contains(extension) {
            list.push(properties, Some(extension))?;
        }
    }
    let listed = implicit_with_components(&found.layers, &environment, journal)?;
    for layer in found.layers.at(&listed) {
        layer
            .instance_extensions
            .iter()
            .try_for_each(|e| list.add(&crate::layer::extension_properties(e), Origin::Layer))?;
    }
    shortage::check()?;
    Ok(list.items)
}

/// Number of extensions in the initial allocation of a list.
const USUAL_EXTENSIONS: usize = 32;

macro_rules! loader_extensions {
    ($($name:ident)*) => {
        /// Extensions that the loader implements itself, for which no driver is needed (DRV-102).
        pub(super) const LOADER_EXTENSIONS: [InstanceExtension; 4] = [$(InstanceExtension::$name),*];
        /// Properties of `LOADER_EXTENSIONS` in lists.
        static LOADER_PROPERTIES: [VkExtensionProperties; 4] = [
            $(properties_of(stringify!($name), InstanceExtension::$name.spec_version())),*
        ];
    };
}

loader_extensions! {
    VK_EXT_debug_report
    VK_EXT_debug_utils
    VK_KHR_portability_enumeration
    VK_LUNARG_direct_driver_loading
}

/// Returns `true` if `VK_LOADER_DISABLE_INST_EXT_FILTER` lets unknown extensions pass (APP-67).
pub(super) fn unfiltered(environment: &Environment<'_>) -> bool {
    environment.is_non_zero(Variable::DisableInstExtFilter)
}

/// Returns `true` if the loader lets a driver's instance extension pass (DRV-103, DRV-105).
pub(super) fn lets_through(name: &[u8], unfiltered: bool) -> bool {
    passes(InstanceExtension::find(name), unfiltered)
}

fn passes(extension: Option<InstanceExtension>, unfiltered: bool) -> bool {
    match extension {
        Some(known) if known.platform_built_in() => true,
        Some(known) if extension::lacks_window_system(known) => false,
        _ => unfiltered,
    }
}

const fn properties_of(name: &str, spec_version: u32) -> VkExtensionProperties {
    let mut properties = VkExtensionProperties {
        extensionName: [0; 256],
        specVersion: spec_version,
    };
    let mut index = 0;
    while index < name.len() {
        properties.extensionName[index] = name.as_bytes()[index] as c_char;
        index += 1;
    }
    properties
}

/// Source of an extension.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Driver,
    Layer,
}

/// A list of extensions with unique names.
struct ExtensionList {
    items: Vec<VkExtensionProperties>,
    /// The extensions of the list that have a number in the loader's extension table.
    known: InstanceExtensionSet,
    /// Index of the other extensions by name.
    others: NameIndex,
    unfiltered: bool,
}

impl ExtensionList {
    fn add(&mut self, extension: &VkExtensionProperties, origin: Origin) -> Result<(), OutOfMemory> {
        let name = ffi::fixed_text(&extension.extensionName);
        let known = InstanceExtension::find(name);
        if origin == Origin::Driver && !passes(known, self.unfiltered) {
            return Ok(());
        }
        let is_listed = match known {
            Some(known) => self.known.contains(known),
            None => {
                let is = |place: usize| ffi::fixed_text(&self.items[place].extensionName) == name;
                self.others.find(Key::of(&[name]), is).is_some()
            }
        };
        if is_listed { Ok(()) } else { self.push(extension, known) }
    }

    fn push(&mut self, extension: &VkExtensionProperties, known: Option<InstanceExtension>) -> Result<(), OutOfMemory> {
        match known {
            Some(known) => self.known = self.known.with(known),
            None => {
                let key = Key::of(&[ffi::fixed_text(&extension.extensionName)]);
                self.others.add(key, self.items.len())?;
            }
        }
        self.items.try_push(*extension)
    }
}
