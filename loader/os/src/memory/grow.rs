//! Arrays of the language that grow only where the system has memory.
//!
//! Their own ways to grow end in the global allocator, and so in the [`shortage`], which must be left to what
//! cannot report that memory ran out. These report it: to the caller, or, where a function has no way to, through the
//! next [`check`](super::shortage::check), and what they make meanwhile is harmless to go on with.

use super::{OutOfMemory, shortage};
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::mem::{ManuallyDrop, take};

/// Elements of the smallest block that is asked for when nothing says how many there will be.
const FEWEST: usize = 4;

/// Growth that reports a shortage.
pub trait Grow<T> {
    /// Makes room for `more` elements behind those that there are, and for further ones as they come.
    ///
    /// # Errors
    /// When the system has no memory; nothing changed then.
    fn try_room(&mut self, more: usize) -> Result<(), OutOfMemory>;

    /// Makes room for `more` elements and not more than that.
    ///
    /// # Errors
    /// When the system has no memory; nothing changed then.
    fn try_exact_room(&mut self, more: usize) -> Result<(), OutOfMemory>;

    /// Adds an element.
    ///
    /// # Errors
    /// When the system has no memory; the element is dropped then.
    fn try_push(&mut self, element: T) -> Result<(), OutOfMemory>;

    /// Adds an element, or leaves it out and lets the call end as out of memory. Returns whether it was added.
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

/// Returns `true` if an array has room for `more` elements behind those that there are.
fn has_room<T>(array: &Vec<T>, more: usize) -> bool {
    array.capacity() - array.len() >= more
}

/// Gives an array a larger block.
fn set_capacity<T>(array: &mut Vec<T>, capacity: usize) -> Result<(), OutOfMemory> {
    let wanted = Layout::array::<T>(capacity).map_err(|_| OutOfMemory)?;
    let mut old = ManuallyDrop::new(take(array));
    let (block, length, held) = (old.as_mut_ptr(), old.len(), old.capacity());
    let layout = Layout::array::<T>(held).map_err(|_| OutOfMemory)?;
    // SAFETY: the block of an array of this capacity, which is larger than zero after elements without a size are out;
    // the wanted size is larger.
    let grown = unsafe { shortage::grow(block.cast(), layout, wanted.size()) };
    let (block, capacity, result) = match grown.is_null() {
        true => (block, held, Err(OutOfMemory)),
        false => (grown.cast(), capacity, Ok(())),
    };
    // SAFETY: the array's own block, or one that has taken its place, of this capacity and with the same elements; the
    // global allocator takes it back with the layout of that capacity.
    *array = unsafe { Vec::from_raw_parts(block, length, capacity) };
    result
}

/// A copy of bytes.
///
/// # Errors
/// When the system has no memory.
pub fn copy(bytes: &[u8]) -> Result<Vec<u8>, OutOfMemory> {
    let mut copy = Vec::new();
    copy.try_exact_room(bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// A copy of bytes. Where there is no memory it is empty, and the call ends as out of memory.
pub fn copy_or_note(bytes: &[u8]) -> Vec<u8> {
    copy(bytes).unwrap_or_else(|OutOfMemory| {
        shortage::note();
        Vec::new()
    })
}

/// A copy of bytes for the C library; `None` when they have a NUL inside.
///
/// # Errors
/// When the system has no memory.
pub fn copy_terminated(bytes: &[u8]) -> Result<Option<CString>, OutOfMemory> {
    let mut copy = Vec::new();
    // With exactly this room nothing is moved to make a string of it.
    copy.try_exact_room(bytes.len() + 1)?;
    copy.extend_from_slice(bytes);
    Ok(CString::new(copy).ok())
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
        // Room that is there already is left as it is.
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
