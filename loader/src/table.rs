//! Filling of dispatch tables: one loop over names instead of one line per command.
//!
//! Every emitted table is `repr(C)` with all function slots in one run, so the table can be treated as an array of [`Slot`]. Instance and
//! device tables never contain NULL: the slot of a missing command points to a *missing stub* (GEN-65, LAY-290).

use crate::generated::types::PFN_vkVoidFunction;
use crate::lookup::{ROWS, Row};
use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicPtr, Ordering};

/// One function pointer of a table, as an untyped machine word; null means absent.
pub(crate) type Slot = PFN_vkVoidFunction;

/// A function pointer in a table. Other threads may already call through the table when the entry is written (LAY-239).
#[repr(transparent)]
pub(crate) struct Entry<F>(UnsafeCell<F>);

// SAFETY: any thread may use function pointers, and each write is a single machine word.
unsafe impl<F: Sync> Sync for Entry<F> {}

impl<F: Copy> Entry<F> {
    /// Returns an entry that contains `function`.
    pub(crate) const fn new(function: F) -> Self {
        Self(UnsafeCell::new(function))
    }

    /// Returns the function pointer of the entry.
    #[inline(always)]
    pub(crate) fn get(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<*mut ()>()) };
        let function = self.word().load(Ordering::Relaxed);
        // SAFETY: the word was converted from an `F`, or from a `Slot` that represents an `F`.
        unsafe { core::mem::transmute_copy(&function) }
    }
}

/// Lets emitted trampolines call an entry like a function. The function pointer is copied before the call.
impl<F: Copy> core::ops::Deref for Entry<F> {
    type Target = F;

    #[inline(always)]
    fn deref(&self) -> &F {
        // SAFETY: emitted code names only known commands, whose entries are written only before the handle of their object is returned. The
        // entries that change later belong to unknown functions, for which the tables have no member that emitted code could name.
        unsafe { &*self.0.get() }
    }
}

impl<F> Entry<F> {
    /// Returns the entry as a word that threads may read and write concurrently.
    #[inline(always)]
    fn word(&self) -> &AtomicPtr<()> {
        // SAFETY: the entry is one aligned machine word, is accessed only through this function, and outlives the borrow.
        unsafe { AtomicPtr::from_ptr(self.0.get().cast()) }
    }
}

impl Entry<Slot> {
    /// Writes the function pointer of the entry.
    pub(crate) fn set(&self, function: Slot) {
        self.word().store(to_word(function), Ordering::Release);
    }
}

/// An emitted dispatch table.
///
/// # Safety
/// The type has `COUNT` function pointers without gaps, from byte offset `FIRST` on, in the order of [`Slots::rows`]. Each is one machine
/// word and may be written as a [`Slot`]. All other members may be zero.
pub(crate) unsafe trait Slots: Sized {
    /// Number of commands that have a slot.
    const COUNT: usize;
    /// Byte offset of the first slot.
    const FIRST: usize;
    /// Returns the numbers of the commands' rows, in slot order.
    fn rows() -> &'static [u16];

    /// Returns the facts about the commands, in slot order.
    fn commands() -> impl Iterator<Item = &'static Row> {
        Self::rows().iter().map(|&row| &ROWS[usize::from(row)])
    }

    /// Returns the name of the command at `index`.
    fn name(index: usize) -> &'static CStr {
        ROWS[usize::from(Self::rows()[index])].name()
    }

    /// Creates a table whose slots have the results of `fill`, and whose other members are zero.
    ///
    /// # Safety
    /// `fill` never returns `None` if the slots are pointers that cannot be null.
    unsafe fn build(fill: impl FnMut(&'static Row) -> Slot) -> Self {
        let mut table = MaybeUninit::<Self>::uninit();
        // SAFETY: the value is writable, and the caller promises valid results of `fill`.
        unsafe { Self::write(table.as_mut_ptr(), fill) };
        // SAFETY: `write` has written every slot, the caller promises valid values, and all other members may be zero.
        unsafe { table.assume_init() }
    }

    /// Builds a table in place, like [`Slots::build`].
    ///
    /// # Safety
    /// `table` is writable, and `fill` is as [`Slots::build`] demands.
    unsafe fn write(table: *mut Self, mut fill: impl FnMut(&'static Row) -> Slot) {
        // SAFETY: the caller promises a writable table, in which the slots begin at `FIRST` by the contract of the trait.
        let first = unsafe {
            table.write_bytes(0, 1);
            table.byte_add(Self::FIRST).cast::<Slot>()
        };
        for (index, row) in Self::commands().enumerate() {
            // SAFETY: the table has a slot for each command, by the contract of the trait.
            unsafe { first.add(index).write(fill(row)) };
        }
    }

    /// Returns the function at `index`; `None` also after the last slot.
    fn get(&self, index: usize) -> Slot {
        let first = core::ptr::from_ref(self).cast::<u8>();
        // SAFETY: the index is below `COUNT`, so by the contract of the trait this word is a slot, which is null or a function pointer.
        (index < Self::COUNT)
            .then(|| unsafe { *first.add(Self::FIRST).cast::<Slot>().add(index) })
            .flatten()
    }
}

/// A table whose slots may be written while it is in use.
///
/// # Safety
/// Every slot is an [`Entry`].
pub(crate) unsafe trait SharedSlots: Slots {
    /// Returns the slots of the table as entries.
    fn entries(&self) -> &[Entry<Slot>] {
        let first = core::ptr::from_ref(self).cast::<u8>();
        // SAFETY: by the contracts of both traits, `COUNT` entries begin at `FIRST`.
        unsafe { core::slice::from_raw_parts(first.add(Self::FIRST).cast::<Entry<Slot>>(), Self::COUNT) }
    }
}

/// Returns a function pointer as a word.
pub(crate) fn to_word(function: Slot) -> *mut () {
    function.map_or(core::ptr::null_mut(), |f| f as *mut ())
}

/// Returns a word as a function pointer.
///
/// # Safety
/// `word` is null or the address of a function.
pub(crate) unsafe fn from_word(word: *mut ()) -> Slot {
    // SAFETY: an `Option` of a function pointer is a nullable word, and the caller promises that this word is null or the address of a
    // function.
    unsafe { core::mem::transmute::<*mut (), Slot>(word) }
}
