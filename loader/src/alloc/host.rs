//! The application's allocation callbacks as an allocator value.

use crate::generated::types::{VkAllocationCallbacks, VkSystemAllocationScope};
use allocator_api2::alloc::{AllocError, Allocator, Layout};
use core::alloc::GlobalAlloc;
use core::ptr::NonNull;
use os::memory::CHeap;

/// Smallest alignment that the loader requests from the callbacks (APP-171).
const MINIMUM_ALIGNMENT: usize = 8;

/// Source of an object's memory: the application's callbacks, or the process allocator.
///
/// Each collection holds a copy of this value, so each block is freed through the callbacks that allocated it (APP-179b). Copying is cheap.
#[derive(Clone, Copy)]
pub struct HostAllocator {
    callbacks: Option<VkAllocationCallbacks>,
    scope: VkSystemAllocationScope,
}

// SAFETY: the callbacks are function pointers and an opaque user pointer; Vulkan requires the application to make them
// callable from any thread that calls the loader (Vulkan spec, "Host Memory").
unsafe impl Send for HostAllocator {}
// SAFETY: threads that share the value only read it, and the callbacks are callable from any thread.
unsafe impl Sync for HostAllocator {}

impl HostAllocator {
    /// Returns the process allocator.
    pub const fn system() -> Self {
        Self {
            callbacks: None,
            scope: VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE,
        }
    }

    /// Copies the application's callbacks.
    ///
    /// Uses the process allocator if `callbacks` is NULL or lacks the function that allocates or the function that frees.
    ///
    /// # Safety
    /// `callbacks` is NULL or points to a valid structure.
    pub unsafe fn new(callbacks: *const VkAllocationCallbacks, scope: VkSystemAllocationScope) -> Self {
        // SAFETY: the caller promises that the pointer is NULL or valid.
        let callbacks = unsafe { callbacks.as_ref() };
        let usable = callbacks.filter(|c| c.pfnAllocation.is_some() && c.pfnFree.is_some());
        Self {
            callbacks: usable.copied(),
            scope,
        }
    }

    /// Returns `true` if the application supplied all five functions. For the destruction of objects that the application did not destroy,
    /// drivers get only complete callbacks (DRV-188).
    pub fn is_complete(callbacks: &VkAllocationCallbacks) -> bool {
        callbacks.pfnAllocation.is_some()
            && callbacks.pfnReallocation.is_some()
            && callbacks.pfnFree.is_some()
            && callbacks.pfnInternalAllocation.is_some()
            && callbacks.pfnInternalFree.is_some()
    }

    /// Returns a copy with the same callbacks, for memory of the scope `scope` (APP-171).
    pub const fn scoped(self, scope: VkSystemAllocationScope) -> Self {
        Self {
            callbacks: self.callbacks,
            scope,
        }
    }

    /// Returns these callbacks if the application supplied any, otherwise `fallback` (APP-170).
    pub fn or(self, fallback: Self) -> Self {
        if self.callbacks.is_some() {
            self
        } else {
            fallback.scoped(self.scope)
        }
    }

    /// Returns `true` for the process allocator, which calls no code of the application.
    pub const fn is_system(&self) -> bool {
        self.callbacks.is_none()
    }

    /// Returns the callbacks as a pointer for a driver; NULL if the application supplied none (DRV-109).
    pub fn as_ptr(&self) -> *const VkAllocationCallbacks {
        self.callbacks.as_ref().map_or(core::ptr::null(), core::ptr::from_ref)
    }
}

fn aligned(layout: Layout) -> usize {
    layout.align().max(MINIMUM_ALIGNMENT)
}

// SAFETY: blocks come from the application's allocation function or from the C library's heap and stay valid until `deallocate`. Copies of
// the value hold the same callbacks, so any copy may free a block that another copy allocated. No function below uses the emergency pool,
// because each reports a failed allocation to its caller.
unsafe impl Allocator for HostAllocator {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() == 0 {
            // A block without bytes needs no memory: its address is aligned, and never dereferenced.
            let dangling = NonNull::new(core::ptr::without_provenance_mut::<u8>(layout.align())).ok_or(AllocError)?;
            return Ok(NonNull::slice_from_raw_parts(dangling, 0));
        }
        let block = match &self.callbacks {
            // SAFETY: the size of the layout is not zero.
            None => unsafe { CHeap.alloc(layout) },
            Some(callbacks) => {
                let allocate = callbacks.pfnAllocation.ok_or(AllocError)?;
                // SAFETY: the application's function receives its own user data, a size that is not zero, and an alignment that is a power
                // of two.
                unsafe { allocate(callbacks.pUserData, layout.size(), aligned(layout), self.scope) }.cast()
            }
        };
        let block = NonNull::new(block).ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(block, layout.size()))
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        if layout.size() == 0 {
            return;
        }
        match &self.callbacks {
            // SAFETY: without callbacks a block of non-zero size came from the C library's heap with this layout.
            None => unsafe { CHeap.dealloc(block.as_ptr(), layout) },
            Some(callbacks) => {
                if let Some(free) = callbacks.pfnFree {
                    // SAFETY: the size is not zero, so a function of the same callbacks returned the block.
                    unsafe { free(callbacks.pUserData, block.as_ptr().cast()) };
                }
            }
        }
    }

    unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: `Allocator::grow` demands of its caller that `block` came from this allocator with layout `old`.
        unsafe { self.resize(block, old, new) }
    }

    unsafe fn shrink(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: `Allocator::shrink` demands of its caller that `block` came from this allocator with layout `old`.
        unsafe { self.resize(block, old, new) }
    }
}

impl HostAllocator {
    /// Changes a block's size: through `pfnReallocation` if the application supplied it (APP-178), otherwise by copying (APP-173).
    ///
    /// # Safety
    /// `block` came from this allocator with layout `old`.
    unsafe fn resize(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let reallocate = self
            .callbacks
            .as_ref()
            .and_then(|c| Some((c.pfnReallocation?, c.pUserData)));
        if let (Some((reallocate, user_data)), true) = (reallocate, old.size() != 0 && new.size() != 0) {
            // SAFETY: the old size is not zero, so a function of the same callbacks returned the block.
            let moved = unsafe { reallocate(user_data, block.as_ptr().cast(), new.size(), aligned(new), self.scope) };
            let moved = NonNull::new(moved.cast::<u8>()).ok_or(AllocError)?;
            return Ok(NonNull::slice_from_raw_parts(moved, new.size()));
        }
        let moved = self.allocate(new)?;
        let kept = old.size().min(new.size());
        // SAFETY: both blocks hold at least `kept` bytes and are distinct; the old one is freed after the copy.
        unsafe {
            core::ptr::copy_nonoverlapping(block.as_ptr(), moved.cast::<u8>().as_ptr(), kept);
            self.deallocate(block, old);
        }
        Ok(moved)
    }
}
