//! Any Unix. What cases write is what it takes.

use std::ffi::{CStr, OsStr, OsString, c_void};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

pub(crate) use libloading::os::unix::Library;
use libloading::os::unix::{RTLD_LOCAL, RTLD_NOW};

/// How a process ends that calls `abort`, in the words of [`ending`].
pub const ABORTED: &str = "signal 6";

/// The name of the library under test where cargo builds it.
pub(crate) const OWN_LIBRARY: &str = "libvulkan.so";

/// What stands around the name of a built library.
pub(crate) const LIBRARY_SUFFIXES: (&str, &str) = ("lib", ".so");

/// How a process ended, in words.
pub(crate) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(0), _) => "success".into(),
        (Some(code), _) => format!("exit code {code}"),
        (None, signal) => format!("signal {}", signal.unwrap_or(0)),
    }
}

/// Whether that ending is none that the process chose.
pub(crate) fn is_crash(ending: &str) -> bool {
    ending.starts_with("signal ")
}

/// Makes a link.
///
/// # Errors
/// The system's.
pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Returns an address as the C library prints it.
pub fn shown_address(word: usize) -> String {
    format!("{word:#x}")
}

/// Whether a library is in this process, by its name here or that on Windows.
pub fn is_loaded(name: &str, _on_windows: &str) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the map is readable");
    maps.contains(name)
}

/// A path of the system as cases write it.
pub(crate) fn own_path(path: PathBuf) -> PathBuf {
    path
}

/// The text in JSON of a path that is written as Unix does.
pub fn json_path(path: &str) -> String {
    path.into()
}

/// A text of the loader as cases expect it.
pub(crate) fn settle(text: String) -> String {
    text
}

/// The value of a variable that may hold a list.
pub(crate) fn list(_: &str, value: &OsStr) -> OsString {
    value.into()
}

/// A command that runs `program` with elevated privileges.
pub(crate) fn elevated(program: &Path, root: &Path) -> Command {
    super::elevated::command(program, root)
}

/// Nothing: a child needs no variable that no case sets.
pub(crate) fn keep(_: &mut Command, _: bool) {}

/// Nothing: folders are searched.
pub(crate) fn register(_: &Path, _: &dyn Fn(&str) -> Option<OsString>) {}

/// Nothing: as above.
pub(crate) fn unregister(_: &Path) {}

/// Nothing: a child is as it should be.
pub(crate) fn prepare_child(_: &Path) {}

/// Nothing: the library is as it should be.
pub(crate) fn prepare_library(_: &Library) {}

/// Returns the processor seconds that this process has used.
pub(crate) fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writes.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// How many times longer a child may run.
pub(crate) fn slowness() -> u32 {
    1
}

/// Opens a library whose path is UTF-8, which is all that the crate takes as long as no case asks for its part that needs the
/// standard library: the loader must not get that part.
///
/// # Safety
/// Whatever the library demands of a process that opens it.
pub(crate) unsafe fn open_library(path: &Path) -> Library {
    // SAFETY: passed on.
    let library = unsafe { Library::open(Some(path.to_str().expect("a path of UTF-8")), RTLD_NOW | RTLD_LOCAL) };
    library.unwrap_or_else(|error| panic!("cannot load {}: {error}", path.display()))
}

/// The address of an exported symbol, 0 when there is none.
pub(crate) fn address(library: &Library, symbol: &CStr) -> usize {
    // SAFETY: only the address of the symbol is looked at here.
    unsafe { library.get::<*const c_void>(symbol.to_bytes_with_nul()) }.map_or(0, |symbol| symbol.into_raw() as usize)
}

/// Pages of memory.
pub(crate) mod memory {
    use std::ptr::null_mut;

    /// Fresh memory of so many bytes.
    pub(crate) fn map(size: usize) -> *mut u8 {
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: a new mapping at a place of the system's choice.
        let map = unsafe { libc::mmap(null_mut(), size, access, kind, -1, 0) };
        assert_ne!(map, libc::MAP_FAILED);
        map.cast()
    }

    /// Lets memory of [`map`] only be read.
    pub(crate) fn close_for_writing(map: *mut u8, size: usize) {
        // SAFETY: the mapping is the caller's own.
        assert_eq!(unsafe { libc::mprotect(map.cast(), size, libc::PROT_READ) }, 0);
    }

    /// Lets memory of [`map`] not be used at all.
    pub(crate) fn close(map: *mut u8, size: usize) {
        // SAFETY: as above.
        assert_eq!(unsafe { libc::mprotect(map.cast(), size, libc::PROT_NONE) }, 0);
    }

    /// Gives it back.
    pub(crate) fn unmap(map: *mut u8, size: usize) {
        // SAFETY: as above; no pointer into it is used any more.
        unsafe { libc::munmap(map.cast(), size) };
    }
}
