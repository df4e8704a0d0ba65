//! The heap of the process.

use core::alloc::{GlobalAlloc, Layout};
use std::alloc::System;

/// The heap from which the standard library allocates blocks.
pub struct CHeap;

// SAFETY: every function calls the same function of the system's allocator.
unsafe impl GlobalAlloc for CHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises a layout whose size is not zero, as `System.alloc` demands.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises a layout whose size is not zero, as `System.alloc_zeroed` demands.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller promises a block of this allocator with this layout, as `System.dealloc` demands.
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises a block of this allocator with this layout, and a size that is not zero, as `System.realloc` demands.
        unsafe { System.realloc(block, layout, size) }
    }
}
