//! Threads and the process.

use core::marker::PhantomData;
use windows_sys::Win32::System::Threading::GetCurrentThreadId;

/// A number that no other running thread has, never zero.
pub fn current_thread() -> usize {
    // SAFETY: takes nothing, and never fails.
    unsafe { GetCurrentThreadId() as usize }
}

/// The number of this process.
pub fn current_process() -> u32 {
    std::process::id()
}

/// Nothing: threads are not cancelled on this system.
pub struct CancellationOff(PhantomData<*const ()>);

impl CancellationOff {
    /// From here on the thread is not cancelled, as before.
    pub fn begin() -> Self {
        Self(PhantomData)
    }
}
