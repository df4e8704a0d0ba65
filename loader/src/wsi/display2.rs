//! Commands of `VK_KHR_get_display_properties2`, emulated by the commands of `VK_KHR_display` if a driver lacks them (DRV-161).

use super::display::no_plane_capabilities;
use super::query::{input, output};
use crate::generated::types::*;
use crate::handle::{Chain, PhysicalDeviceHandle};
use crate::target::{Target, none};

/// Answers an enumeration of displays by the driver's older function; the list is empty if the driver lacks that function too.
///
/// `older` is the driver's older function; `ask` calls it, and `put` copies one element.
///
/// # Safety
/// `count` is valid; `array` is NULL or has room for `*count` elements. An `Old` whose bytes are all zero is valid.
unsafe fn emulate<F: Copy, Old: Copy, New>(
    target: &Target,
    older: Option<F>,
    count: *mut u32,
    array: *mut New,
    mut ask: impl FnMut(F, *mut u32, *mut Old) -> VkResult,
    mut put: impl FnMut(&mut New, Old),
) -> VkResult {
    // SAFETY: the caller promises a valid count.
    let count = unsafe { output(count, target.command, "pPropertyCount") };
    target.announce(None);
    let Some(function) = older else {
        *count = 0;
        return VkResult::VK_SUCCESS;
    };
    // SAFETY: the caller promises a valid count, an array that is NULL or has room for `*count` elements, and that an `Old` of zeros is
    // valid.
    let answer = unsafe {
        target.by_elements(
            count,
            array,
            |count, array| ask(function, count, array),
            |_, to, from| put(to, from),
        )
    };
    answer.unwrap_or_else(|error| error)
}

/// Implements `vkGetPhysicalDeviceDisplayProperties2KHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_display_properties2_khr(
    device: PhysicalDeviceHandle<Chain>,
    count: *mut u32,
    properties: *mut VkDisplayProperties2KHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetPhysicalDeviceDisplayProperties2KHR") };
    let table = &target.driver.table;
    if let Some(function) = table.vkGetPhysicalDeviceDisplayProperties2KHR {
        // SAFETY: the driver's function receives the driver's own handle and the caller's parameters.
        return unsafe { function(target.handle, count, properties) };
    }
    // SAFETY: Vulkan requires a valid count and array; function and device belong to the same driver; zeros are valid properties.
    unsafe {
        emulate(
            &target,
            table.vkGetPhysicalDeviceDisplayPropertiesKHR,
            count,
            properties,
            |older, count, array| older(target.handle, count, array),
            |to: &mut VkDisplayProperties2KHR, from| {
                target.ignore_chain(to.pNext, "pProperties->", none);
                to.displayProperties = from;
            },
        )
    }
}

/// Implements `vkGetPhysicalDeviceDisplayPlaneProperties2KHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_display_plane_properties2_khr(
    device: PhysicalDeviceHandle<Chain>,
    count: *mut u32,
    properties: *mut VkDisplayPlaneProperties2KHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetPhysicalDeviceDisplayPlaneProperties2KHR") };
    let table = &target.driver.table;
    if let Some(function) = table.vkGetPhysicalDeviceDisplayPlaneProperties2KHR {
        // SAFETY: the driver's function receives the driver's own handle and the caller's parameters.
        return unsafe { function(target.handle, count, properties) };
    }
    // SAFETY: Vulkan requires a valid count and array; function and device belong to the same driver; zeros are valid properties.
    unsafe {
        emulate(
            &target,
            table.vkGetPhysicalDeviceDisplayPlanePropertiesKHR,
            count,
            properties,
            |older, count, array| older(target.handle, count, array),
            |to: &mut VkDisplayPlaneProperties2KHR, from| {
                target.ignore_chain(to.pNext, "pProperties->", none);
                to.displayPlaneProperties = from;
            },
        )
    }
}

/// Implements `vkGetDisplayModeProperties2KHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_display_mode_properties2_khr(
    device: PhysicalDeviceHandle<Chain>,
    display: VkDisplayKHR,
    count: *mut u32,
    properties: *mut VkDisplayModeProperties2KHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetDisplayModeProperties2KHR") };
    let table = &target.driver.table;
    if let Some(function) = table.vkGetDisplayModeProperties2KHR {
        // SAFETY: the driver's function receives the driver's own handle and the caller's parameters.
        return unsafe { function(target.handle, display, count, properties) };
    }
    // SAFETY: Vulkan requires a valid count and array; function and device belong to the same driver; zeros are valid properties.
    unsafe {
        emulate(
            &target,
            table.vkGetDisplayModePropertiesKHR,
            count,
            properties,
            |older, count, array| older(target.handle, display, count, array),
            |to: &mut VkDisplayModeProperties2KHR, from| {
                target.ignore_chain(to.pNext, "pProperties->", none);
                to.displayModeProperties = from;
            },
        )
    }
}

/// Implements `vkGetDisplayPlaneCapabilities2KHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_display_plane_capabilities2_khr(
    device: PhysicalDeviceHandle<Chain>,
    info: *const VkDisplayPlaneInfo2KHR,
    capabilities: *mut VkDisplayPlaneCapabilities2KHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetDisplayPlaneCapabilities2KHR") };
    if let Some(function) = target.driver.table.vkGetDisplayPlaneCapabilities2KHR {
        // SAFETY: the driver's function receives the driver's own handle and the caller's parameters.
        return unsafe { function(target.handle, info, capabilities) };
    }
    // SAFETY: Vulkan requires a writable structure, and NULL is checked.
    let capabilities = unsafe { output(capabilities, target.command, "pCapabilities") };
    // SAFETY: Vulkan requires a valid structure, and NULL is checked.
    let info = unsafe { input(info, target.command, "pDisplayPlaneInfo") };
    let older = target.driver.table.vkGetDisplayPlaneCapabilitiesKHR;
    target.announce(None);
    // SAFETY: the structures of the caller are valid, so their chains are valid.
    unsafe {
        target.ignore_chain(info.pNext, "pDisplayPlaneInfo->", none);
        target.ignore_chain(capabilities.pNext, "pCapabilities->", none);
    }
    match older {
        // SAFETY: function and device belong to the same driver, and the structure is writable.
        Some(older) => unsafe {
            older(
                target.handle,
                info.mode,
                info.planeIndex,
                &mut capabilities.capabilities,
            )
        },
        None => {
            capabilities.capabilities = no_plane_capabilities();
            VkResult::VK_SUCCESS
        }
    }
}
