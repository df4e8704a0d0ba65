//! Extension lists of drivers, whose results are not trusted (DRV-108, DRV-241).

use crate::alloc::{HostAllocator, HostVec};
use crate::ffi::{self, TwoCalls};
use crate::generated::dispatch::DriverTable;
use crate::generated::types::{VkExtensionProperties, VkResult};
use crate::handle::{Driver, PhysicalDeviceHandle};
use promises::limits::MOST_EXTENSIONS;

const ASKING: TwoCalls = TwoCalls {
    most: MOST_EXTENSIONS,
    attempts: 1,
    even_empty: false,
};

/// Lists the device extensions of a physical device, as its driver reports them.
///
/// # Errors
/// The code that the driver returned, or out of host memory.
pub(crate) fn device_extensions(
    driver: &DriverTable,
    device: PhysicalDeviceHandle<Driver>,
    allocator: HostAllocator,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    let Some(enumerate) = driver.vkEnumerateDeviceExtensionProperties else {
        return Ok(HostVec::new(allocator));
    };
    // SAFETY: the function belongs to the driver of this device; the number is writable, and the array has room for as many elements.
    unsafe {
        all_extensions(allocator, |count, array| {
            enumerate(device, core::ptr::null(), count, array)
        })
    }
}

/// Returns the code for a failed call. Replaces codes that are not errors, which would tell the application that something was written.
pub(crate) fn failure(result: VkResult) -> VkResult {
    if result.0 < 0 {
        result
    } else {
        VkResult::VK_ERROR_UNKNOWN
    }
}

/// Reads an extension list with two calls of a driver or layer.
///
/// # Errors
/// The code that `call` returned, through [`failure`], or out of host memory.
///
/// # Safety
/// `call` takes a writable number, and either NULL or room for as many elements.
pub(crate) unsafe fn all_extensions(
    allocator: HostAllocator,
    mut call: impl FnMut(*mut u32, *mut VkExtensionProperties) -> VkResult,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    let asked = |count, array: *mut VkExtensionProperties| match call(count, array) {
        // The first call asks for a number, which cannot be incomplete.
        VkResult::VK_INCOMPLETE if array.is_null() => Err(VkResult::VK_INCOMPLETE),
        result => ffi::is_whole(result),
    };
    // SAFETY: an element consists of plain numbers, so zero bytes are valid.
    unsafe { ASKING.ask(allocator, asked) }.map_err(failure)
}
