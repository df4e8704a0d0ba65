//! Lists the libraries that this process has loaded.

#[cfg(target_os = "linux")]
use std::ffi::c_int;
use std::ffi::{CStr, c_void};

/// Returns the paths of the loaded libraries, in the form and order of the dynamic linker; empty on systems without catalogues.
pub(crate) fn loaded() -> Vec<String> {
    #[allow(unused_mut, reason = "only one system changes the list")]
    let mut paths = Vec::new();
    #[cfg(target_os = "linux")]
    // SAFETY: `note` expects `dl_iterate_phdr` to pass the pointer to `paths`, which outlives the call. No other code uses `paths` during
    // the call.
    unsafe {
        libc::dl_iterate_phdr(Some(note), (&raw mut paths).cast())
    };
    paths
}

/// Adds the path of a library to a list.
///
/// # Safety
/// `info` must come from `dl_iterate_phdr`, and `paths` must point to a `Vec<String>` that no other code uses.
#[cfg(target_os = "linux")]
unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, paths: *mut c_void) -> c_int {
    // SAFETY: the caller promises that `info` comes from `dl_iterate_phdr`, and that `paths` points to a list that no other code uses.
    let (info, paths) = unsafe { (&*info, &mut *paths.cast::<Vec<String>>()) };
    if !info.dlpi_name.is_null() {
        // SAFETY: `dlpi_name` is a string of the dynamic linker, which ends with a null byte and does not change during the callback.
        let path = unsafe { CStr::from_ptr(info.dlpi_name) };
        paths.extend(path.to_str().ok().filter(|path| path.contains('/')).map(String::from));
    }
    0
}

/// Returns the real path of the library that contains the code at an address.
pub(crate) fn file_of(address: *const c_void) -> Option<String> {
    // SAFETY: `Dl_info` consists of pointers that may be null, so zero is a valid value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: `dladdr` only compares the address, and `info` is writable during the call.
    let is_known = unsafe { libc::dladdr(address, &mut info) } != 0;
    if !is_known || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: `dli_fname` is a string of the dynamic linker, which ends with a null byte and lives as long as the library.
    let path = unsafe { CStr::from_ptr(info.dli_fname) }.to_str().ok()?;
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
    Some(real.display().to_string())
}
