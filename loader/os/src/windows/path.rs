//! Paths: texts in UTF-8 here, in UTF-16 for the system.

use super::Errno;
use crate::memory::{self, Grow, OutOfMemory};
use alloc::vec::Vec;
use core::ffi::CStr;
use std::path::{Path, PathBuf};

/// A path for the standard library. Names that are no Unicode cannot be had on this system.
pub(super) fn to_system(path: &[u8]) -> Result<&Path, Errno> {
    core::str::from_utf8(path).map(Path::new).map_err(|_| Errno::INVALID)
}

/// A text with its terminator, in units of the system.
///
/// # Errors
/// When memory runs out.
pub(super) fn wide(text: &str) -> Result<Vec<u16>, OutOfMemory> {
    let mut units = Vec::new();
    // No character takes more units than bytes.
    units.try_exact_room(text.len() + 1)?;
    units.extend(text.encode_utf16().chain([0]));
    Ok(units)
}

/// What precedes the terminator, if there is one.
pub(super) fn ended(units: &[u16]) -> &[u16] {
    let end = units.iter().position(|&unit| unit == 0);
    &units[..end.unwrap_or(units.len())]
}

/// The bytes of a path that the system gave.
pub(super) fn from_system(path: PathBuf) -> Vec<u8> {
    let bytes = path.into_os_string().into_encoded_bytes();
    // How the system writes a path of any length.
    match bytes.strip_prefix(br"\\?\") {
        Some(plain) if plain.get(1) == Some(&b':') => memory::copy_or_note(plain),
        _ => bytes,
    }
}

/// Shows `action` a path with its terminator.
///
/// # Errors
/// Those of `action`; that it is invalid when the path has a NUL inside, and that of a shortage when there is no memory for a copy.
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

/// The canonical form of a path: absolute, without links.
///
/// # Errors
/// The system's.
pub fn canonical(path: &[u8]) -> Result<Vec<u8>, Errno> {
    Ok(from_system(std::fs::canonicalize(to_system(path)?)?))
}

/// The absolute path of the running executable, written to `room`, which it fills when it is longer. `None` when it cannot be
/// read.
pub fn running_executable(room: &mut [u8]) -> Option<&[u8]> {
    let path = from_system(std::env::current_exe().ok()?);
    let length = path.len().min(room.len());
    room[..length].copy_from_slice(&path[..length]);
    Some(&room[..length])
}
