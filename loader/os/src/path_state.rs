//! What a path led to, and whether it still does.

use crate::system::{File, Folder, Stamp};
use core::ffi::CStr;

/// What opening a path led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// No such file.
    NoFile,
    /// A regular file in this state.
    File(Stamp),
    /// No such folder.
    NoFolder,
    /// A folder in this state.
    Folder(Stamp),
}

impl PathState {
    /// Whether opening `path` still ends so, through the same calls of the system (APP-217).
    #[inline]
    pub fn holds(&self, path: &CStr) -> bool {
        let (opened, expected) = match self {
            Self::NoFolder => return Folder::open_terminated(path).is_err_and(|error| error.is_absence()),
            Self::NoFile => (File::open(path), None),
            Self::File(stamp) => (File::open(path), Some(stamp)),
            Self::Folder(stamp) => (File::open_folder(path), Some(stamp)),
        };
        match (opened, expected) {
            (Ok(file), Some(stamp)) => file.status().is_ok_and(|found| Stamp::of(&found) == Some(*stamp)),
            (Err(error), None) => error.is_absence(),
            // Something came, went, or does not open any more.
            _ => false,
        }
    }
}
