//! Instance extensions of drivers, whose results are not trusted (DRV-108, DRV-241).

use super::OpenDriver;
use crate::alloc::{HostAllocator, HostVec};
use crate::driver_interface::all_extensions;
use crate::ffi;
use crate::generated::types::{VkExtensionProperties, VkResult};
use discovery::trace;

/// Lists the instance extensions of a driver.
///
/// # Errors
/// The error code that the driver returned, or `VK_ERROR_OUT_OF_HOST_MEMORY`.
pub(crate) fn instance_extensions(
    driver: &OpenDriver,
    allocator: HostAllocator,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    if let Some(closed) = &driver.closed {
        let all = closed.extensions().iter().copied();
        return HostVec::try_from_iter(all, allocator).map_err(VkResult::from);
    }
    let enumerate = driver.interface.enumerate_instance_extensions;
    // SAFETY: the function belongs to the driver; the layer name may be NULL, the number is writable, and the array has room for that
    // number of elements.
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
