//! IDs of the current thread and of the process.

use core::marker::PhantomData;
use windows_sys::Win32::System::Threading::GetCurrentThreadId;

/// Returns an ID that no other running thread has; never zero.
pub fn current_thread() -> usize {
    // SAFETY: `GetCurrentThreadId` takes nothing and never fails.
    unsafe { GetCurrentThreadId() as usize }
}

/// Returns the ID of this process.
pub fn current_process() -> u32 {
    std::process::id()
}

/// Does nothing: threads are not cancelled on this system.
pub struct CancellationOff(PhantomData<*const ()>);

impl CancellationOff {
    /// Does nothing.
    pub fn begin() -> Self {
        Self(PhantomData)
    }
}
