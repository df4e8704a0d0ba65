//! Files, and the mounts that contain them.

use super::{Errno, Stamp, Status};
use core::ffi::{CStr, c_int};
use core::mem::MaybeUninit;
use libc::statx;

/// State of a file, and the mount through which a path leads to the file.
#[derive(Clone, Copy, Debug)]
pub struct Mounted {
    /// State that changes with each change of the file.
    pub stamp: Stamp,
    /// `true` if the owner, the group and all other users may read the file. Access control lists may still deny that to a user.
    pub is_open_to_all: bool,
    /// Number of the mount; 0 before Linux 5.8, which does not report the number.
    pub mount: u64,
}

impl Mounted {
    /// Returns the state of the file at a path.
    ///
    /// # Errors
    /// The error of the system.
    pub fn at(path: &CStr) -> Result<Self, Errno> {
        Self::within(libc::AT_FDCWD, path, 0)
    }

    /// Returns the state of an open file.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn of(descriptor: c_int) -> Result<Self, Errno> {
        Self::within(descriptor, c"", libc::AT_EMPTY_PATH)
    }

    /// Returns the state of the file called `name` in an open folder.
    ///
    /// # Errors
    /// The error of the system.
    #[inline(never)]
    pub(super) fn within(folder: c_int, name: &CStr, flags: c_int) -> Result<Self, Errno> {
        const MASK: libc::c_uint = libc::STATX_BASIC_STATS | libc::STATX_MNT_ID;
        // Like `stat`, the call does not mount a folder that is mounted on demand.
        let all = flags | libc::AT_NO_AUTOMOUNT;
        let mut found = MaybeUninit::<statx>::zeroed();
        // Older C libraries have no function for the call.
        // SAFETY: these are the arguments of the call. The name is terminated, and the structure is writable; an invalid descriptor causes an
        // error.
        let result = unsafe { libc::syscall(libc::SYS_statx, folder, name.as_ptr(), all, MASK, found.as_mut_ptr()) };
        if result != 0 {
            return match Errno::last() {
                // Linux has the call since version 4.11, and older sandboxes refuse it.
                Errno(libc::ENOSYS | libc::EPERM) => Self::without_mount(folder, name, flags),
                error => Err(error),
            };
        }
        // SAFETY: the structure consists of integers, for which zeros are valid, and the call has filled it.
        let found = unsafe { found.assume_init() };
        Ok(Self {
            stamp: Stamp::of_extended(&found),
            is_open_to_all: is_open_to_all(found.stx_mode.into()),
            mount: found.stx_mnt_id,
        })
    }

    /// Returns the result of [`Self::within`] without the number of the mount.
    #[cold]
    #[allow(
        clippy::unnecessary_cast,
        reason = "the types of the fields differ between architectures"
    )]
    fn without_mount(folder: c_int, name: &CStr, flags: c_int) -> Result<Self, Errno> {
        let found = Status::within(folder, name, flags)?;
        Ok(Self {
            stamp: Stamp::of(&found).ok_or(Errno(libc::ENOSYS))?,
            is_open_to_all: is_open_to_all(found.raw().st_mode),
            mount: 0,
        })
    }
}

fn is_open_to_all(mode: libc::mode_t) -> bool {
    const ALL: libc::mode_t = libc::S_IRUSR | libc::S_IRGRP | libc::S_IROTH;
    mode & ALL == ALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{File, Status, with_terminated};
    use crate::testing::Scratch;
    use std::os::unix::fs::MetadataExt;

    /// The identity of a file must not depend on the system call that reports it, because `vkloader` writes identities.
    #[test]
    fn the_status_is_that_of_stat() {
        let scratch = Scratch::create();
        let path = scratch.file("file", b"abc");
        for path in [&path[..], b"/", b"/usr", b"/dev/null"] {
            let plain = with_terminated(path, Status::at).unwrap();
            let known = std::fs::metadata(str::from_utf8(path).unwrap()).unwrap();
            let found = with_terminated(path, Mounted::at).unwrap();
            let without_call = with_terminated(path, |path| Mounted::without_mount(libc::AT_FDCWD, path, 0)).unwrap();
            assert_eq!(without_call.mount, 0);
            for found in [found, without_call] {
                assert_eq!(Some(found.stamp), Stamp::of(&plain));
                assert_eq!(found.is_open_to_all, known.mode() & 0o444 == 0o444);
            }
        }
    }

    #[test]
    fn a_mount_has_one_number() {
        let scratch = Scratch::create();
        let (path, folder) = (scratch.file("file", b"abc"), scratch.path("."));
        let of = |path: &[u8]| with_terminated(path, Mounted::at).unwrap().mount;
        assert_eq!(of(&path), of(&folder));
        // Linux reports the number since version 5.8.
        assert!(of(&path) == 0 || of(&path) != of(b"/proc/self/maps"));
        let file = with_terminated(&path, File::open).unwrap();
        assert_eq!(file.mounted().unwrap().mount, of(&path));
    }

    #[test]
    fn failures_have_their_numbers() {
        let failed = |path: &CStr| Mounted::at(path).map(drop);
        assert_eq!(failed(c"/none"), Err(Errno(libc::ENOENT)));
        assert_eq!(failed(c""), Err(Errno(libc::ENOENT)));
        assert_eq!(Mounted::of(-1).map(drop), Err(Errno(libc::EBADF)));
    }
}
