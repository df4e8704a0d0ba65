//! Searches in memory with the C library, which uses all features of a processor.

use core::ffi::c_int;

/// Returns the index of the first byte with the value `wanted`.
#[inline]
pub fn find_byte(bytes: &[u8], wanted: u8) -> Option<usize> {
    let start = bytes.as_ptr();
    // SAFETY: the slice is readable memory of this length.
    let found = unsafe { libc::memchr(start.cast(), c_int::from(wanted), bytes.len()) };
    // A result that is not null is inside the slice, so the difference is not negative.
    (!found.is_null()).then(|| found.addr() - start.addr())
}

#[cfg(test)]
mod tests {
    use super::find_byte;

    #[test]
    fn the_first_of_a_kind_is_found() {
        for (text, wanted, expected) in [
            (&b""[..], 0, None),
            (b"abc", b'c', Some(2)),
            (b"a\0b\0", 0, Some(1)),
            (b"abc", 0, None),
            (b"a\xFFb", 0xFF, Some(1)),
        ] {
            assert_eq!(find_byte(text, wanted), expected, "{text:?}");
        }
    }
}
