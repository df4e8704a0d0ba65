//! Detection of changes to files and folders on Linux.
//!
//! A [`Stamp`] identifies the content of a file only if every later change produces another stamp. The file system must therefore take its
//! times from this machine's clock. The last change must also be older than one tick of that clock. All other files count as changed.
//! Stores through a shared mapping can leave the times unchanged; the loader misses these changes until something else about the file
//! changes.

use super::{Errno, Status, with_terminated};
use core::ffi::c_int;
use core::mem::MaybeUninit;

#[cfg(not(target_env = "gnu"))]
use libc::{fstatfs as fstatfs64, statfs as statfs64};
#[cfg(target_env = "gnu")]
use libc::{fstatfs64, statfs64};

/// Number of seconds for which a file must be unchanged before its stamp is reliable. The coarsest clock in use has steps of two seconds.
const SETTLED_SECONDS: i64 = 2;

/// Local file systems, on which the times of a file come from this machine's clock and are updated when the file changes.
const LOCAL: &[u32] = &[
    0x0000_EF53, // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683E, // btrfs
    0xCA45_1A4E, // bcachefs
    0xF2F5_2010, // f2fs
    0x2FC1_2FC1, // zfs
    0x794C_7630, // overlayfs
    0x0102_1994, // tmpfs
    0x8584_58F6, // ramfs
    0x7371_7368, // squashfs
    0xE0F5_E1E2, // erofs
];

/// State of a file or folder: its identity, its size in bytes, and the last changes of its content and attributes, in seconds and
/// nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Returns the state that the system reported for a file or folder.
    #[allow(
        clippy::unnecessary_cast,
        clippy::unnecessary_wraps,
        reason = "the types of the fields differ between architectures; other systems have no stamp"
    )]
    pub fn of(found: &Status) -> Option<Self> {
        let size = found.len();
        let found = found.raw();
        Some(Self {
            device: found.st_dev as u64,
            inode: found.st_ino as u64,
            size,
            modified: (found.st_mtime as i64, found.st_mtime_nsec as i64),
            changed: (found.st_ctime as i64, found.st_ctime_nsec as i64),
        })
    }

    /// Returns the state that `statx` reported for a file or folder.
    pub(super) fn of_extended(found: &libc::statx) -> Self {
        let time = |time: libc::statx_timestamp| (time.tv_sec, time.tv_nsec.into());
        Self {
            device: libc::makedev(found.stx_dev_major, found.stx_dev_minor),
            inode: found.stx_ino,
            size: found.stx_size,
            modified: time(found.stx_mtime),
            changed: time(found.stx_ctime),
        }
    }

    /// Returns the number of the file system that holds the file.
    pub fn device(&self) -> u64 {
        self.device
    }

    /// Returns `true` if every change from the time `now` on leads to another stamp. The time is in seconds and nanoseconds since 1970.
    pub fn is_settled(&self, now: (i64, i64)) -> bool {
        let last = self.modified.max(self.changed);
        (last.0.saturating_add(SETTLED_SECONDS), last.1) < now
    }

    /// Returns device and inode, size in bytes, and the times of the last changes of content and attributes, in seconds and nanoseconds
    /// since 1970.
    #[allow(clippy::type_complexity, reason = "two numbers, a number, two times")]
    pub fn parts(&self) -> ((u64, u64), u64, [(i64, i64); 2]) {
        ((self.device, self.inode), self.size, [self.modified, self.changed])
    }

    /// Returns the size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.size
    }
}

/// Returns `true` if the open file is on one of the local file systems in [`LOCAL`].
pub(super) fn is_local(descriptor: c_int) -> bool {
    // The type of the field differs between architectures, but the numbers of file-system types always have 32 bits.
    // SAFETY: the structure is writable; an invalid descriptor causes an error.
    let found = file_system(|found| unsafe { fstatfs64(descriptor, found) });
    found.is_ok_and(|found| LOCAL.contains(&(found.f_type as u32)))
}

/// Returns `false` if the file at a path is in a mount with the option `noexec`, from which no library can be loaded. Returns `false` also if
/// the system does not report the options.
pub fn may_execute(path: &[u8]) -> bool {
    /// `ST_NOEXEC`, the same bit on every architecture.
    const NO_EXECUTION: u32 = 8;
    let found = with_terminated(path, |path| {
        // SAFETY: the path is terminated, and the structure is writable.
        file_system(|found| unsafe { statfs64(path.as_ptr(), found) })
    });
    found.is_ok_and(|found| found.f_flags as u32 & NO_EXECUTION == 0)
}

/// Returns the state of a file system that `fill` queries.
fn file_system(fill: impl FnOnce(*mut statfs64) -> c_int) -> Result<statfs64, Errno> {
    let mut found = MaybeUninit::<statfs64>::zeroed();
    if fill(found.as_mut_ptr()) != 0 {
        return Err(Errno::last());
    }
    // SAFETY: the structure consists of integers, for which zeros are valid.
    Ok(unsafe { found.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_long_ago_is_settled() {
        let stamp = |modified, changed| Stamp {
            device: 1,
            inode: 1,
            size: 1,
            modified,
            changed,
        };
        let now = (1000, 5);
        for (modified, changed, expected) in [
            ((900, 0), (900, 0), true),
            ((998, 4), (998, 4), true),
            ((998, 5), (900, 0), false),
            ((900, 0), (998, 5), false),
            ((2000, 0), (900, 0), false),
            ((900, 0), (i64::MAX, 0), false),
        ] {
            assert_eq!(
                stamp(modified, changed).is_settled(now),
                expected,
                "{modified:?} {changed:?}"
            );
        }
    }
}
