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

/// Why a function of the C library failed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub c_int);

impl Errno {
    /// The reason of the function that just failed on this thread.
    #[inline]
    pub fn last() -> Self {
        // SAFETY: the address of this thread's own number, which is valid while the thread runs.
        Self(unsafe { *location() })
    }

    /// Makes [`Errno::last`] zero, for functions that only it tells apart a failure from an end.
    pub fn clear() {
        // SAFETY: as in `last`.
        unsafe { *location() = 0 };
    }

    /// Whether a signal came before anything was done, so that the call is to be made again.
    #[inline]
    pub fn is_interruption(self) -> bool {
        self.0 == libc::EINTR
    }

    /// Whether there is nothing at the path.
    #[inline]
    pub fn is_absence(self) -> bool {
        matches!(self.0, libc::ENOENT | libc::ENOTDIR)
    }

    /// Whether memory ran out.
    pub fn is_shortage(self) -> bool {
        self.0 == libc::ENOMEM
    }
}

/// Makes a call again for as long as signals interrupt it. Negative answers are failures.
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

/// The system's own words and the number.
impl fmt::Display for Errno {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = [0_u8; 128];
        // SAFETY: writable memory of this length; a number without a meaning is an error, and leaves a text as well.
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
                    // SAFETY: this thread's own number.
                    unsafe { *location() = number };
                    -1
                })
            };
            assert_eq!(answer(&[libc::EINTR, libc::EINTR]), Ok(7));
            assert_eq!(answer(&[libc::EINTR, libc::ENOENT]), Err(Errno(libc::ENOENT)));
        });
    }
}
