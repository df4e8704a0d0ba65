//! Dynamic-link libraries.

use super::path::{from_system, to_system};
use super::{Errno, environment};
use crate::find_byte;
use crate::memory::{Grow, shortage};
use crate::open_error::OpenError;
use crate::path::{LIST_SEPARATOR, is_absolute, is_separator, verbatim};
use crate::registry::values::utf8;
use alloc::format;
use alloc::vec::Vec;
use core::ffi::CStr;
use libloading::os::windows;
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use windows_sys::Win32::Foundation::{ERROR_BAD_EXE_FORMAT, ERROR_MOD_NOT_FOUND};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, GetModuleFileNameW,
    GetModuleHandleExW, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR,
};
use windows_sys::Win32::System::SystemInformation::GetSystemWindowsDirectoryW;

/// Upper bound on the length of a path that functions of the system accept unchanged, in UTF-16 units with its terminator.
const LONGEST_PLAIN: usize = 260;
/// Length of the longest possible path, in UTF-16 units.
const LONGEST: usize = 1 << 15;

/// An open library; closed when dropped. To keep the library open permanently, forget the value.
pub struct Library(windows::Library);

impl Library {
    /// Opens a library (DRV-56, DRV-57, LAY-200).
    ///
    /// A path is first loaded without special flags, so that the system searches for needed libraries in the folders that programs expect.
    /// If a module is not found, the folder of the library is searched too. A path that is too long for a plain load is converted to the
    /// form that the system accepts at any length (LAY-53).
    ///
    /// A bare name is searched in the folders of a plain load and in their order, but not in the current folder. Anyone who may write to
    /// the folder in which a program was started could put a library of that name there, even for an elevated program.
    ///
    /// # Errors
    /// The error of the system. If memory ran out, the shortage is noted too (LAY-203).
    pub fn open(path: &[u8]) -> Result<Self, OpenError> {
        if path.is_empty() || find_byte(path, 0).is_some() {
            return Err(OpenError::NotAPath);
        }
        let opened = match core::str::from_utf8(path) {
            Err(_) => Err(Errno::INVALID),
            Ok(name) if is_bare(path) => load_bare(name),
            Ok(file) => load_path(file),
        };
        opened.map(Self).map_err(|error| {
            if error.is_shortage() {
                shortage::note();
            }
            let shown = alloc::string::String::from_utf8_lossy(path);
            let words = format!("Failed to open dynamic library \"{shown}\" with error {}", error.0).into_bytes();
            match error.0.cast_unsigned() {
                ERROR_BAD_EXE_FORMAT => OpenError::WrongClass(words),
                _ => OpenError::Failed(words),
            }
        })
    }

    /// Returns the address of an exported symbol, or null. The address is valid while the library is open.
    pub fn symbol(&self, name: &CStr) -> *mut () {
        // SAFETY: only the address of the symbol is used.
        let found = unsafe { self.0.get::<*mut ()>(name.to_bytes_with_nul()) };
        found.map_or(core::ptr::null_mut(), |symbol| symbol.as_raw_ptr().cast())
    }
}

/// Returns `true` if a name contains no folder.
fn is_bare(name: &[u8]) -> bool {
    !is_absolute(name) && !name.iter().copied().any(is_separator)
}

fn load(file: &str, flags: u32) -> Result<windows::Library, Errno> {
    // SAFETY: the user or the system installed the manifest that names this file, so the file is trusted to the same degree.
    unsafe { windows::Library::load_with_flags(file, flags) }.map_err(|_| io::Error::last_os_error().into())
}

fn is_not_found(error: &Errno) -> bool {
    error.0.cast_unsigned() == ERROR_MOD_NOT_FOUND
}

/// Loads a file without special flags. If that fails because a module is missing or the path is too long, also searches the file's own
/// folder.
fn load_path(file: &str) -> Result<windows::Library, Errno> {
    let plain = load(file, 0);
    let Err(error) = plain else {
        return plain;
    };
    // The flags require an absolute path.
    let whole = std::path::absolute(file)?;
    let whole = whole.to_str().ok_or(Errno::INVALID)?;
    let is_long = whole.encode_utf16().count() + 1 > LONGEST_PLAIN;
    let beside = LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR;
    match is_long {
        true => {
            let whole = verbatim(whole);
            load(&whole, 0).or_else(|_| load(&whole, beside))
        }
        false if is_not_found(&error) => load(whole, beside),
        false => Err(error),
    }
}

/// Returns the Windows folder that all users share.
fn windows_folder() -> Option<Vec<u8>> {
    let mut room = [0_u16; LONGEST_PLAIN];
    // SAFETY: `room` is writable and has `room.len()` UTF-16 units.
    let length = unsafe { GetSystemWindowsDirectoryW(room.as_mut_ptr(), room.len() as u32) } as usize;
    // If `room` is too small, the function returns the required size.
    let is_whole = (1..room.len()).contains(&length);
    is_whole.then(|| utf8(room[..length].iter().copied()))
}

/// Loads a library by a bare name. Searches the folders of the program and of the system, then the 16-bit system folder and the
/// Windows folder, then `PATH`.
fn load_bare(name: &str) -> Result<windows::Library, Errno> {
    let error = match load(name, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS) {
        Err(error) if is_not_found(&error) => error,
        other => return other,
    };
    let windows = windows_folder().unwrap_or_default();
    let variable = environment::plain_value(c"PATH").unwrap_or_default();
    let of_windows = [&br"\System\"[..], br"\"].map(|below| (&windows[..], below));
    let of_path = variable.split(|&byte| byte == LIST_SEPARATOR);
    let mut path = Vec::new();
    for (folder, below) in of_windows.into_iter().chain(of_path.map(|folder| (folder, &br"\"[..]))) {
        // Skips folders that are not absolute, even if they begin with a drive, because they would be relative to the current folder.
        if !to_system(folder).is_ok_and(Path::is_absolute) {
            continue;
        }
        path.clear();
        for part in [
            folder,
            below,
            name.as_bytes(),
            if name.contains('.') { b"" } else { b".dll" },
        ] {
            if path.try_room(part.len()).is_err() {
                shortage::note();
                return Err(error);
            }
            path.extend_from_slice(part);
        }
        match core::str::from_utf8(&path) {
            Ok(file) if Path::new(file).is_file() => return load_path(file),
            _ => {}
        }
    }
    Err(error)
}

/// Returns the file that contains the code or data at `address`, as the system reports it, not canonicalised. `None` if the address is not
/// in a library.
pub fn file_of(address: *const ()) -> Option<Vec<u8>> {
    let mut module = core::ptr::null_mut();
    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    // SAFETY: with these flags, the second parameter may be any address; the call writes the handle only to `module`.
    if unsafe { GetModuleHandleExW(flags, address.cast(), &mut module) } == 0 {
        return None;
    }
    let mut room = Vec::new();
    for size in [LONGEST_PLAIN, LONGEST] {
        room.try_room(size).ok()?;
        room.resize(size, 0_u16);
        // SAFETY: the module is loaded, and `room` has this length.
        let length = unsafe { GetModuleFileNameW(module, room.as_mut_ptr(), size as u32) } as usize;
        // A name that fills `room` may be truncated.
        if (1..size).contains(&length) {
            return Some(from_system(PathBuf::from(std::ffi::OsString::from_wide(
                &room[..length],
            ))));
        }
    }
    None
}
