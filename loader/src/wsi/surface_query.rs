//! Queries of a surface (DRV-161 to DRV-165, DRV-178, DRV-179).

use super::query::{input, output};
use super::unwrap::surface_info_for;
use crate::generated::types::*;
use crate::handle::{Chain, PhysicalDeviceHandle, SurfaceHandle};
use crate::target::{Target, none};
use crate::translation;
use discovery::extension::InstanceExtension;
use discovery::journal::LogBits;
use discovery::log;

/// Implements `vkGetPhysicalDeviceSurfaceSupportKHR` at the end of the chain. If the driver's surface cannot be created, the answer is that
/// the surface is not supported (DRV-178).
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn get_physical_device_surface_support_khr(
    device: PhysicalDeviceHandle<Chain>,
    queue_family: u32,
    surface: SurfaceHandle<Chain>,
    supported: *mut VkBool32,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetPhysicalDeviceSurfaceSupportKHR") };
    if !target.allows(InstanceExtension::VK_KHR_surface) {
        return VkResult::VK_SUCCESS;
    }
    // SAFETY: Vulkan requires a writable output parameter, and NULL is checked.
    let supported = unsafe { output(supported, target.command, "pSupported") };
    *supported = VK_FALSE;
    let Some(function) = target.driver.table.vkGetPhysicalDeviceSurfaceSupportKHR else {
        target.missing(LogBits::ERROR);
        return VkResult::VK_SUCCESS;
    };
    let step = target.begin();
    // SAFETY: the caller promises a surface from the lowest layer.
    let result = match unsafe { target.surface(surface) } {
        // SAFETY: the driver's function receives the driver's own handles.
        Ok(surface) => unsafe { function(target.handle, queue_family, surface, supported) },
        Err(_) => VkResult::VK_SUCCESS,
    };
    step.end_with(|record| {
        record.signed("result", result.0.into());
        record.flag("supported", *supported != VK_FALSE);
    });
    result
}

/// Implements `vkGetPhysicalDeviceSurfaceCapabilitiesKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn get_physical_device_surface_capabilities_khr(
    device: PhysicalDeviceHandle<Chain>,
    surface: SurfaceHandle<Chain>,
    capabilities: *mut VkSurfaceCapabilitiesKHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetPhysicalDeviceSurfaceCapabilitiesKHR") };
    if !target.allows(InstanceExtension::VK_KHR_surface) {
        return VkResult::VK_SUCCESS;
    }
    // SAFETY: Vulkan requires a writable output parameter, and NULL is checked.
    let capabilities = unsafe { output(capabilities, target.command, "pSurfaceCapabilities") };
    let Some(function) = target.driver.table.vkGetPhysicalDeviceSurfaceCapabilitiesKHR else {
        target.missing(LogBits::ERROR);
        *capabilities = no_capabilities();
        return VkResult::VK_SUCCESS;
    };
    // SAFETY: the caller promises a surface from the lowest layer.
    match unsafe { target.surface(surface) } {
        // SAFETY: the driver's function receives the driver's own handles and the caller's parameters.
        Ok(surface) => target.recorded(|| unsafe { function(target.handle, surface, capabilities) }),
        Err(error) => error,
    }
}

/// Returns zeroed surface capabilities, for a driver that lacks `vkGetPhysicalDeviceSurfaceCapabilitiesKHR`.
pub(super) fn no_capabilities() -> VkSurfaceCapabilitiesKHR {
    // SAFETY: the structure consists of numbers, for which zero is valid.
    unsafe { core::mem::zeroed() }
}

/// Implements `vkGetPhysicalDeviceSurfaceFormatsKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn get_physical_device_surface_formats_khr(
    device: PhysicalDeviceHandle<Chain>,
    surface: SurfaceHandle<Chain>,
    count: *mut u32,
    formats: *mut VkSurfaceFormatKHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetPhysicalDeviceSurfaceFormatsKHR") };
    if !target.allows(InstanceExtension::VK_KHR_surface) {
        return VkResult::VK_SUCCESS;
    }
    // SAFETY: Vulkan requires a valid count, and NULL is checked.
    let count = unsafe { output(count, target.command, "pSurfaceFormatCount") };
    let Some(function) = target.driver.table.vkGetPhysicalDeviceSurfaceFormatsKHR else {
        target.missing(LogBits::ERROR);
        *count = 0;
        return VkResult::VK_SUCCESS;
    };
    // SAFETY: the caller promises a surface from the lowest layer.
    match unsafe { target.surface(surface) } {
        // SAFETY: the driver's function receives the driver's own handles and the caller's parameters.
        Ok(surface) => target.recorded(|| unsafe { function(target.handle, surface, count, formats) }),
        Err(error) => error,
    }
}

/// Implements `vkGetPhysicalDeviceSurfacePresentModesKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn get_physical_device_surface_present_modes_khr(
    device: PhysicalDeviceHandle<Chain>,
    surface: SurfaceHandle<Chain>,
    count: *mut u32,
    modes: *mut VkPresentModeKHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetPhysicalDeviceSurfacePresentModesKHR") };
    if !target.allows(InstanceExtension::VK_KHR_surface) {
        return VkResult::VK_SUCCESS;
    }
    // SAFETY: Vulkan requires a valid count, and NULL is checked.
    let count = unsafe { output(count, target.command, "pPresentModeCount") };
    let Some(function) = target.driver.table.vkGetPhysicalDeviceSurfacePresentModesKHR else {
        target.missing(LogBits::ERROR);
        *count = 0;
        return VkResult::VK_SUCCESS;
    };
    // SAFETY: the caller promises a surface from the lowest layer.
    match unsafe { target.surface(surface) } {
        // SAFETY: the driver's function receives the driver's own handles and the caller's parameters.
        Ok(surface) => target.recorded(|| unsafe { function(target.handle, surface, count, modes) }),
        Err(error) => error,
    }
}

/// Implements `vkGetPhysicalDeviceSurfaceFormats2KHR` at the end of the chain. Emulates the command with
/// `vkGetPhysicalDeviceSurfaceFormatsKHR` (DRV-161).
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn get_physical_device_surface_formats2_khr(
    device: PhysicalDeviceHandle<Chain>,
    info: *const VkPhysicalDeviceSurfaceInfo2KHR<Chain>,
    count: *mut u32,
    formats: *mut VkSurfaceFormat2KHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetPhysicalDeviceSurfaceFormats2KHR") };
    if !target.allows(InstanceExtension::VK_KHR_surface) {
        return VkResult::VK_SUCCESS;
    }
    // SAFETY: Vulkan requires a valid count, and NULL is checked.
    let count = unsafe { output(count, target.command, "pSurfaceFormatCount") };
    // SAFETY: Vulkan requires a valid structure, and NULL is checked.
    let info = unsafe { input(info, target.command, "pSurfaceInfo") };
    let answer = match target.driver.table.vkGetPhysicalDeviceSurfaceFormats2KHR {
        // SAFETY: the caller promises a surface from the lowest layer; the driver's function receives the driver's own handles.
        Some(function) => unsafe {
            surface_info_for(target.driver, info)
                .map(|own| target.recorded(|| function(target.handle, &own, count, formats)))
        },
        // SAFETY: Vulkan requires a valid structure, count and array; the surface comes from the lowest layer.
        None => unsafe { formats_by_first_generation(&target, info, count, formats) },
    };
    answer.unwrap_or_else(|error| error)
}

/// Answers with `vkGetPhysicalDeviceSurfaceFormatsKHR`; the list is empty if the driver lacks that command too.
///
/// # Errors
/// The error code of creating the driver's surface, or of the older command.
///
/// # Safety
/// The structure and the array are valid; the surface comes from the lowest layer.
unsafe fn formats_by_first_generation(
    target: &Target,
    info: &VkPhysicalDeviceSurfaceInfo2KHR<Chain>,
    count: &mut u32,
    formats: *mut VkSurfaceFormat2KHR,
) -> Result<VkResult, VkResult> {
    let older = target.driver.table.vkGetPhysicalDeviceSurfaceFormatsKHR;
    target.announce(Some("vkGetPhysicalDeviceSurfaceFormatsKHR"));
    // SAFETY: the caller promises a valid structure, so its chain is valid.
    unsafe { target.ignore_chain(info.pNext, "pSurfaceInfo->", none) };
    let Some(older) = older else {
        *count = 0;
        return Ok(VkResult::VK_SUCCESS);
    };
    // SAFETY: the caller promises a surface from the lowest layer.
    let surface = unsafe { target.surface(info.surface) }?;
    // SAFETY: the caller's array has room for `count` valid structures, and zeros are a valid format.
    unsafe {
        target.by_elements(
            count,
            formats,
            |count, formats| older(target.handle, surface, count, formats),
            |index, to: &mut VkSurfaceFormat2KHR, from| {
                target.ignore_chain(to.pNext, format_args!("pSurfaceFormats[{index}]."), none);
                to.surfaceFormat = from;
            },
        )
    }
}

/// Implements `vkGetPhysicalDeviceSurfacePresentModes2EXT` at the end of the chain. No older command can emulate this command (DRV-161).
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn get_physical_device_surface_present_modes2_ext(
    device: PhysicalDeviceHandle<Chain>,
    info: *const VkPhysicalDeviceSurfaceInfo2KHR<Chain>,
    count: *mut u32,
    modes: *mut VkPresentModeKHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetPhysicalDeviceSurfacePresentModes2EXT") };
    let Some(function) = target.driver.table.vkGetPhysicalDeviceSurfacePresentModes2EXT else {
        translation::unsupported("GetPhysicalDeviceSurfacePresentModes2EXT")
    };
    // SAFETY: Vulkan requires a valid count, and NULL is checked.
    let count = unsafe { output(count, target.command, "pPresentModeCount") };
    // SAFETY: Vulkan requires a valid structure, and NULL is checked.
    let info = unsafe { input(info, target.command, "pSurfaceInfo") };
    // SAFETY: the caller promises a surface from the lowest layer.
    match unsafe { surface_info_for(target.driver, info) } {
        // SAFETY: the driver's function receives the driver's own handles and the caller's parameters.
        Ok(own) => unsafe { function(target.handle, &own, count, modes) },
        Err(error) => error,
    }
}

/// Implements `vkGetPhysicalDevicePresentRectanglesKHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn get_physical_device_present_rectangles_khr(
    device: PhysicalDeviceHandle<Chain>,
    surface: SurfaceHandle<Chain>,
    count: *mut u32,
    rectangles: *mut VkRect2D,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetPhysicalDevicePresentRectanglesKHR") };
    // SAFETY: Vulkan requires a valid count, and NULL is checked.
    let count = unsafe { output(count, target.command, "pRectCount") };
    let Some(function) = target.driver.table.vkGetPhysicalDevicePresentRectanglesKHR else {
        // Tools match this text, in which the command has the name from a draft of the extension.
        log::emit(
            Some(target.instance()),
            LogBits::ERROR,
            format_args!("ICD associated with VkPhysicalDevice does not support GetPhysicalDevicePresentRectanglesKHX"),
        );
        *count = 0;
        return VkResult::VK_SUCCESS;
    };
    // SAFETY: the caller promises a surface from the lowest layer.
    match unsafe { target.surface(surface) } {
        // SAFETY: the driver's function receives the driver's own handles and the caller's parameters.
        Ok(surface) => unsafe { function(target.handle, surface, count, rectangles) },
        Err(error) => error,
    }
}
