//! Comparison of the libraries that a driver needs with those of the program's system (LSV-66).

use core::cmp::Ordering;
use elf::{Form, HEADER_BYTES, Header};

/// Compares the numbers in two texts, such as file names of a library: `libz.so.1.3.1` is newer than `libz.so.1.2.13`.
pub fn compare_versions(mut one: &[u8], mut other: &[u8]) -> Ordering {
    loop {
        // A text without a further number comes before a text with one.
        let (number, counterpart) = (take_number(&mut one), take_number(&mut other));
        if number != counterpart || number.is_none() {
            return number.cmp(&counterpart);
        }
    }
}

/// Removes the text up to the end of its first number, and returns the number.
pub(crate) fn take_number(text: &mut &[u8]) -> Option<u64> {
    let mut number = None;
    while let Some((byte, rest)) = text.split_first() {
        match byte.wrapping_sub(b'0') {
            digit @ 0..10 => number = Some(number.unwrap_or(0_u64).saturating_mul(10).saturating_add(digit.into())),
            _ if number.is_some() => break,
            _ => {}
        }
        *text = rest;
    }
    number
}

/// Upper bound on the sections of a library that is examined.
const MOST_SECTIONS: usize = 100;
/// Type of the section with the symbols for the linker.
const SYMBOLS: u32 = 11;
/// Type of the section with the hashes of exported symbols.
const HASHES: u32 = 0x6fff_fff6;

/// Returns the number of symbols that an ELF library exports, or `None` if this number is unknown. A newer library of the same name exports
/// at least the symbols of an older one. `read` fills a buffer from an offset in the file, and returns `false` if it cannot.
pub fn exported_symbols(mut read: impl FnMut(u64, &mut [u8]) -> bool) -> Option<u64> {
    let mut head = [0; HEADER_BYTES];
    read(0, &mut head).then_some(())?;
    symbols_of(Header::read(&head).ok()?.form, &head, &mut read)
}

/// Returns the number as [`exported_symbols`] does, but only for libraries that this program can load.
pub fn own_exported_symbols(mut read: impl FnMut(u64, &mut [u8]) -> bool) -> Option<u64> {
    let mut head = [0; HEADER_BYTES];
    read(0, &mut head).then_some(())?;
    Header::read(&head).ok().filter(|header| header.form == Form::OWN)?;
    // With the constant form, each number is one load.
    symbols_of(Form::OWN, &head, &mut read)
}

/// Returns the number of exported symbols for the form of a library, whose header is in `head`.
#[inline(always)]
fn symbols_of(form: Form, head: &[u8; HEADER_BYTES], read: &mut dyn FnMut(u64, &mut [u8]) -> bool) -> Option<u64> {
    let (table, each) = (form.sections(head)?, form.pick(64, 40));
    if table.each != each || table.count > MOST_SECTIONS {
        return None;
    }
    let (mut symbols, mut first) = (None, None);
    for index in 0..table.count {
        let mut section = [0; 64];
        let word = |section: &[u8], wide, narrow| form.word(section, form.pick(wide, narrow));
        read(table.at.checked_add((index * each) as u64)?, &mut section[..each]).then_some(())?;
        match form.full(&section, 4)? {
            SYMBOLS => symbols = word(&section, 32, 20)?.checked_div(word(&section, 56, 36)?),
            HASHES => {
                // The second number of the section is the index of the first exported symbol.
                read(word(&section, 24, 16)?, &mut section[..8]).then_some(())?;
                first = Some(u64::from(form.full(&section, 4)?));
            }
            _ => {}
        }
    }
    symbols?.checked_sub(first?)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn lsv_66_versions_are_compared_by_their_numbers() {
        for (older, newer) in [
            ("libz.so.1.2.13", "libz.so.1.3"),
            ("libstdc++.so.6.0.9", "libstdc++.so.6.0.30"),
            ("libelf-0.188.so", "libelf-0.192.so"),
            ("2.36", "2.38"),
            ("2.36", "2.36.1"),
            ("", "2.2"),
            ("a1", "a99999999999999999999999"),
        ] {
            assert_eq!(
                compare_versions(older.as_bytes(), newer.as_bytes()),
                Ordering::Less,
                "{older}"
            );
            assert_eq!(compare_versions(newer.as_bytes(), older.as_bytes()), Ordering::Greater);
        }
        for text in ["libdrm.so.2.4.0", "", "x"] {
            assert_eq!(compare_versions(text.as_bytes(), text.as_bytes()), Ordering::Equal);
        }
        assert_eq!(compare_versions(b"libgcc_s.so.1", b"libgcc_s.so.01"), Ordering::Equal);
    }

    /// Returns a library of a word size with two sections: five symbols, of which three are exported.
    fn library(is_wide: bool) -> [u8; 512] {
        let (word, each) = if is_wide { (8, 64) } else { (4, 40) };
        let mut bytes = [0; 512];
        bytes[..4].copy_from_slice(b"\x7fELF");
        bytes[4] = if is_wide { 2 } else { 1 };
        bytes[5] = 1;
        let places = |wide, narrow| if is_wide { wide } else { narrow };
        bytes[places(40, 32)] = 128;
        bytes[places(58, 46)] = each;
        bytes[places(60, 48)] = 2;
        let (one, two) = (128, 128 + usize::from(each));
        bytes[one + 4] = 11;
        bytes[one + places(32, 20)] = 5 * 24;
        bytes[one + places(56, 36)] = 24;
        bytes[two + 4..two + 8].copy_from_slice(&0x6fff_fff6_u32.to_le_bytes());
        bytes[two + places(24, 16)..][..word][..2].copy_from_slice(&400_u16.to_le_bytes());
        bytes[404] = 2;
        bytes
    }

    #[test]
    fn lsv_66_exported_symbols_are_counted() {
        let count = |bytes: &[u8]| {
            exported_symbols(|place, room| {
                let place = usize::try_from(place).unwrap();
                let Some(part) = bytes.get(place..place.saturating_add(room.len())) else {
                    return false;
                };
                room.copy_from_slice(part);
                true
            })
        };
        for is_wide in [true, false] {
            let bytes = library(is_wide);
            assert_eq!(count(&bytes), Some(3));
            for place in 0..64 {
                let mut odd = bytes;
                odd[place] ^= 0xff;
                let _ = count(&odd);
            }
            for length in 0..bytes.len() {
                let _ = count(&bytes[..length]);
            }
            let mut odd = bytes;
            odd[404] = 6;
            assert_eq!(count(&odd), None);
        }
    }
}
