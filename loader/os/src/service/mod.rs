//! System calls for a client of a driver service on Linux (LSV-39 to LSV-42, LSV-47). The calls make connections with time limits, receive
//! files and check whether the files can be trusted, and open libraries from files without a path.

mod connection;
mod file;
mod library;

pub use connection::{Connection, Patience, Received};
pub use file::owner_of_folder;
pub use library::{Mark, SentFile, SharedLibrary, find_library, is_open};

use crate::system::Status;
use crate::with_terminated;

/// Returns `true` if a path leads to a socket. Makes one system call.
pub fn is_socket(path: &[u8]) -> bool {
    let status = with_terminated(path, Status::at);
    status.is_ok_and(|status| status.raw().st_mode & libc::S_IFMT == libc::S_IFSOCK)
}

/// Returns the user with whose rights this process runs.
pub fn own_user() -> u32 {
    // SAFETY: the call takes no argument and only returns a number.
    unsafe { libc::geteuid() }
}

/// Returns `true` if `user` is the ID of the machine's superuser in this process's user namespace. Most sandboxes run in a user namespace
/// without the superuser, and such a namespace shows one ID for all users that it does not contain.
pub fn is_superuser(user: u32) -> bool {
    owner_of_folder(b"/proc/sys") == Some(user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_47_the_superuser_is_known_by_files_of_the_system() {
        // A test process runs in a user namespace that contains all users.
        assert!(is_superuser(0) && !is_superuser(65534) && !is_superuser(1000));
        assert!(!is_socket(b"/") && !is_socket(b"/nowhere") && !is_socket(b"\0"));
    }
}
