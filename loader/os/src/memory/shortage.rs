//! The process allocator, with an emergency pool.
//!
//! Working memory of a call comes from the process allocator (APP-172, APP-177). Data that grows with the input is allocated in ways that
//! report a failure ([`Grow`](super::Grow)), and never comes from the emergency pool. All other allocations are small and made implicitly
//! by the language, for example the allocation of a reference-counted pointer. If one of these allocations fails, the language ends the
//! process.
//!
//! A loader must not end the process: its callers expect `VK_ERROR_OUT_OF_HOST_MEMORY` (APP-71, APP-174). Therefore a static block serves
//! these allocations. A call that can report a failure checks between its steps whether memory ran out ([`check`]); if so, the call ends
//! and frees its memory. Only a request that exceeds the emergency pool is refused.

use super::OutOfMemory;
use super::calls::{Calls, Noted};
use super::{CHeap, move_block};
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Memory that lets a call run to its end after the process ran out of memory.
static EMERGENCY_POOL: EmergencyPool = EmergencyPool::new();

/// Calls in progress that can report a failed allocation.
static CALLS: Calls = Calls::new();

/// Size of one unit in bytes, and alignment of every block.
const UNIT: usize = 16;
/// Number of units in the emergency pool. A process that has memory never touches the units, so they only cost address space.
const UNITS: usize = 16 * 1024;

/// Static memory from which blocks are handed out from front to back. After all blocks have come back, the next block is again at the
/// front.
#[repr(C, align(16))]
struct EmergencyPool {
    block: UnsafeCell<[u8; UNITS * UNIT]>,
    /// Number of units handed out since the pool was last unused; the upper half of the value counts the live blocks.
    state: AtomicUsize,
    /// Total number of blocks handed out, plus the number of failures that [`note`] has recorded.
    taken: AtomicUsize,
}

// SAFETY: the pool only hands out its bytes, and each range has one owner at a time.
unsafe impl Sync for EmergencyPool {}

const HALF: u32 = usize::BITS / 2;
const LOW: usize = (1 << HALF) - 1;
const _: () = assert!(UNITS <= LOW);

impl EmergencyPool {
    /// Returns an unused pool.
    const fn new() -> Self {
        Self {
            block: UnsafeCell::new([0; UNITS * UNIT]),
            state: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
        }
    }

    fn first(&self) -> *mut u8 {
        self.block.get().cast()
    }

    fn take(&self, layout: Layout) -> *mut u8 {
        let units = layout.size().div_ceil(UNIT);
        let taken = self.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |state| {
            let used = (state & LOW).saturating_add(units);
            (used <= UNITS && layout.align() <= UNIT).then_some(((state >> HALF) + 1) << HALF | used)
        });
        let Ok(before) = taken else {
            return core::ptr::null_mut();
        };
        self.taken.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the range that begins here is in the block and belongs only to this caller.
        unsafe { self.first().add((before & LOW) * UNIT) }
    }

    /// Returns one block to the pool. After the last block has come back, the pool is unused again.
    fn give_back(&self) {
        // `fetch_update` fails only if the closure returns `None`, which this closure never does.
        let _ = self
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |state| match (state >> HALF) - 1 {
                0 => Some(0),
                live => Some(live << HALF | state & LOW),
            });
    }

    fn holds(&self, block: *mut u8) -> bool {
        let first = self.first().addr();
        (first..first + UNITS * UNIT).contains(&block.addr())
    }
}

/// Marks the duration of one Vulkan call that can report a failed allocation. The call may run inside another Vulkan call, if a layer calls
/// the loader.
#[must_use]
pub struct Watch(#[allow(dead_code, reason = "the call ends with it")] Noted<'static>);

/// Starts a call: from here on, [`check`] reports whether the process ran out of memory. A failed allocation of another thread counts too,
/// because all threads share the memory, and timing alone decides which thread's allocation fails.
pub fn watch() -> Watch {
    Watch(CALLS.begin(EMERGENCY_POOL.taken.load(Ordering::Relaxed)))
}

/// Checks whether the process ran out of memory since [`watch`], even if no function has failed.
///
/// # Errors
/// The emergency pool was needed, or a failed allocation was noted.
pub fn check() -> Result<(), OutOfMemory> {
    if CALLS.began() == EMERGENCY_POOL.taken.load(Ordering::Relaxed) {
        Ok(())
    } else {
        Err(OutOfMemory)
    }
}

/// Makes [`check`] report a failed allocation. Called by code that cannot return the error.
#[cold]
pub fn note() {
    EMERGENCY_POOL.taken.fetch_add(1, Ordering::Relaxed);
}

/// Moves a block of the global allocator to a larger one that never comes from the emergency pool. On failure, returns NULL and changes
/// nothing.
///
/// # Safety
/// `block` belongs to the global allocator and has this layout, unless the size of the layout is zero. `size` is larger than that of the
/// layout, and valid for its alignment.
pub(super) unsafe fn grow(block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    if layout.size() != 0 && !EMERGENCY_POOL.holds(block) {
        // SAFETY: the block is not in the emergency pool, so it came from the system's allocator with this layout, as the caller promises.
        return unsafe { CHeap.realloc(block, layout, size) };
    }
    let Ok(wanted) = Layout::from_size_align(size, layout.align()) else {
        return core::ptr::null_mut();
    };
    // SAFETY: the caller promises a size above that of the layout, so it is not zero.
    let grown = unsafe { CHeap.alloc(wanted) };
    if !grown.is_null() && layout.size() != 0 {
        // SAFETY: the blocks are distinct and at least as large as the old layout; the old block is in the emergency pool and is freed
        // once.
        unsafe { grown.copy_from_nonoverlapping(block, layout.size()) };
        EMERGENCY_POOL.give_back();
    }
    grown
}

/// The process allocator: the C library's heap, then the emergency pool.
pub struct ProcessHeap;

// SAFETY: blocks come from the system's allocator or are disjoint ranges of the emergency pool. The address shows which, so each block goes
// back to its origin.
unsafe impl GlobalAlloc for ProcessHeap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises a layout whose size is not zero.
        let block = unsafe { CHeap.alloc(layout) };
        if block.is_null() {
            EMERGENCY_POOL.take(layout)
        } else {
            block
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises a layout whose size is not zero.
        let block = unsafe { CHeap.alloc_zeroed(layout) };
        if !block.is_null() {
            return block;
        }
        let block = EMERGENCY_POOL.take(layout);
        if !block.is_null() {
            // SAFETY: the block has this size. The block may have been used before, so its bytes are set to zero.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if EMERGENCY_POOL.holds(block) {
            EMERGENCY_POOL.give_back();
        } else {
            // SAFETY: the block is not in the emergency pool, so it came from the system's allocator.
            unsafe { CHeap.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !EMERGENCY_POOL.holds(block) {
            // SAFETY: the block is not in the emergency pool, so it came from the system's allocator.
            let moved = unsafe { CHeap.realloc(block, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller promises a live block with this layout, and a size that is not zero.
        unsafe { move_block(self, block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: ProcessHeap = ProcessHeap;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_174_the_emergency_pool_is_handed_out_once_and_whole_when_all_came_back() {
        static OWN: EmergencyPool = EmergencyPool::new();
        let small = Layout::new::<[u64; 13]>();
        let (first, second) = (OWN.take(small), OWN.take(small));
        assert!(OWN.holds(first) && OWN.holds(second));
        assert_eq!(second.addr() - first.addr(), 112);
        assert_eq!(OWN.taken.load(Ordering::Relaxed), 2);
        assert!(OWN.take(Layout::new::<[u8; UNITS * UNIT]>()).is_null());
        OWN.give_back();
        assert_eq!(OWN.take(small).addr() - first.addr(), 224);
        OWN.give_back();
        OWN.give_back();
        assert_eq!(OWN.take(small), first);
        assert!(!EMERGENCY_POOL.holds(first));
    }

    #[test]
    fn app_174_the_whole_emergency_pool_can_be_one_block() {
        static OWN: EmergencyPool = EmergencyPool::new();
        let whole = OWN.take(Layout::new::<[u8; UNITS * UNIT]>());
        assert_eq!(whole, OWN.first());
        assert!(OWN.take(Layout::new::<u8>()).is_null());
        let end = whole.wrapping_add(UNITS * UNIT);
        assert!(OWN.holds(end.wrapping_sub(1)) && !OWN.holds(end) && !OWN.holds(whole.wrapping_sub(1)));
        OWN.give_back();
        assert_eq!(OWN.take(Layout::new::<u8>()), whole);
        assert_eq!(OWN.taken.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn app_174_a_block_of_the_emergency_pool_grows_outside_of_the_pool() {
        let (layout, larger) = (Layout::new::<[u64; 4]>(), Layout::new::<[u64; 8]>());
        let block = EMERGENCY_POOL.take(layout);
        // SAFETY: the block has this size, and no other code uses it.
        unsafe { block.write_bytes(7, layout.size()) };
        // SAFETY: the block is in the emergency pool and has this layout, and the new size is larger.
        let grown = unsafe { grow(block, layout, larger.size()) };
        assert!(!grown.is_null() && !EMERGENCY_POOL.holds(grown));
        // SAFETY: `grow` succeeded, so the block has at least the size of the old layout.
        let kept = unsafe { core::slice::from_raw_parts(grown, layout.size()) };
        assert_eq!(kept, [7; 32]);
        assert_eq!(EMERGENCY_POOL.state.load(Ordering::Relaxed), 0, "the block came back");
        // SAFETY: `grow` took the block from the system's allocator, with this layout.
        unsafe { CHeap.dealloc(grown, larger) };
    }

    #[test]
    fn app_174_blocks_aligned_beyond_the_emergency_pool_are_refused() {
        #[repr(align(64))]
        struct Wide;
        static OWN: EmergencyPool = EmergencyPool::new();
        assert!(OWN.take(Layout::new::<Wide>()).is_null());
        let widest = Layout::from_size_align(UNIT, UNIT).unwrap();
        assert!(
            !OWN.take(widest).is_null(),
            "a block with the alignment of the pool's units is not refused"
        );
    }
}
