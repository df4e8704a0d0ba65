//! Error numbers of the system.

use core::fmt;
use std::io;
use windows_sys::Win32::Foundation::{
    ERROR_BAD_NETPATH, ERROR_FILE_NOT_FOUND, ERROR_INVALID_PARAMETER, ERROR_NOT_ENOUGH_MEMORY, ERROR_OUTOFMEMORY,
    ERROR_PATH_NOT_FOUND,
};

/// Error number of a failed function of the system.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub i32);

/// Returns an error code as the number type of the standard library.
const fn number(code: u32) -> i32 {
    code.cast_signed()
}

impl Errno {
    /// Error of a system function that had not enough memory.
    pub(super) const SHORTAGE: Self = Self(number(ERROR_NOT_ENOUGH_MEMORY));
    /// Error of a system function that received an invalid argument.
    pub(super) const INVALID: Self = Self(number(ERROR_INVALID_PARAMETER));

    /// Returns `false`, because no signal interrupts a system function on Windows.
    #[inline]
    pub fn is_interruption(self) -> bool {
        false
    }

    /// Returns `true` if nothing exists at the path.
    #[inline]
    pub fn is_absence(self) -> bool {
        [ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND, ERROR_BAD_NETPATH]
            .map(number)
            .contains(&self.0)
    }

    /// Returns `true` if the system had no memory for the call.
    #[inline]
    pub fn is_shortage(self) -> bool {
        [ERROR_NOT_ENOUGH_MEMORY, ERROR_OUTOFMEMORY]
            .map(number)
            .contains(&self.0)
    }
}

impl From<io::Error> for Errno {
    fn from(error: io::Error) -> Self {
        error.raw_os_error().map_or(Self::INVALID, Self)
    }
}

/// Prints the system's error text and the number.
impl fmt::Display for Errno {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&io::Error::from_raw_os_error(self.0), formatter)
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
