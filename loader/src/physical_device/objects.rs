//! One object per device and level, with the same address for the life of the instance (APP-117, DRV-128).

use super::{AppPhysicalDevice, ChainPhysicalDevice};
use crate::alloc::{HostAllocator, HostTable, Keyed};
use crate::handle::{App, Chain, Driver, PhysicalDeviceHandle};
use crate::instance::{Instance, InstanceDriver};
use os::memory::{OutOfMemory, hash_of_address};

/// Objects of an instance for physical devices. The key of an application's object is the chain's handle. The key of a chain's object
/// consists of the driver and the driver's handle.
///
/// An object outlives its device, so a handle that another thread still holds, or that a layer uses as a key, never changes its meaning. A
/// device that is reported again gets its old object.
pub(crate) struct PhysicalDevices {
    allocator: HostAllocator,
    app: HostTable<AppPhysicalDevice>,
    chain: HostTable<ChainPhysicalDevice>,
}

impl PhysicalDevices {
    /// Returns an empty collection; allocates nothing.
    pub(crate) const fn new(allocator: HostAllocator) -> Self {
        Self {
            allocator,
            app: HostTable::new(allocator),
            chain: HostTable::new(allocator),
        }
    }
}

/// A kind of object that stands for a device. The device is the object's key.
trait Object: Keyed + Sized {
    /// Returns the table of this kind of object.
    fn table(devices: &mut PhysicalDevices) -> &mut HostTable<Self>;
}

impl Keyed for AppPhysicalDevice {
    type Key = usize;

    fn key(&self) -> usize {
        self.chain.raw().addr()
    }

    fn hash(key: usize) -> usize {
        hash_of_address(key)
    }
}

impl Object for AppPhysicalDevice {
    fn table(devices: &mut PhysicalDevices) -> &mut HostTable<Self> {
        &mut devices.app
    }
}

impl Keyed for ChainPhysicalDevice {
    /// The driver's handle and the driver, because two drivers may use the same handle.
    type Key = (usize, usize);

    fn key(&self) -> Self::Key {
        (self.handle.raw().addr(), self.driver.addr())
    }

    fn hash((handle, _): Self::Key) -> usize {
        hash_of_address(handle)
    }
}

impl Object for ChainPhysicalDevice {
    fn table(devices: &mut PhysicalDevices) -> &mut HostTable<Self> {
        &mut devices.chain
    }
}

/// Returns the object with the key of `make`'s result. Adds the result if no object has the key. The caller must not hold the lock of the
/// tables.
fn stable<T: Object>(instance: &Instance, make: impl Fn() -> T) -> Result<*mut T, OutOfMemory> {
    loop {
        let value = make();
        let (missing, allocator) = {
            let mut devices = instance.physical_devices.lock();
            let allocator = devices.allocator;
            let table = T::table(&mut devices);
            if let Some(known) = table.find(value.key()) {
                return Ok(known);
            }
            (table.missing_places(), allocator)
        };
        // The allocation may call the application's callbacks, so no lock is held.
        let room = HostTable::room(value, missing, allocator)?;
        // The unused memory is dropped after the lock is released.
        let (adopted, _leftover) = T::table(&mut instance.physical_devices.lock()).adopt(room);
        if let Some(object) = adopted {
            return Ok(object);
        }
    }
}

/// Returns the application's handle for a device of the chain (DRV-125).
///
/// # Errors
/// There is not enough memory.
pub(super) fn app_handle(
    instance: &Instance,
    handle: PhysicalDeviceHandle<Chain>,
) -> Result<PhysicalDeviceHandle<App>, OutOfMemory> {
    // SAFETY: the instance owns the object, and Vulkan forbids its use after the instance is destroyed.
    let object = stable(instance, || unsafe { AppPhysicalDevice::new(instance, handle) })?;
    Ok(PhysicalDeviceHandle::from_raw(object.cast()))
}

/// Returns the chain's handle for a device of a driver (DRV-124).
///
/// # Errors
/// There is not enough memory.
pub(super) fn chain_handle(
    driver: &InstanceDriver,
    handle: PhysicalDeviceHandle<Driver>,
) -> Result<PhysicalDeviceHandle<Chain>, OutOfMemory> {
    // SAFETY: the instance owns the object, and the drivers of the instance live as long as the instance.
    let object = stable(driver.instance(), || unsafe {
        ChainPhysicalDevice::new(driver, handle)
    })?;
    Ok(PhysicalDeviceHandle::from_raw(object.cast()))
}
