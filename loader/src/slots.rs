//! Numbered slots for objects that every driver may have its own version of (APP-178, APP-191).
//!
//! Surfaces, messengers and report callbacks get an index; each driver keeps its handles in a table of its own at that
//! index. Tables are made on first use with room for 32 entries and double when they are full.
//!
//! A walk over a table must not hold its lock while it calls a driver, so there is no iterator: a walk asks for the
//! object at or after an index, lets the lock go, and asks again.

use crate::alloc::{HostAllocator, HostVec, OutOfMemory};
use std::ptr::NonNull;

/// Entries of a new table.
const FIRST_CAPACITY: usize = 32;

fn capacity_for(index: usize) -> usize {
    (index + 1).next_power_of_two().max(FIRST_CAPACITY)
}

/// The loader's objects of one kind, by slot index. Objects are not owned by the table.
pub struct SlotTable<T>(HostVec<Option<NonNull<T>>>);

// SAFETY: the table only hands the addresses out; whoever follows them answers for the object.
unsafe impl<T: Sync> Send for SlotTable<T> {}

impl<T> SlotTable<T> {
    /// A table without entries; allocates nothing.
    pub const fn new(allocator: HostAllocator) -> Self {
        Self(HostVec::new(allocator))
    }

    /// Gives `object` the lowest free index.
    ///
    /// # Errors
    /// When the table is full and cannot grow; it is then as before.
    pub fn reserve(&mut self, object: NonNull<T>) -> Result<usize, OutOfMemory> {
        let free = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        if free == self.0.len() {
            self.0.try_fill_to(capacity_for(free), None)?;
        }
        self.0[free] = Some(object);
        Ok(free)
    }

    /// Gives an index back; returns the object that held it.
    pub fn release(&mut self, index: usize) -> Option<NonNull<T>> {
        self.0.get_mut(index)?.take()
    }

    /// The object that holds an index.
    pub fn get(&self, index: usize) -> Option<NonNull<T>> {
        *self.0.get(index)?
    }

    /// The index that `object` holds.
    pub fn index_of(&self, object: *const T) -> Option<usize> {
        self.0
            .iter()
            .position(|entry| entry.is_some_and(|held| std::ptr::eq(held.as_ptr(), object)))
    }

    /// The first index in use that is not below `index`, and its object.
    pub fn at_or_after(&self, index: usize) -> Option<(usize, NonNull<T>)> {
        self.0
            .iter()
            .enumerate()
            .skip(index)
            .find_map(|(index, entry)| Some((index, (*entry)?)))
    }
}

/// The handles of one driver, by slot index; zero where there is none.
pub struct HandleTable(HostVec<u64>);

impl HandleTable {
    /// A table without entries; allocates nothing.
    pub const fn new(allocator: HostAllocator) -> Self {
        Self(HostVec::new(allocator))
    }

    /// Makes sure that `index` has an entry; new ones are zero.
    ///
    /// # Errors
    /// When the table cannot grow; it is then as before.
    pub fn make_room(&mut self, index: usize) -> Result<(), OutOfMemory> {
        if self.has(index) {
            Ok(())
        } else {
            self.0.try_fill_to(capacity_for(index), 0)
        }
    }

    /// The handle at `index`; zero outside the table.
    pub fn get(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or(0)
    }

    /// Whether `index` has an entry.
    pub fn has(&self, index: usize) -> bool {
        index < self.0.len()
    }

    /// Stores a handle at an index that has an entry.
    pub fn set(&mut self, index: usize, handle: u64) {
        if let Some(entry) = self.0.get_mut(index) {
            *entry = handle;
        }
    }

    /// Takes the handle at `index` out, leaving zero.
    pub fn take(&mut self, index: usize) -> u64 {
        self.0.get_mut(index).map_or(0, std::mem::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn app_178_tables_start_at_32_entries_and_double() {
        let objects = [0_u8; 33];
        let mut table = SlotTable::new(HostAllocator::system());
        for (expected, object) in objects.iter().enumerate() {
            assert_eq!(table.0.len(), if expected == 0 { 0 } else { 32 });
            assert_eq!(table.reserve(NonNull::from(object)), Ok(expected));
        }
        assert_eq!(table.0.len(), 64);

        let mut handles = HandleTable::new(HostAllocator::system());
        assert_eq!(handles.make_room(0), Ok(()));
        assert_eq!(handles.0.len(), 32);
        handles.set(31, 7);
        assert_eq!(handles.make_room(32), Ok(()));
        assert_eq!((handles.0.len(), handles.get(31), handles.get(32)), (64, 7, 0));
    }

    #[test]
    fn app_191_the_lowest_free_index_is_reused() {
        let objects = [0_u8; 5];
        let mut table = SlotTable::new(HostAllocator::system());
        for object in &objects[..4] {
            assert!(table.reserve(NonNull::from(object)).is_ok());
        }
        assert_eq!(table.release(2), Some(NonNull::from(&objects[2])));
        assert_eq!(table.release(2), None);
        assert_eq!(table.index_of(&objects[2]), None);
        assert_eq!(table.index_of(&objects[3]), Some(3));
        assert_eq!(table.get(2), None);
        assert_eq!(table.at_or_after(2), Some((3, NonNull::from(&objects[3]))));
        assert_eq!(table.at_or_after(4), None);
        assert_eq!(table.reserve(NonNull::from(&objects[4])), Ok(2));
        assert_eq!(table.get(2), Some(NonNull::from(&objects[4])));
    }

    #[test]
    fn handles_outside_the_table_are_zero() {
        let mut handles = HandleTable::new(HostAllocator::system());
        handles.set(3, 9);
        assert_eq!((handles.get(3), handles.take(3), handles.has(3)), (0, 0, false));
        assert_eq!(handles.make_room(3), Ok(()));
        handles.set(3, 9);
        assert_eq!((handles.take(3), handles.get(3), handles.has(3)), (9, 0, true));
    }
}
