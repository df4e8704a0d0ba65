//! Dynamic-link libraries.

use super::Errno;
use super::path::from_system;
use crate::find_byte;
use crate::open_error::OpenError;
use crate::path::is_absolute;
use alloc::format;
use alloc::vec::Vec;
use core::ffi::CStr;
use libloading::os::windows;
use std::os::windows::ffi::OsStringExt;
use windows_sys::Win32::Foundation::ERROR_BAD_EXE_FORMAT;
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, GetModuleFileNameW,
    GetModuleHandleExW, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR,
};

/// An open library; closed when dropped. To keep it open for good, forget it.
pub struct Library(windows::Library);

impl Library {
    /// Opens a library (DRV-56). A bare name goes through the system's search, without the current folder; what an absolute path
    /// needs is searched beside it too.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &[u8]) -> Result<Self, OpenError> {
        if path.is_empty() || find_byte(path, 0).is_some() {
            return Err(OpenError::NotAPath);
        }
        let failed = |number: i32| {
            let shown = alloc::string::String::from_utf8_lossy(path);
            let words = format!("Failed to open dynamic library \"{shown}\" with error {number}").into_bytes();
            match number.cast_unsigned() {
                ERROR_BAD_EXE_FORMAT => OpenError::WrongClass(words),
                _ => OpenError::Failed(words),
            }
        };
        let beside = if is_absolute(path) {
            LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR
        } else {
            0
        };
        let file = core::str::from_utf8(path).map_err(|_| failed(Errno::INVALID.0))?;
        // SAFETY: the file was named by a manifest that the user or the system installed, and is trusted as that is.
        let opened = unsafe { windows::Library::load_with_flags(file, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | beside) };
        opened
            .map(Self)
            .map_err(|_| failed(std::io::Error::last_os_error().raw_os_error().unwrap_or_default()))
    }

    /// The address of an exported symbol, or null. It is valid while the library is open.
    pub fn symbol(&self, name: &CStr) -> *mut () {
        // SAFETY: the symbol is only looked at as an address.
        let found = unsafe { self.0.get::<*mut ()>(name.to_bytes_with_nul()) };
        found.map_or(core::ptr::null_mut(), |symbol| symbol.as_raw_ptr().cast())
    }
}

/// The file that holds the code or data at `address`, as the system reports it, not canonicalised. `None` where that is no
/// library's.
pub fn file_of(address: *const ()) -> Option<Vec<u8>> {
    let mut module = core::ptr::null_mut();
    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    // SAFETY: with these flags the second parameter is an address, and any will do; room for a handle.
    if unsafe { GetModuleHandleExW(flags, address.cast(), &mut module) } == 0 {
        return None;
    }
    let mut room = [0_u16; 1024];
    // SAFETY: a loaded module, and room of this length.
    let length = unsafe { GetModuleFileNameW(module, room.as_mut_ptr(), room.len() as u32) };
    let name = room.get(..length as usize).filter(|name| !name.is_empty())?;
    Some(from_system(std::ffi::OsString::from_wide(name).into()))
}
