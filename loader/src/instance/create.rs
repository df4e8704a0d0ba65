//! `vkCreateInstance` as the application calls it (APP-80 to APP-98).

use super::configuration::{Configuration, required_extent};
use super::destroy;
use super::extensions::Offer;
use super::nothing_left::tell_nothing_left;
use super::requests::Requests;
use super::{Instance, chain, visible};
use crate::alloc::{HostAllocator, HostText, HostVec};
use crate::driver::{self, OpenDriver, PreloadedDrivers, Scan, ScanOptions};
use crate::gate::GATE;
use crate::generated::types::{VkAllocationCallbacks, VkInstanceCreateInfo, VkResult, VkSystemAllocationScope};
use crate::handle::{App, InstanceHandle};
use crate::instance::INSTANCES;
use crate::layer;
use crate::unopened::{BeforeOpening as _, KnownDrivers, Purpose, Wishes};
use core::fmt::{Display, Formatter};
use core::ptr::NonNull;
use discovery::activation;
use discovery::env::{Environment, Variable};
use discovery::extension::InstanceExtension;
use discovery::journal::{Journal, LogBits};
use discovery::layers::discover;
use discovery::log::{self, LogSink};
use discovery::search::Search;
use discovery::settings::{self, DriverPolicies, Settings};
use os::Show;
use os::memory::{Grow, OutOfMemory, shortage};
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

/// Creates an instance.
///
/// # Safety
/// The parameters are as the Vulkan specification demands of `vkCreateInstance`; NULL `create_info` or `out` is
/// tolerated and reported.
pub(crate) unsafe fn create_instance(
    create_info: *const VkInstanceCreateInfo,
    callbacks: *const VkAllocationCallbacks,
    out: *mut InstanceHandle<App>,
) -> VkResult {
    let _passage = GATE.enter();
    let vuid = |parameter: &str| {
        log::fatal(format_args!(
            "vkCreateInstance: '{parameter}' is NULL (VUID-vkCreateInstance-{parameter}-parameter)"
        ));
        VkResult::VK_ERROR_INITIALIZATION_FAILED
    };
    // SAFETY: the caller promises a create info that is NULL or valid.
    let Some(create_info) = (unsafe { create_info.as_ref() }) else {
        return vuid("pCreateInfo");
    };
    if out.is_null() {
        return vuid("pInstance");
    }
    let _watch = shortage::watch();
    // SAFETY: the caller promises callbacks that are NULL or valid.
    let allocator =
        unsafe { HostAllocator::new(callbacks, VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE) };
    // SAFETY: the caller promises a valid create info.
    let requests = unsafe { Requests::new(create_info) };
    // SAFETY: the caller promises a valid create info, and callbacks that are NULL or valid.
    match unsafe { build(create_info, &requests, allocator, callbacks) } {
        Ok(instance) => {
            // SAFETY: `out` is not null, so the caller promises that it is writable.
            unsafe { *out = instance.handle() };
            VkResult::VK_SUCCESS
        }
        Err(result) => result,
    }
}

/// Creates the instance; on failure, releases everything that was created.
///
/// # Safety
/// `create_info` is valid, and `callbacks` is NULL or valid.
unsafe fn build(
    create_info: &VkInstanceCreateInfo,
    requests: &Requests<'_>,
    allocator: HostAllocator,
    callbacks: *const VkAllocationCallbacks,
) -> Result<&'static Instance, VkResult> {
    let instance = Instance::try_new(allocator, requests.api_version())?;
    let (raw, allocator) = instance.into_raw();
    // SAFETY: the object was just created, and only `destroy::free` frees it, after which nothing refers to it.
    let instance: &'static Instance = unsafe { &*raw };
    // SAFETY: the object is valid until `destroy::free` removes it, which the application allows only when no command uses it any more.
    unsafe { INSTANCES.insert(NonNull::from(instance)) };
    // SAFETY: the caller promises a valid create info, and callbacks that are NULL or valid.
    let result = unsafe { prepare(create_info, requests, instance, callbacks) };
    match result {
        Ok(()) => {
            instance.messengers.suspend_create_time();
            let mut refused = core::mem::take(&mut *instance.found_drivers.lock());
            refused.retain(OpenDriver::is_open);
            *instance.refused_drivers.lock() = refused;
            Ok(instance)
        }
        Err(result) => {
            // SAFETY: the caller promises callbacks that are NULL or valid.
            unsafe { destroy::release_drivers(instance, callbacks) };
            // SAFETY: the application did not get the handle, so this is the only reference.
            unsafe { destroy::free(raw, allocator) };
            Err(result)
        }
    }
}

/// Selects layers and drivers and calls the chain. Between the steps, checks whether memory ran out, because no step may silently continue
/// with incomplete data (APP-174).
///
/// # Safety
/// `create_info` is valid, and `callbacks` is NULL or valid.
unsafe fn prepare(
    create_info: &VkInstanceCreateInfo,
    requests: &Requests<'_>,
    instance: &'static Instance,
    callbacks: *const VkAllocationCallbacks,
) -> Result<(), VkResult> {
    // SAFETY: the chain of a valid create info is valid.
    unsafe { instance.messengers.install_create_time(create_info.pNext) }?;
    requests.log(instance);
    let sink = LogSink(Some(instance));
    let mut journal = Journal::of_call(&sink);
    let environment = Environment::process();
    let search = Search::new(&environment);
    let extent = activation::extent(requests.has_layers(), &environment);
    let cached = Configuration::cached(extent, &journal);
    let settings = match &cached {
        Some(found) => found.settings.clone(),
        None => settings::load(&search, &mut journal)?.map(Arc::new),
    };
    if let Some(settings) = &settings {
        instance.use_settings(settings)?;
        settings.describe(&journal);
    }
    requests.note_oddities(instance);
    let settings = settings.as_ref();
    shortage::check()?;
    let scanned;
    let discovered = match &cached {
        Some(found) => &found.layers,
        None => {
            let settings = settings.map(Arc::as_ref);
            let extent = required_extent(extent, settings, &journal);
            scanned = discover(extent, &search, settings, &mut journal)?;
            &scanned
        }
    };
    shortage::check()?;
    requests.check_layers(instance, discovered)?;
    let mut requested = Vec::new();
    requests.layers().try_for_each(|name| requested.try_push(name))?;
    let request = activation::Request {
        list: discovered,
        environment: &environment,
        application: &requested,
    };
    let policies = policies(settings.map(Arc::as_ref), &environment, &journal);
    let visible = instance.choose_visible(settings.map(Arc::as_ref), &environment, &journal)?;
    let wishes = Wishes { policies, visible };
    let known = KnownDrivers::of_call(Purpose::Creation, wishes, &environment, &mut journal);
    let options = ScanOptions {
        settings,
        portability: requests.portability(),
        remember: false,
        known: &known,
    };
    // SAFETY: the caller promises a valid create info.
    let Scan { drivers, aside, .. } =
        unsafe { find_drivers((create_info, requests), instance, &search, &options, &mut journal) }?;
    instance.cause.lock().add(journal.take_cause());
    if policies.has(DriverPolicies::KEEP_OPEN) {
        PreloadedDrivers::keep(&drivers);
    }
    shortage::check()?;
    let mut chosen = activation::activate(&request, &journal)?;
    activation::put_in_order(discovered, &mut chosen, &journal)?;
    let offer = Offer {
        drivers: &drivers,
        known: (&known, &aside),
        discovered,
        activation: &chosen,
        environment: &environment,
    };
    offer.check(instance, requests, &journal)?;
    if journal.is_heard() {
        // Tools expect the warnings of `activate` twice, because the Khronos loader logs them when it lists extensions and again when it
        // builds the chain.
        activation::activate(&request, &journal)?;
    }
    instance.enabled.request(requests.extensions());
    remember_requests(instance, requests)?;
    *instance.found_drivers.lock() = drivers;
    *instance.aside_drivers.lock() = aside;

    let layers = layer::load_layers(discovered, &chosen, &requested, instance.allocator, &mut journal)?;
    activation::note_older_layers(discovered, &chosen, instance.api_version(), &journal);
    // Only the creation of the instance sets the layers, and only once.
    let layers = instance.layers.get_or_set(layers);
    shortage::check()?;
    // SAFETY: the create info is the application's, and the layers have just been loaded.
    unsafe { chain::create(create_info, callbacks, instance, layers) }
}

/// Returns the policies that apply to an instance, and logs them. If a variable or the settings file chose devices, no driver is left out,
/// because the only chosen device could belong to a driver that was left out (DRV-273).
fn policies(settings: Option<&Settings>, environment: &Environment<'_>, journal: &Journal<'_>) -> DriverPolicies {
    let asked = DriverPolicies::in_force(settings);
    if asked.is_empty() {
        return asked;
    }
    let bits = LogBits::INFO | LogBits::DRIVER;
    let chooser = visible::chooser(settings, environment);
    let policies = if chooser.is_some() {
        asked.without_choices()
    } else {
        asked
    };
    for policy in asked.names() {
        match chooser {
            Some(name) if !policies.names().any(|counts| counts == policy) => {
                journal.note(
                    bits,
                    format_args!("Driver policy {policy} does not count: {name} chooses devices"),
                );
            }
            _ => journal.note(bits, format_args!("Driver policy {policy} is on")),
        }
    }
    policies
}

/// Returns the drivers that the application supplies, then those that a scan finds.
///
/// # Errors
/// There is no driver; a message says what may be missing (APP-89, APP-89a, DRV-99).
///
/// # Safety
/// `create_info` is valid.
unsafe fn find_drivers(
    (create_info, requests): (&VkInstanceCreateInfo, &Requests<'_>),
    instance: &Instance,
    search: &Search<'_>,
    options: &ScanOptions<'_>,
    journal: &mut Journal<'_>,
) -> Result<Scan, VkResult> {
    let known = requests.known_extensions();
    let given = known.contains(InstanceExtension::VK_LUNARG_direct_driver_loading);
    // SAFETY: the caller promises a valid create info.
    let direct = unsafe { driver::direct_drivers(create_info, given, journal) };
    let is_exclusive = direct.exclusive;
    let found = driver::scan(options, search, direct, journal)?;
    if !found.drivers.is_empty() {
        return Ok(found);
    }
    // A driver that was lost because memory ran out is not a missing driver (APP-179a).
    shortage::check()?;
    let error = LogBits::ERROR | LogBits::DRIVER;
    if found.skipped_portability {
        requests.explain_portability(journal);
    }
    let line = "vkCreateInstance: Found no drivers!";
    tell_nothing_left(
        instance,
        (error, line),
        no_manifest(is_exclusive, search.environment()),
        journal,
    );
    Err(VkResult::VK_ERROR_INCOMPATIBLE_DRIVER)
}

/// Returns the reason why a scan found no manifest at all.
fn no_manifest(is_exclusive: bool, environment: &Environment<'_>) -> impl Display {
    let replacing = [Variable::DriverFiles, Variable::IcdFilenames];
    let replaced = replacing
        .into_iter()
        .find(|&variable| environment.get_non_empty(variable).is_some());
    Show(move |out: &mut Formatter<'_>| match replaced {
        _ if is_exclusive => out.write_str("The application gives no driver"),
        Some(variable) => write!(out, "{} leads to no driver manifest", variable.name()),
        None => out.write_str("There is no driver manifest where the loader looks"),
    })
}

/// Copies the requested layer names. Later calls of `vkCreateDevice` compare their own layer names with the copies (DRV-191).
fn remember_requests(instance: &Instance, requests: &Requests<'_>) -> Result<(), OutOfMemory> {
    let allocator = instance.allocator;
    let mut names = HostVec::try_with_capacity(requests.layer_names().len(), allocator)?;
    for name in requests.layers() {
        names.try_push(HostText::try_new(name, allocator)?)?;
    }
    // Only the creation of the instance sets the names, and it runs once.
    let _ = instance.requested_layers.set(names);
    Ok(())
}
