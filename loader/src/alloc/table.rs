//! Values that keep their address, found by a key.

use super::{HostAllocator, HostList, HostVec, Made};
use os::memory::OutOfMemory;

/// A value with a key that never changes.
pub trait Keyed {
    /// What it is found by.
    type Key: Copy + PartialEq;

    /// The key of this value.
    fn key(&self) -> Self::Key;

    /// A number that equal keys share and different ones rarely do.
    fn hash(key: Self::Key) -> usize;
}

/// Values with different keys. Each keeps its address for as long as the table lives; finding one takes the same time
/// however many there are. Memory is taken before the table is touched, so its lock need not be held meanwhile.
pub struct HostTable<T> {
    values: HostList<T>,
    count: usize,
    /// Addresses of the values, each in the first free place from its hash on. There are always free places, unless the
    /// table is empty; the number of places is zero or a power of two.
    places: HostVec<*mut T>,
}

// SAFETY: the addresses are those of the table's own values.
unsafe impl<T: Send> Send for HostTable<T> {}

/// Memory for one more value, and for the places that it takes to find it.
pub struct Room<T> {
    made: Made<T>,
    places: HostVec<*mut T>,
}

impl<T: Keyed> HostTable<T> {
    /// No values; allocates nothing.
    pub const fn new(allocator: HostAllocator) -> Self {
        Self {
            values: HostList::new(),
            count: 0,
            places: HostVec::new(allocator),
        }
    }

    /// The address of the value with this key.
    pub fn find(&self, key: T::Key) -> Option<*mut T> {
        let mask = self.places.len().checked_sub(1)?;
        let mut at = T::hash(key) & mask;
        loop {
            let value = *self.places.get(at)?;
            // SAFETY: null, or one of the table's values.
            if unsafe { value.as_ref() }?.key() == key {
                return Some(value);
            }
            at = (at + 1) & mask;
        }
    }

    /// How many places the table needs beside those that it has, to take one value more: none, or a new set.
    pub fn missing_places(&self) -> usize {
        // At most half of them are ever taken.
        if self.places.len() > 2 * self.count {
            0
        } else {
            (4 * self.count).next_power_of_two().max(8)
        }
    }

    /// Moves `value` into host memory, with as many places as [`HostTable::missing_places`] said.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn room(value: T, places: usize, allocator: HostAllocator) -> Result<Room<T>, OutOfMemory> {
        let mut room = HostVec::new(allocator);
        room.try_fill_to(places, core::ptr::null_mut())?;
        Ok(Room {
            made: Made::try_new(value, allocator)?,
            places: room,
        })
    }

    /// Adds a value, unless one with its key came meanwhile. Gives the address of the value to use, `None` when others were
    /// added meanwhile and the room does not suffice any more, and what is left over, to be dropped without the lock.
    pub fn adopt(&mut self, room: Room<T>) -> (Option<*mut T>, Leftover<T>) {
        if let Some(earlier) = self.find(room.made.key()) {
            let leftover = Leftover {
                _value: Some(room.made),
                _places: room.places,
            };
            return (Some(earlier), leftover);
        }
        let mut left = room.places;
        if left.len() > self.places.len() {
            core::mem::swap(&mut self.places, &mut left);
            for &value in left.iter().filter(|value| !value.is_null()) {
                self.place(value);
            }
        }
        if self.missing_places() > 0 {
            let leftover = Leftover {
                _value: Some(room.made),
                _places: left,
            };
            return (None, leftover);
        }
        let address = self.values.add(room.made);
        self.count += 1;
        self.place(address);
        let leftover = Leftover {
            _value: None,
            _places: left,
        };
        (Some(address), leftover)
    }

    /// Puts a value into the first free place. There is one.
    fn place(&mut self, value: *mut T) {
        let mask = self.places.len() - 1;
        // SAFETY: one of the table's values.
        let mut at = T::hash(unsafe { &*value }.key()) & mask;
        while !self.places[at].is_null() {
            at = (at + 1) & mask;
        }
        self.places[at] = value;
    }
}

/// What an addition did not need: the value, when another one was there, and memory for places.
pub struct Leftover<T> {
    _value: Option<Made<T>>,
    _places: HostVec<*mut T>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::memory::hash_of_address;

    struct Number(usize);

    impl Keyed for Number {
        type Key = usize;

        fn key(&self) -> usize {
            self.0
        }

        fn hash(key: usize) -> usize {
            // Many collide.
            hash_of_address(key & !7)
        }
    }

    fn add(table: &mut HostTable<Number>, number: usize) -> *mut Number {
        let room = HostTable::room(Number(number), table.missing_places(), HostAllocator::system());
        table.adopt(room.expect("memory")).0.expect("room")
    }

    #[test]
    fn drv_128_every_value_is_found_and_stays() {
        let mut table = HostTable::new(HostAllocator::system());
        assert_eq!(table.find(5), None);
        let addresses: Vec<_> = (0..10_000).map(|number| add(&mut table, number)).collect();
        for (number, &address) in addresses.iter().enumerate() {
            assert_eq!(table.find(number), Some(address));
            // SAFETY: a value of the table.
            assert_eq!(unsafe { &*address }.0, number);
        }
        assert_eq!(table.find(10_000), None);
        assert!(table.places.len() >= 2 * table.count && table.places.len().is_power_of_two());
    }

    #[test]
    fn drv_128_two_threads_get_one_value() {
        let mut table = HostTable::new(HostAllocator::system());
        let first = add(&mut table, 7);
        assert_eq!(add(&mut table, 7), first);
        assert_eq!(table.count, 1);
    }

    #[test]
    fn drv_128_room_that_became_too_small_is_given_back() {
        let mut table = HostTable::new(HostAllocator::system());
        let early = HostTable::room(Number(100), table.missing_places(), HostAllocator::system());
        for number in 0..50 {
            add(&mut table, number);
        }
        while table.missing_places() == 0 {
            let next = table.count;
            add(&mut table, next);
        }
        assert_eq!(table.adopt(early.expect("memory")).0, None);
        assert_eq!(table.find(100), None);
    }
}
