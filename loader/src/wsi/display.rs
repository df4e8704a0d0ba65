//! Commands of displays, except those of `VK_KHR_get_display_properties2` (DRV-161, DRV-164).

use crate::generated::types::*;
use crate::handle::{Chain, PhysicalDeviceHandle};
use crate::target::Target;
use discovery::extension::InstanceExtension;
use discovery::journal::LogBits;
use discovery::log;

/// Answers an enumeration of displays; the list is empty if the driver lacks the command.
///
/// # Safety
/// `device` comes from the lowest layer; `count` is NULL or valid.
unsafe fn enumerate<F>(
    device: PhysicalDeviceHandle<Chain>,
    command: &'static str,
    function: impl FnOnce(&Target) -> Option<F>,
    count: *mut u32,
    call: impl FnOnce(F, &Target) -> VkResult,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, command) };
    if !target.allows(InstanceExtension::VK_KHR_display) {
        return VkResult::VK_SUCCESS;
    }
    if let Some(function) = function(&target) {
        return call(function, &target);
    }
    target.missing(LogBits::WARN);
    // SAFETY: the caller promises a count that is NULL or valid.
    if let Some(count) = unsafe { count.as_mut() } {
        *count = 0;
    }
    VkResult::VK_SUCCESS
}

/// Implements `vkGetPhysicalDeviceDisplayPropertiesKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_display_properties_khr(
    device: PhysicalDeviceHandle<Chain>,
    count: *mut u32,
    properties: *mut VkDisplayPropertiesKHR,
) -> VkResult {
    // SAFETY: Vulkan requires a valid count and array; function and device belong to the same driver.
    unsafe {
        enumerate(
            device,
            "vkGetPhysicalDeviceDisplayPropertiesKHR",
            |target| target.driver.table.vkGetPhysicalDeviceDisplayPropertiesKHR,
            count,
            |function, target| function(target.handle, count, properties),
        )
    }
}

/// Implements `vkGetPhysicalDeviceDisplayPlanePropertiesKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_display_plane_properties_khr(
    device: PhysicalDeviceHandle<Chain>,
    count: *mut u32,
    properties: *mut VkDisplayPlanePropertiesKHR,
) -> VkResult {
    // SAFETY: Vulkan requires a valid count and array; function and device belong to the same driver.
    unsafe {
        enumerate(
            device,
            "vkGetPhysicalDeviceDisplayPlanePropertiesKHR",
            |target| target.driver.table.vkGetPhysicalDeviceDisplayPlanePropertiesKHR,
            count,
            |function, target| function(target.handle, count, properties),
        )
    }
}

/// Implements `vkGetDisplayPlaneSupportedDisplaysKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_display_plane_supported_displays_khr(
    device: PhysicalDeviceHandle<Chain>,
    plane: u32,
    count: *mut u32,
    displays: *mut VkDisplayKHR,
) -> VkResult {
    // SAFETY: Vulkan requires a valid count and array; function and device belong to the same driver.
    unsafe {
        enumerate(
            device,
            "vkGetDisplayPlaneSupportedDisplaysKHR",
            |target| target.driver.table.vkGetDisplayPlaneSupportedDisplaysKHR,
            count,
            |function, target| function(target.handle, plane, count, displays),
        )
    }
}

/// Implements `vkGetDisplayModePropertiesKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_display_mode_properties_khr(
    device: PhysicalDeviceHandle<Chain>,
    display: VkDisplayKHR,
    count: *mut u32,
    properties: *mut VkDisplayModePropertiesKHR,
) -> VkResult {
    // SAFETY: Vulkan requires a valid count and array; function and device belong to the same driver.
    unsafe {
        enumerate(
            device,
            "vkGetDisplayModePropertiesKHR",
            |target| target.driver.table.vkGetDisplayModePropertiesKHR,
            count,
            |function, target| function(target.handle, display, count, properties),
        )
    }
}

/// Implements `vkCreateDisplayModeKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn create_display_mode_khr(
    device: PhysicalDeviceHandle<Chain>,
    display: VkDisplayKHR,
    create_info: *const VkDisplayModeCreateInfoKHR,
    callbacks: *const VkAllocationCallbacks,
    mode: *mut VkDisplayModeKHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkCreateDisplayModeKHR") };
    if !target.allows(InstanceExtension::VK_KHR_display) {
        return VkResult::VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    match target.driver.table.vkCreateDisplayModeKHR {
        // SAFETY: the driver's function receives the driver's own handle and the caller's parameters.
        Some(function) => unsafe { function(target.handle, display, create_info, callbacks, mode) },
        None => {
            target.missing(LogBits::ERROR);
            VkResult::VK_ERROR_INITIALIZATION_FAILED
        }
    }
}

/// Implements `vkGetDisplayPlaneCapabilitiesKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_display_plane_capabilities_khr(
    device: PhysicalDeviceHandle<Chain>,
    mode: VkDisplayModeKHR,
    plane: u32,
    capabilities: *mut VkDisplayPlaneCapabilitiesKHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetDisplayPlaneCapabilitiesKHR") };
    if !target.allows(InstanceExtension::VK_KHR_display) {
        return VkResult::VK_SUCCESS;
    }
    if let Some(function) = target.driver.table.vkGetDisplayPlaneCapabilitiesKHR {
        // SAFETY: the driver's function receives the driver's own handle and the caller's parameters.
        return unsafe { function(target.handle, mode, plane, capabilities) };
    }
    target.missing(LogBits::WARN);
    // SAFETY: Vulkan requires a writable structure, and NULL is checked.
    if let Some(capabilities) = unsafe { capabilities.as_mut() } {
        *capabilities = no_plane_capabilities();
    }
    VkResult::VK_SUCCESS
}

/// Returns zeroed capabilities of a plane, for a driver that cannot report them.
pub(super) fn no_plane_capabilities() -> VkDisplayPlaneCapabilitiesKHR {
    // SAFETY: the structure consists of numbers, for which zero is valid.
    unsafe { core::mem::zeroed() }
}

/// Implements `vkGetRandROutputDisplayEXT` at the end of the chain. If the driver lacks the command, the output has no display.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_rand_r_output_display_ext(
    device: PhysicalDeviceHandle<Chain>,
    server: *mut Display,
    output: RROutput,
    display: *mut VkDisplayKHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetRandROutputDisplayEXT") };
    if let Some(function) = target.driver.table.vkGetRandROutputDisplayEXT {
        // SAFETY: the driver's function receives the driver's own handle and the caller's parameters.
        return unsafe { function(target.handle, server, output, display) };
    }
    let name = target.driver.name();
    target.log(
        LogBits::INFO,
        format_args!("Emulating call in ICD \"{name}\" by returning null display"),
    );
    // SAFETY: Vulkan requires a writable handle, and NULL is checked.
    if let Some(display) = unsafe { display.as_mut() } {
        *display = VkDisplayKHR(0);
    }
    VkResult::VK_SUCCESS
}

/// Implements `vkReleaseDisplayEXT` at the end of the chain. If the driver lacks the command, no display can have been acquired, so the
/// call is invalid and ends the process.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handle comes from the lowest layer.
pub(crate) unsafe fn release_display_ext(device: PhysicalDeviceHandle<Chain>, display: VkDisplayKHR) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkReleaseDisplayEXT") };
    if let Some(function) = target.driver.table.vkReleaseDisplayEXT {
        // SAFETY: the driver's function receives the driver's own handle and the caller's parameter.
        return unsafe { function(target.handle, display) };
    }
    log::fatal(format_args!(
        "ICD associated with VkPhysicalDevice does not support ReleaseDisplayEXT, so no display of \"{}\" can have \
         been acquired",
        target.driver.name()
    ));
    os::abort()
}
