//! Calls of the mock to the dynamic linker and to the threads of a Unix system.

use std::ffi::{CStr, OsStr, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ash::vk;

/// Makes two functions of type `extern "C" fn()` run. The first function runs after the library was mapped, and the second function runs
/// before the library is unmapped.
macro_rules! at_load_and_unload {
    ($load:path, $unload:path) => {
        // SAFETY: the section is the list of functions that the dynamic linker calls after it has mapped the library.
        #[used]
        #[unsafe(link_section = ".init_array")]
        static LOADED: extern "C" fn() = $load;

        // SAFETY: the section is the list of functions that the dynamic linker calls before it unmaps the library.
        #[used]
        #[unsafe(link_section = ".fini_array")]
        static UNLOADED: extern "C" fn() = $unload;
    };
}
pub(crate) use at_load_and_unload;

/// Returns the file from which this library was loaded, under the name that the loader opened.
pub(crate) fn library_path() -> PathBuf {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    let here: fn() -> PathBuf = library_path;
    // SAFETY: `info` is a valid place for the result, and a zeroed `Dl_info` is a valid value.
    let (found, info) = unsafe {
        (
            libc::dladdr(here as *const c_void, info.as_mut_ptr()),
            info.assume_init(),
        )
    };
    if found == 0 || info.dli_fname.is_null() {
        return PathBuf::new();
    }
    // SAFETY: `dladdr` succeeded, so the name is a terminated string that lives as long as this library is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let path = Path::new(OsStr::from_bytes(name.to_bytes()));
    if path.starts_with("/proc/self/fd") {
        behind(path)
    } else {
        path.into()
    }
}

/// Returns the file to which a descriptor refers. For a copy in memory, returns the file that was copied.
fn behind(descriptor: &Path) -> PathBuf {
    let Ok(link) = std::fs::read_link(descriptor) else {
        return PathBuf::new();
    };
    let name = link
        .to_str()
        .and_then(|link| link.strip_prefix("/memfd:")?.strip_suffix(" (deleted)"));
    name.map(PathBuf::from).unwrap_or(link)
}

/// Returns the ID of this thread. The standard library's function would create a thread-local value whose destructor is in this library,
/// and the loader can unload this library before the thread ends.
pub(crate) fn current_thread() -> usize {
    // SAFETY: `pthread_self` has no parameters, and never fails.
    unsafe { libc::pthread_self() as usize }
}

/// Returns the modification time and the size of a file. Returns `None` for a file that has just changed, because a second change within
/// one tick of the system's clock has the same time.
#[allow(dead_code, reason = "the layer reads its file once")]
pub(crate) fn state_of(path: &Path) -> Option<(u64, u64)> {
    let state = std::fs::metadata(path).ok()?;
    let changed = state.modified().ok()?;
    let is_settled = SystemTime::now().duration_since(changed).ok()? > Duration::from_millis(100);
    let since = changed.duration_since(UNIX_EPOCH).ok()?;
    is_settled.then_some((u64::try_from(since.as_nanos()).ok()?, state.len()))
}

/// Returns the address of an exported function of the loader, whose library is already in the process.
pub(crate) fn loader_symbol(name: &CStr) -> vk::PFN_vkVoidFunction {
    // SAFETY: the name is a C string. RTLD_NOLOAD only finds a library that is already loaded.
    let library = unsafe { libc::dlopen(c"libvulkan.so.1".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return None;
    }
    // SAFETY: `dlopen` just returned the handle, and the name is a C string.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    // SAFETY: the handle came from `dlopen`. The library remains loaded, because the application has opened it too.
    unsafe { libc::dlclose(library) };
    // SAFETY: an exported `vk` symbol of the loader is a function, and null becomes `None`.
    unsafe { std::mem::transmute::<*mut c_void, vk::PFN_vkVoidFunction>(address) }
}
