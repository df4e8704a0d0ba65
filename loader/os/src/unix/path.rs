//! Paths for the C library.

use super::Errno;
use crate::memory::{self, Grow, OutOfMemory};
use alloc::vec::Vec;
use core::ffi::CStr;
use core::mem::MaybeUninit;

/// Bytes of a path, its terminator included, for which no memory is asked.
const USUAL_PATH: usize = 384;

/// Shows `action` a path with its terminator.
///
/// # Errors
/// Those of `action`; `EINVAL` when the path has a NUL inside, `ENOMEM` when it is long and there is no memory for a copy.
pub fn with_terminated<R>(path: &[u8], action: impl FnOnce(&CStr) -> Result<R, Errno>) -> Result<R, Errno> {
    if path.len() >= USUAL_PATH {
        return with_copy(path, action);
    }
    let mut room = [const { MaybeUninit::<u8>::uninit() }; USUAL_PATH];
    let first = room.as_mut_ptr().cast::<u8>();
    // SAFETY: the room is longer than the path, which it cannot overlap; what is read back was just written.
    let terminated = unsafe {
        first.copy_from_nonoverlapping(path.as_ptr(), path.len());
        first.add(path.len()).write(0);
        core::slice::from_raw_parts(first, path.len() + 1)
    };
    action(checked(terminated)?)
}

#[cold]
fn with_copy<R>(path: &[u8], action: impl FnOnce(&CStr) -> Result<R, Errno>) -> Result<R, Errno> {
    let mut copy = Vec::new();
    copy.try_exact_room(path.len() + 1).map_err(shortage)?;
    copy.extend_from_slice(path);
    copy.push(0);
    action(checked(&copy)?)
}

/// The error of a call that there was no memory for. The call of the program ends in the same way, whatever its steps make
/// of this error.
fn shortage(OutOfMemory: OutOfMemory) -> Errno {
    memory::shortage::note();
    Errno(libc::ENOMEM)
}

fn checked(terminated: &[u8]) -> Result<&CStr, Errno> {
    match super::find_byte(terminated, 0) {
        // SAFETY: its only NUL is its last byte.
        Some(end) if end + 1 == terminated.len() => Ok(unsafe { CStr::from_bytes_with_nul_unchecked(terminated) }),
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// The canonical form of a path: absolute, without links.
///
/// # Errors
/// The system's.
pub fn canonical(path: &[u8]) -> Result<Vec<u8>, Errno> {
    let found = with_terminated(path, |path| {
        // SAFETY: a terminated path; without room of ours the answer is a block of its own.
        let found = unsafe { libc::realpath(path.as_ptr(), core::ptr::null_mut()) };
        if found.is_null() { Err(Errno::last()) } else { Ok(found) }
    })?;
    // SAFETY: a terminated text.
    let copy = memory::copy(unsafe { CStr::from_ptr(found) }.to_bytes());
    // SAFETY: the block of `realpath`, given back once.
    unsafe { libc::free(found.cast()) };
    copy.map_err(shortage)
}

/// The absolute path of the running executable, symbolic links resolved, written to `room`, which it fills when it is longer.
/// `None` when it cannot be read.
#[cfg(not(target_vendor = "apple"))]
pub fn running_executable(room: &mut [u8]) -> Option<&[u8]> {
    link_target(c"/proc/self/exe", room).ok()
}

/// Where a link leads, if that has fewer than `room.len()` bytes; those of it that `room` holds otherwise.
#[cfg(not(target_vendor = "apple"))]
fn link_target<'r>(link: &CStr, room: &'r mut [u8]) -> Result<&'r [u8], Errno> {
    let first = room.as_mut_ptr().cast::<core::ffi::c_char>();
    // SAFETY: a terminated path, and writable memory of this length.
    let length = unsafe { libc::readlink(link.as_ptr(), first, room.len()) };
    let length = usize::try_from(length).map_err(|_| Errno::last())?;
    Ok(&room[..length])
}

/// The path by which the running program was started, written to `room`, which it fills when it is longer. `None` when it
/// cannot be read.
#[cfg(target_vendor = "apple")]
pub fn running_executable(room: &mut [u8]) -> Option<&[u8]> {
    let mut length = u32::try_from(room.len()).unwrap_or(u32::MAX);
    // SAFETY: writable memory of at least this length.
    let failed = unsafe { libc::_NSGetExecutablePath(room.as_mut_ptr().cast(), &mut length) };
    if failed != 0 {
        return Some(room);
    }
    Some(CStr::from_bytes_until_nul(room).ok()?.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;

    #[test]
    fn paths_end_where_they_end_whatever_their_length() {
        for length in [0, 1, USUAL_PATH - 1, USUAL_PATH, USUAL_PATH + 1, 100_000] {
            let path = vec![b'x'; length];
            let same = with_terminated(&path, |terminated| Ok(terminated.to_bytes() == path));
            assert_eq!(same, Ok(true), "{length}");
            let broken = [&path[..], b"\0x"].concat();
            assert_eq!(
                with_terminated(&broken, |_| Ok(())),
                Err(Errno(libc::EINVAL)),
                "{length}"
            );
        }
    }

    #[test]
    fn links_are_followed_to_their_ends() {
        let scratch = Scratch::create();
        let file = scratch.file("file", b"");
        let link = scratch.link("link", "file");
        assert_eq!(canonical(&link), canonical(&file));
        assert_eq!(canonical(&scratch.path("none")), Err(Errno(libc::ENOENT)));
        let target = with_terminated(&link, |link| link_target(link, &mut [0; 4096]).map(<[u8]>::to_vec));
        assert_eq!(target.as_deref(), Ok(&file[..]));
        let cut = with_terminated(&link, |link| link_target(link, &mut [0; 2]).map(<[u8]>::to_vec));
        assert_eq!(cut.as_deref(), Ok(&file[..2]));
        let none = with_terminated(&file, |file| link_target(file, &mut [0; 2]).map(<[u8]>::to_vec));
        assert_eq!(none, Err(Errno(libc::EINVAL)));
    }
}
