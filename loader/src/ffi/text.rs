//! C strings of callers, and the fixed arrays in which Vulkan stores names.

use core::ffi::{CStr, c_char};
use core::marker::PhantomData;
use core::ptr::NonNull;
use promises::limits::LONGEST_NAME;

/// A C string of unknown length: one word instead of two, for names that the loader mostly passes on.
#[derive(Clone, Copy)]
pub(crate) struct Uncounted<'a>(NonNull<c_char>, PhantomData<&'a CStr>);

impl<'a> Uncounted<'a> {
    /// Returns the address, which is never null.
    pub(crate) fn as_ptr(self) -> *const c_char {
        self.0.as_ptr()
    }

    /// Returns `true` if the string begins with `vk`, like the name of every command.
    pub(crate) fn is_vulkan(self) -> bool {
        let first = self.as_ptr().cast::<u8>();
        // SAFETY: the string is terminated, so another byte follows a byte that is not zero.
        unsafe { *first == b'v' && *first.add(1) == b'k' }
    }

    /// Returns the string with its length.
    pub(crate) fn count(self) -> &'a CStr {
        // SAFETY: the value was created from a terminated string that lives for `'a`.
        unsafe { CStr::from_ptr(self.as_ptr()) }
    }
}

impl<'a> From<&'a CStr> for Uncounted<'a> {
    fn from(text: &'a CStr) -> Self {
        // SAFETY: the address of a reference is not null.
        Self(unsafe { NonNull::new_unchecked(text.as_ptr().cast_mut()) }, PhantomData)
    }
}

/// Returns the bytes of a C string; an empty slice for NULL.
///
/// # Safety
/// `text` is null or NUL-terminated, and stays valid for `'a`.
pub(crate) unsafe fn c_text<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: the pointer is not null, so the caller promises a terminated string.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// Returns a layer or extension name of a caller, without checking the name; an empty slice for NULL. Reads only the beginning of a name
/// that is too long (APP-70).
///
/// # Safety
/// `name` is null, or readable up to its terminator or to 256 bytes, whichever comes first; valid for `'a`.
pub(crate) unsafe fn c_name<'a>(name: *const c_char) -> &'a [u8] {
    if name.is_null() {
        return &[];
    }
    // SAFETY: no byte before `index` is a terminator, and `index` is below the limit, so the caller promises that this byte is readable.
    let ends = |index: &usize| unsafe { *name.add(*index) } == 0;
    let len = (0..LONGEST_NAME).find(ends).unwrap_or(LONGEST_NAME);
    // SAFETY: `ends` has just read this many bytes.
    unsafe { core::slice::from_raw_parts(name.cast::<u8>(), len) }
}

/// Returns an array of a caller; an empty slice for NULL or a zero count.
///
/// # Safety
/// `array` is null or holds `count` readable elements, valid for `'a`.
pub(crate) unsafe fn c_array<'a, T>(array: *const T, count: u32) -> &'a [T] {
    if array.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the array is not null, so the caller promises `count` readable elements.
    unsafe { core::slice::from_raw_parts(array, count as usize) }
}

/// Returns the text in a fixed array, which a faulty driver may have left without a terminator.
pub(crate) fn fixed_text(array: &[c_char]) -> &[u8] {
    // SAFETY: `c_char` and `u8` have the same size, alignment and valid values.
    let bytes = unsafe { core::slice::from_raw_parts(array.as_ptr().cast::<u8>(), array.len()) };
    &bytes[..os::find_byte(bytes, 0).unwrap_or(bytes.len())]
}

/// Returns `true` if the text in a fixed array equals `text`, which must not contain a NUL. Most names in a list differ in length, so the
/// length is compared first.
pub(crate) fn is_fixed_text(array: &[c_char], text: &[u8]) -> bool {
    if array.get(text.len()).is_some_and(|&end| end != 0) || text.len() > array.len() {
        return false;
    }
    // SAFETY: `c_char` and `u8` have the same size, alignment and valid values; the text is no longer than the array.
    unsafe { core::slice::from_raw_parts(array.as_ptr().cast::<u8>(), text.len()) == text }
}

/// Copies `text` into a fixed array, cut so that a terminator fits, and zeroes the rest.
pub(crate) fn set_fixed_text(array: &mut [c_char], text: &[u8]) {
    // SAFETY: `c_char` and `u8` have the same size, alignment and valid values, and the array is borrowed for writing.
    let bytes = unsafe { core::slice::from_raw_parts_mut(array.as_mut_ptr().cast::<u8>(), array.len()) };
    let text = &text[..text.len().min(bytes.len().saturating_sub(1))];
    let (start, end) = bytes.split_at_mut(text.len());
    start.copy_from_slice(text);
    end.fill(0);
}

/// Returns a layer or extension name of a caller if it is valid: not NULL, and at most 256 bytes of printable ASCII and well-formed
/// multi-byte sequences (APP-70). Never reads past the terminator or the limit.
///
/// # Safety
/// `name` is null, or readable up to its terminator or to 257 bytes, whichever comes first; valid for `'a`.
pub(crate) unsafe fn is_valid_name<'a>(name: *const c_char) -> Option<&'a CStr> {
    // SAFETY: the caller promises a name that is readable up to its terminator or 257 bytes.
    unsafe { valid_name(name, LONGEST_NAME) }
}

/// Returns a name in a create info if the name is valid, like [`is_valid_name`]. A valid name has at most 255 bytes, because the arrays in
/// which Vulkan lists names have 256 bytes. Bytes after the 256th are therefore not read (BI-44).
///
/// # Safety
/// `name` is null, or readable up to its terminator or to 256 bytes, whichever comes first; valid for `'a`.
pub(crate) unsafe fn requested_name<'a>(name: *const c_char) -> Option<&'a CStr> {
    // SAFETY: the caller promises a name that is readable up to its terminator or 256 bytes.
    unsafe { valid_name(name, LONGEST_NAME - 1) }
}

/// Returns a valid name of at most `longest` bytes.
///
/// # Safety
/// `name` is null, or readable up to its terminator or to one byte more than `longest`, whichever comes first; valid for `'a`.
unsafe fn valid_name<'a>(name: *const c_char, longest: usize) -> Option<&'a CStr> {
    if name.is_null() {
        return None;
    }
    let at = |index: usize| {
        // SAFETY: no byte before `index` is a terminator, and `index` is at most `longest`, so the caller promises that this byte is
        // readable.
        unsafe { *name.add(index).cast::<u8>() }
    };
    let mut index = 0;
    while index <= longest {
        let lead = at(index);
        let following = match lead {
            // SAFETY: the loop found a terminator within the limit.
            0 => return Some(unsafe { CStr::from_ptr(name) }),
            0x20..=0x7E => 0,
            0xC0..=0xDF => 1,
            0xE0..=0xEF => 2,
            0xF0..=0xF7 => 3,
            _ => return None,
        };
        for step in 1..=following {
            if index + step > longest || at(index + step) & 0xC0 != 0x80 {
                return None;
            }
        }
        index += 1 + following;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn valid(bytes: &[u8]) -> bool {
        let mut terminated = bytes.to_vec();
        terminated.push(0);
        // SAFETY: the last byte of the buffer is zero.
        unsafe { is_valid_name(terminated.as_ptr().cast()) }.is_some()
    }

    #[test]
    fn drv_192_a_fixed_name_is_compared_whole() {
        let array = |text: &[u8]| {
            let mut array = [0; 4];
            for (to, &from) in array.iter_mut().zip(text) {
                *to = from as c_char;
            }
            array
        };
        for (held, name, expected) in [
            (b"abc".as_slice(), b"abc".as_slice(), true),
            (b"abc", b"ab", false),
            (b"ab", b"abc", false),
            (b"abd", b"abc", false),
            (b"", b"", true),
            (b"abcd", b"abcd", true),
            (b"abcd", b"abcde", false),
            (b"abcd", b"abc", false),
        ] {
            assert_eq!(is_fixed_text(&array(held), name), expected, "{held:?} {name:?}");
            assert_eq!(fixed_text(&array(held)) == name, expected);
        }
    }

    #[test]
    fn app_70_names_are_printable_and_well_formed() {
        let long = [b'a'; 257];
        let cases: &[(&[u8], bool)] = &[
            (b"", true),
            (b"VK_KHR_surface", true),
            ("VK_\u{e4}\u{20ac}\u{1f600}".as_bytes(), true),
            (b"tab\t", false),
            (b"\x7f", false),
            (b"\x80", false),
            (b"\xc3", false),
            (b"\xe2\x82", false),
            (&long[..256], true),
            (&long, false),
        ];
        for (text, expected) in cases {
            assert_eq!(valid(text), *expected, "{text:?}");
        }
        // SAFETY: the function allows a null name.
        assert!(unsafe { is_valid_name(core::ptr::null()) }.is_none());
    }

    #[test]
    fn bi_44_of_a_requested_name_256_bytes_are_read() {
        let requested = |text: &[u8]| {
            // SAFETY: the arrays are terminated or 256 bytes long.
            unsafe { requested_name(text.as_ptr().cast()) }.map(CStr::count_bytes)
        };
        let (mut longest, endless) = ([b'a'; 256], [b'a'; 256]);
        longest[255] = 0;
        assert_eq!(requested(&longest), Some(255));
        assert_eq!(requested(&endless), None);
        let mut cut_short = endless;
        cut_short[255] = 0xC3;
        assert_eq!(requested(&cut_short), None);
    }
}
