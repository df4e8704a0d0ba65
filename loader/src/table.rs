//! Filling dispatch tables: one loop over names instead of one line a command.
//!
//! Every emitted table is `repr(C)` with its function slots in one run, so it can be seen as an array of [`Slot`]. The
//! instance and device tables never hold NULL: what has no answer points to a *missing stub* (GEN-65, LAY-290).

use crate::generated::types::PFN_vkVoidFunction;
use crate::lookup::{ROWS, Row};
use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicPtr, Ordering};

/// One function pointer of a table, as an untyped machine word; null means absent.
pub(crate) type Slot = PFN_vkVoidFunction;

/// A function pointer in a table that other threads may already call through when it is written (LAY-239).
#[repr(transparent)]
pub(crate) struct Entry<F>(UnsafeCell<F>);

// SAFETY: function pointers may be used from any thread; writes are single machine words.
unsafe impl<F: Sync> Sync for Entry<F> {}

impl<F: Copy> Entry<F> {
    /// An entry that holds `function`.
    pub(crate) const fn new(function: F) -> Self {
        Self(UnsafeCell::new(function))
    }

    /// The function.
    #[inline(always)]
    pub(crate) fn get(&self) -> F {
        const { assert!(size_of::<F>() == size_of::<*mut ()>()) };
        let function = self.word().load(Ordering::Relaxed);
        // SAFETY: the word was made of an `F`, or of a `Slot` that stands for one.
        unsafe { core::mem::transmute_copy(&function) }
    }
}

/// So that an emitted trampoline reads as a call of its own command; the function is copied at once.
impl<F: Copy> core::ops::Deref for Entry<F> {
    type Target = F;

    #[inline(always)]
    fn deref(&self) -> &F {
        // SAFETY: emitted code names known commands, whose entries are only written while the object is being made, before
        // its handle is handed out. The entries that change later, of unknown functions, have no names.
        unsafe { &*self.0.get() }
    }
}

impl<F> Entry<F> {
    /// The entry as a word that threads may read and write at once.
    #[inline(always)]
    fn word(&self) -> &AtomicPtr<()> {
        // SAFETY: the entry is one aligned machine word, is only reached through here, and outlives the borrow.
        unsafe { AtomicPtr::from_ptr(self.0.get().cast()) }
    }
}

impl Entry<Slot> {
    /// Writes the function.
    pub(crate) fn set(&self, function: Slot) {
        self.word().store(to_word(function), Ordering::Release);
    }
}

/// An emitted dispatch table.
///
/// # Safety
/// `COUNT` function pointers, each one machine word and possibly written as [`Slot`], lie without gaps at byte offset
/// `FIRST` of the type, in the order of [`Slots::rows`]. All other members may be all zeroes.
pub(crate) unsafe trait Slots: Sized {
    /// How many commands have a slot.
    const COUNT: usize;
    /// Byte offset of the first slot.
    const FIRST: usize;
    /// The numbers of the commands' rows, in slot order.
    fn rows() -> &'static [u16];

    /// What is known of the commands, in slot order.
    fn commands() -> impl Iterator<Item = &'static Row> {
        Self::rows().iter().map(|&row| &ROWS[usize::from(row)])
    }

    /// The name of the command at `index`.
    fn name(index: usize) -> &'static CStr {
        ROWS[usize::from(Self::rows()[index])].name()
    }

    /// A table whose slots hold what `fill` gives for each command, and that is zero elsewhere.
    ///
    /// # Safety
    /// `fill` never gives `None` if the slots are pointers that cannot be null.
    unsafe fn build(fill: impl FnMut(&'static Row) -> Slot) -> Self {
        let mut table = MaybeUninit::<Self>::uninit();
        // SAFETY: the value is writable, and the rest is passed on.
        unsafe { Self::write(table.as_mut_ptr(), fill) };
        // SAFETY: every slot is written, by this function's contract with a valid value, and the rest may be zero.
        unsafe { table.assume_init() }
    }

    /// [`Slots::build`] in place.
    ///
    /// # Safety
    /// `table` is writable, and `fill` as there.
    unsafe fn write(table: *mut Self, mut fill: impl FnMut(&'static Row) -> Slot) {
        // SAFETY: by this function's contract, and that of the trait: the slots lie at this place inside the value.
        let first = unsafe {
            table.write_bytes(0, 1);
            table.byte_add(Self::FIRST).cast::<Slot>()
        };
        for (index, row) in Self::commands().enumerate() {
            // SAFETY: there is a slot for each command.
            unsafe { first.add(index).write(fill(row)) };
        }
    }

    /// The function at `index`; `None` also past the last slot.
    fn get(&self, index: usize) -> Slot {
        let first = core::ptr::from_ref(self).cast::<u8>();
        // SAFETY: the index is checked, and by the trait's contract slot `index` is a word at this place, and a function
        // pointer or null.
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
    /// The slots.
    fn entries(&self) -> &[Entry<Slot>] {
        let first = core::ptr::from_ref(self).cast::<u8>();
        // SAFETY: by the contracts of both traits COUNT entries lie at FIRST.
        unsafe { core::slice::from_raw_parts(first.add(Self::FIRST).cast::<Entry<Slot>>(), Self::COUNT) }
    }
}

/// A function pointer as a word.
pub(crate) fn to_word(function: Slot) -> *mut () {
    function.map_or(core::ptr::null_mut(), |f| f as *mut ())
}

/// A word as a function pointer.
///
/// # Safety
/// `word` is null or the address of a function.
pub(crate) unsafe fn from_word(word: *mut ()) -> Slot {
    // SAFETY: `Option` of a function pointer is a nullable word; the caller promises it is one.
    unsafe { core::mem::transmute::<*mut (), Slot>(word) }
}
