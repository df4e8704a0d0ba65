//! Functions of the operating system that the tests need. Tests write paths and lists in the notation of Unix, and this module translates
//! them for the system.

#[cfg(windows)]
mod adapters;
#[cfg(unix)]
mod elevated;
#[cfg(windows)]
mod keys;
#[cfg(windows)]
mod token;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{ABORTED, is_loaded, json_path, shown_address, symlink};
#[cfg(unix)]
pub(crate) use unix::{
    LIBRARY_SUFFIXES, Library, OWN_LIBRARY, address, elevated, ending, is_crash, keep, list, memory, open_library,
    own_path, prepare_child, prepare_library, processor_seconds, register, settle, slowness, unregister, wait,
};
#[cfg(windows)]
pub(crate) use windows::write_key;
#[cfg(windows)]
pub use windows::{ABORTED, is_loaded, json_path, shown_address, symlink};
#[cfg(windows)]
pub(crate) use windows::{
    LIBRARY_SUFFIXES, Library, OWN_LIBRARY, address, elevated, ending, is_crash, keep, list, memory, open_library,
    own_path, prepare_child, prepare_library, processor_seconds, register, settle, slowness, unregister, wait,
};
