//! Status of files and folders.

use super::Errno;
use core::ffi::{CStr, c_int};
use core::mem::MaybeUninit;

#[cfg(all(target_os = "linux", not(target_env = "gnu")))]
use libc::fstatat as fstatat64;
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use libc::{fstat as fstat64, stat as stat64};
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use libc::{fstat64, fstatat64, stat64};

/// Status of a file or folder.
#[derive(Clone, Copy)]
pub struct Status(stat64);

impl Status {
    /// Returns the status of an open file.
    ///
    /// # Errors
    /// The error of the system.
    #[inline]
    pub(super) fn of(descriptor: c_int) -> Result<Self, Errno> {
        // SAFETY: the structure is writable; an invalid descriptor causes an error.
        Self::filled(|found| unsafe { fstat64(descriptor, found) })
    }

    /// Returns the status of the file at a path.
    ///
    /// # Errors
    /// The error of the system.
    pub fn at(path: &CStr) -> Result<Self, Errno> {
        // SAFETY: the path is terminated, and the structure is writable.
        Self::filled(|found| unsafe { stat64(path.as_ptr(), found) })
    }

    /// Returns the status of the file called `name` in an open folder.
    ///
    /// # Errors
    /// The error of the system.
    #[cfg(target_os = "linux")]
    pub(super) fn within(folder: c_int, name: &CStr, flags: c_int) -> Result<Self, Errno> {
        // SAFETY: the name is terminated, and the structure is writable; an invalid descriptor causes an error.
        Self::filled(|found| unsafe { fstatat64(folder, name.as_ptr(), found, flags) })
    }

    #[inline]
    fn filled(fill: impl FnOnce(*mut stat64) -> c_int) -> Result<Self, Errno> {
        let mut found = MaybeUninit::<stat64>::uninit();
        if fill(found.as_mut_ptr()) != 0 {
            return Err(Errno::last());
        }
        // SAFETY: the call succeeded, so it has filled the structure.
        Ok(Self(unsafe { found.assume_init() }))
    }

    /// Returns `true` for a regular file.
    #[allow(
        clippy::unnecessary_cast,
        reason = "the types differ between systems, and on some between the field and the numbers"
    )]
    pub fn is_file(&self) -> bool {
        self.0.st_mode as u32 & libc::S_IFMT as u32 == libc::S_IFREG as u32
    }

    /// Returns `true` if only the owner may write to the file, and the owner is the superuser or, with `or_own`, the user of this process.
    #[cfg(target_os = "linux")]
    pub fn is_kept(&self, or_own: bool) -> bool {
        // SAFETY: `geteuid` takes nothing and cannot fail.
        let is_owner = self.0.st_uid == 0 || or_own && self.0.st_uid == unsafe { libc::geteuid() };
        is_owner && self.0.st_mode & (libc::S_IWGRP | libc::S_IWOTH) == 0
    }

    /// Returns the size of the file in bytes.
    pub fn len(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or_default()
    }

    /// Returns `true` if the file is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the numbers of the file's device and inode, or `None` if the system does not report them.
    #[allow(
        clippy::unnecessary_cast,
        clippy::unnecessary_wraps,
        reason = "the types of the fields differ between systems; one of them does not tell"
    )]
    pub fn identity(&self) -> Option<(u64, u64)> {
        Some((self.0.st_dev as u64, self.0.st_ino as u64))
    }

    /// Returns the number of the device to which a device node belongs; 0 for another kind of file.
    #[allow(clippy::unnecessary_cast, reason = "the type of the field differs between systems")]
    pub fn device_number(&self) -> u64 {
        self.0.st_rdev as u64
    }

    /// Returns the structure that the system filled.
    #[cfg(target_os = "linux")]
    pub(crate) fn raw(&self) -> &stat64 {
        &self.0
    }
}
