//! Queries that open nothing: targets of links, existence of files, and variables that are set.

use super::{Errno, Status, with_terminated};
use core::ffi::{CStr, c_char};

/// Upper bound on the length of a link's target, in bytes.
const LONGEST_TARGET: usize = 256;

/// Passes the target of the link at `path` to `take`, as it is stored. Does nothing if `path` is not a link or the target is longer than
/// the limit.
pub fn link_target(path: &[u8], take: impl FnOnce(&[u8])) {
    let mut room = [0_u8; LONGEST_TARGET];
    let read = with_terminated(path, |path| {
        // SAFETY: the path is terminated, and the memory is writable and has this length.
        let length = unsafe { libc::readlink(path.as_ptr(), room.as_mut_ptr().cast(), room.len()) };
        usize::try_from(length).map_err(|_| Errno::last())
    });
    if let Ok(target) = read
        && target < room.len()
    {
        take(&room[..target]);
    }
}

/// Returns `true` if something exists at `path`, even if this process may not open it.
pub fn exists(path: &[u8]) -> bool {
    with_terminated(path, Status::at).is_ok()
}

/// Returns `true` if this process may read and write the file at `path`.
pub fn is_accessible(path: &[u8]) -> bool {
    // SAFETY: `access` only reads the path, which is terminated.
    let access = |path: &CStr| Ok(unsafe { libc::access(path.as_ptr(), libc::R_OK | libc::W_OK) } == 0);
    with_terminated(path, access).unwrap_or(false)
}

/// Passes the name and the value of each variable to `take`, until `take` returns `false`.
pub fn each_variable(mut take: impl FnMut(&[u8], &[u8]) -> bool) {
    // The variable is looked up at run time, because few processes need it, and every import costs each process that loads this library.
    // SAFETY: the name is a terminated string.
    let environ = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"environ".as_ptr()) };
    // SAFETY: this variable of the C library points to all variables of the process: texts `NAME=VALUE`, with NULL after the last. A
    // program that changes its environment while another thread reads it breaks the rules of the C library anyway.
    let first = unsafe { environ.cast::<*const *const c_char>().as_ref() };
    let mut next = first.map_or(core::ptr::null(), |first| *first);
    while !next.is_null() {
        // SAFETY: the pointer is not after the NULL that ends the list.
        let variable = unsafe { *next };
        if variable.is_null() {
            return;
        }
        // SAFETY: the elements of the list before NULL are terminated texts.
        let text = unsafe { CStr::from_ptr(variable) }.to_bytes();
        let end = super::find_byte(text, b'=').unwrap_or(text.len());
        let (name, value) = text.split_at_checked(end).unwrap_or((text, &[]));
        let value = value.get(1..).unwrap_or_default();
        if !take(name, value) {
            return;
        }
        // SAFETY: the current element is not NULL, so another element follows.
        next = unsafe { next.add(1) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn links_and_files_are_seen() {
        let scratch = Scratch::create();
        let link = scratch.link("link", "nowhere/at/all");
        let mut seen = alloc::vec::Vec::new();
        link_target(&link, |target| seen.extend_from_slice(target));
        assert!(seen.ends_with(b"nowhere/at/all"));
        link_target(&scratch.file("file", b""), |_| panic!("no link"));
        // The targets have the path of the folder in front.
        let rest = 256 - scratch.path("").len();
        let long = scratch.link("long", &"x".repeat(rest));
        link_target(&long, |_| panic!("too long"));
        let longest = scratch.link("longest", &"x".repeat(rest - 1));
        let mut length = 0;
        link_target(&longest, |target| length = target.len());
        assert_eq!(length, 255);
        assert!(is_accessible(&scratch.path("file")) && !is_accessible(&scratch.path("none")));
        assert!(exists(&scratch.path("file")) && !exists(&scratch.path("none")) && !exists(&link));
    }

    #[test]
    fn every_variable_is_shown_until_that_is_enough() {
        let mut shown = 0;
        let mut path = None;
        each_variable(|name, value| {
            shown += 1;
            if name == b"PATH" {
                path = Some(value.len());
            }
            true
        });
        assert_eq!(shown, std::env::vars_os().count());
        assert_eq!(path, std::env::var_os("PATH").map(|value| value.len()));
        let mut once = 0;
        each_variable(|_, _| {
            once += 1;
            false
        });
        assert_eq!(once, shown.min(1));
    }
}
