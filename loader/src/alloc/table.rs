//! A table of values that keep their address.

use super::{HostAllocator, HostBox, HostVec};
use os::memory::OutOfMemory;

/// A value with a key that never changes.
pub(crate) trait Keyed {
    /// Type of the key.
    type Key: Copy + PartialEq;

    /// Returns the key of this value.
    fn key(&self) -> Self::Key;

    /// Returns a number that is the same for equal keys and rarely the same for different keys.
    fn hash(key: Self::Key) -> usize;
}

/// Values with different keys. Each value keeps its address as long as the table lives, and finding one takes constant time. Memory is
/// allocated before the table is touched, so the table's lock need not be held during the allocation.
pub(crate) struct HostTable<T> {
    count: usize,
    /// Addresses of the values, which the table owns. Each value is in the first slot at or after its hash that was free when the value was
    /// added. Unless the table is empty, some slots are always free; the number of slots is zero or a power of two.
    places: HostVec<*mut Owned<T>>,
}

/// A value with its allocator. `value` is the first member, so the address of the value is also the address of this structure.
#[repr(C)]
struct Owned<T> {
    value: T,
    /// Allocator of this value.
    allocator: HostAllocator,
}

// SAFETY: the table owns the values at its addresses, and `T: Send` lets them move to another thread.
unsafe impl<T: Send> Send for HostTable<T> {}

/// Memory for one more value, and for the new array of slots if the table needs one.
pub(crate) struct ReservedValue<T> {
    made: HostBox<Owned<T>>,
    places: HostVec<*mut Owned<T>>,
}

impl<T: Keyed> HostTable<T> {
    /// Returns an empty table; allocates nothing.
    pub(crate) const fn new(allocator: HostAllocator) -> Self {
        Self {
            count: 0,
            places: HostVec::new(allocator),
        }
    }

    /// Returns the address of the value whose key is `key`.
    pub(crate) fn find(&self, key: T::Key) -> Option<*mut T> {
        let mask = self.places.len().checked_sub(1)?;
        let mut at = T::hash(key) & mask;
        loop {
            let value = *self.places.get(at)?;
            // SAFETY: a slot contains null or the address of a value that the table owns.
            if unsafe { value.as_ref() }?.value.key() == key {
                return Some(value.cast());
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the size of the new array of slots that the table needs for one more value, or 0 if it has enough.
    pub(crate) fn missing_places(&self) -> usize {
        // At most half of the slots are ever used.
        if self.places.len() > 2 * self.count {
            0
        } else {
            (4 * self.count).next_power_of_two().max(8)
        }
    }

    /// Moves `value` into host memory and allocates an array of `places` slots, a number from [`HostTable::missing_places`].
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn room(value: T, places: usize, allocator: HostAllocator) -> Result<ReservedValue<T>, OutOfMemory> {
        let mut room = HostVec::new(allocator);
        room.try_fill_to(places, core::ptr::null_mut())?;
        Ok(ReservedValue {
            made: HostBox::try_new(Owned { value, allocator }, allocator)?,
            places: room,
        })
    }

    /// Adds a value, unless another thread has meanwhile added a value with the same key.
    ///
    /// Returns the address of the value to use, or `None` if other values were added meanwhile and the reserved slots no longer suffice.
    /// The second result is the unused memory; drop it after the lock is released.
    pub(crate) fn adopt(&mut self, room: ReservedValue<T>) -> (Option<*mut T>, Leftover<T>) {
        if let Some(earlier) = self.find(room.made.value.key()) {
            let leftover = Leftover {
                _value: Some(room.made),
                _places: room.places,
            };
            return (Some(earlier), leftover);
        }
        let mut left = room.places;
        if left.len() > self.places.len() {
            core::mem::swap(&mut self.places, &mut left);
            for &owned in left.iter().filter(|owned| !owned.is_null()) {
                self.place(owned);
            }
        }
        if self.missing_places() > 0 {
            let leftover = Leftover {
                _value: Some(room.made),
                _places: left,
            };
            return (None, leftover);
        }
        let (owned, _) = room.made.into_raw();
        self.count += 1;
        self.place(owned);
        let leftover = Leftover {
            _value: None,
            _places: left,
        };
        (Some(owned.cast()), leftover)
    }

    /// Puts a value into the first free slot at or after the value's hash. The caller has made sure that a slot is free.
    fn place(&mut self, owned: *mut Owned<T>) {
        let mask = self.places.len() - 1;
        // SAFETY: `owned` is the address of a value that the table owns.
        let mut at = T::hash(unsafe { &*owned }.value.key()) & mask;
        while !self.places[at].is_null() {
            at = (at + 1) & mask;
        }
        self.places[at] = owned;
    }
}

impl<T> Drop for HostTable<T> {
    fn drop(&mut self) {
        for &owned in self.places.iter().filter(|owned| !owned.is_null()) {
            // SAFETY: the table owns the value, and `&mut self` excludes other references to it.
            let allocator = unsafe { (*owned).allocator };
            // SAFETY: `adopt` got the address from `into_raw` of a box with this allocator, and each value is freed once.
            drop(unsafe { HostBox::from_raw(owned, allocator) });
        }
    }
}

/// Memory that an addition did not need: the value, if another value already has the same key, and the reserved slots of the table.
pub(crate) struct Leftover<T> {
    _value: Option<HostBox<Owned<T>>>,
    _places: HostVec<*mut Owned<T>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_limit::ends_in_time;
    use os::memory::hash_of_address;
    use rust_alloc::sync::Arc;

    struct Number(usize);

    impl Keyed for Number {
        type Key = usize;

        fn key(&self) -> usize {
            self.0
        }

        fn hash(key: usize) -> usize {
            // This hash makes many keys collide.
            hash_of_address(key & !7)
        }
    }

    fn add(table: &mut HostTable<Number>, number: usize) -> *mut Number {
        let room = HostTable::room(Number(number), table.missing_places(), HostAllocator::system());
        table.adopt(room.expect("memory")).0.expect("room")
    }

    #[test]
    fn drv_128_every_value_is_found_and_stays() {
        ends_in_time(|| {
            let mut table = HostTable::new(HostAllocator::system());
            assert_eq!(table.find(5), None);
            let add_one = |number| {
                let address = add(&mut table, number);
                // At most half of the slots are used, and the table has no more slots than this rule requires.
                let (count, places) = (table.count, table.places.len());
                assert!(places >= 2 * count && places.is_power_of_two(), "{count} {places}");
                assert!(places <= 8.max(4 * (count - 1)), "{count} {places}");
                address
            };
            let addresses: Vec<_> = (0..10_000).map(add_one).collect();
            for (number, &address) in addresses.iter().enumerate() {
                assert_eq!(table.find(number), Some(address));
                // SAFETY: the address came from the table, which still lives.
                assert_eq!(unsafe { &*address }.0, number);
            }
            assert_eq!(table.find(10_000), None);
        });
    }

    #[test]
    fn drv_128_values_go_with_the_table() {
        struct Counted(Arc<()>);
        impl Keyed for Counted {
            type Key = usize;
            fn key(&self) -> usize {
                Arc::strong_count(&self.0)
            }
            fn hash(_: usize) -> usize {
                0
            }
        }
        let value = Arc::new(());
        let mut table = HostTable::new(HostAllocator::system());
        let room = HostTable::room(Counted(value.clone()), table.missing_places(), HostAllocator::system());
        assert!(table.adopt(room.expect("memory")).0.is_some());
        assert_eq!(Arc::strong_count(&value), 2);
        drop(table);
        assert_eq!(Arc::strong_count(&value), 1);
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
        ends_in_time(|| {
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
        });
    }
}
