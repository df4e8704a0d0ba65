//! The heap of the process.

use core::alloc::{GlobalAlloc, Layout};
use std::alloc::System;

/// The heap that the standard library takes blocks from.
pub struct CHeap;

// SAFETY: all is passed on to the system's allocator.
unsafe impl GlobalAlloc for CHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: passed on.
        unsafe { System.realloc(block, layout, size) }
    }
}
