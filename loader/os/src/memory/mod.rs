//! Memory of the process.
//!
//! What a call needs for itself comes from the C library's heap. [`Grow`] is how that is asked for what grows, and [`shortage`]
//! keeps a shortage there from ending the process.

mod calls;
mod grow;
pub mod shortage;

pub use crate::system::CHeap;
pub use grow::{Grow, copy, copy_or_note, copy_terminated};
pub use shortage::ProcessHeap;

use core::alloc::{GlobalAlloc, Layout};

/// Memory ran out. Always returned to the caller as `VK_ERROR_OUT_OF_HOST_MEMORY` (DRV-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory;

/// Takes a block of another size from `heap`, moves the content there, and gives the old one back. NULL leaves all as it
/// was.
///
/// # Safety
/// That of `GlobalAlloc::realloc` with `heap`.
pub(crate) unsafe fn move_block(heap: &impl GlobalAlloc, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    let Ok(wanted) = Layout::from_size_align(size, layout.align()) else {
        return core::ptr::null_mut();
    };
    // SAFETY: by this function's contract the size is not zero.
    let moved = unsafe { heap.alloc(wanted) };
    if !moved.is_null() {
        // SAFETY: two distinct blocks of at least this size; the old one is given back once.
        unsafe {
            moved.copy_from_nonoverlapping(block, layout.size().min(size));
            heap.dealloc(block, layout);
        }
    }
    moved
}

/// Spreads the bits of an address, of which the lowest few are zero, over a whole word.
pub fn hash_of_address(address: usize) -> usize {
    let product = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product >> 32) as usize
}
