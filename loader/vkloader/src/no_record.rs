//! Replacement for the module `record`, which records devices and only exists on 64-bit Linux.

use std::ffi::OsStr;
use std::io;
use std::process::ExitCode;

/// Exit status of a process that printed the reason why there is no record.
pub(crate) const NO_RECORD: u8 = 42;

/// Reports that devices cannot be recorded on this system.
///
/// # Errors
///
/// Always returns an error.
pub(crate) fn print(_: &OsStr) -> io::Result<ExitCode> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "devices are recorded by 64-bit programs on Linux only",
    ))
}
