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

/// What enables the commands here below Vulkan 1.1 (DRV-160).
const EXTENSION: InstanceExtension = InstanceExtension::VK_KHR_get_physical_device_properties2;

/// `vkGetPhysicalDeviceQueueFamilyProperties2` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_queue_family_properties2(
    physical_device: VkPhysicalDevice<Chain>,
    count: *mut u32,
    properties: *mut VkQueueFamilyProperties2,
) {
    // SAFETY: the handle comes from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceQueueFamilyProperties2") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceQueueFamilyProperties2,
        table.vkGetPhysicalDeviceQueueFamilyProperties2KHR,
        EXTENSION,
    );
    if let Some(newer) = newer {
        // SAFETY: the driver's function with its own handle.
        return unsafe { newer(target.handle, count, properties) };
    }
    target.announce(Some("vkGetPhysicalDeviceQueueFamilyProperties"));
    let Some(older) = table.vkGetPhysicalDeviceQueueFamilyProperties else {
        translation::unsupported("GetPhysicalDeviceQueueFamilyProperties")
    };
    // SAFETY: the driver's function with its own handle; `fill` passes a count and an array that belong together.
    let ask = |count, array| unsafe { older(target.handle, count, array) };
    // SAFETY: `count` and `properties` are the caller's; each element is valid, and so is its chain. All members of the
    // older structure are numbers.
    unsafe {
        fill(&target, count, properties, ask, |index, element, answer| {
            element.queueFamilyProperties = answer;
            target.ignore_chain(element.pNext, format_args!("pQueueFamilyProperties[{index}]."), none);
        });
    }
}

/// `vkGetPhysicalDeviceSparseImageFormatProperties2` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_sparse_image_format_properties2(
    physical_device: VkPhysicalDevice<Chain>,
    info: *const VkPhysicalDeviceSparseImageFormatInfo2,
    count: *mut u32,
    properties: *mut VkSparseImageFormatProperties2,
) {
    // SAFETY: the handle comes from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceSparseImageFormatProperties2") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceSparseImageFormatProperties2,
        table.vkGetPhysicalDeviceSparseImageFormatProperties2KHR,
        EXTENSION,
    );
    if let Some(newer) = newer {
        // SAFETY: the driver's function with its own handle.
        return unsafe { newer(target.handle, info, count, properties) };
    }
    target.announce(Some("vkGetPhysicalDeviceSparseImageFormatProperties"));
    let Some(older) = table.vkGetPhysicalDeviceSparseImageFormatProperties else {
        translation::unsupported("GetPhysicalDeviceSparseImageFormatProperties")
    };
    // SAFETY: the structure is valid, and so is its chain.
    let asked = unsafe { &*info };
    // SAFETY: as above.
    unsafe { target.ignore_chain(asked.pNext, "pFormatInfo->", none) };
    let ask = |count, array| {
        let (format, kind, samples) = (asked.format, asked.r#type, asked.samples);
        // SAFETY: the driver's function with its own handle; `fill` passes a count and an array that belong together.
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
    // SAFETY: as for queue families.
    unsafe {
        fill(&target, count, properties, ask, |index, element, answer| {
            element.properties = answer;
            target.ignore_chain(element.pNext, format_args!("pProperties[{index}]."), none);
        });
    }
}

/// Answers an array query that returns nothing. One without room asks for the count (DRV-159); one without memory has no
/// elements (DRV-161).
///
/// # Safety
/// As for [`Target::by_elements`].
unsafe fn fill<Old: Copy, New>(
    target: &Target,
    count: *mut u32,
    array: *mut New,
    ask: impl Fn(*mut u32, *mut Old),
    put: impl FnMut(usize, &mut New, Old),
) {
    // SAFETY: by this function's contract; without an array the number may not even be initialised.
    let counts_only = array.is_null() || unsafe { *count } == 0;
    let array = if counts_only { core::ptr::null_mut() } else { array };
    let ask = |count: *mut u32, array: *mut Old| {
        ask(count, array);
        VkResult::VK_SUCCESS
    };
    // SAFETY: passed on.
    if unsafe { target.by_elements(count, array, ask, put) }.is_err() {
        target.log(
            LogBits::ERROR,
            format_args!("Out of memory - Failed to allocate array for loader emulation."),
        );
        // SAFETY: by this function's contract.
        unsafe { *count = 0 };
    }
}
