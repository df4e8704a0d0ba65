//! Filling dispatch tables: one loop over names instead of one line a command.
//!
//! Every emitted table is `repr(C)` with its function slots in one run, so it can be seen as an array of [`Slot`]. The
//! instance and device tables never hold NULL: what nobody answers points to a *missing stub* (GEN-65, LAY-290).

use crate::generated::types::PFN_vkVoidFunction;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicPtr, Ordering};

/// One function pointer of a table, as an untyped machine word; null means absent.
pub type Slot = PFN_vkVoidFunction;

/// An emitted dispatch table.
///
/// # Safety
/// `COUNT` function pointers, each one machine word and possibly written as [`Slot`], lie without gaps at byte offset
/// `FIRST` of the type, in the order of [`Slots::names`]. All other members may be all zeroes.
pub unsafe trait Slots: Sized {
    /// How many commands have a slot.
    const COUNT: usize;
    /// Byte offset of the first slot.
    const FIRST: usize;
    /// The commands in slot order.
    fn names() -> &'static [&'static CStr];

    /// A table whose slots hold what `fill` gives for each index, and that is zero elsewhere.
    ///
    /// # Safety
    /// `fill` never gives `None` if the slots are pointers that cannot be null.
    unsafe fn build(mut fill: impl FnMut(usize) -> Slot) -> Self {
        let mut table = MaybeUninit::<Self>::zeroed();
        for index in 0..Self::COUNT {
            // SAFETY: by the trait's contract slot `index` is a word at this place inside the value.
            unsafe { table.as_mut_ptr().byte_add(Self::FIRST).cast::<Slot>().add(index).write(fill(index)) };
        }
        // SAFETY: every slot is written, by this function's contract with a valid value, and the rest may be zero.
        unsafe { table.assume_init() }
    }

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

/// The slots for unknown functions of a table, seen as [`Slots::slots`] sees the others.
pub fn shared(slots: &[Slot]) -> &[AtomicPtr<()>] {
    // SAFETY: both element types are one machine word, and the words lie in an `UnsafeCell`-backed table.
    unsafe { std::slice::from_raw_parts(slots.as_ptr().cast::<AtomicPtr<()>>(), slots.len()) }
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
