//! Requested names, from a variable or from an application's list.

use crate::env::split;
use crate::env::variable::Separator;
use crate::index::{Key, NameIndex};
use alloc::vec::Vec;
use os::memory::{Grow, OutOfMemory};

/// Names in their original order, with an index.
#[derive(Debug, Default)]
pub(super) struct Items<'a> {
    items: Vec<&'a [u8]>,
    index: NameIndex,
}

impl<'a> Items<'a> {
    /// Returns the items of a variable with paths or names; an empty list if the variable is unset.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub(super) fn of(value: Option<&'a [u8]>) -> Result<Self, OutOfMemory> {
        Self::these(split(value.unwrap_or_default(), Separator::Path))
    }

    /// Returns a list with the names in `names`.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub(super) fn these(names: impl Iterator<Item = &'a [u8]>) -> Result<Self, OutOfMemory> {
        let mut items = Self::default();
        for name in names {
            items.index.add(Key::of(&[name]), items.items.len())?;
            items.items.try_push(name)?;
        }
        Ok(items)
    }

    /// Returns the names in their original order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.items.iter().copied()
    }

    /// Returns `true` if the list contains `name`.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        !self.items.is_empty()
            && self
                .index
                .find(Key::of(&[name]), |place| self.items[place] == name)
                .is_some()
    }
}
