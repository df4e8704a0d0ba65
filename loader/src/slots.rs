//! Numbered slots for objects of which every driver may have its own version (APP-178, APP-191).
//!
//! Surfaces, messengers and report callbacks get an index; each driver keeps its handles in its own table at that index. Tables are created
//! on first use with room for 32 entries, and double when they are full.
//!
//! An iteration over a table must not hold the lock of the table while it calls a driver, so there is no iterator. The caller asks for the
//! object at or after an index, releases the lock, and asks again. The application's allocation callbacks do not run under the lock either:
//! they may wait for another thread of the application that needs the table.

use crate::alloc::{HostAllocator, HostVec};
use core::ptr::NonNull;
use os::Mutex;
use os::memory::OutOfMemory;

/// Number of entries in a new table.
const FIRST_CAPACITY: usize = 32;

fn capacity_for(index: usize) -> usize {
    (index + 1).next_power_of_two().max(FIRST_CAPACITY)
}

/// Extends an array inside a locked `state` to at least `len` entries; new entries are `empty`.
///
/// The lock is released while the application's callbacks move the block (APP-178, APP-179b). Meanwhile, a copy of the entries from the
/// process allocator replaces the array; another thread changes or extends that copy.
///
/// # Errors
/// The array cannot grow; the entries are unchanged.
fn lengthen<S, E: Copy>(
    state: &Mutex<S>,
    entries: impl Fn(&mut S) -> &mut HostVec<E>,
    len: usize,
    empty: E,
) -> Result<(), OutOfMemory> {
    let mut block = {
        let mut state = state.lock();
        let shared = entries(&mut state);
        if shared.allocator().is_system() {
            return shared.try_fill_to(len, empty);
        }
        let stand_in = HostVec::try_from_slice(shared, HostAllocator::system())?;
        core::mem::replace(shared, stand_in)
    };
    let mut wanted = len;
    loop {
        let grown = block.try_fill_to(wanted, empty);
        let mut state = state.lock();
        let shared = entries(&mut state);
        wanted = shared.len();
        if wanted <= block.len() {
            block[..wanted].copy_from_slice(shared);
            core::mem::swap(shared, &mut block);
            return grown;
        }
        // Another thread has extended the shared array meanwhile, so the block must grow further. If the block cannot grow, the array stays
        // in the memory of the system allocator.
        grown?;
    }
}

/// The loader's objects of one kind, by slot index. The table does not own the objects.
pub(crate) struct SlotTable<T>(HostVec<Option<NonNull<T>>>);

// SAFETY: the table only stores addresses; the code that dereferences them ensures that the objects are valid.
unsafe impl<T: Sync> Send for SlotTable<T> {}

impl<T> SlotTable<T> {
    /// Returns an empty table; allocates nothing.
    pub(crate) const fn new(allocator: HostAllocator) -> Self {
        Self(HostVec::new(allocator))
    }

    /// Stores `object` at the lowest free index of the `table` in a locked `state`. `placed` receives the index before another thread can
    /// find the object.
    ///
    /// # Errors
    /// The table is full and cannot grow; it is unchanged.
    pub(crate) fn reserve<S>(
        state: &Mutex<S>,
        table: impl Fn(&mut S) -> &mut Self,
        object: NonNull<T>,
        placed: impl FnOnce(usize),
    ) -> Result<usize, OutOfMemory> {
        loop {
            let full = {
                let mut state = state.lock();
                let entries = &mut table(&mut state).0;
                if let Some(free) = entries.iter().position(Option::is_none) {
                    entries[free] = Some(object);
                    placed(free);
                    return Ok(free);
                }
                entries.len()
            };
            lengthen(state, |state| &mut table(state).0, capacity_for(full), None)?;
        }
    }

    /// Releases an index; returns the object that occupied it.
    pub(crate) fn release(&mut self, index: usize) -> Option<NonNull<T>> {
        self.0.get_mut(index)?.take()
    }

    /// Returns the object at an index.
    pub(crate) fn get(&self, index: usize) -> Option<NonNull<T>> {
        *self.0.get(index)?
    }

    /// Returns the index of `object`.
    pub(crate) fn index_of(&self, object: *const T) -> Option<usize> {
        self.0
            .iter()
            .position(|entry| entry.is_some_and(|held| core::ptr::eq(held.as_ptr(), object)))
    }

    /// Returns the first used index at or after `index`, and its object.
    pub(crate) fn at_or_after(&self, index: usize) -> Option<(usize, NonNull<T>)> {
        self.0
            .iter()
            .enumerate()
            .skip(index)
            .find_map(|(index, entry)| Some((index, (*entry)?)))
    }
}

/// Handles of one driver, by slot index; zero marks a free slot.
pub(crate) struct HandleTable(HostVec<u64>);

impl HandleTable {
    /// Returns an empty table; allocates nothing.
    pub(crate) const fn new(allocator: HostAllocator) -> Self {
        Self(HostVec::new(allocator))
    }

    /// Makes sure that `index` has an entry in a locked table; new entries are zero.
    ///
    /// # Errors
    /// The table cannot grow; it is unchanged.
    pub(crate) fn make_room(table: &Mutex<Self>, index: usize) -> Result<(), OutOfMemory> {
        if table.lock().has(index) {
            Ok(())
        } else {
            lengthen(table, |table| &mut table.0, capacity_for(index), 0)
        }
    }

    /// Returns the handle at `index`; zero outside the table.
    pub(crate) fn get(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or(0)
    }

    /// Returns `true` if `index` has an entry.
    pub(crate) fn has(&self, index: usize) -> bool {
        index < self.0.len()
    }

    /// Stores a handle at an index that has an entry.
    pub(crate) fn set(&mut self, index: usize, handle: u64) {
        if let Some(entry) = self.0.get_mut(index) {
            *entry = handle;
        }
    }

    /// Removes and returns the handle at `index`.
    pub(crate) fn take(&mut self, index: usize) -> u64 {
        self.0.get_mut(index).map_or(0, core::mem::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::types::{VkAllocationCallbacks, VkSystemAllocationScope};
    use crate::time_limit::ends_in_time;
    use core::ffi::c_void;
    use core::ptr::null_mut;

    fn reserve<T>(table: &Mutex<SlotTable<T>>, object: &T) -> Result<usize, OutOfMemory> {
        SlotTable::reserve(table, |table| table, NonNull::from(object), |_| ())
    }

    #[test]
    fn app_178_tables_start_at_32_entries_and_double() {
        let objects = [0_u8; 33];
        let table = Mutex::new(SlotTable::new(HostAllocator::system()));
        for (expected, object) in objects.iter().enumerate() {
            assert_eq!(table.lock().0.len(), if expected == 0 { 0 } else { 32 });
            assert_eq!(reserve(&table, object), Ok(expected));
        }
        assert_eq!(table.lock().0.len(), 64);

        let handles = Mutex::new(HandleTable::new(HostAllocator::system()));
        assert_eq!(HandleTable::make_room(&handles, 0), Ok(()));
        assert_eq!(handles.lock().0.len(), 32);
        handles.lock().set(31, 7);
        assert_eq!(HandleTable::make_room(&handles, 32), Ok(()));
        let handles = handles.lock();
        assert_eq!((handles.0.len(), handles.get(31), handles.get(32)), (64, 7, 0));
    }

    #[test]
    fn app_191_the_lowest_free_index_is_reused() {
        let objects = [0_u8; 5];
        let table = Mutex::new(SlotTable::new(HostAllocator::system()));
        for object in &objects[..4] {
            assert!(reserve(&table, object).is_ok());
        }
        {
            let mut table = table.lock();
            assert_eq!(table.release(2), Some(NonNull::from(&objects[2])));
            assert_eq!(table.release(2), None);
            assert_eq!(table.index_of(&objects[2]), None);
            assert_eq!(table.index_of(&objects[3]), Some(3));
            assert_eq!(table.get(2), None);
            assert_eq!(table.at_or_after(2), Some((3, NonNull::from(&objects[3]))));
            assert_eq!(table.at_or_after(4), None);
        }
        assert_eq!(reserve(&table, &objects[4]), Ok(2));
        assert_eq!(table.lock().get(2), Some(NonNull::from(&objects[4])));
    }

    /// Returns null as if memory had run out. Before that, extends the table, as another thread might do during the call.
    unsafe extern "system" fn lengthen_and_refuse(
        table: *mut c_void,
        _: usize,
        _: usize,
        _: VkSystemAllocationScope,
    ) -> *mut c_void {
        // SAFETY: the user data of the callbacks is a table that outlives them.
        let table = unsafe { &*table.cast::<Mutex<HandleTable>>() };
        table.lock().0.try_fill_to(64, 7).unwrap();
        null_mut()
    }

    unsafe extern "system" fn refuse(
        _: *mut c_void,
        _: *mut c_void,
        _: usize,
        _: usize,
        _: VkSystemAllocationScope,
    ) -> *mut c_void {
        null_mut()
    }

    unsafe extern "system" fn free(_: *mut c_void, _: *mut c_void) {}

    #[test]
    fn app_178_where_the_block_cannot_follow_what_another_thread_made_stays() {
        ends_in_time(|| {
            let table = Mutex::new(HandleTable::new(HostAllocator::system()));
            let callbacks = VkAllocationCallbacks {
                pUserData: (&raw const table).cast_mut().cast(),
                pfnAllocation: Some(lengthen_and_refuse),
                pfnReallocation: Some(refuse),
                pfnFree: Some(free),
                pfnInternalAllocation: None,
                pfnInternalFree: None,
            };
            // SAFETY: the callbacks are valid and outlive the table that uses them.
            let allocator =
                unsafe { HostAllocator::new(&callbacks, VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE) };
            *table.lock() = HandleTable::new(allocator);
            assert_eq!(HandleTable::make_room(&table, 3), Err(OutOfMemory));
            let table = table.lock();
            assert_eq!((table.0.len(), table.get(63)), (64, 7));
        });
    }

    #[test]
    fn handles_outside_the_table_are_zero() {
        let table = Mutex::new(HandleTable::new(HostAllocator::system()));
        let set_and_take = || {
            let mut table = table.lock();
            table.set(3, 9);
            (table.take(3), table.get(3), table.has(3))
        };
        assert_eq!(set_and_take(), (0, 0, false));
        assert_eq!(HandleTable::make_room(&table, 3), Ok(()));
        assert_eq!(set_and_take(), (9, 0, true));
    }
}
