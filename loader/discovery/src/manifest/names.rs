//! A list of names with an index.

use crate::index::{Key, NameIndex};
use crate::text::Text;
use alloc::vec::Vec;
use core::ops::Deref;
use os::memory::{Grow, OutOfMemory};

/// Names in their original order, including repeated ones.
#[derive(Debug, Default)]
pub struct Names {
    texts: Vec<Text>,
    index: NameIndex,
}

impl Names {
    /// Returns a copy of a list of names.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn of(texts: &[Text]) -> Result<Self, OutOfMemory> {
        let mut names = Self::default();
        if texts.is_empty() {
            return Ok(names);
        }
        names.texts.try_exact_room(texts.len())?;
        names.index = NameIndex::with_room(texts.len())?;
        for (place, text) in texts.iter().enumerate() {
            names.texts.push(Text::try_new(text)?);
            names.index.add(Key::of(&[text]), place)?;
        }
        Ok(names)
    }

    /// Returns `true` if the list contains `name`.
    pub fn has(&self, name: &[u8]) -> bool {
        // Most lists are empty, so this check usually avoids the look-up in the index.
        !self.texts.is_empty()
            && self
                .index
                .find(Key::of(&[name]), |place| self.texts[place] == *name)
                .is_some()
    }
}

impl Deref for Names {
    type Target = [Text];

    fn deref(&self) -> &[Text] {
        &self.texts
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}

impl Eq for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lay_177_names_are_exact() {
        let names = Names::of(&["a".into(), "b".into(), "a".into()]).unwrap();
        assert!(names.has(b"a") && names.has(b"b"));
        assert!(!names.has(b"A") && !names.has(b"") && !names.has(b"ab"));
        assert!(!Names::default().has(b"") && Names::of(&[]).unwrap().is_empty());
        assert_eq!(names.len(), 3);
    }
}
