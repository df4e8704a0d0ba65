//! The functions of Unix, through the C library.

mod bytes;
mod cancel;
mod entry;
pub mod environment;
mod errno;
mod file;
mod folder;
mod heap;
mod library;
mod output;
mod panic;
mod path;
#[cfg(target_os = "linux")]
mod stamp;
#[cfg(not(target_os = "linux"))]
#[path = "no_stamp.rs"]
mod stamp;
mod thread;
mod time;
mod waiting;

pub use bytes::find_byte;
pub use cancel::CancellationOff;
pub use errno::Errno;
pub use file::{File, Status};
pub use folder::Folder;
pub use heap::CHeap;
pub use library::{Library, OpenError, file_of};
pub use output::write_to_standard_error;
pub use panic::report_panic;
pub use path::{canonical, running_executable, with_terminated};
pub use stamp::{PathState, Stamp};
pub use thread::current_thread;
pub use time::now;
pub(crate) use waiting::Waiting;

/// Ends the process, with `SIGABRT`.
pub fn abort() -> ! {
    // SAFETY: takes nothing and never returns.
    unsafe { libc::abort() }
}
