//! `vkEnumeratePhysicalDevices` as the application calls it (APP-115 to APP-122).

use super::filter::IdFilters;
use super::walk::{ATTEMPTS, MOST_OF_A_CHAIN, scratch};
use super::{objects, retire, wishes};
use crate::alloc::HostVec;
use crate::ffi::{self, TwoCall, TwoCalls};
use crate::gate::GATE;
use crate::generated::lookup::row;
use crate::generated::types::VkResult;
use crate::handle::{App, Chain, InstanceHandle, PhysicalDeviceHandle};
use crate::instance::Instance;
use crate::translation;
use discovery::env::Environment;
use discovery::journal::{Journal, LogBits};
use discovery::log::{self, LogSink};
use os::memory::shortage;

/// Lists the physical devices.
///
/// # Safety
/// The parameters are as the Vulkan specification demands of `vkEnumeratePhysicalDevices`; a NULL `count` is tolerated
/// and reported.
pub(crate) unsafe fn enumerate_physical_devices(
    handle: InstanceHandle<App>,
    count: *mut u32,
    array: *mut PhysicalDeviceHandle<App>,
) -> VkResult {
    let _passage = GATE.enter();
    // SAFETY: Vulkan requires an instance handle that the loader returned to the application.
    let Some(instance) = (unsafe { translation::instance_object(handle) }) else {
        return translation::reject(row::vkEnumeratePhysicalDevices);
    };
    if count.is_null() {
        log::fatal_with(
            Some(instance),
            LogBits::VALIDATION,
            format_args!(
                "vkEnumeratePhysicalDevices: Received NULL pointer for physical device count return value. \
                 [VUID-vkEnumeratePhysicalDevices-pPhysicalDeviceCount-parameter]"
            ),
        );
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    }
    let _watch = shortage::watch();
    let sink = LogSink(Some(instance));
    let mut journal = Journal::of_call(&sink);
    let result = match IdFilters::read(&Environment::process(), &journal) {
        // SAFETY: `count` is not null, and Vulkan requires an array that is null or has room for `*count` handles.
        None => unsafe { unfiltered(instance, count, array) },
        // SAFETY: `count` is not null, and Vulkan requires an array that is null or has room for `*count` handles.
        Some(filters) => unsafe { filtered(instance, &filters, count, array, &mut journal) },
    };
    if let Err(error) = shortage::check() {
        return error.into();
    }
    if let Some((none, success)) = wishes::empty_answer(instance, result) {
        // SAFETY: `count` is not null, so Vulkan requires that it points to a writable number of the application.
        unsafe { *count = none };
        return success;
    }
    if answered(result) && !array.is_null() {
        retire::release_idle_drivers(instance, &mut journal);
    }
    result
}

/// Returns `true` if an enumeration has written results for the caller.
pub(super) fn answered(result: VkResult) -> bool {
    result == VkResult::VK_SUCCESS || result == VkResult::VK_INCOMPLETE
}

/// Passes the caller's array down the chain and replaces each handle in place (DRV-122).
///
/// # Safety
/// `count` is writable; `array` is null or has room for `*count` handles.
unsafe fn unfiltered(instance: &Instance, count: *mut u32, array: *mut PhysicalDeviceHandle<App>) -> VkResult {
    // Handles of both levels are single pointers, so the array can be cast.
    let chain = array.cast::<PhysicalDeviceHandle<Chain>>();
    // SAFETY: with an array, the caller promises a readable number; without one, the number may be uninitialised and is not read.
    let room = if array.is_null() { 0 } else { unsafe { *count } };
    // SAFETY: function and handle belong to the topmost entity; the caller promises valid pointers.
    let result = unsafe { (instance.table().vkEnumeratePhysicalDevices.get())(instance.chain_handle(), count, chain) };
    if array.is_null() || !answered(result) {
        return result;
    }
    // SAFETY: the caller promises a readable number. A layer may count more handles than it could write, so the size of the array limits
    // the count.
    let written = unsafe { *count }.min(room);
    for index in 0..written as usize {
        // SAFETY: the index is below both counts, so the chain has written this handle.
        let handle = unsafe { *chain.add(index) };
        match objects::app_handle(instance, handle) {
            // SAFETY: the index is below the number of elements in the caller's array.
            Ok(handle) => unsafe { array.add(index).write(handle) },
            Err(error) => return error.into(),
        }
    }
    result
}

/// Lists the devices that the filters show, out of all devices that the chain reports (DRV-134).
///
/// # Safety
/// `count` is writable; `array` is null or has room for `*count` handles.
unsafe fn filtered(
    instance: &Instance,
    filters: &IdFilters,
    count: *mut u32,
    array: *mut PhysicalDeviceHandle<App>,
    journal: &mut Journal<'_>,
) -> VkResult {
    let shown = || -> Result<_, VkResult> {
        let all = whole_list(instance)?;
        let mut shown = HostVec::try_with_capacity(all.len(), scratch(instance))?;
        for &device in &all {
            if filters.shows(instance, device, journal) {
                shown.try_push(objects::app_handle(instance, device)?)?;
            }
        }
        Ok(shown)
    };
    match { shown }() {
        // SAFETY: the caller promises a writable count, and an array that is null or has room for `*count` handles.
        Ok(shown) => unsafe { TwoCall::new(count, array) }.answer(shown.iter().copied()),
        Err(result) => result,
    }
}

/// Returns all devices that the chain reports.
///
/// # Errors
/// The error code that the chain returned, out of host memory, or there is no device.
fn whole_list(instance: &Instance) -> Result<HostVec<PhysicalDeviceHandle<Chain>>, VkResult> {
    let enumerate = instance.table().vkEnumeratePhysicalDevices.get();
    let asking = TwoCalls {
        most: MOST_OF_A_CHAIN,
        attempts: ATTEMPTS,
        // A device may appear after a layer has counted the devices.
        even_empty: true,
    };
    // SAFETY: function and handle belong to the topmost entity; the number is writable, and the array has room for that number of handles.
    let call = |count, array| ffi::is_whole(unsafe { enumerate(instance.chain_handle(), count, array) });
    // SAFETY: a handle whose bytes are all zero is a null handle.
    let list = unsafe { asking.ask(scratch(instance), call) }?;
    if list.is_empty() {
        Err(VkResult::VK_ERROR_INITIALIZATION_FAILED)
    } else {
        Ok(list)
    }
}
