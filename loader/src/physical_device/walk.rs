//! Asking every driver for its devices (DRV-118 to DRV-121).

use super::objects;
use crate::alloc::{HostAllocator, HostVec, OutOfMemory};
use crate::generated::types::{VkResult, VkSystemAllocationScope};
use crate::handle::{Chain, Driver, PhysicalDeviceHandle};
use crate::instance::{Instance, InstanceDriver};
use crate::journal::reason::DeviceReason;
use crate::journal::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use crate::manifest::Text;
use core::sync::atomic::Ordering;

/// Most devices or groups accepted from one driver. A driver that claims more is not believed.
pub(super) const MOST_OF_ONE_DRIVER: u32 = 65_536;

/// A device that a driver reported.
#[derive(Clone, Copy)]
pub(super) struct Device<'a> {
    /// The driver.
    pub(super) driver: &'a InstanceDriver,
    /// The driver's handle.
    pub(super) handle: PhysicalDeviceHandle<Driver>,
    /// The handle that the lowest layer gets.
    pub(super) chain: PhysicalDeviceHandle<Chain>,
}

/// Memory that lives as long as one command.
pub(super) fn scratch(instance: &Instance) -> HostAllocator {
    instance
        .allocator
        .scoped(VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND)
}

/// Runs `work` with all drivers that are still in use; none of them is released meanwhile (DRV-131).
pub(super) fn with_drivers<R>(
    instance: &Instance,
    work: impl FnOnce(&[&InstanceDriver]) -> Result<R, VkResult>,
) -> Result<R, VkResult> {
    let mut pins = HostVec::new(scratch(instance));
    for pin in instance.drivers().filter_map(InstanceDriver::pin) {
        pins.try_push(pin)?;
    }
    let drivers = HostVec::try_from_iter(pins.iter().map(|pin| &**pin), scratch(instance))?;
    work(&drivers)
}

/// The devices of all drivers: driver by driver, in the order in which each reports them (DRV-143).
///
/// # Errors
/// Out of host memory, or that there is no device at all (DRV-121).
pub(super) fn devices<'a>(
    instance: &Instance,
    drivers: &[&'a InstanceDriver],
    journal: &mut Journal<'_>,
) -> Result<HostVec<Device<'a>>, VkResult> {
    let mut found = HostVec::new(scratch(instance));
    for &driver in drivers {
        let handles = match handles_of(driver, scratch(instance)) {
            Ok(handles) => handles,
            Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY) => return Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY),
            Err(result) => {
                fails(driver, "vkEnumeratePhysicalDevices", result, journal);
                HostVec::new(scratch(instance))
            }
        };
        driver
            .device_count
            .store(u32::try_from(handles.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
        let own = found.len();
        for &handle in &handles {
            // A driver that reports a device twice has it once.
            if found[own..]
                .iter()
                .any(|known: &Device<'_>| known.handle.raw() == handle.raw())
            {
                continue;
            }
            found.try_push(Device {
                driver,
                handle,
                chain: objects::chain_handle(driver, handle)?,
            })?;
        }
    }
    if found.is_empty() {
        journal.note(
            LogBits::ERROR,
            format_args!("setup_loader_term_phys_devs:  Failed to detect any valid GPUs in the current config"),
        );
        return Err(VkResult::VK_ERROR_INITIALIZATION_FAILED);
    }
    Ok(found)
}

fn handles_of(
    driver: &InstanceDriver,
    allocator: HostAllocator,
) -> Result<HostVec<PhysicalDeviceHandle<Driver>>, VkResult> {
    // Drivers without the function are not taken into an instance (DRV-112).
    let Some(enumerate) = driver.table.vkEnumeratePhysicalDevices else {
        return Ok(HostVec::new(allocator));
    };
    // SAFETY: the driver's function with its own instance, a writable number and room for as many handles as it says.
    two_calls(allocator, |count, array| unsafe {
        enumerate(driver.handle, count, array)
    })
}

/// Runs the two calls of a driver. Everything but success is an error, and what the second call claims beyond the room
/// it got is cut off (DRV-120).
fn two_calls(
    allocator: HostAllocator,
    mut call: impl FnMut(*mut u32, *mut PhysicalDeviceHandle<Driver>) -> VkResult,
) -> Result<HostVec<PhysicalDeviceHandle<Driver>>, VkResult> {
    let mut count = 0;
    succeeds(call(&mut count, core::ptr::null_mut()))?;
    let room = count.min(MOST_OF_ONE_DRIVER);
    let mut handles = HostVec::new(allocator);
    if room == 0 {
        return Ok(handles);
    }
    handles
        .try_fill_to(room as usize, PhysicalDeviceHandle::NULL)
        .map_err(|OutOfMemory| VkResult::VK_ERROR_OUT_OF_HOST_MEMORY)?;
    let mut written = room;
    succeeds(call(&mut written, handles.as_mut_ptr()))?;
    handles.truncate(written.min(room) as usize);
    // A driver may claim more than it wrote; nothing can be done with a device that has no handle.
    handles.retain(|handle| !handle.is_null());
    Ok(handles)
}

/// `VK_SUCCESS`, or the code as an error.
pub(super) fn succeeds(result: VkResult) -> Result<(), VkResult> {
    if result == VkResult::VK_SUCCESS {
        Ok(())
    } else {
        Err(result)
    }
}

/// Records that what a driver has to offer is left out of this call.
pub(super) fn fails(driver: &InstanceDriver, command: &'static str, result: VkResult, journal: &mut Journal<'_>) {
    journal.decide(Decision {
        subject: Subject::PhysicalDevice,
        name: Text::default(),
        path: driver.name().resolve().into(),
        verdict: Verdict::Dropped(Reason::from(DeviceReason::EnumerationFailed(command, result.0))),
        source: Source::Driver,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    type Handle = PhysicalDeviceHandle<Driver>;

    /// A driver that offers `offered` devices and then writes `written`, or fails.
    fn enumerate(offered: u32, written: &[usize], claims: u32, result: VkResult) -> Result<Vec<usize>, VkResult> {
        let call = |count: *mut u32, array: *mut Handle| {
            if array.is_null() {
                // SAFETY: `two_calls` passes a writable number.
                unsafe { *count = offered };
                return VkResult::VK_SUCCESS;
            }
            for (index, &number) in written.iter().enumerate() {
                assert!(index < offered as usize);
                let handle = Handle::from_raw(core::ptr::without_provenance_mut(number));
                // SAFETY: below the room that was offered.
                unsafe { array.add(index).write(handle) };
            }
            // SAFETY: as above.
            unsafe { *count = claims };
            result
        };
        let handles = two_calls(HostAllocator::system(), call)?;
        Ok(handles.iter().map(|handle| handle.raw().addr()).collect())
    }

    #[test]
    fn drv_120_more_than_was_asked_for_is_cut() {
        assert_eq!(enumerate(2, &[1, 2], 2, VkResult::VK_SUCCESS), Ok(vec![1, 2]));
        assert_eq!(enumerate(2, &[1, 2], 9, VkResult::VK_SUCCESS), Ok(vec![1, 2]));
        assert_eq!(enumerate(2, &[1], 1, VkResult::VK_SUCCESS), Ok(vec![1]));
    }

    #[test]
    fn drv_120_claimed_devices_without_handle_are_none() {
        assert_eq!(enumerate(3, &[1, 0, 2], 3, VkResult::VK_SUCCESS), Ok(vec![1, 2]));
    }

    #[test]
    fn drv_120_anything_but_success_is_a_failure() {
        for result in [
            VkResult::VK_INCOMPLETE,
            VkResult::VK_ERROR_DEVICE_LOST,
            VkResult::VK_ERROR_OUT_OF_HOST_MEMORY,
        ] {
            assert_eq!(enumerate(2, &[1, 2], 2, result), Err(result));
        }
    }

    #[test]
    fn drv_120_no_devices_need_no_second_call() {
        assert_eq!(enumerate(0, &[], 5, VkResult::VK_ERROR_DEVICE_LOST), Ok(vec![]));
    }
}
