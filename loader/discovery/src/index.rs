//! Constant-time look-up of objects by name.

use alloc::vec::Vec;
use os::memory::{Grow, OutOfMemory};

/// A hash table of numbers. Each number identifies an object in a list of the caller. The table stores no names; the caller compares names.
///
/// If two objects have the same name, the look-up finds the object that was added first.
#[derive(Debug, Default)]
pub struct NameIndex {
    /// The slots; their number is zero or a power of two. At least a quarter of the slots is empty.
    slots: Vec<Slot>,
    used: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    /// Number of the object, or [`Slot::EMPTY`].
    number: u32,
}

impl Slot {
    const EMPTY: u32 = u32::MAX;
}

/// Number of slots of the smallest table.
const FEWEST: usize = 16;

/// Hash of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u32);

impl Key {
    /// Returns the key of a name. The name is the concatenation of the parts.
    pub fn of(parts: &[&[u8]]) -> Self {
        // If the system loads libraries at random addresses, the colliding names differ between processes. Therefore, no file can be
        // written that makes the table slow in every process.
        let seed = (&raw const SEED).addr() as u64;
        let mut hash = seed ^ 0x9E37_79B9_7F4A_7C15;
        for part in parts {
            let (words, rest) = part.as_chunks::<8>();
            for word in words {
                hash = mixed(hash ^ u64::from_le_bytes(*word), seed);
            }
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            hash = mixed(hash ^ u64::from_le_bytes(last), seed ^ part.len() as u64);
        }
        Self((hash >> 32) as u32)
    }
}

/// A static variable whose address is the seed of the hash, because addresses differ between processes.
static SEED: u8 = 0;

/// Multiplies the hash, and combines both halves of the product.
fn mixed(hash: u64, seed: u64) -> u64 {
    let product = u128::from(hash) * u128::from(seed ^ 0xD6E8_FEB8_6659_FD93 | 1);
    product as u64 ^ (product >> 64) as u64
}

impl NameIndex {
    /// Returns a table with memory for `things` objects.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn with_room(things: usize) -> Result<Self, OutOfMemory> {
        let mut index = Self::default();
        let slots = things
            .saturating_mul(4)
            .div_ceil(3)
            .max(FEWEST)
            .checked_next_power_of_two();
        index.resize(slots.ok_or(OutOfMemory)?)?;
        Ok(index)
    }

    /// Returns the number of the first object that has the given key and for which `is` returns `true`.
    #[inline]
    pub fn find(&self, Key(hash): Key, mut is: impl FnMut(usize) -> bool) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & last;
        loop {
            let slot = self.slots[at];
            match slot.number {
                Slot::EMPTY => return None,
                number if slot.hash == hash && is(number as usize) => return Some(number as usize),
                _ => at = (at + 1) & last,
            }
        }
    }

    /// Adds the number of an object.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn add(&mut self, Key(hash): Key, number: usize) -> Result<(), OutOfMemory> {
        if (self.used + 1) * 4 > self.slots.len() * 3 {
            self.resize((self.slots.len() * 2).max(FEWEST))?;
        }
        // A list with `u32::MAX` or more elements is treated as one that does not fit in memory.
        let number = u32::try_from(number).ok().filter(|&number| number != Slot::EMPTY);
        let number = number.ok_or(OutOfMemory)?;
        self.insert(Slot { hash, number });
        Ok(())
    }

    fn insert(&mut self, slot: Slot) {
        let last = self.slots.len() - 1;
        let mut at = slot.hash as usize & last;
        while self.slots[at].number != Slot::EMPTY {
            at = (at + 1) & last;
        }
        self.slots[at] = slot;
        self.used += 1;
    }

    fn resize(&mut self, count: usize) -> Result<(), OutOfMemory> {
        let mut slots = Vec::new();
        slots.try_exact_room(count)?;
        let empty = Slot {
            hash: 0,
            number: Slot::EMPTY,
        };
        slots.resize(count, empty);
        let old = core::mem::replace(&mut self.slots, slots);
        self.used = 0;
        // Objects with the same key are in one run of used slots, in their original order. A run may continue at the start of the array, so
        // the loop begins at an empty slot.
        let begin = old
            .iter()
            .position(|slot| slot.number == Slot::EMPTY)
            .unwrap_or_default();
        let (before, behind) = old.split_at(begin);
        let taken = behind.iter().chain(before).filter(|slot| slot.number != Slot::EMPTY);
        taken.for_each(|&slot| self.insert(slot));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_limit::ends_in_time;

    #[test]
    fn every_name_is_found_and_the_first_of_equal_ones_first() {
        ends_in_time(|| {
            let names: Vec<String> = (0..20_000).map(|number| format!("name {}", number % 7_000)).collect();
            let mut index = NameIndex::default();
            assert_eq!(index.find(Key::of(&[b"name 0"]), |_| true), None);
            for (number, name) in names.iter().enumerate() {
                index.add(Key::of(&[name.as_bytes()]), number).unwrap();
            }
            let find = |name: &str| index.find(Key::of(&[name.as_bytes()]), |number| names[number] == name);
            for (number, name) in names[..7_000].iter().enumerate() {
                assert_eq!(find(name), Some(number));
            }
            assert_eq!(find("name 7000"), None);
            let mut met = Vec::new();
            index.find(Key::of(&[b"name 42"]), |number| {
                if names[number] == "name 42" {
                    met.push(number);
                }
                false
            });
            assert_eq!(met, [42, 7_042, 14_042]);
        });
    }

    #[test]
    fn what_is_not_there_is_not_found_however_full_the_table_is() {
        ends_in_time(|| {
            let mut index = NameIndex::default();
            for number in 0..200 {
                index
                    .add(Key::of(&[format!("name {number}").as_bytes()]), number)
                    .unwrap();
                assert_eq!(index.find(Key::of(&[b"another"]), |_| false), None, "{number}");
            }
        });
    }

    #[test]
    fn keys_are_spread() {
        let names = (0..1000).map(|number| format!("VK_EXT_{number}"));
        let mut keys: Vec<u32> = names.map(|name| Key::of(&[name.as_bytes()]).0 & 0xFFFF).collect();
        keys.sort_unstable();
        keys.dedup();
        // About eight of a thousand keys have the same low 16 bits by chance.
        assert!(keys.len() > 900, "{}", keys.len());
    }

    #[test]
    fn keys_differ_where_texts_do() {
        let keys = [
            Key::of(&[b"ab", b"c"]),
            Key::of(&[b"a", b"bc"]),
            Key::of(&[b"abc"]),
            Key::of(&[b"abc\0"]),
            Key::of(&[b""]),
            Key::of(&[]),
            Key::of(&[b"12345678"]),
            Key::of(&[b"12345678", b""]),
        ];
        for (place, one) in keys.iter().enumerate() {
            assert!(keys[..place].iter().all(|other| one.0 != other.0), "{place}");
        }
    }

    #[test]
    fn room_is_made_for_a_third_more_than_is_wanted() {
        for (things, slots) in [(0, 16), (12, 16), (13, 32), (96, 128), (97, 256)] {
            assert_eq!(NameIndex::with_room(things).unwrap().slots.len(), slots, "{things}");
        }
    }

    #[test]
    fn at_least_a_quarter_of_the_table_is_empty() {
        let mut index = NameIndex::default();
        for number in 0..1000 {
            index.add(Key::of(&[&usize::to_le_bytes(number)]), number).unwrap();
            let slots = index.slots.len();
            assert!(
                (number + 1) * 4 <= slots * 3 && slots.is_power_of_two(),
                "{number} {slots}"
            );
            let empty = index.slots.iter().filter(|slot| slot.number == Slot::EMPTY).count();
            assert_eq!(slots - empty, number + 1);
        }
    }
}
