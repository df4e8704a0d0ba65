//! Growth of arrays that fails if the system has no memory.
//!
//! The arrays' own methods use the global allocator, whose emergency pool ([`shortage`]) is reserved for code that cannot report a failed
//! allocation. The methods here report the failure to the caller. If a function cannot pass the failure on, the next
//! [`check`](super::shortage::check) reports it; until then, the incomplete result is harmless.

use super::{CHeap, OutOfMemory, shortage};
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::mem::{ManuallyDrop, take};

/// Smallest capacity to which [`Grow::try_room`] enlarges an array.
const FEWEST: usize = 4;

/// Growth that reports a failed allocation.
pub trait Grow<T> {
    /// Makes room for at least `more` further elements.
    ///
    /// # Errors
    /// The system has no memory; the array is unchanged.
    fn try_room(&mut self, more: usize) -> Result<(), OutOfMemory>;

    /// Makes room for exactly `more` further elements.
    ///
    /// # Errors
    /// The system has no memory; the array is unchanged.
    fn try_exact_room(&mut self, more: usize) -> Result<(), OutOfMemory>;

    /// Adds an element.
    ///
    /// # Errors
    /// The system has no memory; the element is dropped.
    fn try_push(&mut self, element: T) -> Result<(), OutOfMemory>;

    /// Adds an element and returns `true`. If memory runs out, drops the element, returns `false`, and makes the Vulkan call return
    /// `VK_ERROR_OUT_OF_HOST_MEMORY`.
    fn push_or_note(&mut self, element: T) -> bool;
}

impl<T> Grow<T> for Vec<T> {
    #[inline]
    fn try_room(&mut self, more: usize) -> Result<(), OutOfMemory> {
        if has_room(self, more) {
            return Ok(());
        }
        let needed = self.len().checked_add(more).ok_or(OutOfMemory)?;
        set_capacity(self, needed.max(self.capacity().saturating_mul(2)).max(FEWEST))
    }

    #[inline]
    fn try_exact_room(&mut self, more: usize) -> Result<(), OutOfMemory> {
        if has_room(self, more) {
            return Ok(());
        }
        set_capacity(self, self.len().checked_add(more).ok_or(OutOfMemory)?)
    }

    #[inline]
    fn try_push(&mut self, element: T) -> Result<(), OutOfMemory> {
        self.try_room(1)?;
        self.push(element);
        Ok(())
    }

    #[inline]
    fn push_or_note(&mut self, element: T) -> bool {
        let added = self.try_push(element).is_ok();
        if !added {
            shortage::note();
        }
        added
    }
}

/// Returns `true` if an array has room for `more` further elements.
fn has_room<T>(array: &Vec<T>, more: usize) -> bool {
    array.capacity() - array.len() >= more
}

/// Reallocates an array with a larger capacity.
fn set_capacity<T>(array: &mut Vec<T>, capacity: usize) -> Result<(), OutOfMemory> {
    let wanted = Layout::array::<T>(capacity).map_err(|_| OutOfMemory)?;
    let mut old = ManuallyDrop::new(take(array));
    let (block, length, held) = (old.as_mut_ptr(), old.len(), old.capacity());
    let layout = Layout::array::<T>(held).map_err(|_| OutOfMemory)?;
    // SAFETY: the block belongs to an array of this capacity, which is above zero because elements without a size return early. The wanted
    // size is larger.
    let grown = unsafe { shortage::grow(block.cast(), layout, wanted.size()) };
    let (block, capacity, result) = if grown.is_null() {
        (block, held, Err(OutOfMemory))
    } else {
        (grown.cast(), capacity, Ok(()))
    };
    // SAFETY: the block is the array's previous block or replaces that block. The block has this capacity, and the first `length` elements
    // of the array. The global allocator frees the block with the layout of that capacity.
    *array = unsafe { Vec::from_raw_parts(block, length, capacity) };
    result
}

/// Copies bytes.
///
/// # Errors
/// The system has no memory.
pub fn copy(bytes: &[u8]) -> Result<Vec<u8>, OutOfMemory> {
    copy_with_room(bytes, 0)
}

/// Copies bytes into an array that has room for exactly `more` further bytes.
fn copy_with_room(bytes: &[u8], more: usize) -> Result<Vec<u8>, OutOfMemory> {
    let room = bytes.len() + more;
    if room == 0 {
        return Ok(Vec::new());
    }
    let layout = Layout::array::<u8>(room).map_err(|_| OutOfMemory)?;
    // SAFETY: the size is not zero.
    let block = unsafe { CHeap.alloc(layout) };
    if block.is_null() {
        return Err(OutOfMemory);
    }
    // SAFETY: the block is new and has this layout, so it has room for the bytes and does not overlap them. The global allocator frees
    // blocks of this heap.
    Ok(unsafe {
        bytes.as_ptr().copy_to_nonoverlapping(block, bytes.len());
        Vec::from_raw_parts(block, bytes.len(), room)
    })
}

/// Copies bytes. If memory runs out, the copy is empty, and the Vulkan call returns `VK_ERROR_OUT_OF_HOST_MEMORY`.
pub fn copy_or_note(bytes: &[u8]) -> Vec<u8> {
    copy(bytes).unwrap_or_else(|OutOfMemory| {
        shortage::note();
        Vec::new()
    })
}

/// Copies bytes for the C library; `None` if they contain a NUL.
///
/// # Errors
/// The system has no memory.
pub fn copy_terminated(bytes: &[u8]) -> Result<Option<CString>, OutOfMemory> {
    // The capacity is exactly the length with the NUL, so the conversion does not move the bytes.
    let copy = copy_with_room(bytes, 1)?;
    if crate::find_byte(bytes, 0).is_some() {
        return Ok(None);
    }
    // SAFETY: the bytes contain no NUL.
    Ok(Some(unsafe { CString::from_vec_unchecked(copy) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_174_arrays_grow_and_keep_their_elements() {
        let mut array: Vec<u32> = Vec::new();
        array.try_exact_room(3).unwrap();
        assert_eq!(array.capacity(), 3);
        for number in 0..10_000 {
            array.try_push(number).unwrap();
        }
        assert!(array.iter().copied().eq(0..10_000));
        assert!(array.capacity() < 20_000);
        let mut units: Vec<()> = Vec::new();
        units.try_room(5).unwrap();
        assert!(units.push_or_note(()));
        assert_eq!(copy(b"abc").unwrap(), b"abc");
        assert_eq!(copy_or_note(b""), b"");
        assert_eq!(copy_terminated(b"abc").unwrap().as_deref(), Some(c"abc"));
        assert_eq!(copy_terminated(b"a\0c").unwrap(), None);
    }

    #[test]
    fn app_174_small_blocks_grow_too() {
        let mut array = Vec::new();
        array.try_exact_room(1).unwrap();
        assert_eq!(array.capacity(), 1);
        for byte in [7_u8, 8, 9, 10, 11] {
            array.try_push(byte).unwrap();
        }
        assert_eq!(array, [7, 8, 9, 10, 11]);
        assert_eq!(array.capacity(), 8);
        // The array does not grow as long as its capacity suffices.
        array.try_exact_room(3).unwrap();
        array.try_room(3).unwrap();
        array.try_exact_room(1).unwrap();
        assert_eq!(array.capacity(), 8);
        array.try_exact_room(4).unwrap();
        assert_eq!(array.capacity(), 9);
    }

    #[test]
    fn app_174_what_no_system_has_is_refused_and_nothing_changes() {
        let mut array = vec![1_u64, 2];
        assert_eq!(array.try_room(usize::MAX), Err(OutOfMemory));
        assert_eq!(array.try_room(usize::MAX / 32), Err(OutOfMemory));
        assert_eq!(array.try_exact_room(usize::MAX / 16 - 2), Err(OutOfMemory));
        assert_eq!(array, [1, 2]);
        array.try_room(1000).unwrap();
        assert_eq!(array, [1, 2]);
    }
}
