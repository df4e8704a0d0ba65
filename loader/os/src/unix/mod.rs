//! The functions of Unix, through the C library.

mod appended;
#[cfg(target_vendor = "apple")]
mod bundle;
mod bytes;
mod cancel;
mod entry;
pub mod environment;
pub(crate) mod errno;
mod executable;
mod file;
mod folder;
mod heap;
mod library;
#[cfg(target_os = "linux")]
mod mounted;
#[cfg(not(target_os = "linux"))]
mod no_local;
#[cfg(any(test, not(target_env = "gnu")))]
mod object_file;
#[cfg(target_os = "linux")]
mod objects;
mod output;
mod panic;
mod path;
#[cfg(target_os = "linux")]
mod sights;
#[cfg(target_os = "linux")]
mod stamp;
#[cfg(target_os = "linux")]
mod start;
mod status;
mod thread;
mod time;
mod waiting;

#[cfg(not(target_os = "linux"))]
pub use crate::no_stamp::Stamp;
pub use appended::Appended;
#[cfg(target_vendor = "apple")]
pub use bundle::bundle_resources;
pub use bytes::find_byte;
pub use cancel::CancellationOff;
#[cfg(target_vendor = "apple")]
#[doc(hidden)]
pub use entry::register_for_unload;
pub use errno::Errno;
pub use executable::running_executable;
pub use file::File;
pub use folder::Folder;
pub use heap::CHeap;
pub use library::{Library, file_of};
#[cfg(target_os = "linux")]
pub use mounted::Mounted;
#[cfg(not(target_os = "linux"))]
use no_local::is_local;
#[cfg(target_os = "linux")]
pub use objects::{Object, c_library, each_object, is_exported, loads_and_unloads};
pub use output::write_to_standard_error;
pub use panic::report_panic;
pub use path::{canonical, with_terminated};
#[cfg(target_os = "linux")]
pub use sights::{each_variable, exists, is_accessible, link_target};
#[cfg(target_os = "linux")]
use stamp::is_local;
#[cfg(target_os = "linux")]
pub use stamp::{Stamp, may_execute};
#[cfg(target_os = "linux")]
pub use start::{first_argument, first_variables, is_started_by_linker};
pub use status::Status;
pub use thread::{current_process, current_thread};
pub use time::{now, since_start};
pub(crate) use waiting::Waiting;

/// Ends the process, with `SIGABRT`.
pub fn abort() -> ! {
    // SAFETY: the call takes nothing and never returns.
    unsafe { libc::abort() }
}
