//! Names in a folder.

use super::{Errno, Stamp, Status, is_local, with_terminated};
use crate::memory::OutOfMemory;
use core::ffi::{CStr, c_int};
use core::ptr::NonNull;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use libc::readdir as readdir64;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use libc::readdir64;

/// A folder whose names are read.
pub struct Folder(NonNull<libc::DIR>);

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open(path: &[u8]) -> Result<Self, Errno> {
        with_terminated(path, Self::open_terminated)
    }

    /// Opens the folder at a terminated path.
    ///
    /// # Errors
    /// The error of the system.
    #[inline]
    pub fn open_terminated(path: &CStr) -> Result<Self, Errno> {
        // SAFETY: the path is a terminated string.
        let folder = unsafe { libc::opendir(path.as_ptr()) };
        NonNull::new(folder).map(Self).ok_or_else(Errno::last)
    }

    fn descriptor(&self) -> c_int {
        // SAFETY: the folder stays open as long as `self`.
        unsafe { libc::dirfd(self.0.as_ptr()) }
    }

    /// Returns the state of the folder; `None` if it cannot be determined.
    pub fn stamp(&self) -> Option<Stamp> {
        Stamp::of(&Status::of(self.descriptor()).ok()?)
    }

    /// Returns `true` if the folder is on a local file system, which sets the times of folders from this machine's clock.
    pub fn is_local(&self) -> bool {
        is_local(self.descriptor())
    }

    /// Passes each name in the folder to `take`, in the system's order, until `take` fails.
    ///
    /// # Errors
    /// The outer error comes from `take`. The inner error means that the folder cannot be read to its end.
    pub fn names(
        self,
        mut take: impl FnMut(&[u8]) -> Result<(), OutOfMemory>,
    ) -> Result<Result<(), Errno>, OutOfMemory> {
        loop {
            // `readdir64` returns NULL both at the end of the folder and after an error. Only `errno`, cleared before the call,
            // distinguishes the two.
            Errno::clear();
            // SAFETY: the folder is open, and only this value reads it.
            let entry = unsafe { readdir64(self.0.as_ptr()) };
            if entry.is_null() {
                let error = Errno::last();
                return Ok(if error == Errno(0) { Ok(()) } else { Err(error) });
            }
            // SAFETY: an entry contains a terminated name, and is valid until the next one is read. The structure may be shorter than its
            // type, so it is never read whole.
            let name = unsafe { CStr::from_ptr((&raw const (*entry).d_name).cast()) };
            take(name.to_bytes())?;
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // SAFETY: the value keeps the folder open until this call, and `drop` runs once.
        unsafe { libc::closedir(self.0.as_ptr()) };
    }
}
