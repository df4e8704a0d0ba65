//! The names in a folder.

use super::{Errno, Stamp, Status, is_local, with_terminated};
use crate::memory::OutOfMemory;
use core::ffi::{CStr, c_int};
use core::ptr::NonNull;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use libc::readdir as readdir64;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use libc::readdir64;

/// A folder that is being read.
pub struct Folder(NonNull<libc::DIR>);

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &[u8]) -> Result<Self, Errno> {
        with_terminated(path, Self::open_terminated)
    }

    /// The same for a terminated path.
    ///
    /// # Errors
    /// The system's.
    #[inline]
    pub fn open_terminated(path: &CStr) -> Result<Self, Errno> {
        // SAFETY: a terminated path.
        let folder = unsafe { libc::opendir(path.as_ptr()) };
        NonNull::new(folder).map(Self).ok_or_else(Errno::last)
    }

    fn descriptor(&self) -> c_int {
        // SAFETY: an open folder.
        unsafe { libc::dirfd(self.0.as_ptr()) }
    }

    /// The state of the folder; `None` where that cannot be said.
    pub fn stamp(&self) -> Option<Stamp> {
        Stamp::of(&Status::of(self.descriptor()).ok()?)
    }

    /// Whether it lies on a file system whose times say enough.
    pub fn is_local(&self) -> bool {
        is_local(self.descriptor())
    }

    /// Shows `take` each name in the folder, in the system's order, until that fails.
    ///
    /// # Errors
    /// The inner one when the folder cannot be read to its end, the outer one that of `take`.
    pub fn names(
        self,
        mut take: impl FnMut(&[u8]) -> Result<(), OutOfMemory>,
    ) -> Result<Result<(), Errno>, OutOfMemory> {
        loop {
            // It tells the end of the folder from a failure.
            Errno::clear();
            // SAFETY: an open folder that only this value reads.
            let entry = unsafe { readdir64(self.0.as_ptr()) };
            if entry.is_null() {
                let error = Errno::last();
                return Ok(if error == Errno(0) { Ok(()) } else { Err(error) });
            }
            // SAFETY: an entry holds a terminated name, and is valid until the next one is read. Only as much of the
            // structure as the name needs may exist, so it is never read whole.
            let name = unsafe { CStr::from_ptr((&raw const (*entry).d_name).cast()) };
            take(name.to_bytes())?;
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // SAFETY: open until here.
        unsafe { libc::closedir(self.0.as_ptr()) };
    }
}
