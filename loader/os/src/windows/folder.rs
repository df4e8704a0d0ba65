//! Names in a folder.

use super::path::to_system;
use super::{Errno, Stamp};
use crate::memory::OutOfMemory;
use core::ffi::CStr;
use std::fs;

/// A folder whose names are read.
pub struct Folder(fs::ReadDir);

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open(path: &[u8]) -> Result<Self, Errno> {
        Ok(Self(fs::read_dir(to_system(path)?)?))
    }

    /// Opens the folder at a terminated path.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open_terminated(path: &CStr) -> Result<Self, Errno> {
        Self::open(path.to_bytes())
    }

    /// Returns `None`: on Windows, folders have no stamp.
    pub fn stamp(&self) -> Option<Stamp> {
        None
    }

    /// Returns `false`: on Windows, the loader does not detect changes by the times of folders.
    pub fn is_local(&self) -> bool {
        false
    }

    /// Passes each name in the folder to `take`, in the system's order, until `take` fails.
    ///
    /// # Errors
    /// The outer error comes from `take`. The inner error means that the folder cannot be read to its end.
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
