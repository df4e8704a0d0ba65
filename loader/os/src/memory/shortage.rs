//! The process allocator, with an emergency pool behind it.
//!
//! Working memory of a call comes from the process allocator (APP-172, APP-177). What grows with the input asks in ways that
//! report a shortage ([`Grow`](super::Grow)), and never gets any of the emergency pool. The rest are small things that the language
//! makes without asking, such as a counted pointer, and ends the process for. A loader must not:
//! `VK_ERROR_OUT_OF_HOST_MEMORY` is what its callers expect (APP-71, APP-174). So these are served from a static block, and
//! a call that can report a failure asks between its steps whether memory ran out ([`check`]); it then ends, and gives back
//! what it took. Only a request that the emergency pool cannot serve either is refused.

use super::OutOfMemory;
use super::calls::{Calls, Noted};
use super::{CHeap, move_block};
use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};

/// What a call that ran out of memory ends with.
static EMERGENCY_POOL: EmergencyPool = EmergencyPool::new();

/// The calls that report a shortage of memory.
static CALLS: Calls = Calls::new();

/// Bytes of one unit; also the alignment of every block.
const UNIT: usize = 16;
/// Units of the emergency pool. They are never touched in a process that has memory, so they cost address space only.
const UNITS: usize = 16 * 1024;

/// A static block that is handed out once from front to back, and again when everything came back.
#[repr(C, align(16))]
struct EmergencyPool {
    block: UnsafeCell<[u8; UNITS * UNIT]>,
    /// Units handed out since the emergency pool was last whole, and in the upper half of the word the live blocks.
    state: AtomicUsize,
    /// How many blocks were ever taken, and how many shortages noted.
    taken: AtomicUsize,
}

// SAFETY: the bytes are only handed out, each range to one owner at a time.
unsafe impl Sync for EmergencyPool {}

const HALF: u32 = usize::BITS / 2;
const LOW: usize = (1 << HALF) - 1;
const _: () = assert!(UNITS <= LOW);

impl EmergencyPool {
    /// A whole pool.
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
        // SAFETY: the range from here lies within the block and belongs to this caller alone.
        unsafe { self.first().add((before & LOW) * UNIT) }
    }

    /// Takes one block back. The pool is whole again when that was the last one.
    fn give_back(&self) {
        // The closure always gives a value.
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

/// The extent of one call that reports a shortage of memory. It may lie within another one, when a layer calls back.
#[must_use]
pub struct Watch(#[allow(dead_code, reason = "the call ends with it")] Noted<'static>);

/// Starts a call: from here on [`check`] reports whether the process ran out of memory. A shortage that another thread
/// meets counts as well: which of two allocations is the last to succeed is chance.
pub fn watch() -> Watch {
    Watch(CALLS.begin(EMERGENCY_POOL.taken.load(Ordering::Relaxed)))
}

/// Reports that the process ran out of memory since [`watch`], though nothing has failed yet.
///
/// # Errors
/// When the emergency pool was needed, or a shortage was noted.
pub fn check() -> Result<(), OutOfMemory> {
    if CALLS.began() == EMERGENCY_POOL.taken.load(Ordering::Relaxed) {
        Ok(())
    } else {
        Err(OutOfMemory)
    }
}

/// Lets [`check`] report a shortage that the one who met it could not return.
#[cold]
pub fn note() {
    EMERGENCY_POOL.taken.fetch_add(1, Ordering::Relaxed);
}

/// Moves a block of the global allocator into a larger one, which never comes from the emergency pool. NULL leaves all as it was.
///
/// # Safety
/// `block` belongs to the global allocator and has this layout, unless that has no size. `size` is larger, and no more
/// than a layout of this alignment can have.
pub(super) unsafe fn grow(block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
    if layout.size() != 0 && !EMERGENCY_POOL.holds(block) {
        // SAFETY: not of the emergency pool, so of the system's allocator; the rest by this function's contract.
        return unsafe { CHeap.realloc(block, layout, size) };
    }
    let Ok(wanted) = Layout::from_size_align(size, layout.align()) else {
        return core::ptr::null_mut();
    };
    // SAFETY: larger than another size, so not zero.
    let grown = unsafe { CHeap.alloc(wanted) };
    if !grown.is_null() && layout.size() != 0 {
        // SAFETY: two distinct blocks of at least this size; the old one is of the emergency pool, and given back once.
        unsafe { grown.copy_from_nonoverlapping(block, layout.size()) };
        EMERGENCY_POOL.give_back();
    }
    grown
}

/// The process allocator: the C library's heap, then the emergency pool.
pub struct ProcessHeap;

// SAFETY: blocks come from the system's allocator or are disjoint ranges of the emergency pool; which of the two is told by
// the address, so each goes back to where it came from.
unsafe impl GlobalAlloc for ProcessHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on.
        let block = unsafe { CHeap.alloc(layout) };
        if block.is_null() {
            EMERGENCY_POOL.take(layout)
        } else {
            block
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: passed on.
        let block = unsafe { CHeap.alloc_zeroed(layout) };
        if !block.is_null() {
            return block;
        }
        let block = EMERGENCY_POOL.take(layout);
        if !block.is_null() {
            // SAFETY: the block has this size; it may have been used before.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if EMERGENCY_POOL.holds(block) {
            EMERGENCY_POOL.give_back();
        } else {
            // SAFETY: not of the emergency pool, so of the system's allocator.
            unsafe { CHeap.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !EMERGENCY_POOL.holds(block) {
            // SAFETY: not of the emergency pool, so of the system's allocator.
            let moved = unsafe { CHeap.realloc(block, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: passed on.
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
    fn app_174_blocks_aligned_beyond_the_emergency_pool_are_refused() {
        #[repr(align(64))]
        struct Wide;
        static OWN: EmergencyPool = EmergencyPool::new();
        assert!(OWN.take(Layout::new::<Wide>()).is_null());
        let widest = Layout::from_size_align(UNIT, UNIT).unwrap();
        assert!(!OWN.take(widest).is_null(), "what it can align");
    }
}
