//! Tools that are active on a physical device; an empty list if its driver cannot report them.

use crate::driver_interface;
use crate::ffi;
use crate::generated::types::{
    VkPhysicalDevice, VkPhysicalDeviceProperties, VkPhysicalDeviceToolProperties, VkResult, VkSystemAllocationScope,
};
use crate::handle::Chain;
use crate::target::Target;
use core::mem::MaybeUninit;
use discovery::journal::LogBits;
use discovery::log;
use discovery::version::ApiVersion;
use os::memory::OutOfMemory;

/// Implements `vkGetPhysicalDeviceToolProperties` at the end of the chain: asks devices of Vulkan 1.3, even if the application uses another
/// version.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_tool_properties(
    physical_device: VkPhysicalDevice<Chain>,
    count: *mut u32,
    properties: *mut VkPhysicalDeviceToolProperties,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceToolProperties") };
    match target.driver.table.vkGetPhysicalDeviceToolProperties {
        Some(function) if device_minor_version(&target) >= 3 => {
            // SAFETY: function and device belong to the same driver; Vulkan requires a valid count and array.
            return unsafe { function(target.handle, count, properties) };
        }
        Some(_) => {}
        None => {
            log::emit(
                Some(target.instance()),
                LogBits::ERROR,
                format_args!(
                    "terminator_GetPhysicalDeviceToolProperties: The ICD's vkGetPhysicalDeviceToolProperties was NULL yet the \
                     physical device supports Vulkan API Version 1.3."
                ),
            );
        }
    }
    // SAFETY: Vulkan requires a writable count.
    unsafe { *count = 0 };
    VkResult::VK_SUCCESS
}

fn device_minor_version(target: &Target) -> u32 {
    let Some(function) = target.driver.table.vkGetPhysicalDeviceProperties else {
        return 0;
    };
    let mut properties = MaybeUninit::<VkPhysicalDeviceProperties>::zeroed();
    // SAFETY: function and device belong to the same driver, and the structure is writable.
    unsafe { function(target.handle, properties.as_mut_ptr()) };
    // SAFETY: zeros are valid for every member: each is a number, an array of numbers or an enumeration that takes any value.
    ApiVersion(unsafe { properties.assume_init() }.apiVersion).minor()
}

/// Implements `vkGetPhysicalDeviceToolPropertiesEXT` at the end of the chain: asks devices that list the extension.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_tool_properties_ext(
    physical_device: VkPhysicalDevice<Chain>,
    count: *mut u32,
    properties: *mut VkPhysicalDeviceToolProperties,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceToolPropertiesEXT") };
    if let Some(function) = target.driver.table.vkGetPhysicalDeviceToolPropertiesEXT {
        match lists_tooling_info(&target) {
            // SAFETY: function and device belong to the same driver; Vulkan requires a valid count and array.
            Ok(true) => return unsafe { function(target.handle, count, properties) },
            Ok(false) => {}
            Err(error) => return error.into(),
        }
    }
    // SAFETY: Vulkan requires a writable count.
    unsafe { *count = 0 };
    VkResult::VK_SUCCESS
}

/// Returns `true` if the device lists `VK_EXT_tooling_info`. A list that cannot be read is treated as empty.
///
/// # Errors
/// There is not enough memory (DRV-4).
fn lists_tooling_info(target: &Target) -> Result<bool, OutOfMemory> {
    let scope = VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND;
    let allocator = target.instance().allocator.scoped(scope);
    match driver_interface::device_extensions(&target.driver.table, target.handle, allocator) {
        Ok(listed) => Ok(listed
            .iter()
            .any(|extension| ffi::is_fixed_text(&extension.extensionName, b"VK_EXT_tooling_info"))),
        Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY) => Err(OutOfMemory),
        Err(_) => Ok(false),
    }
}
