//! Order of devices by the adapters of the system, if the system has an order (DRV-144 to DRV-148).

use super::facts;
use super::objects;
use super::served;
use super::walk::{self, ATTEMPTS, Device, MOST_OF_ONE_DRIVER, scratch};
use crate::alloc::HostVec;
use crate::ffi::{self, TwoCalls};
use crate::generated::types::VkResult;
use crate::handle::{Driver, PhysicalDeviceHandle};
use crate::instance::{Instance, InstanceDriver};
use discovery::journal::{Journal, LogBits};
use os::AdapterId;

/// Devices of all drivers.
pub(super) struct Devices<'a> {
    /// Devices of adapters first, in the order of the adapters; then the rest, in the order in which the loader iterates over the drivers.
    pub(super) all: HostVec<Device<'a>>,
    /// Number of devices positioned by an adapter.
    pub(super) by_adapter: usize,
}

/// Asks every driver for its devices.
///
/// # Errors
/// Returns `VK_ERROR_OUT_OF_HOST_MEMORY`, or `VK_ERROR_INITIALIZATION_FAILED` if no driver has a device (DRV-121).
pub(super) fn devices<'a>(
    instance: &Instance,
    drivers: &[&'a InstanceDriver],
    journal: &mut Journal<'_>,
) -> Result<Devices<'a>, VkResult> {
    let mut all = HostVec::new(scratch(instance));
    let mut by_adapter = 0;
    if os::SORTED_BY_ADAPTERS {
        add_by_adapter(instance, drivers, &mut all, journal)?;
        keep_first(&mut all)?;
        by_adapter = all.len();
    }
    walk::add_devices(instance, drivers, &mut all, journal)?;
    served::drop_served(instance, &mut all, journal)?;
    if by_adapter > 0 {
        keep_first(&mut all)?;
    }
    walk::check_any(instance, &all, journal)?;
    Ok(Devices { all, by_adapter })
}

/// Removes devices that occur again, because several adapters have them or the drivers list them twice (DRV-146).
fn keep_first(all: &mut HostVec<Device<'_>>) -> Result<(), VkResult> {
    Ok(walk::keep_first_of_equal(
        all,
        |device| device.chain.raw().addr(),
        |device| device.chain = PhysicalDeviceHandle::NULL,
    )?)
}

/// Asks the drivers adapter by adapter. Devices whose driver translates Vulkan to Direct3D 12 come after the other devices of the same
/// adapter (DRV-147).
fn add_by_adapter<'a>(
    instance: &Instance,
    drivers: &[&'a InstanceDriver],
    all: &mut HostVec<Device<'a>>,
    journal: &Journal<'_>,
) -> Result<(), VkResult> {
    let Some(adapters) = os::adapters() else {
        journal.note(
            LogBits::INFO,
            format_args!("The system tells no order of adapters, so physical devices are not sorted"),
        );
        return Ok(());
    };
    for adapter in adapters {
        let first = all.len();
        let mut serving = 0;
        for &driver in drivers {
            let handles = handles_of(driver, adapter, instance, journal)?;
            serving += usize::from(!handles.is_empty());
            for &handle in &handles {
                all.try_push(Device {
                    driver,
                    handle,
                    chain: objects::chain_handle(driver, handle)?,
                    wish: 0,
                })?;
            }
        }
        if serving > 1 {
            put_translating_last(instance, all, first)?;
        }
    }
    Ok(())
}

/// Moves the devices whose driver translates Vulkan to Direct3D 12 to the end. Leaves the devices before index `first` in place.
fn put_translating_last(instance: &Instance, all: &mut HostVec<Device<'_>>, first: usize) -> Result<(), VkResult> {
    let mut last = HostVec::new(scratch(instance));
    let mut place = first;
    for index in first..all.len() {
        let device = all[index];
        if facts::is_on_d3d12(instance, &device)? {
            last.try_push(device)?;
        } else {
            all[place] = device;
            place += 1;
        }
    }
    all.truncate(place);
    Ok(all.try_append(&last)?)
}

/// Returns the devices of an adapter that one driver serves; an empty list if the driver does not serve the adapter (DRV-145).
///
/// # Errors
/// Out of host memory.
fn handles_of(
    driver: &InstanceDriver,
    adapter: AdapterId,
    instance: &Instance,
    journal: &Journal<'_>,
) -> Result<HostVec<PhysicalDeviceHandle<Driver>>, VkResult> {
    let allocator = scratch(instance);
    let Some(enumerate) = driver.enumerate_adapter_physical_devices else {
        return Ok(HostVec::new(allocator));
    };
    let asking = TwoCalls {
        most: MOST_OF_ONE_DRIVER,
        attempts: ATTEMPTS,
        even_empty: false,
    };
    let call = |count, array: *mut PhysicalDeviceHandle<Driver>| {
        // SAFETY: function and instance belong to this driver; the number is writable, and the array has room for that number of handles.
        let result = unsafe { enumerate(driver.handle, adapter.0, count, array) };
        if array.is_null() {
            walk::succeeds(result).map(|()| true)
        } else {
            ffi::is_whole(result)
        }
    };
    // SAFETY: a handle whose bytes are all zero is a null handle.
    match unsafe { asking.ask(allocator, call) } {
        Ok(mut handles) => {
            handles.retain(|handle| !handle.is_null());
            driver.devices.note(!handles.is_empty());
            Ok(handles)
        }
        Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY) => Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY),
        Err(result) => {
            let expected = [
                VkResult::VK_ERROR_INCOMPATIBLE_DRIVER,
                VkResult::VK_ERROR_INITIALIZATION_FAILED,
            ];
            if !expected.contains(&result) {
                journal.note(
                    LogBits::WARN,
                    format_args!(
                        "vk_icdEnumerateAdapterPhysicalDevices of {} failed with error code {}; its devices of this \
                         adapter are not sorted",
                        driver.name(),
                        result.0
                    ),
                );
            }
            Ok(HostVec::new(allocator))
        }
    }
}
