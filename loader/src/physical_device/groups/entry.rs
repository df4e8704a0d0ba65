//! `vkEnumeratePhysicalDeviceGroups` as the application calls it (APP-125 to APP-129).

use super::super::entry::answered;
use super::super::filter::IdFilters;
use super::super::objects;
use super::super::walk::{ATTEMPTS, MOST_OF_A_CHAIN, scratch};
use super::super::wishes;
use super::chain_heads::{ChainHead, ChainHeads};
use super::{Group, members, translated};
use crate::alloc::HostVec;
use crate::gate::GATE;
use crate::generated::lookup::row;
use crate::generated::pfn::PFN_vkEnumeratePhysicalDeviceGroups;
use crate::generated::types::{VkPhysicalDeviceGroupProperties, VkResult};
use crate::handle::{App, Chain, InstanceHandle};
use crate::instance::Instance;
use crate::translation;
use discovery::env::Environment;
use discovery::journal::{Journal, LogBits};
use discovery::log::{self, LogSink};
use os::memory::{OutOfMemory, shortage};

/// Lists the device groups.
///
/// # Safety
/// The parameters are as the Vulkan specification demands of `vkEnumeratePhysicalDeviceGroups`; a NULL `count` is
/// tolerated and reported.
pub(crate) unsafe fn enumerate_physical_device_groups(
    handle: InstanceHandle<App>,
    count: *mut u32,
    array: *mut VkPhysicalDeviceGroupProperties<App>,
) -> VkResult {
    let _passage = GATE.enter();
    // SAFETY: Vulkan requires an instance handle that the loader returned to the application.
    let Some(instance) = (unsafe { translation::instance_object(handle) }) else {
        return translation::reject(row::vkEnumeratePhysicalDeviceGroups);
    };
    if count.is_null() {
        log::emit(
            Some(instance),
            LogBits::ERROR,
            format_args!(
                "vkEnumeratePhysicalDeviceGroups: Received NULL pointer for physical device group count return value."
            ),
        );
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    }
    let _watch = shortage::watch();
    let sink = LogSink(Some(instance));
    let mut journal = Journal::of_call(&sink);
    let result = match IdFilters::read(&Environment::process(), &journal) {
        // SAFETY: `count` is not null, and Vulkan requires an array that is null or has `*count` elements with their heads set.
        None => unsafe { unfiltered(instance, count, array) },
        // SAFETY: `count` is not null, and Vulkan requires an array that is null or has `*count` elements with their heads set.
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
    result
}

/// Returns the topmost entity's function. Unlike other shared commands, this command always uses the core name (DRV-159).
fn function(instance: &Instance) -> PFN_vkEnumeratePhysicalDeviceGroups<Chain> {
    instance.table().vkEnumeratePhysicalDeviceGroups.get()
}

/// Returns a group with the application's handles (APP-129).
fn wrapped(
    instance: &Instance,
    group: &VkPhysicalDeviceGroupProperties<Chain>,
) -> Result<VkPhysicalDeviceGroupProperties<App>, OutOfMemory> {
    translated(group, |device| objects::app_handle(instance, device))
}

/// Passes the caller's array down the chain and replaces the handles in place.
///
/// # Safety
/// `count` is writable; `array` is null or has `*count` elements whose `sType` and `pNext` are set.
unsafe fn unfiltered(
    instance: &Instance,
    count: *mut u32,
    array: *mut VkPhysicalDeviceGroupProperties<App>,
) -> VkResult {
    // `App` and `Chain` determine whose handles the structure contains. Both types have the same layout.
    let chain = array.cast::<VkPhysicalDeviceGroupProperties<Chain>>();
    // SAFETY: with an array, the caller promises a readable number; without one, the number may be uninitialised and is not read.
    let room = if array.is_null() { 0 } else { unsafe { *count } };
    // SAFETY: function and handle belong to the topmost entity; the caller promises valid pointers.
    let result = unsafe { function(instance)(instance.chain_handle(), count, chain) };
    if array.is_null() || !answered(result) {
        return result;
    }
    // SAFETY: the caller promises a readable number. A layer may count more groups than it could write, so the size of the array limits the
    // count.
    let written = unsafe { *count }.min(room);
    for index in 0..written as usize {
        // SAFETY: the index is below both counts, so the chain has written this element.
        match wrapped(instance, unsafe { &*chain.add(index) }) {
            // SAFETY: the index is below the number of elements in the caller's array, and no reference to the element is left.
            Ok(group) => unsafe { array.add(index).write(group) },
            Err(error) => return error.into(),
        }
    }
    result
}

/// Answers with the groups whose devices are all shown by the filters (DRV-134).
///
/// # Safety
/// `count` is writable; `array` is null or has `*count` elements whose `sType` and `pNext` are set.
unsafe fn filtered(
    instance: &Instance,
    filters: &IdFilters,
    count: *mut u32,
    array: *mut VkPhysicalDeviceGroupProperties<App>,
    journal: &mut Journal<'_>,
) -> VkResult {
    // SAFETY: the caller promises a valid count, and an array that is null or whose heads are set.
    let (heads, all) = match unsafe { whole_list(instance, count, array) } {
        Ok(whole) => whole,
        Err(result) => return result,
    };
    let mut shown = HostVec::new(scratch(instance));
    for (element, group) in all.iter().enumerate() {
        if !members(group)
            .iter()
            .all(|&device| filters.shows(instance, device, journal))
        {
            continue;
        }
        let added = wrapped(instance, group).and_then(|properties| shown.try_push(Group { properties, element }));
        if let Err(error) = added {
            return error.into();
        }
    }
    if array.is_null() {
        // SAFETY: the caller promises a writable count.
        unsafe { *count = u32::try_from(shown.len()).unwrap_or(u32::MAX) };
        return VkResult::VK_SUCCESS;
    }
    // SAFETY: the heads were read from this array, which has room for `*count` elements.
    unsafe { heads.answer(&shown, count, array) }
}

/// Chain heads (`sType` and `pNext`) of the caller's elements, and all groups that the chain reports.
type WholeList = (ChainHeads, HostVec<VkPhysicalDeviceGroupProperties<Chain>>);

/// Returns all groups that the chain reports. The chain fills elements with the `sType` and `pNext` of the caller's elements, as far
/// as the caller supplied elements.
///
/// # Errors
/// The error code that the chain returned, out of host memory, or there is no group.
///
/// # Safety
/// `array` is null, or `count` is readable and `array` has `*count` elements whose `sType` and `pNext` are set.
unsafe fn whole_list(
    instance: &Instance,
    count: *const u32,
    array: *const VkPhysicalDeviceGroupProperties<App>,
) -> Result<WholeList, VkResult> {
    let mut attempts = 1;
    loop {
        // SAFETY: the caller promises a valid count, and an array that is null or whose heads are set.
        let (list, complete) = unsafe { attempt(instance, count, array) }?;
        if list.1.is_empty() {
            return Err(VkResult::VK_ERROR_INITIALIZATION_FAILED);
        }
        if complete || attempts == ATTEMPTS {
            return Ok(list);
        }
        attempts += 1;
    }
}

/// Calls the chain once for the count and once for the groups. The flag is `true` if the list did not grow between the two calls.
///
/// # Safety
/// `array` is null, or `count` is readable and `array` has `*count` elements whose `sType` and `pNext` are set.
unsafe fn attempt(
    instance: &Instance,
    count: *const u32,
    array: *const VkPhysicalDeviceGroupProperties<App>,
) -> Result<(WholeList, bool), VkResult> {
    let enumerate = function(instance);
    let mut total = 0;
    // SAFETY: function and handle belong to the topmost entity, and the number is writable.
    let result = unsafe { enumerate(instance.chain_handle(), &mut total, core::ptr::null_mut()) };
    if !answered(result) {
        return Err(result);
    }
    let total = total.min(MOST_OF_A_CHAIN);
    // SAFETY: with an array, the caller promises a readable number; without one, the number may be uninitialised and is not read.
    let room = if array.is_null() { 0 } else { unsafe { *count } };
    // SAFETY: the number is at most the number of the array's elements, whose heads the caller has set.
    let heads = unsafe { ChainHeads::read(array, room.min(total) as usize, scratch(instance)) }?;
    let mut groups = HostVec::new(scratch(instance));
    groups.try_fill_to(total as usize, ChainHead::INTERNAL.group::<Chain>())?;
    for (index, group) in groups.iter_mut().enumerate() {
        *group = heads.get(index).group();
    }
    let mut written = total;
    // SAFETY: function and handle belong to the topmost entity, and the array has room for `total` elements.
    let result = unsafe { enumerate(instance.chain_handle(), &mut written, groups.as_mut_ptr()) };
    if !answered(result) {
        return Err(result);
    }
    groups.truncate(written.min(total) as usize);
    Ok(((heads, groups), result == VkResult::VK_SUCCESS))
}
