//! The drivers' objects for surfaces, messengers and report callbacks, and the cleanup of objects that the application did not destroy
//! (DRV-188).

use super::{Instance, InstanceDriver};
use crate::alloc::{HostAllocator, HostBox};
use crate::generated::types::{VkAllocationCallbacks, VkSystemAllocationScope};
use crate::handle::{Driver, MessengerHandle, ReportCallbackHandle, SurfaceHandle};
use crate::late::Real;
use crate::messenger::{Kind, Registered};
use crate::slots::HandleTable;
use os::Mutex;

/// Returns NULL or the address of the callbacks.
fn address(callbacks: Option<&VkAllocationCallbacks>) -> *const VkAllocationCallbacks {
    callbacks.map_or(core::ptr::null(), core::ptr::from_ref)
}

impl InstanceDriver {
    /// Returns the driver's objects for callbacks of one kind, by slot.
    pub(crate) fn callback_handles(&self, kind: Kind) -> &Mutex<HandleTable> {
        match kind {
            Kind::Messenger => &self.messengers,
            Kind::Report => &self.report_callbacks,
        }
    }

    /// Destroys the driver's object for a callback. Does nothing if the handle is zero or the driver has no such function (APP-191).
    ///
    /// # Safety
    /// `handle` is zero or the driver's live object of the kind `kind`; `callbacks` is NULL or valid; the driver's instance lives.
    pub(crate) unsafe fn destroy_callback(&self, kind: Kind, handle: u64, callbacks: *const VkAllocationCallbacks) {
        // SAFETY: the caller promises all that `destroy_callback_of` demands.
        unsafe { Self::destroy_callback_of((&self.table, self.handle), kind, handle, callbacks) };
    }

    /// Destroys an object like [`InstanceDriver::destroy_callback`], with the functions and the instance of a driver.
    ///
    /// # Safety
    /// `handle` is zero or a live object of the kind `kind` in the instance; `callbacks` is NULL or valid; the instance lives.
    pub(crate) unsafe fn destroy_callback_of(
        (table, instance): Real<'_>,
        kind: Kind,
        handle: u64,
        callbacks: *const VkAllocationCallbacks,
    ) {
        if handle == 0 {
            return;
        }
        match kind {
            Kind::Messenger => {
                if let Some(destroy) = table.vkDestroyDebugUtilsMessengerEXT {
                    // SAFETY: the caller promises a live messenger of this driver, and callbacks that are NULL or valid.
                    unsafe { destroy(instance, MessengerHandle::from_raw(handle), callbacks) };
                }
            }
            Kind::Report => {
                if let Some(destroy) = table.vkDestroyDebugReportCallbackEXT {
                    // SAFETY: the caller promises a live report callback of this driver, and callbacks that are NULL or valid.
                    unsafe { destroy(instance, ReportCallbackHandle::from_raw(handle), callbacks) };
                }
            }
        }
    }

    /// Destroys the surface that the driver created for a slot, if there is one.
    ///
    /// # Safety
    /// `callbacks` is NULL or valid; the driver's instance lives.
    pub(crate) unsafe fn destroy_surface(&self, slot: usize, callbacks: *const VkAllocationCallbacks) {
        let handle = self.surfaces.lock().take(slot);
        if let (Some(destroy), true) = (self.table.vkDestroySurfaceKHR, handle != 0) {
            // SAFETY: instance and surface belong to this driver, and no other thread can take the surface from the table again.
            unsafe { destroy(self.handle, SurfaceHandle::<Driver>::from_raw(handle), callbacks) };
        }
    }

    /// Destroys the driver's objects for surfaces and callbacks that the application did not destroy, each with the allocation callbacks of
    /// its creation. Called before the driver's own instance is destroyed.
    pub(super) fn destroy_leftovers(&self, instance: &Instance) {
        let mut next = 0;
        while let Some((slot, saved)) = instance.surface_at_or_after(next) {
            // SAFETY: the callbacks are a copy of valid ones, and the driver's instance still lives.
            unsafe { self.destroy_surface(slot, address(saved.as_ref())) };
            next = slot + 1;
        }
        for kind in Kind::ALL {
            let mut next = 0;
            while let Some((slot, _, saved)) = instance.messengers.next_slot(kind, next, Registered::saved) {
                let handle = self.callback_handles(kind).lock().take(slot);
                // SAFETY: the handle belongs to the driver and was taken from its table, so it is destroyed once. The driver's instance
                // still lives.
                unsafe { self.destroy_callback(kind, handle, address(saved.as_ref())) };
                next = slot + 1;
            }
        }
    }
}

impl Instance {
    /// Returns the allocator for surfaces.
    pub(crate) fn surface_allocator(&self) -> HostAllocator {
        self.allocator
            .scoped(VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_OBJECT)
    }

    /// Frees the loader's surface in a slot, and then the slot.
    pub(crate) fn free_surface(&self, slot: usize) {
        let released = self.surface_slots.lock().release(slot);
        if let Some(surface) = released {
            // SAFETY: the object was boxed with this allocator; only the thread that empties its slot frees it.
            drop(unsafe { HostBox::from_raw(surface.as_ptr(), self.surface_allocator()) });
        }
    }

    /// Returns the first slot at or after `slot` that has a surface, and the complete callbacks of that surface's creation.
    fn surface_at_or_after(&self, slot: usize) -> Option<(usize, Option<VkAllocationCallbacks>)> {
        let slots = self.surface_slots.lock();
        slots.at_or_after(slot).map(|(slot, surface)| {
            // SAFETY: an object is freed only after it has left the table, which is locked here.
            (slot, unsafe { surface.as_ref() }.complete_callbacks())
        })
    }

    /// Frees the loader's objects for surfaces and callbacks that the application did not destroy. Called after all drivers are destroyed.
    pub(super) fn free_leftovers(&self) {
        while let Some((slot, _)) = self.surface_at_or_after(0) {
            self.free_surface(slot);
        }
        for kind in Kind::ALL {
            while let Some((slot, object, ())) = self.messengers.next_slot(kind, 0, |_| ()) {
                self.messengers.release(kind, slot);
                // SAFETY: the slot held the only reference, and Vulkan forbids further use of the handle.
                unsafe { Registered::free(object) };
            }
        }
    }
}
