//! Paths, which are UTF-8 in the loader and UTF-16 in the system.

use super::Errno;
use crate::memory::{self, Grow, OutOfMemory};
use crate::path::without_verbatim;
use alloc::vec::Vec;
use core::ffi::CStr;
use std::path::{Path, PathBuf};

/// Returns a path for the standard library. Names that are not Unicode are unsupported on this system.
pub(super) fn to_system(path: &[u8]) -> Result<&Path, Errno> {
    core::str::from_utf8(path).map(Path::new).map_err(|_| Errno::INVALID)
}

/// Returns a text in UTF-16, with a terminator.
///
/// # Errors
/// There is not enough memory.
pub(super) fn wide(text: &str) -> Result<Vec<u16>, OutOfMemory> {
    let mut units = Vec::new();
    // No character has more UTF-16 units than UTF-8 bytes.
    units.try_exact_room(text.len() + 1)?;
    units.extend(text.encode_utf16().chain([0]));
    Ok(units)
}

/// Returns the UTF-16 units before the terminator, or all units if there is none.
pub(super) fn ended(units: &[u16]) -> &[u16] {
    let end = units.iter().position(|&unit| unit == 0);
    &units[..end.unwrap_or(units.len())]
}

/// Returns the bytes of a path from the system.
pub(super) fn from_system(path: PathBuf) -> Vec<u8> {
    let bytes = path.into_os_string().into_encoded_bytes();
    match without_verbatim(&bytes) {
        Some(plain) => memory::copy_or_note(plain),
        None => bytes,
    }
}

/// Calls `action` with a path and its terminator.
///
/// # Errors
/// The errors of `action`; `INVALID` if the path contains a NUL, `SHORTAGE` if there is no memory for a copy.
pub fn with_terminated<R>(path: &[u8], action: impl FnOnce(&CStr) -> Result<R, Errno>) -> Result<R, Errno> {
    let mut copy = Vec::new();
    if copy.try_exact_room(path.len() + 1).is_err() {
        memory::shortage::note();
        return Err(Errno::SHORTAGE);
    }
    copy.extend_from_slice(path);
    copy.push(0);
    action(CStr::from_bytes_with_nul(&copy).map_err(|_| Errno::INVALID)?)
}

/// Returns the canonical form of a path: absolute, without links.
///
/// # Errors
/// The error of the system.
pub fn canonical(path: &[u8]) -> Result<Vec<u8>, Errno> {
    Ok(from_system(std::fs::canonicalize(to_system(path)?)?))
}

/// Returns the absolute path of the running executable, in `room`. A longer path is truncated to the size of `room`. Returns `None` if the
/// path cannot be read.
pub fn running_executable(room: &mut [u8]) -> Option<&[u8]> {
    let path = from_system(std::env::current_exe().ok()?);
    let length = path.len().min(room.len());
    room[..length].copy_from_slice(&path[..length]);
    Some(&room[..length])
}
