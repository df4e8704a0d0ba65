//! Functions for Unix. Tests write paths and lists in the notation of Unix, so no translation is necessary.

use std::ffi::{CStr, OsStr, OsString, c_void};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use libloading::os::unix::Library;
use libloading::os::unix::{RTLD_LOCAL, RTLD_NOW};

/// Text of [`ending`] for a process that calls `abort`.
pub const ABORTED: &str = "signal 6";

/// File name of the library under test in cargo's build folder.
pub(crate) const OWN_LIBRARY: &str = "libvulkan.so";

/// Text before and after the name of a built library.
pub(crate) const LIBRARY_SUFFIXES: (&str, &str) = ("lib", ".so");

/// Returns a text that describes the end of a process.
pub(crate) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "success".into(),
        (Some(code), _) => format!("exit code {code}"),
        (None, signal) => format!("signal {}", signal.unwrap_or(0)),
    }
}

/// Returns `true` if the process crashed, and did not end deliberately.
pub(crate) fn is_crash(ending: &str) -> bool {
    ending.starts_with("signal ")
}

/// Waits until the child ends, for at most `limit`. Returns `None` if the child still runs.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    loop {
        let status = child.try_wait()?;
        if status.is_some() || begin.elapsed() > limit {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Creates a symbolic link.
///
/// # Errors
/// Returns the system's error.
pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Returns an address in the form that the C library prints.
pub fn shown_address(word: usize) -> String {
    format!("{word:#x}")
}

/// Returns `true` if this process has loaded the library with this name. The other name is for Windows.
pub fn is_loaded(name: &str, _on_windows: &str) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the map is readable");
    maps.contains(name)
}

/// Returns the path unchanged, because tests write paths in the notation of Unix.
pub(crate) fn own_path(path: PathBuf) -> PathBuf {
    path
}

/// Returns the path unchanged, because a path of Unix needs no escapes in JSON text.
pub fn json_path(path: &str) -> String {
    path.into()
}

/// Returns the loader's text unchanged, because tests expect paths in the notation of Unix.
pub(crate) fn settle(text: String) -> String {
    text
}

/// Returns the variable's value unchanged, because tests write lists in the notation of Unix.
pub(crate) fn list(_: &str, value: &OsStr) -> OsString {
    value.into()
}

/// Returns a command that runs `program` with elevated privileges.
pub(crate) fn elevated(program: &Path, root: &Path) -> Command {
    super::elevated::command(program, root)
}

/// Does nothing, because a child needs only the variables of its test.
pub(crate) fn keep(_: &mut Command, _: bool) {}

/// Does nothing, because the loader searches folders on Unix.
pub(crate) fn register(_: &Path, _: &dyn Fn(&str) -> Option<OsString>) {}

/// Does nothing, because the loader searches folders on Unix.
pub(crate) fn unregister(_: &Path) {}

/// Does nothing, because a child needs no preparation.
pub(crate) fn prepare_child(_: &Path) {}

/// Does nothing, because the library needs no preparation.
pub(crate) fn prepare_library(_: &Library) {}

/// Returns the processor time that this process has used, in seconds.
pub(crate) fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Unix, and `time` is valid for writes.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns the factor by which a child may run longer.
pub(crate) fn slowness() -> u32 {
    1
}

/// Opens a library whose path is UTF-8. For other paths, the crate `libloading` would need its feature `std`, which the loader must not
/// enable.
///
/// # Safety
/// The process meets the library's requirements for opening it.
pub(crate) unsafe fn open_library(path: &Path) -> Library {
    // SAFETY: the caller guarantees that the process meets the library's requirements.
    let library = unsafe { Library::open(Some(path.to_str().expect("a path of UTF-8")), RTLD_NOW | RTLD_LOCAL) };
    library.unwrap_or_else(|error| panic!("cannot load {}: {error}", path.display()))
}

/// Returns the address of an exported symbol, or 0 if the symbol is missing.
pub(crate) fn address(library: &Library, symbol: &CStr) -> usize {
    // SAFETY: the code uses only the address of the symbol, and does not read memory at this address.
    unsafe { library.get::<*const c_void>(symbol.to_bytes_with_nul()) }.map_or(0, |symbol| symbol.into_raw() as usize)
}

/// Functions that allocate and protect pages of memory.
pub(crate) mod memory {
    use std::ptr::null_mut;

    /// Returns new memory of this size.
    pub(crate) fn map(size: usize) -> *mut u8 {
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: without an address, the system chooses an unused place for the new mapping.
        let map = unsafe { libc::mmap(null_mut(), size, access, kind, -1, 0) };
        assert_ne!(map, libc::MAP_FAILED);
        map.cast()
    }

    /// Makes memory of [`map`] read-only.
    pub(crate) fn close_for_writing(map: *mut u8, size: usize) {
        // SAFETY: the mapping belongs to the caller, who no longer writes to the memory.
        assert_eq!(unsafe { libc::mprotect(map.cast(), size, libc::PROT_READ) }, 0);
    }

    /// Makes memory of [`map`] inaccessible.
    pub(crate) fn close(map: *mut u8, size: usize) {
        // SAFETY: the memory came from `map` and has this size.
        assert_eq!(unsafe { libc::mprotect(map.cast(), size, libc::PROT_NONE) }, 0);
    }

    /// Frees memory of [`map`].
    pub(crate) fn unmap(map: *mut u8, size: usize) {
        // SAFETY: the memory came from `map` and has this size, and no pointer into it is used any more.
        unsafe { libc::munmap(map.cast(), size) };
    }
}
