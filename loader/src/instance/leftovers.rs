//! What drivers made for the application's surfaces, messengers and report callbacks, and what is left of it in the end
//! (DRV-188).

use super::{Instance, InstanceDriver};
use crate::alloc::{HostAllocator, HostBox};
use crate::generated::types::{VkAllocationCallbacks, VkSystemAllocationScope};
use crate::handle::{Driver, MessengerHandle, ReportCallbackHandle, SurfaceHandle};
use crate::messenger::{Kind, Registered};
use crate::slots::HandleTable;
use os::Mutex;

/// NULL or the address of callbacks.
fn address(callbacks: Option<&VkAllocationCallbacks>) -> *const VkAllocationCallbacks {
    callbacks.map_or(core::ptr::null(), core::ptr::from_ref)
}

impl InstanceDriver {
    /// The driver's objects behind callbacks of one kind, by slot.
    pub(crate) fn callback_handles(&self, kind: Kind) -> &Mutex<HandleTable> {
        match kind {
            Kind::Messenger => &self.messengers,
            Kind::Report => &self.report_callbacks,
        }
    }

    /// Destroys the driver's object behind a callback. Zero, and a driver that cannot destroy, are left alone (APP-191).
    ///
    /// # Safety
    /// `handle` is zero or the driver's live object of this kind; `callbacks` is NULL or valid; the driver's instance
    /// lives.
    pub(crate) unsafe fn destroy_callback(&self, kind: Kind, handle: u64, callbacks: *const VkAllocationCallbacks) {
        if handle == 0 {
            return;
        }
        match kind {
            Kind::Messenger => {
                if let Some(destroy) = self.table.vkDestroyDebugUtilsMessengerEXT {
                    // SAFETY: by this function's contract.
                    unsafe { destroy(self.handle, MessengerHandle::from_raw(handle), callbacks) };
                }
            }
            Kind::Report => {
                if let Some(destroy) = self.table.vkDestroyDebugReportCallbackEXT {
                    // SAFETY: by this function's contract.
                    unsafe { destroy(self.handle, ReportCallbackHandle::from_raw(handle), callbacks) };
                }
            }
        }
    }

    /// Destroys the surface that the driver made for a slot, if it did.
    ///
    /// # Safety
    /// `callbacks` is NULL or valid; the driver's instance lives.
    pub(crate) unsafe fn destroy_surface(&self, slot: usize, callbacks: *const VkAllocationCallbacks) {
        let handle = self.surfaces.lock().take(slot);
        if let (Some(destroy), true) = (self.table.vkDestroySurfaceKHR, handle != 0) {
            // SAFETY: the driver's function with its own instance and a surface it made, which no thread can reach any more.
            unsafe { destroy(self.handle, SurfaceHandle::<Driver>::from_raw(handle), callbacks) };
        }
    }

    /// Destroys what this driver made for surfaces and callbacks that are left, each with the allocation callbacks given at its
    /// creation. Called before the driver's own instance is destroyed.
    pub(super) fn destroy_leftovers(&self, instance: &Instance) {
        let mut next = 0;
        while let Some((slot, saved)) = instance.surface_at_or_after(next) {
            // SAFETY: a copy of valid callbacks; the driver's instance still lives.
            unsafe { self.destroy_surface(slot, address(saved.as_ref())) };
            next = slot + 1;
        }
        for kind in Kind::ALL {
            let mut next = 0;
            while let Some((slot, _, saved)) = instance.messengers.next_slot(kind, next, Registered::saved) {
                let handle = self.callback_handles(kind).lock().take(slot);
                // SAFETY: the handle is the driver's own, taken out of its table so that it is destroyed once; the
                // driver's instance still lives.
                unsafe { self.destroy_callback(kind, handle, address(saved.as_ref())) };
                next = slot + 1;
            }
        }
    }
}

impl Instance {
    /// Where the memory of surfaces comes from.
    pub(crate) fn surface_allocator(&self) -> HostAllocator {
        self.allocator
            .scoped(VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_OBJECT)
    }

    /// Frees the loader's surface in a slot and then the slot.
    pub(crate) fn free_surface(&self, slot: usize) {
        let released = self.surface_slots.lock().release(slot);
        if let Some(surface) = released {
            // SAFETY: the object was boxed with this allocator; only the thread that empties its slot frees it.
            drop(unsafe { HostBox::from_raw(surface.as_ptr(), self.surface_allocator()) });
        }
    }

    /// The first slot with a surface that is not below `slot`, and the complete callbacks of that surface's creation.
    fn surface_at_or_after(&self, slot: usize) -> Option<(usize, Option<VkAllocationCallbacks>)> {
        let slots = self.surface_slots.lock();
        slots.at_or_after(slot).map(|(slot, surface)| {
            // SAFETY: an object is freed only after it left the table, which is locked.
            (slot, unsafe { surface.as_ref() }.complete_callbacks())
        })
    }

    /// Frees the loader's part of surfaces and callbacks that the application forgot. Called when every driver is gone.
    pub(super) fn free_leftovers(&self) {
        while let Some((slot, _)) = self.surface_at_or_after(0) {
            self.free_surface(slot);
        }
        for kind in Kind::ALL {
            while let Some((slot, object, ())) = self.messengers.next_slot(kind, 0, |_| ()) {
                self.messengers.release(kind, slot);
                // SAFETY: the slot held the only reference; the application may no longer use the handle.
                unsafe { Registered::free(object) };
            }
        }
    }
}
