//! Why a library did not open, on every system.

use crate::raw::Raw;
use alloc::vec::Vec;

/// Why a library did not open.
#[derive(Debug)]
pub enum OpenError {
    /// The path is empty or holds a NUL, so it was never given to the system (LAY-100).
    NotAPath,
    /// It is made for another processor or word size, which is normal where 32-bit and 64-bit programs share a system
    /// (DRV-58). The system's own words.
    WrongClass(Vec<u8>),
    /// Anything else, in the system's own words.
    Failed(Vec<u8>),
}

impl OpenError {
    /// The system's own words.
    pub fn text(&self) -> Raw<'_> {
        Raw(match self {
            Self::NotAPath => b"the library path is empty or contains a NUL byte",
            Self::WrongClass(words) | Self::Failed(words) => words,
        })
    }
}
