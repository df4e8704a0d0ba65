//! Error numbers of the C library.

use crate::raw::Raw;
use core::ffi::{CStr, c_int};
use core::fmt;

#[cfg(any(target_os = "illumos", target_os = "solaris"))]
use libc::___errno as location;
#[cfg(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"))]
use libc::__errno as location;
#[cfg(any(
    target_os = "linux",
    target_os = "dragonfly",
    target_os = "fuchsia",
    target_os = "hurd"
))]
use libc::__errno_location as location;
#[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
use libc::__error as location;
#[cfg(target_os = "nto")]
use libc::__get_errno_ptr as location;
#[cfg(target_os = "haiku")]
use libc::_errnop as location;

/// Error number of a failed function of the C library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub c_int);

impl Errno {
    /// Returns the error number of the function that just failed on this thread.
    #[inline]
    pub fn last() -> Self {
        // SAFETY: `location` returns the address of this thread's own number, which is valid while the thread runs.
        Self(unsafe { *location() })
    }

    /// Sets the number of [`Errno::last`] to zero, for functions that return the same value at the end and after a failure.
    pub fn clear() {
        // SAFETY: `location` returns the address of this thread's own number, which is valid while the thread runs.
        unsafe { *location() = 0 };
    }

    /// Returns `true` if a signal interrupted the call before it did anything, so that it must be repeated.
    #[inline]
    pub fn is_interruption(self) -> bool {
        self.0 == libc::EINTR
    }

    /// Returns `true` if nothing exists at the path.
    #[inline]
    pub fn is_absence(self) -> bool {
        matches!(self.0, libc::ENOENT | libc::ENOTDIR)
    }

    /// Returns `true` if memory ran out.
    pub fn is_shortage(self) -> bool {
        self.0 == libc::ENOMEM
    }
}

/// Repeats a call as long as signals interrupt it. Negative results are failures.
#[inline]
pub(crate) fn retried(mut call: impl FnMut() -> c_int) -> Result<c_int, Errno> {
    loop {
        let answer = call();
        if answer >= 0 {
            return Ok(answer);
        }
        let error = Errno::last();
        if !error.is_interruption() {
            return Err(error);
        }
    }
}

/// Prints the system's error text and the number.
impl fmt::Display for Errno {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = [0_u8; 128];
        // SAFETY: the memory is writable and has this length; an unknown number is an error, but still leaves a text.
        unsafe { libc::strerror_r(self.0, words.as_mut_ptr().cast(), words.len()) };
        let words = CStr::from_bytes_until_nul(&words).unwrap_or_default();
        write!(formatter, "{} (os error {})", Raw(words.to_bytes()), self.0)
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::time_limit::ends_in_time;

    #[test]
    fn errors_read_as_those_of_the_standard_library() {
        for number in [libc::ENOENT, libc::EACCES, libc::EIO, 12345] {
            let expected = std::io::Error::from_raw_os_error(number).to_string();
            assert_eq!(Errno(number).to_string(), expected);
        }
    }

    #[test]
    fn only_interrupted_calls_are_made_again() {
        ends_in_time(|| {
            let mut calls = 0;
            let mut answer = |numbers: &[c_int]| {
                calls = 0;
                retried(|| {
                    calls += 1;
                    let Some(&number) = numbers.get(calls - 1) else {
                        return 7;
                    };
                    // SAFETY: `location` returns the address of this thread's own number.
                    unsafe { *location() = number };
                    -1
                })
            };
            assert_eq!(answer(&[libc::EINTR, libc::EINTR]), Ok(7));
            assert_eq!(answer(&[libc::EINTR, libc::ENOENT]), Err(Errno(libc::ENOENT)));
        });
    }
}
