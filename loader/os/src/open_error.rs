//! Reasons why a library did not open, on every system.

use crate::raw::Raw;
use alloc::vec::Vec;

/// Reason why a library did not open.
#[derive(Debug)]
pub enum OpenError {
    /// The path is empty or contains a NUL, so it was not passed to the system (LAY-100).
    NotAPath,
    /// The library is for another processor or word size, which is normal if 32-bit and 64-bit programs share a system (DRV-58). Contains
    /// the system's error text.
    WrongClass(Vec<u8>),
    /// Any other reason, as the system's error text.
    Failed(Vec<u8>),
}

impl OpenError {
    /// Returns the system's error text.
    pub fn text(&self) -> Raw<'_> {
        Raw(match self {
            Self::NotAPath => b"the library path is empty or contains a NUL byte",
            Self::WrongClass(words) | Self::Failed(words) => words,
        })
    }
}
