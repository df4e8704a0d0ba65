//! Byte strings from manifests, the environment and the file system, and paths in this form.

mod path;
mod place;
#[cfg(all(test, unix))]
pub mod scratch;

pub use path::{append_joined, file_name, folder_of, has_json_name, join};
pub use place::Place;

use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::ops::Deref;

use os::Raw;
use os::memory::{self, OutOfMemory};

/// A byte string. Names and paths need not be UTF-8, and are never changed (LAY-70, BI-7).
///
/// A function that cannot return an error returns an empty copy if memory runs out. The Vulkan call then fails with out of memory.
#[derive(Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Vec<u8>);

impl Text {
    /// Returns a copy of `bytes`.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn try_new(bytes: &[u8]) -> Result<Self, OutOfMemory> {
        memory::copy(bytes).map(Self)
    }

    /// Replaces the text by the path of `rest` below `folder`. Uses the same memory if it is large enough.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn set_joined(&mut self, folder: &[u8], rest: &[u8]) -> Result<(), OutOfMemory> {
        self.0.clear();
        append_joined(&mut self.0, folder, rest)
    }

    /// Returns the bytes of the text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Clone for Text {
    fn clone(&self) -> Self {
        Self::from(self.as_bytes())
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Borrow<[u8]> for Text {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<Text> for Vec<u8> {
    fn from(text: Text) -> Self {
        text.0
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        Self(memory::copy_or_note(bytes))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::from(text.as_bytes())
    }
}

impl PartialEq<[u8]> for Text {
    fn eq(&self, other: &[u8]) -> bool {
        self.0 == other
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

/// Prints through [`Raw`], so that log lines contain every byte unchanged.
impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Raw(&self.0), formatter)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{}\"", self.0.escape_ascii())
    }
}
