//! Files and their states.

use super::Errno;
use super::path::to_system;
use alloc::vec::Vec;
use core::ffi::CStr;
use std::fs;
use std::io::Read;

/// An open file; closed when dropped.
#[derive(Debug)]
pub struct File(fs::File);

impl File {
    /// Opens the file at `path` for reading.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open(path: &CStr) -> Result<Self, Errno> {
        Ok(Self(fs::File::open(to_system(path.to_bytes())?)?))
    }

    /// Returns an error. On Windows, folders have no stamp, so no caller needs an open folder.
    ///
    /// # Errors
    /// The error of the system; `INVALID` for a folder that exists.
    pub fn open_folder(path: &CStr) -> Result<Self, Errno> {
        drop(fs::read_dir(to_system(path.to_bytes())?)?);
        Err(Errno::INVALID)
    }

    /// Returns `false`: on Windows, the loader does not detect changes by the times of files.
    pub fn is_local(&self) -> bool {
        false
    }

    /// Returns the current state of the file.
    ///
    /// # Errors
    /// The error of the system.
    pub fn status(&self) -> Result<Status, Errno> {
        Ok(Status(self.0.metadata()?))
    }

    /// Reads the next bytes into `room`, and returns their number; zero at the end.
    ///
    /// # Errors
    /// The error of the system.
    pub fn read(&self, room: &mut [u8]) -> Result<usize, Errno> {
        Ok((&self.0).read(room)?)
    }

    /// Appends the next bytes to an array, up to its capacity, and returns their number; zero at the end of the file.
    ///
    /// # Errors
    /// The error of the system.
    pub fn append_to(&self, bytes: &mut Vec<u8>) -> Result<usize, Errno> {
        let before = bytes.len();
        bytes.resize(bytes.capacity(), 0);
        let read = self.read(&mut bytes[before..]);
        bytes.truncate(before + *read.as_ref().unwrap_or(&0));
        read
    }
}

/// Status of a file or folder.
#[derive(Clone)]
pub struct Status(fs::Metadata);

impl Status {
    /// Returns the status of the file at a path.
    ///
    /// # Errors
    /// The error of the system.
    pub fn at(path: &CStr) -> Result<Self, Errno> {
        Ok(Self(fs::metadata(to_system(path.to_bytes())?)?))
    }

    /// Returns `true` for a regular file.
    pub fn is_file(&self) -> bool {
        self.0.is_file()
    }

    /// Returns `None`: on Windows, the identity of a file would need another call for each file.
    pub fn identity(&self) -> Option<(u64, u64)> {
        None
    }

    /// Returns the size of the file in bytes.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Returns `true` if the file is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
