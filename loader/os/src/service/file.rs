//! Reads files that came from a server, and checks whether these files can be trusted (LSV-47).

use crate::system::Status;
use crate::{Errno, File, with_terminated};
use core::ffi::c_int;

/// Seals that together forbid every change of a memory file.
const ALL_SEALS: c_int = libc::F_SEAL_SEAL | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_WRITE;
/// Permission bits that let users other than the owner write.
const WRITABLE: libc::mode_t = libc::S_IWGRP | libc::S_IWOTH;

impl File {
    /// Returns `true` for a regular file that only the superuser can change, and for a memory file that nobody can change any more. Returns
    /// `false` if the system reports an error.
    pub fn is_trusted(&self) -> bool {
        // SAFETY: the call takes a number and no pointer. For a descriptor that cannot have seals it returns -1.
        let seals = unsafe { libc::fcntl(self.0, libc::F_GET_SEALS) };
        let Ok(status) = self.status() else {
            return false;
        };
        let is_file = status.is_file();
        let status = status.raw();
        // A memory file has no name in any folder. A memory file without seals is not treated as a file of the superuser, even if the
        // superuser created it.
        let in_memory = seals >= 0 && status.st_nlink == 0;
        let is_of_superuser = !in_memory && status.st_uid == 0 && status.st_mode & WRITABLE == 0;
        is_file && (is_of_superuser || seals >= 0 && seals & ALL_SEALS == ALL_SEALS)
    }

    /// Reads bytes of the file from the offset `place` on into `room`, and returns their number; zero at the end of the file. The position
    /// of other readers does not change.
    ///
    /// # Errors
    /// The error of the system.
    pub fn read_at(&self, room: &mut [u8], place: u64) -> Result<usize, Errno> {
        let place = libc::off64_t::try_from(place).map_err(|_| Errno(libc::EINVAL))?;
        loop {
            // SAFETY: `room` is writable and has this length. No slice is longer than the call can take.
            let length = unsafe { libc::pread64(self.0, room.as_mut_ptr().cast(), room.len(), place) };
            match usize::try_from(length) {
                Ok(length) => return Ok(length),
                Err(_) if Errno::last().is_interruption() => {}
                Err(_) => return Err(Errno::last()),
            }
        }
    }
}

/// Returns the owner of the folder at a path, if no other user can change the folder's entries.
pub fn owner_of_folder(path: &[u8]) -> Option<u32> {
    let status = with_terminated(path, Status::at).ok()?;
    let status = status.raw();
    let is_folder = status.st_mode & libc::S_IFMT == libc::S_IFDIR;
    (is_folder && status.st_mode & WRITABLE == 0).then_some(status.st_uid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use std::os::unix::fs::PermissionsExt;

    fn memory(seals: c_int) -> File {
        // SAFETY: the name is a terminated string. The call returns a new descriptor, which this function owns.
        let made = unsafe { libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        let file = File(made);
        // SAFETY: the descriptor belongs to this function.
        unsafe { libc::ftruncate(made, 3) };
        // SAFETY: the descriptor belongs to this function, and seals are numbers.
        assert_eq!(unsafe { libc::fcntl(made, libc::F_ADD_SEALS, seals) }, 0);
        file
    }

    #[test]
    fn lsv_47_a_memory_file_needs_all_four_seals() {
        assert!(memory(ALL_SEALS).is_trusted());
        for missing in [
            libc::F_SEAL_SEAL,
            libc::F_SEAL_SHRINK,
            libc::F_SEAL_GROW,
            libc::F_SEAL_WRITE,
        ] {
            let file = memory(ALL_SEALS & !missing);
            // SAFETY: the descriptor belongs to this function.
            unsafe { libc::fchmod(file.0, 0o500) };
            assert!(!file.is_trusted(), "{missing}");
        }
    }

    #[test]
    fn lsv_47_a_file_is_trusted_where_only_the_superuser_writes() {
        let scratch = Scratch::create();
        let path = scratch.file("x", b"abc");
        let file = with_terminated(&path, File::open).unwrap();
        let text: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(&path[..]);
        // SAFETY: the call takes no argument and only returns a number.
        let by_superuser = unsafe { libc::geteuid() } == 0;
        for (mode, trusted) in [(0o644, true), (0o600, true), (0o664, false), (0o646, false)] {
            std::fs::set_permissions(text, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(file.is_trusted(), trusted && by_superuser, "{mode:o}");
        }
        let mut room = [0; 2];
        assert_eq!((file.read_at(&mut room, 1), room), (Ok(2), *b"bc"));
        assert_eq!(file.read_at(&mut room, 3), Ok(0));
        assert!(file.read_at(&mut room, u64::MAX).is_err());
        let folder = with_terminated(&scratch.folder("folder"), File::open).unwrap();
        assert!(!folder.is_trusted());
    }

    #[test]
    fn lsv_48_a_folder_that_others_write_to_has_no_owner_that_counts() {
        assert_eq!(owner_of_folder(b"/usr"), Some(0));
        assert_eq!(owner_of_folder(b"/tmp"), None);
        assert_eq!(owner_of_folder(b"/nowhere"), None);
        assert_eq!(owner_of_folder(b"/etc/passwd"), None);
    }
}
