//! Through the functions of Windows.

use std::ffi::OsString;
use std::os::windows::ffi::OsStringExt;
use std::path::PathBuf;
use std::ptr::null_mut;

use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, GetModuleFileNameW,
    GetModuleHandleExW,
};
use windows_sys::Win32::System::Threading::GetCurrentThreadId;

/// Lets two functions of type `extern "C" fn()` run: the first one after the library was mapped, the second one before it is
/// unmapped, which it is at the end of the process too.
macro_rules! at_load_and_unload {
    ($load:path, $unload:path) => {
        /// What the C runtime calls.
        #[unsafe(no_mangle)]
        extern "system" fn DllMain(_: *mut core::ffi::c_void, reason: u32, _: *mut core::ffi::c_void) -> i32 {
            match reason {
                0 => $unload(),
                1 => $load(),
                _ => {}
            }
            1
        }
    };
}
pub(crate) use at_load_and_unload;

/// The file this library was loaded from.
pub(crate) fn library_path() -> PathBuf {
    let here: fn() -> PathBuf = library_path;
    let mut module = null_mut();
    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    let mut room = [0_u16; 1024];
    // SAFETY: with these flags the second parameter is an address, here one of this library; room for a handle, and for so
    // many units of the name of that module.
    let length = unsafe {
        if GetModuleHandleExW(flags, here as *const u16, &mut module) == 0 {
            return PathBuf::new();
        }
        GetModuleFileNameW(module, room.as_mut_ptr(), room.len() as u32)
    };
    OsString::from_wide(&room[..length as usize]).into()
}

/// The number of this thread. The standard library's own would leave something in the thread that ends with this library.
pub(crate) fn current_thread() -> usize {
    // SAFETY: takes nothing, and never fails.
    unsafe { GetCurrentThreadId() as usize }
}
