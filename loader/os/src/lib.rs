//! All requests of the loader to the operating system: files and folders, libraries, the environment and privileges, locks and waiting,
//! memory, time, and standard error.
//!
//! There is one folder per operating system. `unix` uses functions of the C library that every Unix has, and has separate code for
//! systems with other functions; `windows` is for Windows. No other part of the loader mentions the C library or a system. All files,
//! folders and libraries are accessed through `unix` or `windows`, so a program that redirects the C library's functions sees each access
//! (APP-217).
//!
//! The standard library is used on Windows only. Elsewhere, a program that loads this library does not need the standard library's panics,
//! threads or buffers.
//!
//! Every library that links this crate gets the global allocator [`memory::ProcessHeap`]. Arrays that grow through [`memory::Grow`] take
//! their blocks from that allocator.

#![cfg_attr(not(test), no_std)]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_macros,
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "a test may end for want of memory"
    )
)]

extern crate alloc;
// The standard library is used on Windows only. Its size matters less there, because every program already has the C runtime.
#[cfg(windows)]
extern crate std;

mod address;
mod devices;
pub mod folders;
#[cfg(any(all(test, unix), all(target_os = "fuchsia", feature = "fuchsia-service")))]
#[cfg_attr(
    not(target_os = "fuchsia"),
    allow(dead_code, reason = "the system that needs it is another one")
)]
mod fuchsia;
pub mod kinds;
pub mod memory;
#[cfg(not(target_os = "linux"))]
mod no_stamp;
mod open_error;
mod path;
mod path_state;
mod raw;
pub mod registry;
#[cfg_attr(not(all(target_os = "linux", feature = "service")), path = "no_service.rs")]
pub mod service;
mod sort;
mod sync;
#[cfg(test)]
mod testing;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use address::Address;
pub use devices::{AdapterId, SORTED_BY_ADAPTERS, SORTED_BY_PROPERTIES, adapters, has_adapter_order};
pub use open_error::OpenError;
pub use path::{LIST_SEPARATOR, SEPARATOR, is_absolute, is_separator};
pub use path_state::PathState;
pub use raw::{Raw, Show, decode, render};
pub use sort::{rotate_left, sort, sort_by};
pub use sync::{Condvar, Guard, Mutex, Passage, ReentrantGate, SetOnce, UseCount};
#[cfg(windows)]
#[doc(hidden)]
pub use system::FirstCall;
pub use system::environment;
#[cfg(target_vendor = "apple")]
#[doc(hidden)]
pub use system::register_for_unload;
#[cfg(unix)]
#[doc(hidden)]
pub use system::report_panic;
pub use system::{
    Appended, CancellationOff, Errno, File, Folder, Library, Stamp, Status, abort, canonical, current_process,
    current_thread, file_of, find_byte, now, running_executable, since_start, with_terminated, write_to_standard_error,
};
#[cfg(target_os = "linux")]
pub use system::{
    Mounted, Object, c_library, each_object, each_variable, exists, first_argument, first_variables, is_accessible,
    is_exported, is_started_by_linker, link_target, loads_and_unloads, may_execute,
};
