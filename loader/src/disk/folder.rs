//! The names in a folder.

use super::stamp::Stamp;
use crate::alloc::OutOfMemory;
use std::io;

/// A folder that is being read.
pub struct Folder(system::Handle);

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &[u8]) -> io::Result<Self> {
        system::Handle::open(path).map(Self)
    }

    /// The state of the folder; `None` where that cannot be said.
    pub fn stamp(&self) -> Option<Stamp> {
        self.0.stamp()
    }

    /// Whether it lies on a file system whose times say enough.
    pub(super) fn is_local(&self) -> bool {
        self.0.is_local()
    }

    /// Shows `take` each name in the folder, in the system's order, until that fails.
    ///
    /// # Errors
    /// The inner one when the folder cannot be read to its end, the outer one that of `take`.
    pub fn names(self, take: impl FnMut(&[u8]) -> Result<(), OutOfMemory>) -> Result<io::Result<()>, OutOfMemory> {
        self.0.names(take)
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::{OutOfMemory, Stamp};
    use crate::disk::stamp::is_local;
    use core::ffi::{CStr, c_int};
    use core::ptr::NonNull;
    use rust_alloc::ffi::CString;
    use std::io;

    #[cfg(not(target_env = "gnu"))]
    use libc::readdir as readdir64;
    #[cfg(target_env = "gnu")]
    use libc::readdir64;

    /// Bytes of a path, its terminator included, for which no memory is asked.
    const USUAL_PATH: usize = 128;

    pub(super) struct Handle(NonNull<libc::DIR>);

    impl Handle {
        pub(super) fn open(path: &[u8]) -> io::Result<Self> {
            let mut room = [0_u8; USUAL_PATH];
            let long;
            let path = if path.len() < room.len() && !path.contains(&0) {
                room[..path.len()].copy_from_slice(path);
                room.as_ptr().cast()
            } else {
                long = CString::new(path)?;
                long.as_ptr()
            };
            // SAFETY: a path that ends at its only NUL; the room was full of them and is longer than the path.
            let folder = unsafe { libc::opendir(path) };
            NonNull::new(folder).map(Self).ok_or_else(io::Error::last_os_error)
        }

        fn descriptor(&self) -> c_int {
            // SAFETY: an open folder.
            unsafe { libc::dirfd(self.0.as_ptr()) }
        }

        pub(super) fn stamp(&self) -> Option<Stamp> {
            Stamp::of_descriptor(self.descriptor())
        }

        pub(super) fn is_local(&self) -> bool {
            is_local(self.descriptor())
        }

        pub(super) fn names(
            self,
            mut take: impl FnMut(&[u8]) -> Result<(), OutOfMemory>,
        ) -> Result<io::Result<()>, OutOfMemory> {
            loop {
                // SAFETY: the thread's own error number. It tells the end of the folder from a failure.
                unsafe { *libc::__errno_location() = 0 };
                // SAFETY: an open folder that only this value reads.
                let entry = unsafe { readdir64(self.0.as_ptr()) };
                if entry.is_null() {
                    let error = io::Error::last_os_error();
                    return Ok(if error.raw_os_error() == Some(0) {
                        Ok(())
                    } else {
                        Err(error)
                    });
                }
                // SAFETY: an entry holds a terminated name, and is valid until the next one is read. Only as much of the
                // structure as the name needs may exist, so it is never read whole.
                let name = unsafe { CStr::from_ptr((&raw const (*entry).d_name).cast()) };
                take(name.to_bytes())?;
            }
        }
    }

    impl Drop for Handle {
        fn drop(&mut self) {
            // SAFETY: open until here.
            unsafe { libc::closedir(self.0.as_ptr()) };
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{OutOfMemory, Stamp};
    use crate::env::bytes_of;
    use crate::manifest::path_of;
    use std::fs::ReadDir;
    use std::io;

    pub(super) struct Handle(ReadDir);

    impl Handle {
        pub(super) fn open(path: &[u8]) -> io::Result<Self> {
            std::fs::read_dir(path_of(path)).map(Self)
        }

        pub(super) fn stamp(&self) -> Option<Stamp> {
            None
        }

        pub(super) fn is_local(&self) -> bool {
            false
        }

        pub(super) fn names(
            self,
            mut take: impl FnMut(&[u8]) -> Result<(), OutOfMemory>,
        ) -> Result<io::Result<()>, OutOfMemory> {
            for entry in self.0 {
                match entry {
                    Ok(entry) => take(&bytes_of(entry.file_name()))?,
                    Err(error) => return Ok(Err(error)),
                }
            }
            Ok(Ok(()))
        }
    }
}
