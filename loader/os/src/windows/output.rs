//! Standard error, and what debuggers show.

use alloc::ffi::CString;
use std::io::Write;
use windows_sys::Win32::System::Diagnostics::Debug::OutputDebugStringA;

/// Writes all of `text` to standard error, and gives it to a debugger that listens.
pub fn write_to_standard_error(text: &[u8]) {
    // No place is left to say that standard error is closed.
    let _ = std::io::stderr().write_all(text);
    if let Ok(text) = CString::new(text) {
        // SAFETY: a terminated text.
        unsafe { OutputDebugStringA(text.as_ptr().cast()) };
    }
}
