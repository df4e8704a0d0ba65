//! Numbers in the form that a catalogue uses.

/// Returns the number that a text of decimal digits represents.
pub(crate) fn number(text: &[u8]) -> Option<u32> {
    let digit = |byte: &u8| char::from(*byte).to_digit(10);
    let add = |sum: u32, byte: &u8| sum.checked_mul(10)?.checked_add(digit(byte)?);
    if text.is_empty() {
        None
    } else {
        text.iter().try_fold(0, add)
    }
}

/// Returns `true` if `text` is the hexadecimal form of `bytes`, with two digits for each byte.
pub(crate) fn is_hexadecimal(text: &[u8], bytes: &[u8]) -> bool {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |number: u8| DIGITS[usize::from(number & 15)];
    let is_same = |(pair, &byte): (&[u8], &u8)| *pair == [digit(byte >> 4), digit(byte)];
    text.len() == 2 * bytes.len() && text.chunks_exact(2).zip(bytes).all(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for value in [0, 7, 10, 1_700_000_000, u32::MAX] {
            assert_eq!(number(format!("{value}").as_bytes()), Some(value));
        }
        for text in [
            "",
            "-1",
            "x",
            "1.",
            "+1",
            " 1",
            "1 ",
            "4294967296",
            "99999999999999999999",
        ] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn bytes_are_two_digits_each() {
        assert!(is_hexadecimal(b"", b"") && is_hexadecimal(b"00ff1a", &[0, 255, 26]));
        for text in [&b"00ff1"[..], b"00FF1A", b"00ff1b", b"00ff1a0", b"00ff1a00", b""] {
            assert!(!is_hexadecimal(text, &[0, 255, 26]));
        }
    }
}
