//! Comparison of a path's state with its state at an earlier time.

use crate::system::{File, Stamp};
use core::ffi::CStr;

/// Result of opening a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// The file does not exist.
    NoFile,
    /// A regular file in this state.
    File(Stamp),
    /// The folder does not exist.
    NoFolder,
    /// A folder in this state.
    Folder(Stamp),
}

impl PathState {
    /// Returns `true` if opening `path` still has this result. Opens the path with the same system calls as before (APP-217).
    #[inline]
    pub fn holds(&self, path: &CStr) -> bool {
        let (opened, expected) = match self {
            Self::NoFolder => (File::open_folder(path), None),
            Self::NoFile => (File::open(path), None),
            Self::File(stamp) => (File::open(path), Some(stamp)),
            Self::Folder(stamp) => (File::open_folder(path), Some(stamp)),
        };
        match (opened, expected) {
            (Ok(file), Some(stamp)) => file.status().is_ok_and(|found| Stamp::of(&found) == Some(*stamp)),
            (Err(error), None) => error.is_absence(),
            // The file or folder was created or deleted, or no longer opens.
            _ => false,
        }
    }
}
