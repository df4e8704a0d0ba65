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
/// The error code that the driver returned, or `VK_ERROR_OUT_OF_HOST_MEMORY`.
pub(crate) fn device_extensions(
    driver: &DriverTable,
    device: PhysicalDeviceHandle<Driver>,
    allocator: HostAllocator,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    let Some(enumerate) = driver.vkEnumerateDeviceExtensionProperties else {
        return Ok(HostVec::new(allocator));
    };
    // SAFETY: the function belongs to the driver of this device; the number is writable, and the array has room for that number of
    // elements.
    unsafe {
        all_extensions(allocator, |count, array| {
            enumerate(device, core::ptr::null(), count, array)
        })
    }
}

/// Returns the error code for a failed call. Replaces a code that is not an error, because such a code would tell the application that the
/// call wrote something.
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
/// The code that `call` returned, through [`failure`], or `VK_ERROR_OUT_OF_HOST_MEMORY`.
///
/// # Safety
/// `call` takes a writable number, and either NULL or an array with room for that number of elements.
pub(crate) unsafe fn all_extensions(
    allocator: HostAllocator,
    mut call: impl FnMut(*mut u32, *mut VkExtensionProperties) -> VkResult,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    let asked = |count, array: *mut VkExtensionProperties| match call(count, array) {
        // The first call asks only for the number of elements, so its answer cannot be incomplete.
        VkResult::VK_INCOMPLETE if array.is_null() => Err(VkResult::VK_INCOMPLETE),
        result => ffi::is_whole(result),
    };
    // SAFETY: an element consists of integers and an array of them, so all of its bytes may be zero.
    unsafe { ASKING.ask(allocator, asked) }.map_err(failure)
}
