//! Functions of Windows, through the standard library where possible.

mod appended;
mod devices;
mod dxgi;
mod entry;
pub mod environment;
mod error;
mod file;
mod folder;
mod heap;
mod kernel_adapters;
mod library;
mod output;
mod packages;
mod path;
mod registry;
mod run_time;
mod this_system;
mod thread;
mod waiting;

pub use crate::no_stamp::Stamp;
pub use appended::Appended;
pub use dxgi::{adapters, has_adapter_order};
#[doc(hidden)]
pub use entry::FirstCall;
pub use error::Errno;
pub use file::{File, Status};
pub use folder::Folder;
pub use heap::CHeap;
pub use library::{Library, file_of};
pub use output::write_to_standard_error;
pub use path::{canonical, running_executable, with_terminated};
pub(crate) use this_system::ThisSystem;
pub use thread::{CancellationOff, current_process, current_thread};
pub(crate) use waiting::Waiting;

use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

/// Ends the process.
pub fn abort() -> ! {
    std::process::abort()
}

/// Returns the index of the first byte with the value `wanted`.
#[inline]
pub fn find_byte(bytes: &[u8], wanted: u8) -> Option<usize> {
    bytes.iter().position(|&byte| byte == wanted)
}

/// Returns the time since 1970 in seconds and nanoseconds; zero if the clock is set to an earlier time.
pub fn now() -> (i64, i64) {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or((0, 0), |since| {
        (
            i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            since.subsec_nanos().into(),
        )
    })
}

/// Returns nanoseconds since the first call, from the monotonic clock.
pub fn since_start() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let passed = START.get_or_init(Instant::now).elapsed();
    u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX)
}
