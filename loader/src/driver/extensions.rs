//! Extension lists of drivers, read defensively (DRV-108, DRV-241).

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

/// The instance extensions of a driver.
///
/// # Errors
/// What the driver returned, or out of host memory.
pub(crate) fn instance_extensions(
    driver: &OpenDriver,
    allocator: HostAllocator,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    let enumerate = driver.interface.enumerate_instance_extensions;
    // SAFETY: the driver's function, with no layer name, a writable number and room for as many elements as it says.
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

/// The device extensions of a physical device, as its driver lists them.
///
/// # Errors
/// What the driver returned, or out of host memory.
pub(crate) fn device_extensions(
    driver: &DriverTable,
    device: PhysicalDeviceHandle<Driver>,
    allocator: HostAllocator,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    let Some(enumerate) = driver.vkEnumerateDeviceExtensionProperties else {
        return Ok(HostVec::new(allocator));
    };
    // SAFETY: the driver's function with its own device, otherwise as above.
    unsafe {
        all_extensions(allocator, |count, array| {
            enumerate(device, core::ptr::null(), count, array)
        })
    }
}

/// The code of a call that did not do what it was to do. One that is no error would tell the application that something was
/// written.
pub(crate) fn failure(result: VkResult) -> VkResult {
    if result.0 < 0 {
        result
    } else {
        VkResult::VK_ERROR_UNKNOWN
    }
}

/// An extension list by two calls of a driver or a layer.
///
/// # Errors
/// What `call` returned, as [`failure`] sees it, or out of host memory.
///
/// # Safety
/// `call` takes a writable number and NULL or room for as many elements.
pub(crate) unsafe fn all_extensions(
    allocator: HostAllocator,
    mut call: impl FnMut(*mut u32, *mut VkExtensionProperties) -> VkResult,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    let asked = |count, array: *mut VkExtensionProperties| match call(count, array) {
        // Of a number there is no part.
        VkResult::VK_INCOMPLETE if array.is_null() => Err(VkResult::VK_INCOMPLETE),
        result => ffi::is_whole(result),
    };
    // SAFETY: an element is made of numbers.
    unsafe { ASKING.ask(allocator, asked) }.map_err(failure)
}
