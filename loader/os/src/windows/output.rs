//! Writing to standard error and to attached debuggers.

use super::path::wide;
use std::io::Write;
use windows_sys::Win32::System::Diagnostics::Debug::OutputDebugStringW;

/// Writes all of `text` to standard error, and passes it to an attached debugger (APP-235).
pub fn write_to_standard_error(text: &[u8]) {
    // If standard error is closed, the failure cannot be reported anywhere.
    let _ = std::io::stderr().write_all(text);
    if let Ok(text) = wide(&alloc::string::String::from_utf8_lossy(text)) {
        // SAFETY: the text is a terminated string.
        unsafe { OutputDebugStringW(text.as_ptr()) };
    }
}
