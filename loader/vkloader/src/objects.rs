//! The libraries that this process has loaded.

#[cfg(target_os = "linux")]
use std::ffi::{CStr, c_int, c_void};

/// Returns the paths by which the dynamic linker opened them, in its order; empty on systems without catalogues.
pub(crate) fn loaded() -> Vec<String> {
    #[allow(unused_mut, reason = "one system tells")]
    let mut paths = Vec::new();
    #[cfg(target_os = "linux")]
    // SAFETY: `note` gets back the pointer to `paths`, which lives as long as this call and is used by nothing else meanwhile.
    unsafe {
        libc::dl_iterate_phdr(Some(note), (&raw mut paths).cast())
    };
    paths
}

/// # Safety
/// `info` must come from `dl_iterate_phdr`, and `paths` must point to a `Vec<String>` that nothing else uses.
#[cfg(target_os = "linux")]
unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, paths: *mut c_void) -> c_int {
    // SAFETY: `info` is what `dl_iterate_phdr` passed, and the caller guarantees that `paths` points to a list that nothing else uses.
    let (info, paths) = unsafe { (&*info, &mut *paths.cast::<Vec<String>>()) };
    if !info.dlpi_name.is_null() {
        // SAFETY: `dlpi_name` is a string of the dynamic linker that ends with a null byte and stays unchanged during the callback.
        let path = unsafe { CStr::from_ptr(info.dlpi_name) };
        paths.extend(path.to_str().ok().filter(|path| path.contains('/')).map(String::from));
    }
    0
}
