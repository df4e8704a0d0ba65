//! Paths in one block of memory: a search assembles many, and most lead to nothing.

use crate::journal::Source;
use crate::manifest::{append_joined, has_json_name};
use rust_alloc::collections::BTreeSet;
use rust_alloc::vec::Vec;

/// A folder, or one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// Its path, as assembled.
    pub path: &'a [u8],
    /// Who named it.
    pub source: Source,
}

impl Place<'_> {
    /// Whether the place is one file.
    pub fn is_file(&self) -> bool {
        has_json_name(self.path)
    }
}

/// A list of places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    text: Vec<u8>,
    items: Vec<Item>,
}

/// Where a path begins and ends in the text, and who named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item {
    start: usize,
    end: usize,
    source: Source,
}

/// Paths for which there is room at once, and bytes of them all.
const USUAL_PATHS: usize = 16;
const USUAL_BYTES: usize = 512;

impl Paths {
    /// An empty list with room for as many paths as are usual.
    pub fn with_usual_room() -> Self {
        Self {
            text: Vec::with_capacity(USUAL_BYTES),
            items: Vec::with_capacity(USUAL_PATHS),
        }
    }

    /// Adds a path.
    pub fn push(&mut self, path: &[u8], source: Source) {
        self.add(source, |text| text.extend_from_slice(path));
    }

    /// Adds a path below a folder.
    pub fn push_joined(&mut self, folder: &[u8], rest: &[u8], source: Source) {
        self.add(source, |text| append_joined(text, folder, rest));
    }

    fn add(&mut self, source: Source, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        write(&mut self.text);
        let end = self.text.len();
        self.items.push(Item { start, end, source });
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The places in their order.
    pub fn iter(&self) -> impl Iterator<Item = Place<'_>> {
        self.items.iter().map(|item| Place {
            path: item.of(&self.text),
            source: item.source,
        })
    }

    /// Drops places whose exact text occurred before (DRV-11, LAY-16).
    pub fn drop_repeats(&mut self) {
        let Self { text, items } = self;
        if items.len() <= USUAL_PATHS {
            let mut index = 1;
            while index < items.len() {
                let (before, rest) = items.split_at(index);
                match before.iter().any(|known| known.of(text) == rest[0].of(text)) {
                    true => drop(items.remove(index)),
                    false => index += 1,
                }
            }
            return;
        }
        let mut seen = BTreeSet::new();
        items.retain(|item| seen.insert(item.of(text)));
    }
}

impl Item {
    fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start..self.end]
    }
}
