//! The names in a folder.

use super::path::to_system;
use super::{Errno, Stamp};
use crate::memory::OutOfMemory;
use core::ffi::CStr;
use std::fs;

/// A folder that is being read.
pub struct Folder(fs::ReadDir);

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &[u8]) -> Result<Self, Errno> {
        Ok(Self(fs::read_dir(to_system(path)?)?))
    }

    /// The same for a terminated path.
    ///
    /// # Errors
    /// The system's.
    pub fn open_terminated(path: &CStr) -> Result<Self, Errno> {
        Self::open(path.to_bytes())
    }

    /// The state of the folder; `None` where that cannot be said.
    pub fn stamp(&self) -> Option<Stamp> {
        None
    }

    /// Whether it lies on a file system whose times say enough.
    pub fn is_local(&self) -> bool {
        false
    }

    /// Shows `take` each name in the folder, in the system's order, until that fails.
    ///
    /// # Errors
    /// The inner one when the folder cannot be read to its end, the outer one that of `take`.
    pub fn names(
        self,
        mut take: impl FnMut(&[u8]) -> Result<(), OutOfMemory>,
    ) -> Result<Result<(), Errno>, OutOfMemory> {
        for entry in self.0 {
            match entry {
                Ok(entry) => take(entry.file_name().as_encoded_bytes())?,
                Err(error) => return Ok(Err(error.into())),
            }
        }
        Ok(Ok(()))
    }
}
