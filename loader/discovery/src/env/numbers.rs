//! Numbers inside variables, and the ranges of ID filters (DRV-132).

use super::environment::split;
use alloc::vec::Vec;
use os::memory::Grow;
pub use promises::limits::MAX_ID_ITEMS;
use promises::variable::Separator;

/// Returns the decimal number at the start of a text, after spaces and a sign; 0 if the text has no number. Large values saturate.
pub fn decimal(text: &[u8]) -> i64 {
    let (sign, digits) = sign_of(text);
    sign * digits_of(digits, 10).0
}

/// Returns the number at the start of a text, like C's `strtoul` with base 0: digits after `0x` are hexadecimal, digits after another
/// leading `0` are octal. Returns the low 32 bits and the text after the number.
fn c_number(text: &[u8]) -> (u32, &[u8]) {
    let (sign, digits) = sign_of(text);
    let (value, rest) = match digits {
        [b'0', b'x' | b'X', hex @ ..] if hex.first().is_some_and(u8::is_ascii_hexdigit) => digits_of(hex, 16),
        [b'0', ..] => digits_of(digits, 8),
        [b'1'..=b'9', ..] => digits_of(digits, 10),
        _ => (0, text),
    };
    // Device and vendor IDs have 32 bits. Wider and negative numbers wrap, as in C.
    ((sign * value) as u32, rest)
}

fn sign_of(text: &[u8]) -> (i64, &[u8]) {
    match text.trim_ascii_start() {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    }
}

fn digits_of(text: &[u8], base: u32) -> (i64, &[u8]) {
    let mut value = 0_i64;
    for (index, &byte) in text.iter().enumerate() {
        let Some(digit) = char::from(byte).to_digit(base) else {
            return (value, &text[index..]);
        };
        value = value.saturating_mul(i64::from(base)).saturating_add(i64::from(digit));
    }
    (value, &[])
}

/// The ranges in the value of an ID filter variable.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct IdRanges {
    ranges: Vec<(u32, u32)>,
    /// `true` if there were more than [`MAX_ID_ITEMS`] items. The loader dropped the surplus items, and must warn about them.
    pub truncated: bool,
}

impl IdRanges {
    /// Reads the ranges of a variable's value. Any single byte after the first number of an item separates the two ends of a range, which
    /// includes both ends.
    pub fn parse(value: &[u8]) -> Self {
        let mut items = split(value, Separator::Comma);
        let mut ranges = Vec::new();
        for item in items.by_ref().take(MAX_ID_ITEMS) {
            ranges.push_or_note(range_of(item));
        }
        Self {
            ranges,
            truncated: items.next().is_some(),
        }
    }

    /// Returns `true` if the variable filters nothing, because it is unset, empty, or contains only commas (DRV-133).
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns `true` if a range contains the ID, or if there are no ranges.
    pub fn accepts(&self, id: u32) -> bool {
        self.is_empty() || self.ranges.iter().any(|&(first, last)| (first..=last).contains(&id))
    }
}

fn range_of(item: &[u8]) -> (u32, u32) {
    let (first, rest) = c_number(item);
    match rest {
        [] => (first, first),
        [_, second @ ..] => (first, c_number(second).0),
    }
}

/// Returns the hexadecimal number at the start of a text, after spaces and `0x`, and the text after the number. Returns `None` if there is
/// no number, or if the number is wider than 32 bits.
pub(super) fn hexadecimal(text: &[u8]) -> Option<(u32, &[u8])> {
    let text = text.trim_ascii_start();
    let digits = match text {
        [b'0', b'x' | b'X', digits @ ..] => digits,
        digits => digits,
    };
    let (value, rest) = digits_of(digits, 16);
    if rest.len() == digits.len() {
        return None;
    }
    Some((u32::try_from(value).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drv_132_ranges() {
        let cases: &[(&str, &[(u32, u32)])] = &[
            ("16", &[(16, 16)]),
            ("0x10", &[(16, 16)]),
            ("020", &[(16, 16)]),
            ("1:5", &[(1, 5)]),
            ("1-5", &[(1, 5)]),
            ("0x1002:0x10de,7", &[(0x1002, 0x10de), (7, 7)]),
            (",,0,", &[(0, 0)]),
            ("0x", &[(0, 0)]),
            ("5:1", &[(5, 1)]),
            ("4294967295", &[(u32::MAX, u32::MAX)]),
            ("99999999999999999999999", &[(u32::MAX, u32::MAX)]),
            ("7:", &[(7, 0)]),
            ("-1", &[(u32::MAX, u32::MAX)]),
            ("+3: 4", &[(3, 4)]),
            ("", &[]),
        ];
        for (value, expected) in cases {
            let parsed = IdRanges::parse(value.as_bytes());
            assert_eq!(parsed.ranges, *expected, "{value}");
            assert!(!parsed.truncated);
        }
    }

    #[test]
    fn drv_132_more_than_sixteen_items_are_dropped() {
        let value: Vec<String> = (1..=17).map(|number: u32| number.to_string()).collect();
        let parsed = IdRanges::parse(value.join(",").as_bytes());
        assert!(parsed.truncated);
        assert!(parsed.accepts(16) && !parsed.accepts(17));
    }

    #[test]
    fn drv_133_nothing_given_accepts_everything() {
        for value in ["", ",", ",,,"] {
            assert!(IdRanges::parse(value.as_bytes()).accepts(3), "{value}");
        }
        assert!(!IdRanges::parse(b"5:1").accepts(3));
    }

    #[test]
    fn drv_137_leading_number() {
        for (text, expected) in [("1", 1), ("0", 0), (" 12x", 12), ("-3", -3), ("x", 0), ("", 0)] {
            assert_eq!(decimal(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(decimal(b"99999999999999999999"), i64::MAX);
    }
}
