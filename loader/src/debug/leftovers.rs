//! What the application forgot to destroy before its instance (DRV-188).

use super::create_info::destroy;
use super::registered::{Kind, Registered};
use crate::generated::types::VkAllocationCallbacks;
use crate::instance::{Instance, InstanceDriver};

/// Destroys a driver's objects for all messengers and report callbacks that are left, each with the callbacks given at
/// its creation. Called before the driver's instance is destroyed.
pub fn release_all(instance: &Instance, driver: &InstanceDriver) {
    for kind in Kind::ALL {
        let mut slot = 0;
        while let Some((at, _, saved)) = instance.messengers.next_slot(kind, slot, Registered::saved) {
            let handle = kind.handles(driver).lock().take(at);
            let callbacks: *const VkAllocationCallbacks = saved.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
            // SAFETY: the handle is the driver's own, taken out of its table so that it is destroyed once; the
            // driver's instance still lives.
            unsafe { destroy(kind, driver, handle, callbacks) };
            slot = at + 1;
        }
    }
}

/// Frees the loader's objects that are left. Called when every driver is gone.
pub fn free_forgotten(instance: &Instance) {
    for kind in Kind::ALL {
        while let Some((slot, object, ())) = instance.messengers.next_slot(kind, 0, |_| ()) {
            instance.messengers.release(kind, slot);
            // SAFETY: the slot held the only reference; the application may no longer use the handle.
            unsafe { Registered::free(object) };
        }
    }
}
