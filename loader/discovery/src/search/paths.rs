//! A list of paths in one block of memory. A search assembles many paths, and most of these do not exist.

use crate::index::{Key, NameIndex};
use crate::journal::Source;
use crate::text::{append_joined, has_json_name};
use alloc::vec::Vec;
use os::memory::{Grow, OutOfMemory, shortage};

/// One place of a search: a folder, or a single file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// Path of the folder or file, in the form that the search assembled.
    pub path: &'a [u8],
    /// Origin of the path.
    pub source: Source,
}

impl Place<'_> {
    /// Returns `true` if the path has the name of a JSON file, so that the loader treats the place as a file.
    pub fn is_file(&self) -> bool {
        has_json_name(self.path)
    }
}

/// A list of places in the order of the search.
#[derive(Debug, PartialEq, Eq)]
pub struct Paths {
    text: Vec<u8>,
    items: Vec<Item>,
    /// `true` if a variable replaced all other places by the places in this list.
    pub replace: bool,
}

/// Position of a path in `Paths::text`, and origin of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item {
    start: usize,
    end: usize,
    source: Source,
}

/// Expected number of paths, and of bytes in all paths, for the initial allocation.
const USUAL_PATHS: usize = 16;
const USUAL_BYTES: usize = 512;

impl Paths {
    /// Returns an empty list with memory for the usual number of paths.
    pub fn with_usual_room() -> Self {
        let mut paths = Self {
            text: Vec::new(),
            items: Vec::new(),
            replace: false,
        };
        let room = paths.text.try_exact_room(USUAL_BYTES);
        if room.and_then(|()| paths.items.try_exact_room(USUAL_PATHS)).is_err() {
            shortage::note();
        }
        paths
    }

    /// Adds a path. If memory runs out, the path is not added, and the call fails with out of memory.
    pub fn push(&mut self, path: &[u8], source: Source) {
        self.add(source, |text| {
            text.try_room(path.len())?;
            text.extend_from_slice(path);
            Ok(())
        });
    }

    /// Adds a path below a folder, like [`push`](Self::push).
    pub fn push_joined(&mut self, folder: &[u8], rest: &[u8], source: Source) {
        self.add(source, |text| append_joined(text, folder, rest));
    }

    fn add(&mut self, source: Source, write: impl FnOnce(&mut Vec<u8>) -> Result<(), OutOfMemory>) {
        let start = self.text.len();
        match write(&mut self.text) {
            Ok(()) => {
                let end = self.text.len();
                self.items.push_or_note(Item { start, end, source });
            }
            Err(OutOfMemory) => shortage::note(),
        }
    }

    /// Returns `true` if the list contains `path` with the origin `source`.
    pub fn has(&self, path: &[u8], source: Source) -> bool {
        self.iter().any(|place| place.source == source && place.path == path)
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns `true` if there are no paths.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the places in the order of the search.
    pub fn iter(&self) -> impl Iterator<Item = Place<'_>> {
        self.items.iter().map(|item| Place {
            path: item.of(&self.text),
            source: item.source,
        })
    }

    /// Drops places whose path occurred before (DRV-11, LAY-16).
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn drop_repeats(&mut self) -> Result<(), OutOfMemory> {
        let Self { text, items, .. } = self;
        if items.len() <= USUAL_PATHS {
            let mut index = 1;
            while index < items.len() {
                let (before, rest) = items.split_at(index);
                if before.iter().any(|known| known.of(text) == rest[0].of(text)) {
                    items.remove(index);
                } else {
                    index += 1;
                }
            }
            return Ok(());
        }
        let mut seen = NameIndex::with_room(items.len())?;
        let mut kept = 0;
        for place in 0..items.len() {
            let item = items[place];
            let key = Key::of(&[item.of(text)]);
            if seen.find(key, |known| items[known].of(text) == item.of(text)).is_none() {
                // The places before this one have their final indices.
                seen.add(key, kept)?;
                items[kept] = item;
                kept += 1;
            }
        }
        items.truncate(kept);
        Ok(())
    }
}

impl Item {
    fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drv_11_later_repeats_are_dropped_in_lists_of_any_length() {
        let kept = |numbers: &[usize]| {
            let mut paths = Paths::with_usual_room();
            for number in numbers {
                paths.push(format!("/{number}").as_bytes(), Source::BuildTime);
            }
            paths.drop_repeats().unwrap();
            let text = |place: Place<'_>| String::from_utf8_lossy(&place.path[1..]).into_owned();
            let numbers: Vec<usize> = paths.iter().map(|place| text(place).parse().unwrap()).collect();
            numbers
        };
        assert!(kept(&[]).is_empty());
        assert_eq!(kept(&[1, 1, 2, 1, 2, 3, 3]), [1, 2, 3]);
        for length in [15, 16, 17, 18, 40] {
            let all: Vec<usize> = (0..length).collect();
            assert_eq!(kept(&all), all);
            assert_eq!(kept(&all.repeat(2)), all);
            assert_eq!(kept(&[&all[..], &[0, length - 1]].concat()), all);
            assert_eq!(kept(&[&[0, 0], &all[..]].concat()), all);
        }
    }
}
