//! Requests that an allocator and its arrays make to the application's callbacks (APP-170).

use super::{HostAllocator, HostText, HostVec};
use crate::generated::types::{VkAllocationCallbacks, VkSystemAllocationScope};
use allocator_api2::alloc::{Allocator, Layout};
use core::alloc::GlobalAlloc;
use core::cell::RefCell;
use core::ffi::c_void;
use core::ptr::NonNull;
use os::memory::CHeap;

const SCOPE: VkSystemAllocationScope = VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_OBJECT;

/// The calls that callbacks received, oldest first.
#[derive(Default)]
struct Calls(RefCell<Vec<String>>);

impl Calls {
    /// Removes and returns the calls so far.
    fn take(&self) -> Vec<String> {
        self.0.take()
    }
}

/// Records a call.
///
/// # Safety
/// `calls` points to a [`Calls`].
unsafe fn note(calls: *mut c_void, call: String) {
    // SAFETY: the caller promises that `calls` points to a `Calls`.
    unsafe { &*calls.cast::<Calls>() }.0.borrow_mut().push(call);
}

unsafe extern "system" fn allocate(
    calls: *mut c_void,
    size: usize,
    alignment: usize,
    scope: VkSystemAllocationScope,
) -> *mut c_void {
    assert_eq!(scope, SCOPE);
    // SAFETY: all callbacks here get a `Calls` as user data, and the size is not zero.
    unsafe {
        note(calls, format!("allocate {size} {alignment}"));
        CHeap.alloc(Layout::from_size_align(size, alignment).unwrap()).cast()
    }
}

unsafe extern "system" fn reallocate(
    calls: *mut c_void,
    block: *mut c_void,
    size: usize,
    alignment: usize,
    scope: VkSystemAllocationScope,
) -> *mut c_void {
    assert_eq!(scope, SCOPE);
    // SAFETY: the user data is a `Calls`; the block is from the heap, whose blocks all have this alignment.
    unsafe {
        note(calls, format!("reallocate {size} {alignment}"));
        let layout = Layout::from_size_align(size, alignment).unwrap();
        CHeap.realloc(block.cast(), layout, size.max(8)).cast()
    }
}

unsafe extern "system" fn free(calls: *mut c_void, block: *mut c_void) {
    // SAFETY: the user data is a `Calls`; the block is from the heap, which ignores the layout.
    unsafe {
        note(calls, "free".into());
        CHeap.dealloc(block.cast(), Layout::new::<u8>());
    }
}

unsafe extern "system" fn notify(
    _: *mut c_void,
    _: usize,
    _: crate::generated::types::VkInternalAllocationType,
    _: VkSystemAllocationScope,
) {
}

fn callbacks(calls: &Calls) -> VkAllocationCallbacks {
    VkAllocationCallbacks {
        pUserData: core::ptr::from_ref(calls).cast_mut().cast(),
        pfnAllocation: Some(allocate),
        pfnReallocation: Some(reallocate),
        pfnFree: Some(free),
        pfnInternalAllocation: Some(notify),
        pfnInternalFree: Some(notify),
    }
}

fn allocator(callbacks: &VkAllocationCallbacks) -> HostAllocator {
    // SAFETY: the callbacks are valid and outlive the allocator.
    unsafe { HostAllocator::new(callbacks, SCOPE) }
}

fn layout(size: usize, alignment: usize) -> Layout {
    Layout::from_size_align(size, alignment).unwrap()
}

#[test]
fn app_170_nothing_is_asked_for_no_bytes() {
    let calls = Calls::default();
    for allocator in [allocator(&callbacks(&calls)), HostAllocator::system()] {
        let empty = allocator.allocate(layout(0, 64)).unwrap();
        assert_eq!((empty.len(), empty.cast::<u8>().addr().get() % 64), (0, 0));
        // SAFETY: the block was allocated with this layout.
        unsafe { allocator.deallocate(empty.cast(), layout(0, 64)) };
        assert!(calls.take().is_empty());
    }
}

#[test]
fn app_170_blocks_have_the_size_and_at_least_a_usual_alignment() {
    let calls = Calls::default();
    let allocator = allocator(&callbacks(&calls));
    for (size, alignment, expected) in [(1, 1, 8), (24, 8, 8), (64, 32, 32)] {
        let block = allocator.allocate(layout(size, alignment)).unwrap();
        assert_eq!(block.len(), size);
        // SAFETY: the block was allocated with this layout.
        unsafe { allocator.deallocate(block.cast(), layout(size, alignment)) };
        assert_eq!(calls.take(), [format!("allocate {size} {expected}"), "free".into()]);
    }
}

/// Resizes a block that is filled with one byte, and returns the calls that this causes.
fn resized(allocator: HostAllocator, calls: &Calls, old: usize, new: usize) -> Vec<String> {
    let block = allocator.allocate(layout(old, 1)).unwrap();
    // SAFETY: the block has `old` bytes, and each call gets the layout that the block has at that time.
    unsafe {
        block.cast::<u8>().write_bytes(7, old);
        calls.take();
        let moved = if old < new {
            allocator.grow(block.cast(), layout(old, 1), layout(new, 1))
        } else {
            allocator.shrink(block.cast(), layout(old, 1), layout(new, 1))
        };
        let moved: NonNull<[u8]> = moved.unwrap();
        let told = calls.take();
        assert_eq!(moved.len(), new);
        let kept = core::slice::from_raw_parts(moved.cast::<u8>().as_ptr(), old.min(new));
        assert!(kept.iter().all(|&byte| byte == 7), "{old} {new}");
        allocator.deallocate(moved.cast(), layout(new, 1));
        calls.take();
        told
    }
}

#[test]
fn app_170_a_block_that_grows_or_shrinks_is_reallocated() {
    let calls = Calls::default();
    let given = callbacks(&calls);
    let resized = |old, new| resized(allocator(&given), &calls, old, new);
    assert_eq!(resized(16, 32), ["reallocate 32 8"]);
    assert_eq!(resized(1, 2), ["reallocate 2 8"]);
    assert_eq!(resized(2, 1), ["reallocate 1 8"]);
    // The callbacks are never called for a block without bytes.
    assert_eq!(resized(0, 16), ["allocate 16 8"]);
    assert_eq!(resized(16, 0), ["free"]);
    assert!(resized(0, 0).is_empty());
}

#[test]
fn app_170_without_reallocation_a_block_is_copied() {
    let calls = Calls::default();
    let given = VkAllocationCallbacks {
        pfnReallocation: None,
        ..callbacks(&calls)
    };
    let resized = |old, new| resized(allocator(&given), &calls, old, new);
    assert_eq!(resized(16, 32), ["allocate 32 8", "free"]);
    assert_eq!(resized(32, 16), ["allocate 16 8", "free"]);
}

#[test]
fn app_170_callbacks_without_the_two_that_are_needed_are_not_used() {
    /// A function that removes one callback.
    type LeaveOut = fn(&mut VkAllocationCallbacks);
    let calls = Calls::default();
    let whole = callbacks(&calls);
    assert!(HostAllocator::is_complete(&whole));
    let without: [(LeaveOut, bool); 5] = [
        (|given| given.pfnAllocation = None, true),
        (|given| given.pfnReallocation = None, false),
        (|given| given.pfnFree = None, true),
        (|given| given.pfnInternalAllocation = None, false),
        (|given| given.pfnInternalFree = None, false),
    ];
    for (number, (leave_out, is_system)) in without.into_iter().enumerate() {
        let mut given = whole;
        leave_out(&mut given);
        assert!(!HostAllocator::is_complete(&given), "{number}");
        let made = allocator(&given);
        assert_eq!(
            (made.is_system(), made.as_ptr().is_null()),
            (is_system, is_system),
            "{number}"
        );
    }
}

#[test]
fn app_170_an_object_falls_back_to_the_callbacks_of_its_parent() {
    let calls = Calls::default();
    let given = callbacks(&calls);
    let (own, system) = (allocator(&given), HostAllocator::system());
    assert!(!system.or(own).is_system() && !own.or(system).is_system());
    assert!(system.or(system).is_system());
}

#[test]
fn app_170_arrays_grow_by_what_they_need() {
    let calls = Calls::default();
    let given = callbacks(&calls);
    let mut array = HostVec::try_from_slice(&[1_u8, 2], allocator(&given)).unwrap();
    assert_eq!(calls.take(), ["allocate 2 8"]);
    array.try_fill_to(2, 9).unwrap();
    array.try_fill_to(1, 9).unwrap();
    assert_eq!((&array[..], calls.take().len()), (&[1, 2][..], 0));
    array.try_fill_to(5, 9).unwrap();
    assert_eq!((&array[..], array.capacity()), (&[1, 2, 9, 9, 9][..], 5));
    array.try_reserve_exact(3).unwrap();
    assert_eq!(array.capacity(), 8);
    calls.take();
    array.try_append(&[4, 5, 6]).unwrap();
    assert_eq!((&array[..], calls.take().len()), (&[1, 2, 9, 9, 9, 4, 5, 6][..], 0));
    array.truncate(1);
    array.try_push(3).unwrap();
    assert_eq!((array.pop(), &array[..]), (Some(3), &[1][..]));
    array.clear();
    assert!(array.is_empty());
    // SAFETY: a `u32` may consist of bytes that are all zero.
    let zeroed = unsafe { HostVec::<u32>::try_zeroed(3, allocator(&given)) }.unwrap();
    assert_eq!(&zeroed[..], [0, 0, 0]);
    calls.take();
    let text = HostText::try_new(b"ab\0c", allocator(&given)).unwrap();
    assert_eq!((text.bytes(), text.as_c_str()), (&b"ab"[..], c"ab"));
    assert_eq!(calls.take(), ["allocate 3 8"]);
}
