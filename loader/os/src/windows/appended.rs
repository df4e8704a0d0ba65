//! Files that records are appended to, each in one call.

use super::Errno;
use super::path::to_system;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// A file that records are appended to; closed when dropped.
pub struct Appended(Mutex<Option<File>>);

impl Appended {
    /// Opens a file, or makes it.
    ///
    /// # Errors
    /// The system's; that it is invalid for a link and for what is no regular file.
    pub fn at(path: &[u8]) -> Result<Self, Errno> {
        let path = to_system(path)?;
        if std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(Errno::INVALID);
        }
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self(Mutex::new(Some(file))))
    }

    /// What is open under a number: nothing, since numbers are those of a C runtime here, which each library has for itself.
    ///
    /// # Errors
    /// Always.
    pub fn open_as(_: u32) -> Result<Self, Errno> {
        Err(Errno::INVALID)
    }

    /// Appends a record, in one call where the system takes it at once.
    ///
    /// # Errors
    /// The system's. A part of the record may be written then.
    pub fn append(&self, record: &[u8]) -> Result<(), Errno> {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(file.as_ref().ok_or(Errno::INVALID)?.write_all(record)?)
    }

    /// Closes it. Nothing is appended from then on.
    pub fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
