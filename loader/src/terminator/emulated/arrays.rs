//! Queries that fill an array of extensible structures (DRV-159, DRV-161, DRV-169).

use crate::generated::types::{
    VkPhysicalDevice, VkPhysicalDeviceSparseImageFormatInfo2, VkQueueFamilyProperties2, VkResult,
    VkSparseImageFormatProperties2,
};
use crate::handle::Chain;
use crate::target::{Target, none};
use crate::translation;
use discovery::extension::InstanceExtension;
use discovery::journal::LogBits;

/// Extension that provides the commands of this module before Vulkan 1.1 (DRV-160).
const EXTENSION: InstanceExtension = InstanceExtension::VK_KHR_get_physical_device_properties2;

/// Implements `vkGetPhysicalDeviceQueueFamilyProperties2` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_queue_family_properties2(
    physical_device: VkPhysicalDevice<Chain>,
    count: *mut u32,
    properties: *mut VkQueueFamilyProperties2,
) {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceQueueFamilyProperties2") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceQueueFamilyProperties2,
        table.vkGetPhysicalDeviceQueueFamilyProperties2KHR,
        EXTENSION,
    );
    if let Some(newer) = newer {
        // SAFETY: function and device belong to the same driver; Vulkan requires a valid count and array.
        return unsafe { newer(target.handle, count, properties) };
    }
    target.announce(Some("vkGetPhysicalDeviceQueueFamilyProperties"));
    let Some(older) = table.vkGetPhysicalDeviceQueueFamilyProperties else {
        translation::unsupported("GetPhysicalDeviceQueueFamilyProperties")
    };
    // SAFETY: function and device belong to the same driver; `fill` passes a count and an array that belong together.
    let ask = |count, array| unsafe { older(target.handle, count, array) };
    // SAFETY: Vulkan requires a valid count and array, whose elements have valid chains. All members of the older structure are numbers.
    unsafe {
        fill(&target, count, properties, ask, |index, element, answer| {
            element.queueFamilyProperties = answer;
            target.ignore_chain(element.pNext, format_args!("pQueueFamilyProperties[{index}]."), none);
        });
    }
}

/// Implements `vkGetPhysicalDeviceSparseImageFormatProperties2` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_sparse_image_format_properties2(
    physical_device: VkPhysicalDevice<Chain>,
    info: *const VkPhysicalDeviceSparseImageFormatInfo2,
    count: *mut u32,
    properties: *mut VkSparseImageFormatProperties2,
) {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceSparseImageFormatProperties2") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceSparseImageFormatProperties2,
        table.vkGetPhysicalDeviceSparseImageFormatProperties2KHR,
        EXTENSION,
    );
    if let Some(newer) = newer {
        // SAFETY: function and device belong to the same driver; Vulkan requires valid parameters.
        return unsafe { newer(target.handle, info, count, properties) };
    }
    target.announce(Some("vkGetPhysicalDeviceSparseImageFormatProperties"));
    let Some(older) = table.vkGetPhysicalDeviceSparseImageFormatProperties else {
        translation::unsupported("GetPhysicalDeviceSparseImageFormatProperties")
    };
    // SAFETY: Vulkan requires a valid structure.
    let asked = unsafe { &*info };
    // SAFETY: Vulkan requires a valid chain of the structure.
    unsafe { target.ignore_chain(asked.pNext, "pFormatInfo->", none) };
    let ask = |count, array| {
        let (format, kind, samples) = (asked.format, asked.r#type, asked.samples);
        // SAFETY: function and device belong to the same driver; `fill` passes a count and an array that belong together.
        unsafe {
            older(
                target.handle,
                format,
                kind,
                samples,
                asked.usage,
                asked.tiling,
                count,
                array,
            )
        }
    };
    // SAFETY: Vulkan requires a valid count and array, whose elements have valid chains. All members of the older structure are numbers.
    unsafe {
        fill(&target, count, properties, ask, |index, element, answer| {
            element.properties = answer;
            target.ignore_chain(element.pNext, format_args!("pProperties[{index}]."), none);
        });
    }
}

/// Answers an array query that returns no result code. A query without room asks for the count (DRV-159); if memory runs out, the answer
/// has no elements (DRV-161).
///
/// # Safety
/// `count` is valid; `array` is NULL or has room for `*count` elements. An `Old` whose bytes are all zero is valid.
unsafe fn fill<Old: Copy, New>(
    target: &Target,
    count: *mut u32,
    array: *mut New,
    ask: impl Fn(*mut u32, *mut Old),
    put: impl FnMut(usize, &mut New, Old),
) {
    // SAFETY: with an array, the caller promises a readable count; without one, the count may be uninitialised and is not read.
    let counts_only = array.is_null() || unsafe { *count } == 0;
    let array = if counts_only { core::ptr::null_mut() } else { array };
    let ask = |count: *mut u32, array: *mut Old| {
        ask(count, array);
        VkResult::VK_SUCCESS
    };
    // SAFETY: the caller promises a valid count, and an array that is NULL or has room for `*count` elements.
    if unsafe { target.by_elements(count, array, ask, put) }.is_err() {
        target.log(
            LogBits::ERROR,
            format_args!("Out of memory - Failed to allocate array for loader emulation."),
        );
        // SAFETY: the caller promises a writable count.
        unsafe { *count = 0 };
    }
}
