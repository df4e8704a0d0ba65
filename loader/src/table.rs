//! Filling dispatch tables: one loop over names instead of one line a command.
//!
//! Every emitted table is `repr(C)` with its function slots in one run, so it can be seen as an array of [`Slot`]. The
//! instance and device tables never hold NULL: what nobody answers points to a *missing stub* (GEN-65, LAY-290).

use crate::generated::types::PFN_vkVoidFunction;
use std::ffi::CStr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// One function pointer of a table, as an untyped machine word; null means absent.
pub type Slot = PFN_vkVoidFunction;

/// An emitted dispatch table.
///
/// # Safety
/// `COUNT` function pointers, each one machine word and possibly written as [`Slot`], lie without gaps at byte offset
/// `FIRST` of the type, in the order of [`Slots::names`].
pub unsafe trait Slots {
    /// How many commands have a slot.
    const COUNT: usize;
    /// Byte offset of the first slot.
    const FIRST: usize;
    /// The commands in slot order.
    fn names() -> &'static [&'static CStr];

    /// The slots as an array that may be read and written through a shared table.
    ///
    /// Tables are filled while layers may already call through them (LAY-239), so single words are written atomically.
    fn slots(&self) -> &[AtomicPtr<()>] {
        let first = std::ptr::from_ref(self).cast::<u8>();
        // SAFETY: by the trait's contract COUNT pointer-sized words lie at FIRST, and every table lives in an
        // `UnsafeCell`-backed object whose slots are only ever accessed as whole words.
        unsafe { std::slice::from_raw_parts(first.add(Self::FIRST).cast::<AtomicPtr<()>>(), Self::COUNT) }
    }
}

/// Writes one slot. A null `function` writes a null pointer, which only tables of optional pointers may hold.
pub fn store(slot: &AtomicPtr<()>, function: Slot) {
    slot.store(to_word(function), Ordering::Release);
}

/// Reads one slot.
pub fn load(slot: &AtomicPtr<()>) -> Slot {
    // SAFETY: the word was written by `store` or by the emitted constructor; null is `None`.
    unsafe { from_word(slot.load(Ordering::Acquire)) }
}

/// A function pointer as a word.
pub fn to_word(function: Slot) -> *mut () {
    function.map_or(std::ptr::null_mut(), |f| f as *mut ())
}

/// A word as a function pointer.
///
/// # Safety
/// `word` is null or the address of a function.
pub unsafe fn from_word(word: *mut ()) -> Slot {
    // SAFETY: `Option` of a function pointer is a nullable word; the caller promises it is one.
    unsafe { std::mem::transmute::<*mut (), Slot>(word) }
}
