//! Extension lists of drivers, read defensively (DRV-108, DRV-241).

use super::Driver;
use crate::alloc::{HostAllocator, HostVec};
use crate::generated::dispatch::DriverTable;
use crate::generated::types::{VkExtensionProperties, VkResult};
use crate::handle::{Driver as DriverLevel, PhysicalDeviceHandle};

/// Most extensions accepted from one list. Real drivers list a few hundred; a driver that claims more is not believed.
const MOST_EXTENSIONS: u32 = 65_536;

/// The instance extensions of a driver.
///
/// # Errors
/// What the driver returned, or out of host memory.
pub fn instance_extensions(
    driver: &Driver,
    allocator: HostAllocator,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    let enumerate = driver.interface.enumerate_instance_extensions;
    // SAFETY: the driver's function, with no layer name, a writable number and room for as many elements as it says.
    all_extensions(allocator, |count, array| unsafe {
        enumerate(core::ptr::null(), count, array)
    })
}

/// The device extensions of a physical device, as its driver lists them.
///
/// # Errors
/// What the driver returned, or out of host memory.
pub fn device_extensions(
    driver: &DriverTable,
    device: PhysicalDeviceHandle<DriverLevel>,
    allocator: HostAllocator,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    let Some(enumerate) = driver.vkEnumerateDeviceExtensionProperties else {
        return Ok(HostVec::new(allocator));
    };
    // SAFETY: the driver's function with its own device, otherwise as above.
    all_extensions(allocator, |count, array| unsafe {
        enumerate(device, core::ptr::null(), count, array)
    })
}

/// The code of a call that did not do what it was to do. One that is no error would tell the application that something was
/// written.
pub fn failure(result: VkResult) -> VkResult {
    if result.0 < 0 {
        result
    } else {
        VkResult::VK_ERROR_UNKNOWN
    }
}

/// Runs a two-call enumeration and keeps at most as many elements as were allocated, whatever the second call claims
/// (DRV-169).
///
/// # Errors
/// What `call` returned, as [`failure`] sees it, or out of host memory.
pub fn all_extensions(
    allocator: HostAllocator,
    mut call: impl FnMut(*mut u32, *mut VkExtensionProperties) -> VkResult,
) -> Result<HostVec<VkExtensionProperties>, VkResult> {
    let mut count = 0;
    let result = call(&mut count, core::ptr::null_mut());
    if result != VkResult::VK_SUCCESS {
        return Err(failure(result));
    }
    let offered = count.min(MOST_EXTENSIONS);
    if offered == 0 {
        return Ok(HostVec::new(allocator));
    }
    // SAFETY: a structure of numbers.
    let mut list = unsafe { HostVec::<VkExtensionProperties>::try_zeroed(offered as usize, allocator) }?;
    let mut written = offered;
    let result = call(&mut written, list.as_mut_ptr());
    if result != VkResult::VK_SUCCESS && result != VkResult::VK_INCOMPLETE {
        return Err(failure(result));
    }
    list.truncate(written.min(offered) as usize);
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that are left of a driver that offers `offered` extensions, then writes `written` and claims `claimed`.
    fn listed(offered: u32, written: u8, claimed: u32) -> Vec<u8> {
        let list = all_extensions(HostAllocator::system(), |count, array| {
            // SAFETY: the number is writable, and the array has room for as many elements as were offered.
            unsafe {
                *count = if array.is_null() { offered } else { claimed };
                for index in (0..written).filter(|_| !array.is_null()) {
                    (*array.add(usize::from(index))).extensionName[0] = (b'a' + index) as core::ffi::c_char;
                }
            }
            VkResult::VK_SUCCESS
        });
        let list = list.expect("no error and memory");
        list.iter().map(|extension| extension.extensionName[0] as u8).collect()
    }

    #[test]
    fn drv_169_the_smaller_of_both_counts_is_believed() {
        assert_eq!(listed(3, 3, 3), b"abc");
        assert_eq!(listed(3, 2, 2), b"ab");
        assert_eq!(listed(3, 0, 0), b"");
        assert_eq!(listed(2, 2, 9), b"ab");
        assert_eq!(listed(0, 0, 9), b"");
    }
}
