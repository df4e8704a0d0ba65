//! Open files.

use super::errno::retried;
use super::{Errno, Status, is_local};
use core::ffi::{CStr, c_int};

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use libc::open as open64;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use libc::open64;

/// An open file or folder; closed when dropped.
#[derive(Debug)]
pub struct File(pub(crate) c_int);

impl File {
    /// Opens what is at `path` for reading, without ever waiting for a writer. A terminal does not become that of the process.
    ///
    /// # Errors
    /// The system's.
    #[inline]
    pub fn open(path: &CStr) -> Result<Self, Errno> {
        Self::open_with(path, libc::O_NOCTTY)
    }

    /// Opens what is at `path` itself for reading: a link at its end is refused.
    ///
    /// # Errors
    /// The system's.
    #[cfg(target_os = "linux")]
    pub fn open_itself(path: &CStr) -> Result<Self, Errno> {
        Self::open_with(path, libc::O_NOCTTY | libc::O_NOFOLLOW)
    }

    /// Opens a folder for its state, by the very call that `opendir` makes.
    ///
    /// # Errors
    /// The system's, also where something else is at `path`.
    #[inline]
    pub fn open_folder(path: &CStr) -> Result<Self, Errno> {
        Self::open_with(path, libc::O_DIRECTORY)
    }

    /// Opens with `more` flags of `open`, which create nothing.
    #[inline]
    fn open_with(path: &CStr, more: c_int) -> Result<Self, Errno> {
        // Opening a pipe that no process writes to would wait for a writer.
        let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | more;
        // SAFETY: a terminated path, and flags that take no further argument.
        retried(|| unsafe { open64(path.as_ptr(), flags) }).map(Self)
    }

    /// Whether it lies on a file system whose times say enough.
    pub fn is_local(&self) -> bool {
        is_local(self.0)
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
    fn files_are_not_for_programs_that_are_started_and_never_waited_for() {
        let scratch = Scratch::create();
        let (path, folder) = (scratch.file("x", b""), scratch.folder("folder"));
        for file in [
            with_terminated(&path, File::open).unwrap(),
            with_terminated(&folder, File::open_folder).unwrap(),
        ] {
            // SAFETY: reads flags of an open descriptor.
            let [own, shared] = [libc::F_GETFD, libc::F_GETFL].map(|flags| unsafe { libc::fcntl(file.0, flags) });
            assert_eq!(own & libc::FD_CLOEXEC, libc::FD_CLOEXEC);
            assert_eq!(
                shared & (libc::O_NONBLOCK | libc::O_ACCMODE),
                libc::O_NONBLOCK | libc::O_RDONLY
            );
        }
        let not_a_folder = with_terminated(&path, |path| File::open_folder(path).map(drop));
        assert_eq!(not_a_folder, Err(Errno(libc::ENOTDIR)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_link_itself_is_not_followed() {
        let scratch = Scratch::create();
        let file = scratch.file("file", b"");
        let link = scratch.link("link", "file");
        let open = |path: &[u8]| with_terminated(path, |path| File::open_itself(path).map(drop));
        assert_eq!((open(&file), open(&link)), (Ok(()), Err(Errno(libc::ELOOP))));
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
