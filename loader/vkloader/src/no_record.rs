//! Stands in for the record of devices, which only 64-bit Linux has.

use std::ffi::OsStr;
use std::io;
use std::process::ExitCode;

/// Status of a process that prints the reason why there is no record.
pub(crate) const NO_RECORD: u8 = 42;

/// Reports that there is no record.
///
/// # Errors
/// Always.
pub(crate) fn print(_: &OsStr) -> io::Result<ExitCode> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "devices are recorded by 64-bit programs on Linux only",
    ))
}
