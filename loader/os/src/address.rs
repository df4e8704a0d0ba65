//! Addresses in messages.

use core::fmt;

/// A non-null address, printed like `%p` of the system's C library, because tools compare whole messages (APP-232a).
pub struct Address<T>(pub *const T);

/// `true` if the C library prints all digits, in upper case and without a prefix.
const ALL_DIGITS: bool = cfg!(windows);

impl<T> fmt::Display for Address<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if ALL_DIGITS {
            write!(
                formatter,
                "{:0digits$X}",
                self.0.addr(),
                digits = 2 * size_of::<usize>()
            )
        } else {
            write!(formatter, "{:p}", self.0)
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn app_232a_addresses_are_those_of_the_c_library() {
        for word in [0x1_usize, 0xABCD, 0x7FFF_0123_4567, usize::MAX] {
            let address = core::ptr::without_provenance::<u8>(word);
            let mut room = [0_u8; 64];
            // SAFETY: `room` has the given size, and the format takes one pointer, which is not dereferenced.
            let length = unsafe { libc::snprintf(room.as_mut_ptr().cast(), room.len(), c"%p".as_ptr(), address) };
            let expected = String::from_utf8_lossy(&room[..length as usize]);
            assert_eq!(Address(address).to_string(), expected);
        }
    }
}
