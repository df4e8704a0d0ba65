//! One object a device and level, stable for the life of the instance (APP-117, DRV-128).

use super::{AppPhysicalDevice, ChainPhysicalDevice};
use crate::alloc::{HostAllocator, HostList, Made, OutOfMemory};
use crate::handle::{App, Chain, Driver, PhysicalDeviceHandle};
use crate::instance::{Instance, InstanceDriver};

/// The objects that an instance made for physical devices: the application's by the chain's handle, the chain's by
/// driver and driver's handle.
///
/// An object outlives its device: a handle that another thread still holds, or that a layer uses as a key, never comes
/// to mean something else. A device that comes back finds its old object.
pub struct PhysicalDevices {
    allocator: HostAllocator,
    app: HostList<AppPhysicalDevice>,
    chain: HostList<ChainPhysicalDevice>,
}

impl PhysicalDevices {
    /// No objects; allocates nothing.
    pub const fn new(allocator: HostAllocator) -> Self {
        Self {
            allocator,
            app: HostList::new(),
            chain: HostList::new(),
        }
    }
}

/// The application's handle for a device of the chain (DRV-125). Must not be called with the list locked.
pub(super) fn app_handle(
    instance: &Instance,
    handle: PhysicalDeviceHandle<Chain>,
) -> Result<PhysicalDeviceHandle<App>, OutOfMemory> {
    let same = |object: &AppPhysicalDevice| object.chain.raw() == handle.raw();
    let (found, allocator) = {
        let devices = instance.physical_devices.lock();
        (devices.app.find(same), devices.allocator)
    };
    let object = match found {
        Some(object) => object,
        // Memory comes from the application's callbacks, so it is taken while nothing is locked.
        None => {
            // SAFETY: the instance owns the object; the application may not use it after it destroyed the instance.
            let made = Made::try_new(unsafe { AppPhysicalDevice::new(instance, handle) }, allocator)?;
            let (object, spare) = instance.physical_devices.lock().app.adopt(made, same);
            drop(spare);
            object
        }
    };
    Ok(PhysicalDeviceHandle::from_raw(object.cast()))
}

/// The chain's handle for a device of a driver (DRV-124). Must not be called with the list locked.
pub(super) fn chain_handle(
    driver: &InstanceDriver,
    handle: PhysicalDeviceHandle<Driver>,
) -> Result<PhysicalDeviceHandle<Chain>, OutOfMemory> {
    let instance = driver.instance();
    let same =
        |object: &ChainPhysicalDevice| object.handle.raw() == handle.raw() && core::ptr::eq(object.driver, driver);
    let (found, allocator) = {
        let devices = instance.physical_devices.lock();
        (devices.chain.find(same), devices.allocator)
    };
    let object = match found {
        Some(object) => object,
        None => {
            // SAFETY: the instance owns the object, and its drivers live as long as itself.
            let made = Made::try_new(unsafe { ChainPhysicalDevice::new(driver, handle) }, allocator)?;
            let (object, spare) = instance.physical_devices.lock().chain.adopt(made, same);
            drop(spare);
            object
        }
    };
    Ok(PhysicalDeviceHandle::from_raw(object.cast()))
}
