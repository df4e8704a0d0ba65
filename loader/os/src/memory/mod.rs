//! Memory of the process.
//!
//! Working memory of a Vulkan call comes from the C library's heap. [`Grow`] requests it for arrays that grow, and [`shortage`] keeps a
//! failed allocation from ending the process.

mod calls;
mod grow;
pub mod shortage;

pub use crate::system::CHeap;
pub use grow::{Grow, copy, copy_or_note, copy_terminated};
pub use shortage::ProcessHeap;

use core::alloc::{GlobalAlloc, Layout};

/// Error of a failed allocation. The application's Vulkan call then always returns `VK_ERROR_OUT_OF_HOST_MEMORY` (DRV-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// Allocates a block of another size from `heap`, copies the content, and frees the old block. On failure, returns NULL and changes
/// nothing.
///
/// # Safety
/// `block` came from `heap` with this layout, and `size` is not zero, as `GlobalAlloc::realloc` demands.
pub(crate) unsafe fn move_block(heap: &impl GlobalAlloc, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    let Ok(wanted) = Layout::from_size_align(size, layout.align()) else {
        return core::ptr::null_mut();
    };
    // SAFETY: the caller promises that the size is not zero.
    let moved = unsafe { heap.alloc(wanted) };
    if !moved.is_null() {
        // SAFETY: the blocks are distinct, each has at least the copied number of bytes, and the old block is freed once.
        unsafe {
            moved.copy_from_nonoverlapping(block, layout.size().min(size));
            heap.dealloc(block, layout);
        }
    }
    moved
}

/// Returns a 32-bit hash of an address. Alignment makes the lowest bits of most addresses zero, so these bits alone would be a bad hash.
pub fn hash_of_address(address: usize) -> usize {
    let product = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product >> 32) as usize
}
