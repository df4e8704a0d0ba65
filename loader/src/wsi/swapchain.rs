//! Device commands that take surfaces (DRV-181, DRV-183 to DRV-185).

use super::MissingFunction;
use super::query::{input, null_input};
use super::unwrap::{surface_for, surface_info_for, swapchain_info_for};
use crate::alloc::HostVec;
use crate::device::Device;
use crate::ffi;
use crate::generated::types::*;
use crate::handle::{Chain, SurfaceHandle};
use crate::target::require_device;
use discovery::journal::LogBits;
use discovery::log;
use os::memory::OutOfMemory;

/// Logs that a driver lacks a device command, and returns the result for the caller (APP-50).
fn without_function(device: &Device, command: &'static str, extension: &'static str) -> VkResult {
    let text = MissingFunction { command, extension };
    log::emit(Some(device.instance()), LogBits::ERROR, format_args!("{text}"));
    VkResult::VK_SUCCESS
}

/// Ends the process if a create info has no surface: a swapchain without a surface must not reach the driver (DRV-179).
fn require_surface(info: &VkSwapchainCreateInfoKHR<Chain>, command: &str) {
    if info.surface.is_null() {
        log::fatal(format_args!(
            "{command}: Invalid surface [VUID-VkSwapchainCreateInfoKHR-surface-parameter]"
        ));
        os::abort();
    }
}

/// Implements `vkCreateSwapchainKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn create_swapchain_khr(
    device: VkDevice,
    create_info: *const VkSwapchainCreateInfoKHR<Chain>,
    callbacks: *const VkAllocationCallbacks,
    swapchain: *mut VkSwapchainKHR,
) -> VkResult {
    const COMMAND: &str = "vkCreateSwapchainKHR";
    // SAFETY: the caller promises a handle from the lowest layer.
    let known = unsafe { require_device(device, COMMAND) };
    // SAFETY: Vulkan requires a valid structure, and NULL is checked.
    let info = unsafe { input(create_info, COMMAND, "pCreateInfo") };
    let (Some(function), Some(driver)) = (
        known.terminators().and_then(|table| table.vkCreateSwapchainKHR),
        known.driver(),
    ) else {
        return without_function(known, COMMAND, "VK_KHR_swapchain");
    };
    require_surface(info, COMMAND);
    // SAFETY: the caller promises a surface from the lowest layer.
    match unsafe { swapchain_info_for(driver, info) } {
        // SAFETY: the driver's function receives the driver's own handles and the caller's parameters.
        Ok(own) => unsafe { function(device, &own, callbacks, swapchain) },
        Err(error) => error,
    }
}

/// Implements `vkCreateSharedSwapchainsKHR` at the end of the chain: calls the driver once for all swapchains (DRV-184).
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn create_shared_swapchains_khr(
    device: VkDevice,
    count: u32,
    create_infos: *const VkSwapchainCreateInfoKHR<Chain>,
    callbacks: *const VkAllocationCallbacks,
    swapchains: *mut VkSwapchainKHR,
) -> VkResult {
    const COMMAND: &str = "vkCreateSharedSwapchainsKHR";
    // SAFETY: the caller promises a handle from the lowest layer.
    let known = unsafe { require_device(device, COMMAND) };
    let (Some(function), Some(driver)) = (
        known.terminators().and_then(|table| table.vkCreateSharedSwapchainsKHR),
        known.driver(),
    ) else {
        return without_function(known, COMMAND, "VK_KHR_display_swapchain");
    };
    if create_infos.is_null() && count != 0 {
        null_input(COMMAND, "pCreateInfos");
    }
    let scope = VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND;
    let allocator = known.instance().allocator.scoped(scope);
    let Ok(mut copies) = HostVec::try_with_capacity(count as usize, allocator) else {
        return OutOfMemory.into();
    };
    // SAFETY: the caller's array holds `count` elements.
    for info in unsafe { ffi::c_array(create_infos, count) } {
        require_surface(info, COMMAND);
        // SAFETY: the caller promises a surface from the lowest layer.
        match unsafe { swapchain_info_for(driver, info) } {
            Ok(own) => {
                if copies.try_push(own).is_err() {
                    return OutOfMemory.into();
                }
            }
            Err(error) => return error,
        }
    }
    // SAFETY: the driver's function receives the driver's own handles, and the array holds `count` elements.
    unsafe { function(device, count, copies.as_ptr(), callbacks, swapchains) }
}

/// Implements `vkGetDeviceGroupSurfacePresentModesKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn get_device_group_surface_present_modes_khr(
    device: VkDevice,
    surface: SurfaceHandle<Chain>,
    modes: *mut VkDeviceGroupPresentModeFlagsKHR,
) -> VkResult {
    const COMMAND: &str = "vkGetDeviceGroupSurfacePresentModesKHR";
    // SAFETY: the caller promises a handle from the lowest layer.
    let known = unsafe { require_device(device, COMMAND) };
    let (Some(function), Some(driver)) = (
        known
            .terminators()
            .and_then(|table| table.vkGetDeviceGroupSurfacePresentModesKHR),
        known.driver(),
    ) else {
        return without_function(known, COMMAND, "VK_KHR_swapchain");
    };
    // SAFETY: the caller promises a surface from the lowest layer.
    match unsafe { surface_for(driver, surface) } {
        // SAFETY: the driver's function receives the driver's own handles and the caller's parameters.
        Ok(surface) => unsafe { function(device, surface, modes) },
        Err(error) => error,
    }
}

/// Implements `vkGetDeviceGroupSurfacePresentModes2EXT` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn get_device_group_surface_present_modes2_ext(
    device: VkDevice,
    info: *const VkPhysicalDeviceSurfaceInfo2KHR<Chain>,
    modes: *mut VkDeviceGroupPresentModeFlagsKHR,
) -> VkResult {
    const COMMAND: &str = "vkGetDeviceGroupSurfacePresentModes2EXT";
    // SAFETY: the caller promises a handle from the lowest layer.
    let known = unsafe { require_device(device, COMMAND) };
    let (Some(function), Some(driver)) = (
        known
            .terminators()
            .and_then(|table| table.vkGetDeviceGroupSurfacePresentModes2EXT),
        known.driver(),
    ) else {
        return without_function(known, COMMAND, "VK_EXT_full_screen_exclusive");
    };
    // SAFETY: Vulkan requires a valid structure, and NULL is checked.
    let info = unsafe { input(info, COMMAND, "pSurfaceInfo") };
    // SAFETY: the caller promises a surface from the lowest layer.
    match unsafe { surface_info_for(driver, info) } {
        // SAFETY: the driver's function receives the driver's own handles and the caller's parameters.
        Ok(own) => unsafe { function(device, &own, modes) },
        Err(error) => error,
    }
}
