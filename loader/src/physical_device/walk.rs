//! Queries of every driver for its devices (DRV-118 to DRV-121).

use super::objects;
use crate::alloc::{HostAllocator, HostVec, Places};
use crate::ffi::{self, TwoCalls};
use crate::generated::types::{VkResult, VkSystemAllocationScope};
use crate::handle::{Chain, Driver, PhysicalDeviceHandle};
use crate::instance::{Instance, InstanceDriver, tell_nothing_left};
use crate::unopened::{BeforeOpening as _, KnownDrivers};
use core::fmt::{Display, Formatter};
use discovery::journal::reason::DeviceReason;
use discovery::journal::{Decision, Journal, LogBits, Reason, Source, Subject, Verdict};
use discovery::text::{Text, file_name};
use discovery::trace::Step;
use os::memory::OutOfMemory;
use os::{Raw, Show};
pub(super) use promises::limits::{ATTEMPTS, MOST_OF_ONE_DRIVER};

/// Upper bound on the number of devices or groups that are accepted from the chain, because the loader allocates as many elements as a
/// layer counts.
pub(super) const MOST_OF_A_CHAIN: u32 = 262_144;

/// A device that a driver reported.
#[derive(Clone, Copy)]
pub(super) struct Device<'a> {
    /// Driver that reported the device.
    pub(super) driver: &'a InstanceDriver,
    /// The driver's handle of the device.
    pub(super) handle: PhysicalDeviceHandle<Driver>,
    /// The handle that the lowest layer gets.
    pub(super) chain: PhysicalDeviceHandle<Chain>,
    /// Position that the user wishes for the device in the list; the first position if the user made no choice.
    pub(super) wish: usize,
}

/// Returns the allocator for memory that lives as long as one command.
pub(super) fn scratch(instance: &Instance) -> HostAllocator {
    instance
        .allocator
        .scoped(VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND)
}

/// Runs `work` with all drivers that are still in use. No driver is released meanwhile (DRV-131).
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

/// Adds the devices of all drivers: driver by driver, in the order in which each driver reports its devices (DRV-143).
///
/// # Errors
/// Out of host memory.
pub(super) fn add_devices<'a>(
    instance: &Instance,
    drivers: &[&'a InstanceDriver],
    found: &mut HostVec<Device<'a>>,
    journal: &mut Journal<'_>,
) -> Result<(), VkResult> {
    for &driver in drivers {
        for &handle in &reported(driver, instance, journal)? {
            found.try_push(Device {
                driver,
                handle,
                chain: objects::chain_handle(driver, handle)?,
                wish: 0,
            })?;
        }
    }
    Ok(())
}

/// Checks that there is a device.
///
/// # Errors
/// The list is empty (DRV-121).
pub(super) fn check_any(instance: &Instance, found: &[Device<'_>], journal: &mut Journal<'_>) -> Result<(), VkResult> {
    if found.is_empty() {
        let line = "setup_loader_term_phys_devs:  Failed to detect any valid GPUs in the current config";
        tell_nothing_left(instance, (LogBits::ERROR, line), without_devices(instance), journal);
        return Err(VkResult::VK_ERROR_INITIALIZATION_FAILED);
    }
    Ok(())
}

/// Returns a text that lists the drivers, for a message that no driver has a device.
fn without_devices(instance: &Instance) -> impl Display + '_ {
    Show(|out: &mut Formatter<'_>| {
        let mut begin = "No driver has a device: ";
        for driver in instance.drivers() {
            write!(out, "{begin}{}", Raw(file_name(driver.path())))?;
            begin = ", ";
        }
        Ok(())
    })
}

/// Returns the devices of one driver. If the driver fails to list them, returns its previous list: the failure may be temporary, and the
/// application's handles stay valid.
///
/// # Errors
/// Out of host memory.
fn reported(
    driver: &InstanceDriver,
    instance: &Instance,
    journal: &mut Journal<'_>,
) -> Result<HostVec<PhysicalDeviceHandle<Driver>>, VkResult> {
    let step = Step::Driver(driver.path()).begin(b"vkEnumeratePhysicalDevices");
    let answered = handles_of(driver, scratch(instance));
    step.end_with(|record| match &answered {
        Ok(handles) => {
            record.signed("result", 0);
            record.number("devices", handles.len() as u64);
        }
        Err(result) => record.signed("result", result.0.into()),
    });
    match answered {
        Ok(mut handles) => {
            keep_first_of_handles(&mut handles)?;
            driver.devices.remember(&handles, instance.allocator)?;
            let describe = |number: usize| driver.properties_of(handles[number]);
            KnownDrivers::compare_devices(driver.known, driver.path(), handles.len(), describe, journal);
            Ok(handles)
        }
        Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY) => Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY),
        Err(result) => {
            fails(driver, DeviceReason::EnumerationFailed(result.0), journal);
            Ok(driver.devices.remembered(scratch(instance))?)
        }
    }
}

/// Removes later duplicates from a list. `handle` returns the value to compare, and `clear` makes an element null.
pub(super) fn keep_first_of_equal<T>(
    list: &mut HostVec<T>,
    handle: impl Fn(&T) -> usize,
    clear: impl Fn(&mut T),
) -> Result<(), OutOfMemory> {
    if list.len() < 2 {
        return Ok(());
    }
    let places = Places::of(list.iter().map(&handle), list.allocator())?;
    for place in places.repeats() {
        clear(&mut list[place]);
    }
    list.retain(|item| handle(item) != 0);
    Ok(())
}

/// Removes devices that a driver reports twice.
fn keep_first_of_handles(handles: &mut HostVec<PhysicalDeviceHandle<Driver>>) -> Result<(), OutOfMemory> {
    keep_first_of_equal(
        handles,
        |handle| handle.raw().addr(),
        |handle| *handle = PhysicalDeviceHandle::NULL,
    )
}

fn handles_of(
    driver: &InstanceDriver,
    allocator: HostAllocator,
) -> Result<HostVec<PhysicalDeviceHandle<Driver>>, VkResult> {
    // Never happens, because the loader rejects a driver without this function (DRV-112).
    let Some(enumerate) = driver.table.vkEnumeratePhysicalDevices else {
        return Ok(HostVec::new(allocator));
    };
    let asking = TwoCalls {
        most: MOST_OF_ONE_DRIVER,
        attempts: ATTEMPTS,
        even_empty: false,
    };
    let call = |count, array: *mut PhysicalDeviceHandle<Driver>| {
        // SAFETY: function and instance belong to this driver; the number is writable, and the array has room for that number of handles.
        let result = unsafe { enumerate(driver.handle, count, array) };
        if array.is_null() {
            succeeds(result).map(|()| true)
        } else {
            ffi::is_whole(result)
        }
    };
    // SAFETY: a handle whose bytes are all zero is a null handle.
    let mut handles = unsafe { asking.ask(allocator, call) }?;
    // A driver may report more handles than it wrote; a device without a handle is useless.
    handles.retain(|handle| !handle.is_null());
    Ok(handles)
}

/// Returns any code but `VK_SUCCESS` as an error.
pub(super) fn succeeds(result: VkResult) -> Result<(), VkResult> {
    if result == VkResult::VK_SUCCESS {
        Ok(())
    } else {
        Err(result)
    }
}

/// Records that a driver's devices or groups are left out of this call.
pub(super) fn fails(driver: &InstanceDriver, reason: DeviceReason, journal: &mut Journal<'_>) {
    journal.decide(Decision {
        subject: Subject::PhysicalDevice,
        name: Text::default(),
        path: driver.name().resolve().into(),
        verdict: Verdict::Dropped(Reason::from(reason)),
        source: Source::Driver,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    type Handle = PhysicalDeviceHandle<Driver>;

    #[test]
    fn drv_120_a_device_that_is_reported_twice_is_one() {
        let numbers = [5, 3, 5, 7, 3, 3];
        let handles = numbers.map(|number| Handle::from_raw(core::ptr::without_provenance_mut(number)));
        let mut handles = HostVec::try_from_slice(&handles, HostAllocator::system()).expect("memory");
        keep_first_of_handles(&mut handles).expect("memory");
        assert_eq!(
            handles.iter().map(|handle| handle.raw().addr()).collect::<Vec<_>>(),
            [5, 3, 7]
        );
    }
}
