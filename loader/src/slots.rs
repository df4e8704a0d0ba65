//! Numbered slots for objects that every driver may have its own version of (APP-178, APP-191).
//!
//! Surfaces, messengers and report callbacks get an index; each driver keeps its handles in a table of its own at that
//! index. Tables are made on first use with room for 32 entries and double when they are full.

use crate::alloc::{HostAllocator, HostVec, OutOfMemory};

/// Entries of a new table.
const FIRST_CAPACITY: usize = 32;

fn capacity_for(index: usize) -> usize {
    (index + 1).next_power_of_two().max(FIRST_CAPACITY)
}

/// Which indexes are in use.
pub struct SlotTable(HostVec<bool>);

impl SlotTable {
    /// A table without entries; allocates nothing.
    pub const fn new(allocator: HostAllocator) -> Self {
        Self(HostVec::new(allocator))
    }

    /// Reserves the lowest free index.
    pub fn reserve(&mut self) -> Result<usize, OutOfMemory> {
        let free = self.0.iter().position(|used| !used).unwrap_or(self.0.len());
        if free == self.0.len() {
            self.0.try_fill_to(capacity_for(free), false)?;
        }
        self.0[free] = true;
        Ok(free)
    }

    /// Gives an index back.
    pub fn release(&mut self, index: usize) {
        if let Some(used) = self.0.get_mut(index) {
            *used = false;
        }
    }

    /// The indexes in use.
    pub fn in_use(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter_map(|(index, used)| used.then_some(index))
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
    pub fn make_room(&mut self, index: usize) -> Result<(), OutOfMemory> {
        if index >= self.0.len() { self.0.try_fill_to(capacity_for(index), 0) } else { Ok(()) }
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
        let mut table = SlotTable::new(HostAllocator::system());
        for expected in 0..33 {
            assert_eq!(table.reserve(), Ok(expected));
        }
        assert_eq!(table.0.len(), 64);
        table.release(5);
        assert_eq!(table.reserve(), Ok(5), "the lowest free index is reused");
    }
}
