//! The object behind a messenger's or report callback's handle (APP-191).

use super::callback::Callback;
use crate::alloc::{HostAllocator, HostBox};
use crate::generated::types::{VkAllocationCallbacks, VkSystemAllocationScope};
use core::ptr::NonNull;
use os::memory::OutOfMemory;

/// Which of the two extensions an object belongs to. Each has slots and driver tables of its own (APP-178).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `VkDebugUtilsMessengerEXT`.
    Messenger,
    /// `VkDebugReportCallbackEXT`.
    Report,
}

impl Kind {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::Messenger, Self::Report];
}

/// A callback that the application registered. Read and written only under the lock of its instance's messengers.
pub(crate) struct Registered {
    /// Its place in the order of creation; zero while it hears nothing.
    pub serial: u64,
    /// What it calls.
    pub callback: Callback,
    /// The callbacks of the create call, for drivers, if all of them were set (DRV-188).
    saved: Option<VkAllocationCallbacks>,
    /// What the object itself was allocated with (APP-170).
    allocator: HostAllocator,
}

impl Registered {
    /// A new object that hears nothing yet, in memory of the create call's callbacks or else of the instance's.
    ///
    /// # Safety
    /// `callbacks` is NULL or valid.
    pub(crate) unsafe fn allocate(
        callback: Callback,
        callbacks: *const VkAllocationCallbacks,
        instance_allocator: HostAllocator,
    ) -> Result<NonNull<Self>, OutOfMemory> {
        let scope = VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_OBJECT;
        // SAFETY: by this function's contract.
        let allocator = unsafe { HostAllocator::new(callbacks, scope) }.or(instance_allocator);
        // SAFETY: by this function's contract.
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
        // SAFETY: by this function's contract the object is still valid.
        let allocator = unsafe { object.as_ref() }.allocator;
        // SAFETY: by this function's contract; the allocator is the one that made it.
        drop(unsafe { HostBox::from_raw(object.as_ptr(), allocator) });
    }

    /// The callbacks to destroy a driver's object with when the application forgot it (DRV-188).
    pub(crate) fn saved(&self) -> Option<VkAllocationCallbacks> {
        self.saved
    }
}
