//! Comparison of the libraries that a driver needs with those of the program's system (LSV-66).

use core::cmp::Ordering;

/// Compares the numbers in two texts, such as file names of a library: `libz.so.1.3.1` is newer than `libz.so.1.2.13`.
pub fn compare_versions(one: &[u8], other: &[u8]) -> Ordering {
    numbers(one).cmp(numbers(other))
}

fn numbers(text: &[u8]) -> impl Iterator<Item = u64> {
    let groups = text.split(|byte| !byte.is_ascii_digit());
    let groups = groups.filter(|group| !group.is_empty());
    groups.map(|digits| {
        let add = |number: u64, digit: &u8| number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        digits.iter().fold(0, add)
    })
}

/// Upper bound on the sections of a library that is examined, times the size of their largest header.
const SECTIONS: usize = 64 * 64;
/// Type of the section with the symbols for the linker.
const SYMBOLS: u64 = 11;
/// Type of the section with the hashes of exported symbols.
const HASHES: u64 = 0x6fff_fff6;

/// Returns the number of symbols that an ELF library exports, or `None` if this number is unknown. A newer library of the same name exports
/// at least the symbols of an older one. `read` fills a buffer from an offset in the file, and returns `false` if it cannot.
pub fn exported_symbols(mut read: impl FnMut(u64, &mut [u8]) -> bool) -> Option<u64> {
    let mut head = [0; 64];
    read(0, &mut head).then_some(())?;
    let (is_wide, is_little) = (head[4] == 2, head[5] == 1);
    let number = |bytes: &[u8], (wide, narrow): (usize, usize), size: usize| -> Option<u64> {
        let place = if is_wide { wide } else { narrow };
        let bytes = bytes.get(place..place.checked_add(size)?)?;
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if is_little {
            bytes.iter().rev().fold(0, add)
        } else {
            bytes.iter().fold(0, add)
        })
    };
    let word = if is_wide { 8 } else { 4 };
    let (table, each) = (number(&head, (40, 32), word)?, number(&head, (58, 46), 2)? as usize);
    let size = each * number(&head, (60, 48), 2)? as usize;
    let mut room = [0; SECTIONS];
    let sections = room.get_mut(..size)?;
    read(table, sections).then_some(())?;
    let (mut symbols, mut first) = (None, None);
    for section in sections.chunks_exact(each.max(1)) {
        match number(section, (4, 4), 4)? {
            SYMBOLS => symbols = number(section, (32, 20), word)?.checked_div(number(section, (56, 36), word)?),
            HASHES => {
                // The second number of the section is the index of the first exported symbol.
                read(number(section, (24, 16), word)?, &mut head).then_some(())?;
                first = number(&head, (4, 4), 4);
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
