//! Open files.

#[cfg(target_os = "linux")]
use super::Mounted;
use super::errno::retried;
use super::{Errno, Status, is_local};
use alloc::vec::Vec;
use core::ffi::{CStr, c_int};

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use libc::open as open64;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use libc::open64;

/// An open file or folder; closed when dropped.
#[derive(Debug)]
pub struct File(pub(crate) c_int);

impl File {
    /// Opens the file at `path` for reading, without ever waiting for a writer. If the file is a terminal, it does not become the
    /// controlling terminal of the process.
    ///
    /// # Errors
    /// The error of the system.
    #[inline]
    pub fn open(path: &CStr) -> Result<Self, Errno> {
        Self::open_with(path, libc::O_NOCTTY)
    }

    /// Opens the file at `path` for reading; a link at the end of the path is refused.
    ///
    /// # Errors
    /// The error of the system.
    #[cfg(target_os = "linux")]
    pub fn open_itself(path: &CStr) -> Result<Self, Errno> {
        Self::open_with(path, libc::O_NOCTTY | libc::O_NOFOLLOW)
    }

    /// Opens a folder to read its state, with the same call that `opendir` makes.
    ///
    /// # Errors
    /// The error of the system, for example if `path` is not a folder.
    #[inline]
    pub fn open_folder(path: &CStr) -> Result<Self, Errno> {
        Self::open_with(path, libc::O_DIRECTORY)
    }

    /// Opens a folder for [`File::mounted_within`] only. The process needs no right to read the folder. A folder that is mounted on demand
    /// gets mounted.
    ///
    /// # Errors
    /// The error of the system, for example if `path` is not a folder.
    #[cfg(target_os = "linux")]
    pub fn open_place(path: &CStr) -> Result<Self, Errno> {
        Self::open_with(path, libc::O_PATH | libc::O_DIRECTORY)
    }

    /// Opens a file with further flags of `open`, which must not create a file.
    #[inline]
    fn open_with(path: &CStr, more: c_int) -> Result<Self, Errno> {
        // Without `O_NONBLOCK`, opening a pipe that no process writes would block.
        let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | more;
        // SAFETY: the path is terminated, and the flags take no further argument.
        retried(|| unsafe { open64(path.as_ptr(), flags) }).map(Self)
    }

    /// Returns `true` if the file is on a local file system, which sets the times of files from this machine's clock.
    pub fn is_local(&self) -> bool {
        is_local(self.0)
    }

    /// Returns the current state of the file.
    ///
    /// # Errors
    /// The error of the system.
    #[inline]
    pub fn status(&self) -> Result<Status, Errno> {
        Status::of(self.0)
    }

    /// Returns the current state of the file, and the file's mount.
    ///
    /// # Errors
    /// The error of the system.
    #[cfg(target_os = "linux")]
    pub fn mounted(&self) -> Result<Mounted, Errno> {
        Mounted::of(self.0)
    }

    /// Returns the state of the file called `name` in this folder, and the file's mount.
    ///
    /// # Errors
    /// The error of the system.
    #[cfg(target_os = "linux")]
    pub fn mounted_within(&self, name: &CStr) -> Result<Mounted, Errno> {
        Mounted::within(self.0, name, 0)
    }

    /// Reads the next bytes into `room`, and returns their number; zero at the end.
    ///
    /// # Errors
    /// The error of the system, which may be that a signal interrupted the call.
    pub fn read(&self, room: &mut [u8]) -> Result<usize, Errno> {
        // SAFETY: the slice is writable memory of this length, which `read` accepts because it is below `isize::MAX`.
        let length = unsafe { libc::read(self.0, room.as_mut_ptr().cast(), room.len()) };
        usize::try_from(length).map_err(|_| Errno::last())
    }

    /// Appends the next bytes to an array, up to its capacity, and returns their number; zero at the end of the file.
    ///
    /// # Errors
    /// The error of the system, which may be that a signal interrupted the call.
    pub fn append_to(&self, bytes: &mut Vec<u8>) -> Result<usize, Errno> {
        let room = bytes.spare_capacity_mut();
        // SAFETY: the slice is writable memory of this length, which `read` accepts because it is below `isize::MAX`.
        let length = unsafe { libc::read(self.0, room.as_mut_ptr().cast(), room.len()) };
        let length = usize::try_from(length).map_err(|_| Errno::last())?;
        // SAFETY: the call has written this many bytes after the array's elements, and returns at most the length of the slice.
        unsafe { bytes.set_len(bytes.len() + length) };
        Ok(length)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor is open, and only this value uses it.
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
        let file = with_terminated(&scratch.path("x"), File::open).unwrap();
        let mut bytes = Vec::with_capacity(8);
        bytes.push(b'x');
        assert_eq!((file.append_to(&mut bytes), &bytes[..]), (Ok(3), &b"xabc"[..]));
        assert_eq!((file.append_to(&mut bytes), bytes.len()), (Ok(0), 4));
    }

    #[test]
    fn files_are_not_for_programs_that_are_started_and_never_waited_for() {
        let scratch = Scratch::create();
        let (path, folder) = (scratch.file("x", b""), scratch.folder("folder"));
        for file in [
            with_terminated(&path, File::open).unwrap(),
            with_terminated(&folder, File::open_folder).unwrap(),
        ] {
            // SAFETY: the call reads the flags of an open descriptor.
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

    #[cfg(target_os = "linux")]
    #[test]
    fn names_are_looked_up_in_a_folder() {
        let scratch = Scratch::create();
        scratch.file("file", b"abc");
        scratch.link("link", "file");
        let folder = with_terminated(&scratch.path("."), File::open_place).unwrap();
        let length = |name| folder.mounted_within(name).map(|found| found.stamp.bytes());
        assert_eq!((length(c"file"), length(c"link")), (Ok(3), Ok(3)));
        assert_eq!(length(c"none"), Err(Errno(libc::ENOENT)));
        let file = with_terminated(&scratch.path("file"), File::open_place).map(drop);
        assert_eq!(file, Err(Errno(libc::ENOTDIR)));
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
