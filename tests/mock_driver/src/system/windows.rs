//! Windows implementation of the mock driver's system functions.

use std::ffi::{CStr, OsString};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use ash::vk;
use windows_sys::Win32::Storage::FileSystem::{GetFileAttributesExW, GetFileExInfoStandard, WIN32_FILE_ATTRIBUTE_DATA};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, GetModuleFileNameW,
    GetModuleHandleExW, GetModuleHandleW, GetProcAddress,
};
use windows_sys::Win32::System::Threading::GetCurrentThreadId;

/// Makes two functions of type `extern "C" fn()` run. The first function runs after the library was mapped, and the second function runs
/// before the library is unmapped. The end of the process unmaps the library too.
macro_rules! at_load_and_unload {
    ($load:path, $unload:path) => {
        /// Entry point that the C runtime calls.
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

/// Returns the file from which this library was loaded.
pub(crate) fn library_path() -> PathBuf {
    let here: fn() -> PathBuf = library_path;
    let mut module = null_mut();
    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    let mut room = [0_u16; 1024];
    // SAFETY: with these flags, the second parameter is any address in this library. Both buffers have space for the written data.
    let length = unsafe {
        if GetModuleHandleExW(flags, here as *const u16, &mut module) == 0 {
            return PathBuf::new();
        }
        GetModuleFileNameW(module, room.as_mut_ptr(), room.len() as u32)
    };
    OsString::from_wide(&room[..length as usize]).into()
}

/// Returns the ID of this thread. The standard library's ID would leave a thread-local value whose destructor is in this library.
pub(crate) fn current_thread() -> usize {
    // SAFETY: `GetCurrentThreadId` has no parameters, and never fails.
    unsafe { GetCurrentThreadId() as usize }
}

/// Returns the modification time and the size of a file, without opening the file. Under Wine, this function makes a driver with hundreds
/// of look-ups a hundred times faster.
#[allow(dead_code, reason = "the layer reads its file once")]
pub(crate) fn state_of(path: &Path) -> Option<(u64, u64)> {
    let name: Vec<u16> = path.as_os_str().encode_wide().chain([0]).collect();
    let mut data = WIN32_FILE_ATTRIBUTE_DATA::default();
    // SAFETY: the name is terminated, and the structure has space for the data of this level.
    let told = unsafe { GetFileAttributesExW(name.as_ptr(), GetFileExInfoStandard, (&raw mut data).cast()) };
    let wide = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let changed = wide(data.ftLastWriteTime.dwHighDateTime, data.ftLastWriteTime.dwLowDateTime);
    (told != 0).then(|| (changed, wide(data.nFileSizeHigh, data.nFileSizeLow)))
}

/// Returns the address of an exported function of the loader, whose library is already in the process.
pub(crate) fn loader_symbol(name: &CStr) -> vk::PFN_vkVoidFunction {
    // SAFETY: the names are terminated. The library remains loaded, because the application has opened it.
    let address = unsafe { GetProcAddress(GetModuleHandleW(windows_sys::w!("vulkan-1.dll")), name.as_ptr().cast()) };
    // SAFETY: an exported `vk` symbol of the loader is a function, and a missing symbol becomes `None`.
    unsafe { std::mem::transmute(address) }
}
