//! `vkCreateInstance` as the application calls it (APP-80 to APP-98).

use super::destroy;
use super::extensions::Offer;
use super::requests::Requests;
use super::{Instance, chain};
use crate::alloc::{HostAllocator, HostText, HostVec, OutOfMemory};
use crate::discovery;
use crate::discovery::activation;
use crate::driver::{self, DirectDrivers, Scan, ScanOptions};
use crate::env::Environment;
use crate::generated::extensions::{InstanceExtension, InstanceExtensionSet};
use crate::generated::types::{VkAllocationCallbacks, VkInstanceCreateInfo, VkResult, VkSystemAllocationScope};
use crate::handle::{App, InstanceHandle};
use crate::journal::{Journal, LogBits};
use crate::layer;
use crate::log::{self, InstanceSink};
use crate::settings;
use crate::state;
use std::ptr::NonNull;

/// Creates an instance.
///
/// # Safety
/// The parameters are as the Vulkan specification demands of `vkCreateInstance`; NULL `create_info` or `out` is
/// tolerated and reported.
pub unsafe fn create_instance(
    create_info: *const VkInstanceCreateInfo,
    callbacks: *const VkAllocationCallbacks,
    out: *mut InstanceHandle<App>,
) -> VkResult {
    let vuid = |parameter: &str| {
        log::fatal(format_args!(
            "vkCreateInstance: '{parameter}' is NULL (VUID-vkCreateInstance-{parameter}-parameter)"
        ));
        VkResult::VK_ERROR_INITIALIZATION_FAILED
    };
    // SAFETY: null or valid by this function's contract.
    let Some(create_info) = (unsafe { create_info.as_ref() }) else {
        return vuid("pCreateInfo");
    };
    if out.is_null() {
        return vuid("pInstance");
    }
    // SAFETY: null or valid by this function's contract.
    let allocator =
        unsafe { HostAllocator::new(callbacks, VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE) };
    // SAFETY: a valid create info.
    let requests = unsafe { Requests::new(create_info) };
    // SAFETY: passed on.
    match unsafe { build(create_info, &requests, allocator, callbacks) } {
        Ok(instance) => {
            // SAFETY: `out` is not null, and valid by this function's contract.
            unsafe { *out = instance.handle() };
            VkResult::VK_SUCCESS
        }
        Err(result) => result,
    }
}

/// Makes the instance, or takes apart what was made of it.
///
/// # Safety
/// As for [`create_instance`].
unsafe fn build(
    create_info: &VkInstanceCreateInfo,
    requests: &Requests<'_>,
    allocator: HostAllocator,
    callbacks: *const VkAllocationCallbacks,
) -> Result<&'static Instance, VkResult> {
    let instance = Instance::try_new(allocator, requests.api_version())?;
    let (raw, allocator) = instance.into_raw();
    // SAFETY: just made; freed only by `destroy::free`, after which nothing refers to it.
    let instance: &'static Instance = unsafe { &*raw };
    // SAFETY: valid until `destroy::free` removes it.
    unsafe { state::INSTANCES.insert(NonNull::from(instance)) };
    // SAFETY: passed on.
    let result = unsafe { prepare(create_info, requests, instance, callbacks) };
    match result {
        Ok(()) => {
            instance.messengers.suspend_create_time();
            Ok(instance)
        }
        Err(result) => {
            // SAFETY: passed on.
            unsafe { destroy::release_drivers(instance, callbacks) };
            // SAFETY: the application never got the handle, so this is the only reference left.
            unsafe { destroy::free(raw, allocator) };
            Err(result)
        }
    }
}

/// # Safety
/// As for [`create_instance`].
unsafe fn prepare(
    create_info: &VkInstanceCreateInfo,
    requests: &Requests<'_>,
    instance: &'static Instance,
    callbacks: *const VkAllocationCallbacks,
) -> Result<(), VkResult> {
    // SAFETY: the application's chain.
    unsafe { instance.messengers.install_create_time(create_info.pNext) }?;
    requests.log(instance);
    let sink = InstanceSink(Some(instance));
    let mut journal = Journal::new(&sink);
    let environment = Environment::process();
    if let Some(settings) = settings::load(&environment, &mut journal)? {
        instance.use_settings(settings).describe(&journal);
    }
    requests.check_api_version(instance);
    let known = requests.known_extensions();
    if requests.portability() {
        journal.note(
            LogBits::INFO,
            format_args!("Portability enumeration bit was set, enumerating portability drivers."),
        );
    }
    let settings = instance.settings();
    let discovered = discovery::layers::discover(&environment, settings, &mut journal)?;
    requests.check_layers(instance, &discovered)?;
    let requested: Vec<&[u8]> = requests.layers().collect();
    let request = activation::Request {
        list: &discovered,
        environment: &environment,
        application: &requested,
    };
    let chosen = activation::activate(&request, &journal)?;

    // SAFETY: a valid create info.
    let direct = unsafe {
        driver::direct_drivers(
            create_info,
            known.contains(InstanceExtension::VK_LUNARG_direct_driver_loading),
            &mut journal,
        )
    };
    let options = ScanOptions {
        environment: &environment,
        settings,
        portability: requests.portability(),
    };
    let found = scan_drivers(&options, direct, requests, known, &mut journal)?;
    let offer = Offer {
        drivers: &found.drivers,
        discovered: &discovered,
        activation: &chosen,
        environment: &environment,
    };
    offer.check(instance, requests)?;
    instance.enabled.add(requests.extensions());
    remember_requests(instance, requests)?;
    *state::lock(&instance.found_drivers) = found.drivers;

    let layers = layer::load_layers(&discovered, &chosen, &requested, instance.allocator, &mut journal)?;
    activation::note_older_layers(&discovered, &chosen, instance.api_version(), &journal);
    let layers = instance.layers.get_or_init(|| layers);
    // SAFETY: the create info is the application's; the layers just loaded.
    unsafe { chain::create(create_info, callbacks, instance, layers) }
}

/// Looks for drivers; none at all is an error that says what may be missing (APP-89, DRV-99).
fn scan_drivers(
    options: &ScanOptions<'_>,
    direct: DirectDrivers,
    requests: &Requests<'_>,
    known: InstanceExtensionSet,
    journal: &mut Journal<'_>,
) -> Result<Scan, VkResult> {
    let found = driver::scan(options, direct, journal)?;
    if !found.drivers.is_empty() {
        return Ok(found);
    }
    let error = LogBits::ERROR | LogBits::DRIVER;
    if found.skipped_portability {
        let flag = requests.portability_flag();
        let extension = known.contains(InstanceExtension::VK_KHR_portability_enumeration);
        if flag && !extension {
            journal.note(
                error,
                format_args!(
                    "VkInstanceCreateInfo: If flags has the VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR bit set, \
                     the list of enabled extensions in ppEnabledExtensionNames must contain \
                     VK_KHR_portability_enumeration [VUID-VkInstanceCreateInfo-flags-06559 ]Applications that wish to \
                     enumerate portability drivers must enable the VK_KHR_portability_enumeration instance extension."
                ),
            );
        } else {
            let ending = if extension {
                "."
            } else {
                " and enable the VK_KHR_portability_enumeration instance extension."
            };
            journal.note(
                error,
                format_args!(
                    "vkCreateInstance: Found drivers that contain devices which support the portability subset, but \
                     the instance does not enumerate portability drivers! Applications that wish to enumerate \
                     portability drivers must set the VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR bit in the \
                     VkInstanceCreateInfo flags{ending}"
                ),
            );
        }
    }
    journal.note(error, format_args!("vkCreateInstance: Found no drivers!"));
    Err(VkResult::VK_ERROR_INCOMPATIBLE_DRIVER)
}

/// Copies the layer names, which later calls compare with (DRV-191).
fn remember_requests(instance: &Instance, requests: &Requests<'_>) -> Result<(), OutOfMemory> {
    let allocator = instance.allocator;
    let mut names = HostVec::try_with_capacity(requests.layer_names().len(), allocator)?;
    for name in requests.layers() {
        names.try_push(HostText::try_new(name, allocator)?)?;
    }
    // Only creation sets it, and it runs once.
    let _ = instance.requested_layers.set(names);
    Ok(())
}
