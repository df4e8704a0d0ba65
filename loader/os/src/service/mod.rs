//! System calls for a client of a driver service on Linux (LSV-39 to LSV-42, LSV-47). The calls make connections with time limits, receive
//! files and find their kinds, and open libraries from files without a path.

mod connection;
mod file;
mod library;

pub use connection::{Connection, Deadline, ReceiveError, Received};
pub use file::{FileKind, owner_of_folder};
pub use library::{Mark, SharedLibrary, find_library, is_open};

use crate::system::Status;
use crate::with_terminated;
use core::ffi::CStr;

/// User number that a user namespace shows for every user that it does not know, unless the machine is configured otherwise.
const NOBODY: u32 = 65534;

/// Returns `true` if a path leads to a socket. Makes one system call.
pub fn is_socket(path: &[u8]) -> bool {
    let status = with_terminated(path, Status::at);
    status.is_ok_and(|status| status.raw().st_mode & libc::S_IFMT == libc::S_IFSOCK)
}

/// Returns `true` if this process was started with more rights than its user has, as in [`secure_value`](crate::environment::secure_value).
pub fn is_elevated() -> bool {
    // SAFETY: the call takes a number, and reads memory that the kernel wrote before the process began.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Returns the user with whose rights this process runs.
pub fn own_user() -> u32 {
    // SAFETY: the call takes no argument and only returns a number.
    unsafe { libc::geteuid() }
}

/// Returns `true` if a user's number stands for all users that this process cannot know. Example: most sandboxes run in a user namespace
/// that does not contain the superuser.
pub fn is_unknown_user(user: u32) -> bool {
    const MAP: &CStr = c"/proc/self/uid_map";
    if user != NOBODY {
        return false;
    }
    let mut room = [0; 4096];
    let Ok(length) = crate::File::open(MAP).and_then(|map| map.read(&mut room)) else {
        return false;
    };
    !has_user(&room[..length.min(room.len())], user)
}

/// Returns `true` if a map of user IDs contains the user `user`. Each line has the first ID inside the user namespace, the first ID
/// outside, and the number of IDs.
fn has_user(map: &[u8], user: u32) -> bool {
    let (mut numbers, mut place, mut is_inside) = ([0_u64; 3], 0, false);
    for &byte in map {
        if byte.is_ascii_digit() {
            is_inside = true;
            if let Some(number) = numbers.get_mut(place) {
                *number = number.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            }
            continue;
        }
        place += usize::from(is_inside);
        is_inside = false;
        if byte == b'\n' {
            let [first, _, count] = numbers;
            if u64::from(user).wrapping_sub(first) < count {
                return true;
            }
            (numbers, place) = ([0; 3], 0);
        }
    }
    // An empty or truncated map says nothing about the user, so the user is treated as contained.
    map.last() != Some(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_47_a_user_that_the_namespace_has_is_known() {
        let whole = b"         0          0 4294967295\n";
        let own = b"      1000       1000          1\n";
        let two = b"0 1000 1\n1 100000 65536\n";
        assert!(has_user(whole, NOBODY));
        assert!(!has_user(own, NOBODY));
        assert!(has_user(own, 1000));
        assert!(has_user(two, NOBODY));
        for odd in [&b""[..], b"1000 1000 1", b"x\n\n"] {
            assert_eq!(
                has_user(odd, NOBODY),
                odd.last() != Some(&b'\n'),
                "{}",
                odd.escape_ascii()
            );
        }
        // A test process runs in a namespace with all users.
        assert!(!is_unknown_user(0) && !is_unknown_user(1000));
    }

    #[test]
    fn lsv_48_a_process_of_a_test_is_not_elevated() {
        assert!(!is_elevated());
        assert!(!is_socket(b"/") && !is_socket(b"/nowhere") && !is_socket(b"\0"));
    }
}
