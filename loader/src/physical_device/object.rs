//! The two objects for a physical device (DRV-124 to DRV-126).
//!
//! A layer may put its own wrapper between the two, so neither object assumes anything about the other.

use crate::generated::dispatch::InstanceTable;
use crate::handle::{Chain, Driver, PhysicalDeviceHandle};
use crate::instance::{Instance, InstanceDriver};
use crate::translation::PHYSICAL_DEVICE_MAGIC;

/// Object for the application's `VkPhysicalDevice` (APP-118).
#[repr(C)]
pub(crate) struct AppPhysicalDevice {
    /// First word of every dispatchable object; the same for an instance and all its physical devices (LAY-250).
    pub dispatch: *const InstanceTable,
    /// The instance of the device. The member is private, so that only [`AppPhysicalDevice::new`] makes these objects.
    instance: *const Instance,
    /// Magic word, always [`PHYSICAL_DEVICE_MAGIC`].
    pub magic: u64,
    /// The chain's handle of the same device.
    pub chain: PhysicalDeviceHandle<Chain>,
}

/// Object for the lowest layer's `VkPhysicalDevice` (DRV-124).
#[repr(C)]
pub(crate) struct ChainPhysicalDevice {
    /// First word of every dispatchable object. The member is private, so that only [`ChainPhysicalDevice::new`] makes these objects.
    #[allow(dead_code, reason = "layers read it")]
    dispatch: *const InstanceTable,
    /// The driver that owns the device.
    pub driver: *const InstanceDriver,
    /// The driver's handle of the device.
    pub handle: PhysicalDeviceHandle<Driver>,
}

impl AppPhysicalDevice {
    /// Creates an object of `instance` for the chain's `handle`.
    ///
    /// # Safety
    /// The instance keeps its address and outlives the object and all references to it.
    pub(crate) unsafe fn new(instance: &Instance, handle: PhysicalDeviceHandle<Chain>) -> Self {
        Self {
            dispatch: instance.table(),
            instance,
            magic: PHYSICAL_DEVICE_MAGIC,
            chain: handle,
        }
    }

    /// Returns the instance of the device.
    pub(crate) fn instance(&self) -> &'static Instance {
        // SAFETY: the caller of `new` promised that the instance outlives this object.
        unsafe { &*self.instance }
    }
}

impl ChainPhysicalDevice {
    /// Creates an object of `driver` for the driver's `handle`.
    ///
    /// # Safety
    /// The driver keeps its address and outlives the object and all references to it.
    pub(crate) unsafe fn new(driver: &InstanceDriver, handle: PhysicalDeviceHandle<Driver>) -> Self {
        Self {
            dispatch: driver.instance().table(),
            driver,
            handle,
        }
    }

    /// Returns the driver that owns the device.
    pub(crate) fn driver(&self) -> &'static InstanceDriver {
        // SAFETY: the caller of `new` promised that the driver outlives this object.
        unsafe { &*self.driver }
    }
}

// SAFETY: the object is immutable after construction, and its pointers point to objects that outlive it.
unsafe impl Send for AppPhysicalDevice {}
// SAFETY: the object is immutable after construction, and its pointers point to objects that outlive it.
unsafe impl Sync for AppPhysicalDevice {}
// SAFETY: the object is immutable after construction, and its pointers point to objects that outlive it.
unsafe impl Send for ChainPhysicalDevice {}
// SAFETY: the object is immutable after construction, and its pointers point to objects that outlive it.
unsafe impl Sync for ChainPhysicalDevice {}
