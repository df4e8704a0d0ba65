//! Files and their states.

use super::Errno;
use super::path::to_system;
use core::ffi::CStr;
use std::fs;
use std::io::Read;

/// An open file; closed when dropped.
#[derive(Debug)]
pub struct File(fs::File);

impl File {
    /// Opens what is at `path` for reading.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &CStr) -> Result<Self, Errno> {
        Ok(Self(fs::File::open(to_system(path.to_bytes())?)?))
    }

    /// Opens a folder for its state, which this system does not need: no folder has a stamp.
    ///
    /// # Errors
    /// Always.
    pub fn open_folder(_: &CStr) -> Result<Self, Errno> {
        Err(Errno::INVALID)
    }

    /// Whether it lies on a file system whose times say enough.
    pub fn is_local(&self) -> bool {
        false
    }

    /// Its state now.
    ///
    /// # Errors
    /// The system's.
    pub fn status(&self) -> Result<Status, Errno> {
        Ok(Status(self.0.metadata()?))
    }

    /// Reads the next bytes into `room`, and returns how many; none at the end.
    ///
    /// # Errors
    /// The system's.
    pub fn read(&self, room: &mut [u8]) -> Result<usize, Errno> {
        Ok((&self.0).read(room)?)
    }
}

/// What the system tells of a file or folder.
#[derive(Clone)]
pub struct Status(fs::Metadata);

impl Status {
    /// That of what a path leads to.
    ///
    /// # Errors
    /// The system's.
    pub fn at(path: &CStr) -> Result<Self, Errno> {
        Ok(Self(fs::metadata(to_system(path.to_bytes())?)?))
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.0.is_file()
    }

    /// Returns `None`: on Windows the identity of a file would take another call for each file.
    pub fn identity(&self) -> Option<(u64, u64)> {
        None
    }

    /// Its size in bytes.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
