//! Extension lists of drivers, whose results are not trusted (DRV-108, DRV-241).

use super::OpenDriver;
use crate::alloc::{HostAllocator, HostVec};
use crate::ffi::{self, TwoCalls};
use crate::generated::dispatch::DriverTable;
use crate::generated::types::{VkExtensionProperties, VkResult};
use crate::handle::{Driver, PhysicalDeviceHandle};
use discovery::trace;
use promises::limits::MOST_EXTENSIONS;

const ASKING: TwoCalls = TwoCalls {
    most: MOST_EXTENSIONS,
    attempts: 1,
    even_empty: false,
};

/// Lists the instance extensions of a driver.
///
/// # Errors
/// The code that the driver returned, or out of host memory.
pub(crate) fn instance_extensions(
    driver: &OpenDriver,
    allocator: HostAllocator,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    if let Some(closed) = &driver.closed {
        let all = closed.extensions.iter().copied();
        return HostVec::try_from_iter(all, allocator).map_err(VkResult::from);
    }
    let enumerate = driver.interface.enumerate_instance_extensions;
    // SAFETY: the function belongs to the driver; the layer name may be NULL, the number is writable, and the array has room for as many elements.
    let listed = unsafe { all_extensions(allocator, |count, array| enumerate(core::ptr::null(), count, array)) }?;
    trace::write("offers", |record| {
        record.text("library", &driver.path);
        record.number("interface-version", driver.interface.version.into());
        record.objects("extensions", listed.iter(), |record, extension| {
            record.text("name", ffi::fixed_text(&extension.extensionName));
            record.number("version", extension.specVersion.into());
        });
    });
    Ok(listed)
}

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
