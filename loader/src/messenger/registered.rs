//! The object for the handle of a messenger or report callback (APP-191).

use super::callback::Callback;
use crate::alloc::{HostAllocator, HostBox};
use crate::generated::types::{VkAllocationCallbacks, VkSystemAllocationScope};
use core::ptr::NonNull;
use os::memory::OutOfMemory;

/// Extension to which an object belongs. Each extension has its own slots and driver tables (APP-178).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `VK_EXT_debug_utils`: the object is a `VkDebugUtilsMessengerEXT`.
    Messenger,
    /// `VK_EXT_debug_report`: the object is a `VkDebugReportCallbackEXT`.
    Report,
}

impl Kind {
    /// The kinds of objects with a callback: debug messengers and debug report callbacks.
    pub(crate) const ALL: [Self; 2] = [Self::Messenger, Self::Report];
}

/// A callback that the application registered. Read and written only under the lock of its instance's messengers.
pub(crate) struct Registered {
    /// Position in the order of creation; zero while the object receives no messages.
    pub serial: u64,
    /// Function of the application that receives the messages.
    pub callback: Callback,
    /// Allocation callbacks of the create call, for drivers, if all of them were set (DRV-188).
    saved: Option<VkAllocationCallbacks>,
    /// Allocator of the object itself (APP-170).
    allocator: HostAllocator,
}

impl Registered {
    /// Allocates an object that receives no messages yet, with the allocation callbacks of the create call, or else those of the instance.
    ///
    /// # Safety
    /// `callbacks` is NULL or valid.
    pub(crate) unsafe fn allocate(
        callback: Callback,
        callbacks: *const VkAllocationCallbacks,
        instance_allocator: HostAllocator,
    ) -> Result<NonNull<Self>, OutOfMemory> {
        let scope = VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_OBJECT;
        // SAFETY: the caller promises callbacks that are NULL or valid.
        let allocator = unsafe { HostAllocator::new(callbacks, scope) }.or(instance_allocator);
        // SAFETY: the caller promises callbacks that are NULL or valid.
        let saved = unsafe { callbacks.as_ref() }
            .filter(|callbacks| HostAllocator::is_complete(callbacks))
            .copied();
        let object = HostBox::try_new(
            Self {
                serial: 0,
                callback,
                saved,
                allocator,
            },
            allocator,
        )?;
        let (raw, _) = object.into_raw();
        NonNull::new(raw).ok_or(OutOfMemory)
    }

    /// Frees an object.
    ///
    /// # Safety
    /// `object` came from [`Registered::allocate`] and nothing refers to it any more.
    pub(crate) unsafe fn free(object: NonNull<Self>) {
        // SAFETY: the caller promises that the object came from `allocate` and was not freed.
        let allocator = unsafe { object.as_ref() }.allocator;
        // SAFETY: the caller promises that nothing refers to the object; this allocator created it.
        drop(unsafe { HostBox::from_raw(object.as_ptr(), allocator) });
    }

    /// Returns the allocation callbacks for the destruction of a driver's object that the application did not destroy (DRV-188).
    pub(crate) fn saved(&self) -> Option<VkAllocationCallbacks> {
        self.saved
    }
}
