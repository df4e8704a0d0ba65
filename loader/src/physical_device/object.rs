//! The two objects that stand for a physical device (DRV-124 to DRV-126).
//!
//! A layer may put a wrapper of its own between them, so neither assumes anything about the other.

use crate::generated::dispatch::InstanceTable;
use crate::handle::{Chain, Driver, PhysicalDeviceHandle};
use crate::instance::{Instance, InstanceDriver};
use crate::translation::PHYSICAL_DEVICE_MAGIC;

/// What the application's `VkPhysicalDevice` points to (APP-118).
#[repr(C)]
pub(crate) struct AppPhysicalDevice {
    /// First word of every dispatchable object; the same for an instance and all its physical devices (LAY-250).
    pub dispatch: *const InstanceTable,
    /// The instance it belongs to. Private, so that only [`AppPhysicalDevice::new`] makes such objects.
    instance: *const Instance,
    /// [`PHYSICAL_DEVICE_MAGIC`].
    pub magic: u64,
    /// What the chain calls the same device.
    pub chain: PhysicalDeviceHandle<Chain>,
}

/// What the lowest layer's `VkPhysicalDevice` points to (DRV-124).
#[repr(C)]
pub(crate) struct ChainPhysicalDevice {
    /// First word, as above. Private, so that only [`ChainPhysicalDevice::new`] makes such objects.
    #[allow(dead_code, reason = "layers read it")]
    dispatch: *const InstanceTable,
    /// The driver that owns the device.
    pub driver: *const InstanceDriver,
    /// The driver's handle.
    pub handle: PhysicalDeviceHandle<Driver>,
}

impl AppPhysicalDevice {
    /// An object of `instance` for the chain's `handle`.
    ///
    /// # Safety
    /// The instance stays where it is and outlives the object and all references to it.
    pub(crate) unsafe fn new(instance: &Instance, handle: PhysicalDeviceHandle<Chain>) -> Self {
        Self {
            dispatch: instance.table(),
            instance,
            magic: PHYSICAL_DEVICE_MAGIC,
            chain: handle,
        }
    }

    /// The instance it belongs to.
    pub(crate) fn instance(&self) -> &'static Instance {
        // SAFETY: by the contract of `new`.
        unsafe { &*self.instance }
    }
}

impl ChainPhysicalDevice {
    /// An object of `driver` for the driver's `handle`.
    ///
    /// # Safety
    /// The driver stays where it is and outlives the object and all references to it.
    pub(crate) unsafe fn new(driver: &InstanceDriver, handle: PhysicalDeviceHandle<Driver>) -> Self {
        Self {
            dispatch: driver.instance().table(),
            driver,
            handle,
        }
    }

    /// The driver that owns the device.
    pub(crate) fn driver(&self) -> &'static InstanceDriver {
        // SAFETY: by the contract of `new`.
        unsafe { &*self.driver }
    }
}

// SAFETY: the objects are immutable after construction and point at objects that live at least as long.
unsafe impl Send for AppPhysicalDevice {}
// SAFETY: as above.
unsafe impl Sync for AppPhysicalDevice {}
// SAFETY: as above.
unsafe impl Send for ChainPhysicalDevice {}
// SAFETY: as above.
unsafe impl Sync for ChainPhysicalDevice {}
