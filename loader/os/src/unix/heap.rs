//! The C library's heap.

use crate::memory::move_block;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr::null_mut;

/// Alignment that every block of `malloc` has.
const USUAL_ALIGNMENT: usize = 2 * size_of::<usize>();

/// The heap of `malloc`, `free` and related functions. A program that supplies its own functions sees every block.
pub struct CHeap;

/// Returns `true` if `malloc` aligns a block of this size sufficiently. Some C libraries align a block less if it is smaller than its
/// alignment.
fn is_usual(alignment: usize, size: usize) -> bool {
    alignment <= USUAL_ALIGNMENT && alignment <= size
}

// SAFETY: all blocks come from the C library, whose `free` accepts each of them. Alignment beyond that of `malloc` is requested explicitly.
unsafe impl GlobalAlloc for CHeap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_usual(layout.align(), layout.size()) {
            // SAFETY: `malloc` can be called with any size.
            return unsafe { libc::malloc(layout.size()) }.cast();
        }
        let mut block = null_mut();
        let alignment = layout.align().max(size_of::<usize>());
        // SAFETY: the alignment is a power of two and a multiple of a pointer's size, and the address is writable.
        let failed = unsafe { libc::posix_memalign(&mut block, alignment, layout.size()) };
        if failed == 0 { block.cast() } else { null_mut() }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_usual(layout.align(), layout.size()) {
            // SAFETY: `calloc` can be called with any size.
            return unsafe { libc::calloc(layout.size(), 1) }.cast();
        }
        // SAFETY: the caller promises a layout whose size is not zero.
        let block = unsafe { self.alloc(layout) };
        if !block.is_null() {
            // SAFETY: the block is not null and has this size.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller of `dealloc` promises a block of this heap.
        unsafe { libc::free(block.cast()) };
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if is_usual(layout.align(), size) {
            // SAFETY: the caller promises a block of this heap; `realloc` aligns the new one sufficiently.
            return unsafe { libc::realloc(block.cast(), size) }.cast();
        }
        // SAFETY: the caller promises a live block with this layout, and a size that is not zero.
        unsafe { move_block(self, block, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_keep_their_content() {
        for (size, align) in [(1, 1), (3, 8), (24, 8), (1, 64), (1000, 64), (4096, 4096)] {
            let layout = Layout::from_size_align(size, align).unwrap();
            // SAFETY: the size is not zero, and each call gets the layout that the block has at that time.
            unsafe {
                let block = CHeap.alloc_zeroed(layout);
                assert!(!block.is_null() && block.addr().is_multiple_of(align));
                assert_eq!(block.read(), 0);
                block.write_bytes(7, size);
                let moved = CHeap.realloc(block, layout, size * 3);
                assert!(!moved.is_null() && moved.addr().is_multiple_of(align));
                assert_eq!((moved.read(), moved.add(size - 1).read()), (7, 7));
                CHeap.dealloc(moved, Layout::from_size_align(size * 3, align).unwrap());
            }
        }
    }
}
