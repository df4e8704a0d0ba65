//! Strings: where they end, and what their escapes stand for.

use super::JsonError;
use crate::alloc::OutOfMemory;
use rust_alloc::borrow::Cow;
use rust_alloc::vec::Vec;

/// The string whose content `text` starts with, and the bytes up to behind its closing quote.
///
/// # Errors
/// When it does not end, or has an escape that is none.
pub(super) fn string(text: &[u8]) -> Result<(Cow<'_, [u8]>, usize), JsonError> {
    let mut end = special(text, 0);
    let is_plain = text.get(end) == Some(&b'"');
    loop {
        match text.get(end) {
            Some(b'"') => break,
            // Whatever follows a backslash does not end the string.
            Some(b'\\') => end = special(text, end + 2),
            Some(_) => end = special(text, end + 1),
            None => return Err(JsonError::Invalid),
        }
    }
    let content = &text[..end];
    let content = match is_plain {
        true => Cow::Borrowed(content),
        false => Cow::Owned(decoded(content)?),
    };
    Ok((content, end + 1))
}

/// A byte in each byte of a word.
const fn each(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The highest bit of each byte that is zero. Above the lowest such byte others may be marked too.
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(each(1)) & !word & each(0x80)
}

/// The first place from `at` on where a quote, a backslash or a NUL stands; the end where there is none.
fn special(text: &[u8], mut at: usize) -> usize {
    while let Some(eight) = text.get(at..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*eight);
        let found = zeros(word ^ each(b'"')) | zeros(word ^ each(b'\\')) | zeros(word);
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(b) = text.get(at) {
        if matches!(b, b'"' | b'\\' | 0) {
            break;
        }
        at += 1;
    }
    at
}

/// What a string with escapes, or with a NUL, stands for.
fn decoded(content: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut bytes = Vec::new();
    // Decoding never makes a string longer.
    bytes.try_reserve_exact(content.len()).map_err(OutOfMemory::from)?;
    let mut rest = content;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        bytes.extend_from_slice(&rest[..at]);
        let (&escape, behind) = rest[at + 1..].split_first().ok_or(JsonError::Invalid)?;
        rest = behind;
        let byte = match escape {
            b'"' | b'\\' | b'/' => escape,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let character = unicode(&mut rest)?;
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return Err(JsonError::Invalid),
        };
        bytes.push(byte);
    }
    bytes.extend_from_slice(rest);
    Ok(bytes)
}

/// The character whose number follows, in one escape or in two.
fn unicode(rest: &mut &[u8]) -> Result<char, JsonError> {
    let first = four_hex_digits(rest)?;
    let low = match first {
        0xD800..=0xDBFF => rest.strip_prefix(br"\u"),
        _ => None,
    };
    let second = match low {
        Some(low) => {
            *rest = low;
            four_hex_digits(rest)?
        }
        // No low surrogate: a first unit that needs one stays invalid.
        None => 0,
    };
    let character = char::decode_utf16([first, second]).next();
    character.and_then(Result::ok).ok_or(JsonError::Invalid)
}

fn four_hex_digits(rest: &mut &[u8]) -> Result<u16, JsonError> {
    let (digits, behind) = rest.split_first_chunk::<4>().ok_or(JsonError::Invalid)?;
    *rest = behind;
    digits.iter().try_fold(0, |unit, &digit| {
        let digit = char::from(digit).to_digit(16).ok_or(JsonError::Invalid)?;
        Ok(unit << 4 | digit as u16)
    })
}
