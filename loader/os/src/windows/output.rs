//! Standard error, and what debuggers show.

use super::path::wide;
use std::io::Write;
use windows_sys::Win32::System::Diagnostics::Debug::OutputDebugStringW;

/// Writes all of `text` to standard error, and gives it to a debugger that listens (APP-235).
pub fn write_to_standard_error(text: &[u8]) {
    // No place is left to say that standard error is closed.
    let _ = std::io::stderr().write_all(text);
    if let Ok(text) = wide(&alloc::string::String::from_utf8_lossy(text)) {
        // SAFETY: a terminated text.
        unsafe { OutputDebugStringW(text.as_ptr()) };
    }
}
