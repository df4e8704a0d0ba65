//! Queries of displays, second generation: emulated by the first (DRV-161).

use super::display::no_plane_capabilities;
use super::query::{Query, input, output};
use crate::generated::types::*;
use crate::handle::{Chain, PhysicalDeviceHandle};

/// An enumeration of displays by the driver's own function, by its older one, or without an answer.
///
/// `older` is the older command's name and the driver's function; `ask` calls it, and `put` copies one element.
///
/// # Safety
/// `count` is valid; `array` is NULL or has room for `*count` elements. All zeros is a valid `Old`.
unsafe fn emulate<F: Copy, Old: Copy, New>(
    query: &Query,
    older: (&'static str, Option<F>),
    count: *mut u32,
    array: *mut New,
    mut ask: impl FnMut(F, &mut u32, *mut Old) -> VkResult,
    put: impl FnMut(&mut New, Old),
) -> VkResult {
    // SAFETY: by this function's contract.
    let count = unsafe { output(count, query.command, "pPropertyCount") };
    let (name, function) = older;
    query.emulating(function.map(|_| name));
    let Some(function) = function else {
        *count = 0;
        return VkResult::VK_SUCCESS;
    };
    // SAFETY: passed on to the caller.
    unsafe { query.by_elements(count, array, |count, array| ask(function, count, array), put) }
}

/// Terminator of `vkGetPhysicalDeviceDisplayProperties2KHR`.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub unsafe fn get_physical_device_display_properties2_khr(
    device: PhysicalDeviceHandle<Chain>,
    count: *mut u32,
    properties: *mut VkDisplayProperties2KHR,
) -> VkResult {
    // SAFETY: the handle comes from the lowest layer.
    let query = unsafe { Query::new(device, "vkGetPhysicalDeviceDisplayProperties2KHR") };
    let table = &query.driver.table;
    if let Some(function) = table.vkGetPhysicalDeviceDisplayProperties2KHR {
        // SAFETY: the driver's function with its own handle and the caller's parameters.
        return unsafe { function(query.device, count, properties) };
    }
    // SAFETY: the caller's array; the driver's function with its own handle; zeros are properties.
    unsafe {
        emulate(
            &query,
            (
                "vkGetPhysicalDeviceDisplayPropertiesKHR",
                table.vkGetPhysicalDeviceDisplayPropertiesKHR,
            ),
            count,
            properties,
            |older, count, array| older(query.device, count, array),
            |to: &mut VkDisplayProperties2KHR, from| {
                query.ignore("pProperties", to.pNext, &[]);
                to.displayProperties = from;
            },
        )
    }
}

/// Terminator of `vkGetPhysicalDeviceDisplayPlaneProperties2KHR`.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub unsafe fn get_physical_device_display_plane_properties2_khr(
    device: PhysicalDeviceHandle<Chain>,
    count: *mut u32,
    properties: *mut VkDisplayPlaneProperties2KHR,
) -> VkResult {
    // SAFETY: the handle comes from the lowest layer.
    let query = unsafe { Query::new(device, "vkGetPhysicalDeviceDisplayPlaneProperties2KHR") };
    let table = &query.driver.table;
    if let Some(function) = table.vkGetPhysicalDeviceDisplayPlaneProperties2KHR {
        // SAFETY: the driver's function with its own handle and the caller's parameters.
        return unsafe { function(query.device, count, properties) };
    }
    // SAFETY: the caller's array; the driver's function with its own handle; zeros are properties.
    unsafe {
        emulate(
            &query,
            (
                "vkGetPhysicalDeviceDisplayPlanePropertiesKHR",
                table.vkGetPhysicalDeviceDisplayPlanePropertiesKHR,
            ),
            count,
            properties,
            |older, count, array| older(query.device, count, array),
            |to: &mut VkDisplayPlaneProperties2KHR, from| {
                query.ignore("pProperties", to.pNext, &[]);
                to.displayPlaneProperties = from;
            },
        )
    }
}

/// Terminator of `vkGetDisplayModeProperties2KHR`.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub unsafe fn get_display_mode_properties2_khr(
    device: PhysicalDeviceHandle<Chain>,
    display: VkDisplayKHR,
    count: *mut u32,
    properties: *mut VkDisplayModeProperties2KHR,
) -> VkResult {
    // SAFETY: the handle comes from the lowest layer.
    let query = unsafe { Query::new(device, "vkGetDisplayModeProperties2KHR") };
    let table = &query.driver.table;
    if let Some(function) = table.vkGetDisplayModeProperties2KHR {
        // SAFETY: the driver's function with its own handle and the caller's parameters.
        return unsafe { function(query.device, display, count, properties) };
    }
    // SAFETY: the caller's array; the driver's function with its own handle; zeros are properties.
    unsafe {
        emulate(
            &query,
            ("vkGetDisplayModePropertiesKHR", table.vkGetDisplayModePropertiesKHR),
            count,
            properties,
            |older, count, array| older(query.device, display, count, array),
            |to: &mut VkDisplayModeProperties2KHR, from| {
                query.ignore("pProperties", to.pNext, &[]);
                to.displayModeProperties = from;
            },
        )
    }
}

/// Terminator of `vkGetDisplayPlaneCapabilities2KHR`.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub unsafe fn get_display_plane_capabilities2_khr(
    device: PhysicalDeviceHandle<Chain>,
    info: *const VkDisplayPlaneInfo2KHR,
    capabilities: *mut VkDisplayPlaneCapabilities2KHR,
) -> VkResult {
    // SAFETY: the handle comes from the lowest layer.
    let query = unsafe { Query::new(device, "vkGetDisplayPlaneCapabilities2KHR") };
    if let Some(function) = query.driver.table.vkGetDisplayPlaneCapabilities2KHR {
        // SAFETY: the driver's function with its own handle and the caller's parameters.
        return unsafe { function(query.device, info, capabilities) };
    }
    // SAFETY: the caller gives a place for the answer.
    let capabilities = unsafe { output(capabilities, query.command, "pCapabilities") };
    // SAFETY: the caller gives a valid structure.
    let info = unsafe { input(info, query.command, "pDisplayPlaneInfo") };
    let older = query.driver.table.vkGetDisplayPlaneCapabilitiesKHR;
    query.emulating(older.map(|_| "vkGetDisplayPlaneCapabilitiesKHR"));
    // SAFETY: the chains of the caller's structures.
    unsafe {
        query.ignore("pDisplayPlaneInfo", info.pNext, &[]);
        query.ignore("pCapabilities", capabilities.pNext, &[]);
    }
    match older {
        // SAFETY: the driver's function with its own handle.
        Some(older) => unsafe { older(query.device, info.mode, info.planeIndex, &mut capabilities.capabilities) },
        None => {
            capabilities.capabilities = no_plane_capabilities();
            VkResult::VK_SUCCESS
        }
    }
}
