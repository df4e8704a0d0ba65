//! What the loader needs of the operating system, through the C library.
//!
//! The standard library is not part of this crate: a program that opens a loader has no use for its panics, its threads or
//! its buffers. What is left is here, each piece a thin form of functions that every Unix has. Files, folders and libraries
//! are reached through them only, so whatever redirects those sees each access (APP-217).

mod bytes;
mod cancel;
mod errno;
pub mod file;
mod heap;
mod lock;
mod once;
mod output;
#[cfg(any(vkl_shipped, test))]
mod panic;
mod path;
mod thread;
mod time;

pub use bytes::find_byte;
pub use cancel::CancellationOff;
pub use errno::Errno;
pub use heap::{CHeap, move_block};
pub use lock::{Condvar, Guard, Mutex, Waiting};
pub use once::SetOnce;
pub use output::write_to_standard_error;
#[cfg(target_vendor = "apple")]
pub use path::running_executable;
pub use path::{canonical, link_target, with_terminated};
pub use thread::current_thread;
pub use time::now;

/// Ends the process, with `SIGABRT`.
pub fn abort() -> ! {
    // SAFETY: takes nothing and never returns.
    unsafe { libc::abort() }
}
