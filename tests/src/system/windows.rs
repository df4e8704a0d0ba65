//! Functions for Windows and Wine. Tests write paths and lists in the notation of Unix, and this module translates them in both directions.
//!
//! A path of the scene is written with slashes, which Windows accepts too, so it can be part of a JSON text unchanged. In variables and in
//! the registry, the slashes of a path become backslashes. In texts from the process, the backslashes become slashes.

use std::env;
use std::ffi::{CStr, OsStr, OsString, c_void};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::ptr::{null_mut, with_exposed_provenance};
use std::time::Duration;

pub(crate) use libloading::os::windows::Library;
use libloading::os::windows::{LOAD_LIBRARY_SEARCH_DEFAULT_DIRS, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR};
use windows_sys::Win32::System::Diagnostics::Debug::{SEM_NOGPFAULTERRORBOX, SetErrorMode};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, GetModuleHandleExW,
    GetModuleHandleW,
};
use windows_sys::Win32::System::Threading::{INFINITE, WaitForSingleObject};

pub(crate) use super::keys::{register, unregister, write_key};

/// Text of [`ending`] for a process that calls `abort`, which Windows reports as a fast failure.
pub const ABORTED: &str = "exception 0xc0000409";

/// File name of the library under test.
pub(crate) const OWN_LIBRARY: &str = "vulkan-1.dll";

/// Text before and after the name of a built library.
pub(crate) const LIBRARY_SUFFIXES: (&str, &str) = ("", ".dll");

/// Returns a text that describes the end of a process.
pub(crate) fn ending(status: ExitStatus) -> String {
    match status.code() {
        Some(0) => "success".into(),
        // The status is negative if the system ended the process.
        Some(code) if code < 0 => format!("exception {code:#x}"),
        code => format!("exit code {}", code.unwrap_or(-1)),
    }
}

/// Returns `true` if the process crashed, and did not end deliberately.
pub(crate) fn is_crash(ending: &str) -> bool {
    ending.starts_with("exception ")
}

/// Waits until the child ends, for at most `limit`. Returns `None` if the child still runs.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let limit = u32::try_from(limit.as_millis()).unwrap_or(INFINITE);
    // One long wait replaces a loop of short waits. A short wait needs six requests to Wine's server, and one server serves all processes.
    // SAFETY: `child` owns the handle, so the handle is open during the call.
    unsafe { WaitForSingleObject(child.as_raw_handle(), limit) };
    child.try_wait()
}

/// Makes a link to a file. A link cannot be made under Wine, or by a user without the necessary right.
///
/// # Errors
/// Returns the system's error.
pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target, link)
}

/// Returns an address in the form that the C library prints: all digits without a prefix.
pub fn shown_address(word: usize) -> String {
    format!("{word:0digits$X}", digits = 2 * size_of::<usize>())
}

/// Returns `true` if this process has loaded the library with this name. The other name is for Unix.
pub fn is_loaded(_on_unix: &str, name: &str) -> bool {
    let name: Vec<u16> = name.encode_utf16().chain([0]).collect();
    // SAFETY: `name` is a string that ends with a null character.
    !unsafe { GetModuleHandleW(name.as_ptr()) }.is_null()
}

/// Returns a path of the system in the notation that tests use: with slashes.
pub(crate) fn own_path(path: PathBuf) -> PathBuf {
    let text = path.into_os_string().into_string().expect("a path of Unicode");
    text.strip_prefix(r"\\?\").unwrap_or(&text).replace('\\', "/").into()
}

/// Returns the JSON text of a path that is written with slashes. The text has backslashes, because a library path without a backslash is a
/// bare name, for which the system searches.
pub fn json_path(path: &str) -> String {
    path.replace('/', r"\\")
}

/// Returns the loader's text as tests expect it: with slashes, and without the slashes that [`register`] adds for the order.
pub(crate) fn settle(text: String) -> String {
    let mut text = text.replace('\\', "/");
    while text.contains("C://") {
        text = text.replace("C://", "C:/");
    }
    text
}

/// Returns the value of a variable. In a list of paths on Windows, a backslash precedes each file name, and semicolons separate the paths.
/// A colon after a single letter is part of a path.
pub(crate) fn list(name: &str, value: &OsStr) -> OsString {
    // Wine would end this process if it started a child with a longer variable.
    assert!(value.len() < 32_767, "{name} is longer than a variable can be");
    let is_list = name.starts_with("XDG_")
        || name == "VK_INSTANCE_LAYERS"
        || ["_PATH", "_FILES", "_FILENAMES"].iter().any(|end| name.ends_with(end));
    let Some(value) = value.to_str().filter(|_| is_list) else {
        return value.into();
    };
    let (mut translated, mut start) = (String::new(), 0);
    for (place, letter) in value.char_indices() {
        let part = &value[start..place];
        if matches!(letter, ':' | ';') {
            start = place + 1;
        }
        let is_drive = part.len() == 1 && part.starts_with(|first: char| first.is_ascii_alphabetic());
        translated.push(match letter {
            ':' if !is_drive => ';',
            '/' => '\\',
            other => other,
        });
    }
    translated.into()
}

/// Returns a command that runs `program` in a process that is elevated for the library under test.
pub(crate) fn elevated(program: &Path, _: &Path) -> Command {
    Command::new(program)
}

/// Adds the variables that every process needs on this system. These variables name the folders of the system's libraries.
pub(crate) fn keep(command: &mut Command, is_elevated: bool) {
    if is_elevated {
        command.env(super::token::ELEVATED, "1");
    }
    for name in ["SystemRoot", "SystemDrive", "PATH", "TEMP", "TMP"] {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
}

/// Makes this child see the scene's part of the registry. If the child crashes, the system shows no dialog and starts no debugger.
pub(crate) fn prepare_child(root: &Path) {
    // SAFETY: the call has no pointer argument, and changes only a setting of this process.
    unsafe { SetErrorMode(SEM_NOGPFAULTERRORBOX) };
    super::keys::enter(root);
}

/// Sets the privileges that the library finds in this child. The library was just opened.
pub(crate) fn prepare_library(library: &Library) {
    let own = address(library, c"vkGetInstanceProcAddr");
    let mut module = null_mut();
    let flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    // SAFETY: with these flags the second parameter is an address within the library, and the place for the handle is writable.
    let told = unsafe { GetModuleHandleExW(flags, with_exposed_provenance(own), &mut module) };
    assert_ne!(told, 0, "the library is loaded");
    super::token::answer(module.expose_provenance());
}

/// Returns the seconds since the first call. This system has no function for the processor time.
pub(crate) fn processor_seconds() -> f64 {
    static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

/// Returns the factor by which a child may run longer, because Wine starts processes slowly.
pub(crate) fn slowness() -> u32 {
    4
}

/// Opens the library with this path.
///
/// # Safety
/// The process meets the library's requirements for opening it.
pub(crate) unsafe fn open_library(path: &Path) -> Library {
    let flags = LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR;
    let name = path.to_str().expect("a path of UTF-8").replace('/', "\\");
    // SAFETY: the caller guarantees that the process meets the library's requirements.
    let library = unsafe { Library::load_with_flags(name.as_str(), flags) };
    library.unwrap_or_else(|error| {
        panic!(
            "cannot load {}: {error}: {}",
            path.display(),
            io::Error::last_os_error()
        )
    })
}

/// Returns the address of an exported symbol, or 0 if the symbol is missing.
pub(crate) fn address(library: &Library, symbol: &CStr) -> usize {
    // SAFETY: the code uses only the address of the symbol, and reads nothing there.
    let found = unsafe { library.get::<*const c_void>(symbol.to_bytes_with_nul()) };
    found.map_or(0, |symbol| symbol.as_raw_ptr() as usize)
}

/// Functions that allocate and protect pages of memory.
pub(crate) mod memory {
    use std::ptr::null;
    use windows_sys::Win32::System::Memory::{
        MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_NOACCESS, PAGE_PROTECTION_FLAGS, PAGE_READONLY, PAGE_READWRITE,
        VirtualAlloc, VirtualFree, VirtualProtect,
    };

    /// Returns new memory of this size.
    pub(crate) fn map(size: usize) -> *mut u8 {
        // SAFETY: without an address, the system chooses an unused place for the new memory.
        let map = unsafe { VirtualAlloc(null(), size, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE) };
        assert!(!map.is_null());
        map.cast()
    }

    /// Makes memory of [`map`] read-only.
    pub(crate) fn close_for_writing(map: *mut u8, size: usize) {
        protect(map, size, PAGE_READONLY);
    }

    /// Makes memory of [`map`] inaccessible.
    pub(crate) fn close(map: *mut u8, size: usize) {
        protect(map, size, PAGE_NOACCESS);
    }

    fn protect(map: *mut u8, size: usize, access: PAGE_PROTECTION_FLAGS) {
        // SAFETY: the memory belongs to the caller, and the place for the previous access is writable.
        assert_ne!(unsafe { VirtualProtect(map.cast(), size, access, &mut 0) }, 0);
    }

    /// Frees memory of [`map`].
    pub(crate) fn unmap(map: *mut u8, _: usize) {
        // SAFETY: the memory came from `map`, and no pointer into it is used any more.
        unsafe { VirtualFree(map.cast(), 0, MEM_RELEASE) };
    }
}
