//! The libraries that this process has loaded.

#[cfg(target_os = "linux")]
use std::ffi::{CStr, c_int, c_void};

/// Returns the paths by which the dynamic linker opened them, in its order; nothing on systems without a catalogue.
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
/// `info` is what `dl_iterate_phdr` passes, and `paths` leads to a list.
#[cfg(target_os = "linux")]
unsafe extern "C" fn note(info: *mut libc::dl_phdr_info, _: usize, paths: *mut c_void) -> c_int {
    // SAFETY: by this function's contract.
    let (info, paths) = unsafe { (&*info, &mut *paths.cast::<Vec<String>>()) };
    if !info.dlpi_name.is_null() {
        // SAFETY: the dynamic linker's own text, terminated, and kept while it calls this function.
        let path = unsafe { CStr::from_ptr(info.dlpi_name) };
        paths.extend(path.to_str().ok().filter(|path| path.contains('/')).map(String::from));
    }
    0
}
