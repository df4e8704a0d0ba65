//! Files and their states.

use super::Errno;
use super::errno::retried;
use super::stamp::{self, Stamp};
use core::ffi::{CStr, c_int};
use core::mem::MaybeUninit;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use libc::{fstat as fstat64, open as open64, stat as stat64};
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use libc::{fstat64, open64, stat64};

/// An open file or folder; closed when dropped.
#[derive(Debug)]
pub struct File(c_int);

impl File {
    /// Opens what is at `path` for reading, without ever waiting for a writer. A terminal does not become that of the process.
    ///
    /// # Errors
    /// The system's.
    #[inline]
    pub fn open(path: &CStr) -> Result<Self, Errno> {
        Self::open_with(path, libc::O_NOCTTY)
    }

    /// The same with `more` flags of `open`, which create nothing.
    #[inline]
    pub(super) fn open_with(path: &CStr, more: c_int) -> Result<Self, Errno> {
        // Opening a pipe that no process writes to would wait for a writer.
        let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | more;
        // SAFETY: a terminated path, and flags that take no further argument.
        retried(|| unsafe { open64(path.as_ptr(), flags) }).map(Self)
    }

    /// Whether it lies on a file system whose times say enough.
    pub fn is_local(&self) -> bool {
        stamp::is_local(self.0)
    }

    /// Its state now.
    ///
    /// # Errors
    /// The system's.
    #[inline]
    pub fn status(&self) -> Result<Status, Errno> {
        Status::of(self.0)
    }

    /// Reads the next bytes into `room`, and returns how many; none at the end.
    ///
    /// # Errors
    /// The system's, which may be that a signal interrupted it.
    pub fn read(&self, room: &mut [u8]) -> Result<usize, Errno> {
        // SAFETY: writable memory of this length, which no slice lets exceed what `read` takes.
        let length = unsafe { libc::read(self.0, room.as_mut_ptr().cast(), room.len()) };
        usize::try_from(length).map_err(|_| Errno::last())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: open until here, and this value's alone.
        unsafe { libc::close(self.0) };
    }
}

/// What the system tells of a file or folder.
#[derive(Clone, Copy)]
pub struct Status(stat64);

impl Status {
    /// That of whatever is open there.
    ///
    /// # Errors
    /// The system's.
    #[inline]
    pub(super) fn of(descriptor: c_int) -> Result<Self, Errno> {
        // SAFETY: the structure is writable; a descriptor that is none gives an error.
        Self::filled(|found| unsafe { fstat64(descriptor, found) })
    }

    /// That of what a path leads to.
    ///
    /// # Errors
    /// The system's.
    pub fn at(path: &CStr) -> Result<Self, Errno> {
        // SAFETY: a terminated path, and a writable structure.
        Self::filled(|found| unsafe { stat64(path.as_ptr(), found) })
    }

    #[inline]
    fn filled(fill: impl FnOnce(*mut stat64) -> c_int) -> Result<Self, Errno> {
        let mut found = MaybeUninit::<stat64>::uninit();
        if fill(found.as_mut_ptr()) != 0 {
            return Err(Errno::last());
        }
        // SAFETY: filled by the successful call above.
        Ok(Self(unsafe { found.assume_init() }))
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.0.st_mode & libc::S_IFMT == libc::S_IFREG
    }

    /// Its size in bytes.
    pub fn len(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or_default()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The state that tells changes; `None` where that cannot be said.
    pub fn stamp(&self) -> Option<Stamp> {
        Stamp::of(self)
    }

    /// The whole structure.
    pub(super) fn raw(&self) -> &stat64 {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::with_terminated;
    use crate::testing::Scratch;

    #[test]
    fn a_file_is_read_to_its_end() {
        let scratch = Scratch::create();
        let file = with_terminated(&scratch.file("x", b"abc"), File::open).unwrap();
        let status = file.status().unwrap();
        assert!(status.is_file() && !status.is_empty());
        assert_eq!(status.len(), 3);
        let mut room = [0; 2];
        assert_eq!((file.read(&mut room), room), (Ok(2), *b"ab"));
        assert_eq!((file.read(&mut room), room[0]), (Ok(1), b'c'));
        assert_eq!(file.read(&mut room), Ok(0));
    }

    #[test]
    fn failures_have_their_numbers() {
        let scratch = Scratch::create();
        let folder = scratch.folder("folder");
        let status = with_terminated(&folder, Status::at).unwrap();
        assert!(!status.is_file());
        let folder = with_terminated(&folder, File::open).unwrap();
        assert_eq!(folder.read(&mut [0]), Err(Errno(libc::EISDIR)));
        let none = with_terminated(&scratch.path("none"), |path| File::open(path).map(drop));
        assert_eq!(none, Err(Errno(libc::ENOENT)));
        assert_eq!(Status::of(-1).map(drop), Err(Errno(libc::EBADF)));
    }
}
