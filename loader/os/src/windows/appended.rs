//! Files to which records are appended, each in one call.

use super::Errno;
use super::path::to_system;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// A file to which records are appended; closed when dropped.
pub struct Appended(Mutex<Option<File>>);

impl Appended {
    /// Opens a file, or creates it.
    ///
    /// # Errors
    /// The error of the system; `INVALID` for a link and for anything but a regular file.
    pub fn at(path: &[u8]) -> Result<Self, Errno> {
        let path = to_system(path)?;
        if std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(Errno::INVALID);
        }
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        Ok(Self(Mutex::new(Some(file))))
    }

    /// Returns an error. On Windows, file numbers belong to a C runtime, and each library may have a C runtime of its own.
    ///
    /// # Errors
    /// Always `INVALID`.
    pub fn open_as(_: u32) -> Result<Self, Errno> {
        Err(Errno::INVALID)
    }

    /// Appends a record, in one call if the system takes all of it.
    ///
    /// # Errors
    /// The error of the system. A part of the record may have been written.
    pub fn append(&self, record: &[u8]) -> Result<(), Errno> {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(file.as_ref().ok_or(Errno::INVALID)?.write_all(record)?)
    }

    /// Closes the file. Later calls of [`append`](Self::append) fail.
    pub fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}
