//! What a mock asks of the operating system: where it lies, on which thread it runs, when it comes and goes.
//!
//! The mock layer has this module too.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{at_load_and_unload, current_thread, library_path};
#[cfg(windows)]
pub(crate) use windows::{at_load_and_unload, current_thread, library_path};
