//! Paths for the C library.

use super::Errno;
use crate::memory::{self, Grow, OutOfMemory};
use alloc::vec::Vec;
use core::ffi::CStr;
use core::mem::MaybeUninit;

/// Length of a path including its terminator, in bytes, up to which nothing is allocated.
const USUAL_PATH: usize = 384;

/// Calls `action` with a path and its terminator.
///
/// # Errors
/// The errors of `action`; `EINVAL` if the path contains a NUL, `ENOMEM` if it is long and there is no memory for a copy.
pub fn with_terminated<R>(path: &[u8], action: impl FnOnce(&CStr) -> Result<R, Errno>) -> Result<R, Errno> {
    let mut room = [const { MaybeUninit::<u8>::uninit() }; USUAL_PATH];
    // This function calls `action` in one place only, because each call adds a copy of the code of `action`.
    let copy;
    let terminated = if path.len() < USUAL_PATH {
        let first = room.as_mut_ptr().cast::<u8>();
        // SAFETY: `room` is longer than the path and does not overlap the path; all bytes that are read back have just been written.
        unsafe {
            first.copy_from_nonoverlapping(path.as_ptr(), path.len());
            first.add(path.len()).write(0);
            core::slice::from_raw_parts(first, path.len() + 1)
        }
    } else {
        copy = terminated_copy(path).map_err(shortage)?;
        &copy
    };
    action(checked(terminated)?)
}

#[cold]
#[inline(never)]
fn terminated_copy(path: &[u8]) -> Result<Vec<u8>, OutOfMemory> {
    let mut copy = Vec::new();
    copy.try_exact_room(path.len() + 1)?;
    copy.extend_from_slice(path);
    copy.push(0);
    Ok(copy)
}

/// Returns the error of a system call for which there was no memory. The Vulkan call also reports that memory ran out, even if the
/// caller of this function ignores the error.
fn shortage(OutOfMemory: OutOfMemory) -> Errno {
    memory::shortage::note();
    Errno(libc::ENOMEM)
}

fn checked(terminated: &[u8]) -> Result<&CStr, Errno> {
    match super::find_byte(terminated, 0) {
        // SAFETY: the last byte is the only NUL.
        Some(end) if end + 1 == terminated.len() => Ok(unsafe { CStr::from_bytes_with_nul_unchecked(terminated) }),
        _ => Err(Errno(libc::EINVAL)),
    }
}

/// Returns the canonical form of a path: absolute, without links.
///
/// # Errors
/// The error of the system.
pub fn canonical(path: &[u8]) -> Result<Vec<u8>, Errno> {
    let found = with_terminated(path, |path| {
        // SAFETY: the path is terminated; with a null buffer, the result is a new block.
        let found = unsafe { libc::realpath(path.as_ptr(), core::ptr::null_mut()) };
        if found.is_null() { Err(Errno::last()) } else { Ok(found) }
    })?;
    // SAFETY: `realpath` succeeded, so the block is a terminated text.
    let copy = memory::copy(unsafe { CStr::from_ptr(found) }.to_bytes());
    // SAFETY: the block came from `realpath` and is freed once.
    unsafe { libc::free(found.cast()) };
    copy.map_err(shortage)
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
    }
}
