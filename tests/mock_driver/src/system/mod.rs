//! Calls of a mock to the operating system: the library's path, the current thread, functions that run at loading and unloading,
//! changes to a file, and the loader's exported functions.
//!
//! The mock layer uses this module too.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
#[allow(unused_imports, reason = "the layer reads its file once")]
pub(crate) use unix::state_of;
#[cfg(unix)]
pub(crate) use unix::{at_load_and_unload, current_thread, library_path, loader_symbol};
#[cfg(windows)]
#[allow(unused_imports, reason = "the layer reads its file once")]
pub(crate) use windows::state_of;
#[cfg(windows)]
pub(crate) use windows::{at_load_and_unload, current_thread, library_path, loader_symbol};
