//! One object a device and level, stable for the life of the instance (APP-117, DRV-128).

use super::{AppPhysicalDevice, ChainPhysicalDevice};
use crate::alloc::{HostAllocator, HostTable, Keyed};
use crate::handle::{App, Chain, Driver, PhysicalDeviceHandle};
use crate::instance::{Instance, InstanceDriver};
use os::memory::{OutOfMemory, hash_of_address};

/// The objects that an instance made for physical devices: the application's by the chain's handle, the chain's by
/// driver and driver's handle.
///
/// An object outlives its device: a handle that another thread still holds, or that a layer uses as a key, never comes
/// to mean something else. A device that comes back finds its old object.
pub(crate) struct PhysicalDevices {
    allocator: HostAllocator,
    app: HostTable<AppPhysicalDevice>,
    chain: HostTable<ChainPhysicalDevice>,
}

impl PhysicalDevices {
    /// No objects; allocates nothing.
    pub(crate) const fn new(allocator: HostAllocator) -> Self {
        Self {
            allocator,
            app: HostTable::new(allocator),
            chain: HostTable::new(allocator),
        }
    }
}

/// A kind of object: what it stands for is its key.
trait Object: Keyed + Sized {
    /// Where the objects of this kind are.
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
    /// The driver's handle, and the driver: two drivers may use the same number.
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

/// The object that stands for what `make` gives, made now unless there is one. Must not be called with the tables locked.
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
        // Memory comes from the application's callbacks, so it is taken while nothing is locked.
        let room = HostTable::room(value, missing, allocator)?;
        // What was not needed goes back when the lock is free again.
        let (adopted, _leftover) = T::table(&mut instance.physical_devices.lock()).adopt(room);
        if let Some(object) = adopted {
            return Ok(object);
        }
    }
}

/// The application's handle for a device of the chain (DRV-125).
///
/// # Errors
/// When memory runs out.
pub(super) fn app_handle(
    instance: &Instance,
    handle: PhysicalDeviceHandle<Chain>,
) -> Result<PhysicalDeviceHandle<App>, OutOfMemory> {
    // SAFETY: the instance owns the object; the application may not use it after it destroyed the instance.
    let object = stable(instance, || unsafe { AppPhysicalDevice::new(instance, handle) })?;
    Ok(PhysicalDeviceHandle::from_raw(object.cast()))
}

/// The chain's handle for a device of a driver (DRV-124).
///
/// # Errors
/// When memory runs out.
pub(super) fn chain_handle(
    driver: &InstanceDriver,
    handle: PhysicalDeviceHandle<Driver>,
) -> Result<PhysicalDeviceHandle<Chain>, OutOfMemory> {
    // SAFETY: the instance owns the object, and its drivers live as long as itself.
    let object = stable(driver.instance(), || unsafe {
        ChainPhysicalDevice::new(driver, handle)
    })?;
    Ok(PhysicalDeviceHandle::from_raw(object.cast()))
}
