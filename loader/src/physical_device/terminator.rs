//! Handwritten bodies of physical-device terminators, with the names that the emitted terminators call.

use super::walk::{self, Device};
use super::{adapters, configured, extensions, groups, order, wishes};
use crate::alloc::HostVec;
use crate::ffi::TwoCall;
use crate::generated::types::{VkExtensionProperties, VkLayerProperties, VkPhysicalDeviceGroupProperties, VkResult};
use crate::handle::{Chain, InstanceHandle, PhysicalDeviceHandle};
use crate::instance::{Instance, InstanceDriver};
use crate::translation;
use core::ffi::c_char;
use discovery::journal::{Journal, LogBits};
use discovery::log::{self, LogSink};

/// Lists the devices of all drivers (DRV-118 to DRV-123).
///
/// # Safety
/// The parameters are those that the lowest layer passed.
pub(crate) unsafe fn enumerate_physical_devices(
    handle: InstanceHandle<Chain>,
    count: *mut u32,
    array: *mut PhysicalDeviceHandle<Chain>,
) -> VkResult {
    // SAFETY: the lowest layer passes a handle that the loader returned to the layer.
    let Some(instance) = (unsafe { instance_for("vkEnumeratePhysicalDevices", handle, count) }) else {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    };
    let sink = LogSink(Some(instance));
    let mut journal = Journal::of_call(&sink);
    // SAFETY: `count` is not null, and the lowest layer passes an array that is null or has room for `*count` handles.
    let call = unsafe { TwoCall::new(count, array) };
    let counts_only = call.counts_only();
    let devices = walk::with_drivers(instance, |drivers| {
        devices(instance, drivers, counts_only, &mut journal)
    });
    match devices {
        Ok(Listed::Count(total)) => {
            // SAFETY: `count` is not null, and the lowest layer passes a writable one.
            unsafe { *count = u32::try_from(total).unwrap_or(u32::MAX) };
            VkResult::VK_SUCCESS
        }
        Ok(Listed::Handles(handles)) => {
            tell_trimming(
                "terminator_EnumeratePhysicalDevices",
                handles.len(),
                call.capacity(),
                &journal,
            );
            call.answer(handles.iter().copied())
        }
        Err(result) => result,
    }
}

/// Result of an enumeration.
enum Listed {
    /// An upper bound on the number of devices.
    Count(usize),
    /// Handles of all devices.
    Handles(HostVec<PhysicalDeviceHandle<Chain>>),
}

fn devices(
    instance: &Instance,
    drivers: &[&InstanceDriver],
    counts_only: bool,
    journal: &mut Journal<'_>,
) -> Result<Listed, VkResult> {
    let all = adapters::devices(instance, drivers, journal)?.all;
    let listed = match configured::configurations(instance) {
        // This count is an upper bound. An exact count would require the identity of each device (APP-259).
        Some(wanted) if counts_only => return Ok(Listed::Count(wanted.len().min(all.len()))),
        Some(wanted) => configured::select(instance, &all, wanted, journal)?,
        None => order::sort(instance, wishes::shown(instance, all, journal)?, journal)?,
    };
    let handles = listed.iter().map(|device: &Device<'_>| device.chain);
    Ok(Listed::Handles(HostVec::try_from_iter(
        handles,
        walk::scratch(instance),
    )?))
}

/// Logs that the caller's array is too small (DRV-122, DRV-157).
pub(super) fn tell_trimming(terminator: &str, total: usize, room: usize, journal: &Journal<'_>) {
    if room < total {
        journal.note(
            LogBits::INFO,
            format_args!("{terminator} : Trimming device count from {total} to {room}."),
        );
    }
}

/// Returns the instance of a layer's call; logs an error and returns `None` if the handle is invalid or `count` is null.
///
/// # Safety
/// A non-null handle points to a readable word.
unsafe fn instance_for(command: &str, handle: InstanceHandle<Chain>, count: *const u32) -> Option<&'static Instance> {
    // SAFETY: the caller promises that a non-null handle points to a readable word.
    let instance = unsafe { translation::chain_instance(handle) };
    if instance.is_some() && !count.is_null() {
        return instance;
    }
    let wrong = if instance.is_none() {
        "an unknown instance"
    } else {
        "a NULL count"
    };
    log::emit(
        instance.map(|instance| instance as &dyn log::Listener),
        LogBits::ERROR,
        format_args!("{command}: a layer passed {wrong} on"),
    );
    None
}

/// Lists the device groups of all drivers (DRV-149 to DRV-157).
///
/// # Safety
/// The parameters are those that the lowest layer passed.
pub(crate) unsafe fn enumerate_physical_device_groups(
    handle: InstanceHandle<Chain>,
    count: *mut u32,
    array: *mut VkPhysicalDeviceGroupProperties<Chain>,
) -> VkResult {
    // SAFETY: the lowest layer passes a handle that the loader returned to the layer.
    let Some(instance) = (unsafe { instance_for("vkEnumeratePhysicalDeviceGroups", handle, count) }) else {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: `count` is not null, and the lowest layer passes an array that is null or has `*count` elements with their heads set.
    unsafe { groups::enumerate_at_end_of_chain(instance, count, array) }
}

/// Lists the extensions of a device (APP-130 to APP-132).
///
/// # Safety
/// The parameters are those that the lowest layer passed.
pub(crate) unsafe fn enumerate_device_extension_properties(
    device: PhysicalDeviceHandle<Chain>,
    layer_name: *const c_char,
    count: *mut u32,
    array: *mut VkExtensionProperties,
) -> VkResult {
    // SAFETY: the caller promises the parameters that the lowest layer passed.
    unsafe { extensions::enumerate(device, layer_name, count, array) }
}

/// Logs an error: `vkEnumerateDeviceLayerProperties` is not part of the chain. The loader answers the application's call above the chain,
/// and a layer must not pass the call on.
///
/// # Safety
/// `device` comes from the lowest layer; the pointers are not used.
pub(crate) unsafe fn enumerate_device_layer_properties(
    device: PhysicalDeviceHandle<Chain>,
    _count: *mut u32,
    _array: *mut VkLayerProperties,
) -> VkResult {
    // SAFETY: the caller promises a handle that the loader returned to the lowest layer.
    let instance = unsafe { translation::chain_physical_device(device) }
        .driver()
        .instance();
    log::emit(
        Some(instance),
        LogBits::ERROR,
        format_args!(
            "terminator_EnumerateDeviceLayerProperties: a layer passed vkEnumerateDeviceLayerProperties on, which must \
             not go down the chain"
        ),
    );
    VkResult::VK_ERROR_INITIALIZATION_FAILED
}
