//! The account of a client (LSV-46). The limits for clients apply to each account.
//!
//! A user may own a range of further user IDs, for containers. All IDs of the range belong to one account, so that a user cannot exceed a
//! limit by using several IDs.
//!
//! Programs in other PID namespaces have an account of their own: a container or sandbox cannot use up the connections of its user's other
//! programs. In particular, root in a container, who may have the ID of the system's root, cannot use up those of root.

use nix::sys::socket::sockopt::PeerPidfd;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use std::fs::{self, File};
use std::io::{self, Read};

/// File with the ranges of further user IDs. Each line has the owner of a range, the first ID and the number of IDs, separated by colons.
const RANGES: &str = "/etc/subuid";
/// Smallest ID that can be in a range of `/etc/subuid`, on all systems. Smaller IDs belong to people and to the system.
const FIRST_IN_RANGES: u32 = 65536;

/// Folder with a file for each descriptor of this process. The file of a process's descriptor has a line with the IDs of the process.
pub const DESCRIPTORS: &str = "/proc/self/fdinfo";

/// A user, and the place of the user's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Account {
    /// The first ID of the range that contains the user, or else the user's own ID.
    pub user: u32,
    /// `true` for programs in other PID namespaces than this process.
    pub is_elsewhere: bool,
}

impl Account {
    /// The account of the system's root.
    pub const ROOT: Self = Self::of_user(0);

    /// Returns the account of a user's programs in the PID namespace of this process.
    pub const fn of_user(user: u32) -> Self {
        Self {
            user,
            is_elsewhere: false,
        }
    }
}

/// Finds the accounts of clients.
#[derive(Debug)]
pub struct Accounts {
    /// The folder [`DESCRIPTORS`]. Landlock could forbid opening it later, because the system may replace files of `/proc`.
    descriptors: Option<OwnedFd>,
}

impl Accounts {
    /// Opens the folder that shows the namespaces of clients. Without `/proc`, all clients count as clients in the namespace of this process.
    pub fn open() -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let descriptors = rustix::fs::open(DESCRIPTORS, flags, Mode::empty()).ok();
        Self { descriptors }
    }

    /// Returns the account of a user at the other end of a socket.
    ///
    /// # Errors
    /// The process at the other end has ended, or the system reported another error of the socket.
    pub fn of(&self, user: u32, socket: &OwnedFd) -> io::Result<Account> {
        Ok(Account {
            user: account_of(user),
            is_elsewhere: self.is_elsewhere(socket)?,
        })
    }

    /// Returns `true` if the process at the other end of a socket is in another PID namespace.
    fn is_elsewhere(&self, socket: &OwnedFd) -> io::Result<bool> {
        let Some(folder) = &self.descriptors else {
            return Ok(false);
        };
        match nix::sys::socket::getsockopt(socket, PeerPidfd) {
            Ok(process) => match ids(folder, &process) {
                Ok(text) => is_elsewhere(&text),
                Err(error) if error.raw_os_error() == Some(libc::EMFILE) => Err(error),
                // If the system does not show the IDs, the client cannot take the place of others in the namespace of this process.
                Err(_) => Ok(true),
            },
            // Linux before 6.5 returns no descriptor.
            Err(nix::Error::ENOPROTOOPT) => Ok(false),
            // Some later versions report an error for a process that has ended.
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns the text about the descriptor of a process. `folder` is the folder [`DESCRIPTORS`].
fn ids(folder: &OwnedFd, process: &OwnedFd) -> io::Result<String> {
    let name = process.as_raw_fd().to_string();
    let file = rustix::fs::openat(folder.as_fd(), name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut text = String::new();
    File::from(file).read_to_string(&mut text)?;
    Ok(text)
}

/// Returns `true` if a process is in another PID namespace than this process. The line `NSpid` of `text` has the process's ID in the
/// namespace of this process, and in each one below. The first ID is 0 for a process outside, and -1 after the process has ended.
///
/// # Errors
/// The process has ended. A process could otherwise choose its account: it could connect in a copy that ends.
fn is_elsewhere(text: &str) -> io::Result<bool> {
    let Some(ids) = text.lines().find_map(|line| line.strip_prefix("NSpid:")) else {
        // The system has no PID namespaces.
        return Ok(false);
    };
    let mut ids = ids.split_whitespace().map(str::parse::<i32>);
    match (ids.next(), ids.next()) {
        (Some(Ok(-1)), _) => Err(io::Error::other("its process has ended")),
        (Some(Ok(1..)), None) => Ok(false),
        _ => Ok(true),
    }
}

/// Returns the first ID of the range that contains the user, or else the user's own ID.
fn account_of(user: u32) -> u32 {
    if user < FIRST_IN_RANGES {
        return user;
    }
    account_in(&fs::read_to_string(RANGES).unwrap_or_default(), user)
}

/// Returns the account of a user according to `ranges`, the text of `/etc/subuid`.
fn account_in(ranges: &str, user: u32) -> u32 {
    let first_of = |line: &str| {
        let mut numbers = line.trim().split(':').skip(1).map(str::parse::<u32>);
        let (first, count) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let is_in = user.checked_sub(first).is_some_and(|place| place < count);
        is_in.then_some(first)
    };
    ranges.lines().find_map(first_of).unwrap_or(user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_46_all_numbers_of_a_range_are_one_account() {
        let ranges = "one:100000:65536\n\nx\ny:z:1\ntwo:165536:65536\nthree:4294967295:2\n";
        for (user, account) in [
            (99_999, 99_999),
            (100_000, 100_000),
            (165_535, 100_000),
            (165_536, 165_536),
            (231_072, 231_072),
            (u32::MAX, u32::MAX),
        ] {
            assert_eq!(account_in(ranges, user), account, "{user}");
            assert_eq!(account_in("", user), user);
        }
        assert_eq!(account_of(1000), 1000);
    }

    #[test]
    fn lsv_46_programs_in_other_namespaces_have_an_account_of_their_own() {
        for (text, expected) in [
            ("pos:\t0\nPid:\t17\nNSpid:\t17\n", Some(false)),
            ("pos:\t0\nPid:\t17\n", Some(false)),
            ("NSpid:\t17\t1\n", Some(true)),
            ("NSpid:\t17\t9\t1\n", Some(true)),
            ("NSpid:\t0\n", Some(true)),
            ("NSpid:\t-1\n", None),
            ("NSpid:\n", Some(true)),
        ] {
            assert_eq!(is_elsewhere(text).ok(), expected, "{text}");
        }
    }
}
