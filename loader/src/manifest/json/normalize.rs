//! From the text of a file to plain, strict JSON.

use core::ops::Range;
use rust_alloc::vec::Vec;

use super::JsonError;
use os::memory::{Grow, OutOfMemory};

/// Arrays and objects inside each other that are accepted.
const MAX_DEPTH: usize = 1000;
/// Digits of an exponent that stay. The largest number still fits a floating-point value with room to spare.
const MAX_EXPONENT_DIGITS: usize = 2;

/// First of the 256 characters that stand for bytes inside strings of normalised text.
const CODE: u32 = 0x100;

/// Whether a byte of a string's content stays as it is.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

/// The byte that a character of a normalised string stands for.
pub(super) fn decode(character: char) -> u8 {
    // Characters are ASCII or CODE plus a byte, so the low eight bits are the byte either way.
    (u32::from(character) & 0xFF) as u8
}

/// Writes the first value of `input` again such that the result is UTF-8, its white space is that of strict JSON, no string
/// contains an escape, and no exponent is out of range. Grammar is left to the parser, except inside strings. What needs no
/// change is copied in runs as long as they come.
pub(super) fn normalize(input: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut output = Vec::new();
    output.try_exact_room(input.len())?;
    let mut normalizer = Normalizer {
        input,
        position: 0,
        written: 0,
        output,
    };
    normalizer.first_value()?;
    normalizer.replace(normalizer.position, b"")?;
    Ok(normalizer.output)
}

struct Normalizer<'a> {
    input: &'a [u8],
    position: usize,
    /// Up to here the input has been written.
    written: usize,
    output: Vec<u8>,
}

impl Normalizer<'_> {
    fn first_value(&mut self) -> Result<(), JsonError> {
        let mut depth = 0_usize;
        while let Some(byte) = self.next() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => {
                    // Much of a file is indentation.
                    self.token(|byte| byte == b' ');
                    continue;
                }
                0..b' ' => {
                    self.replace(self.position - 1, b" ")?;
                    continue;
                }
                b',' | b':' => {}
                b'{' | b'[' => {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(JsonError::Invalid);
                    }
                }
                b'}' | b']' => depth = depth.checked_sub(1).ok_or(JsonError::Invalid)?,
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b'a'..=b'z' => drop(self.token(|byte| byte.is_ascii_lowercase())),
                _ => return Err(JsonError::Invalid),
            }
            if depth == 0 {
                break;
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.input.get(self.position).copied()?;
        self.position += 1;
        Some(byte)
    }

    /// Writes the input up to `start`, and `bytes` in place of what lies between that and the position.
    fn replace(&mut self, start: usize, bytes: &[u8]) -> Result<(), OutOfMemory> {
        let unchanged = &self.input[self.written..start];
        self.output.try_room(unchanged.len() + bytes.len())?;
        self.output.extend_from_slice(unchanged);
        self.output.extend_from_slice(bytes);
        self.written = self.position;
        Ok(())
    }

    /// The token that starts at the byte read last and consists of bytes that `belongs` accepts.
    fn token(&mut self, belongs: fn(u8) -> bool) -> Range<usize> {
        let start = self.position - 1;
        let rest = &self.input[self.position..];
        self.position += rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len());
        start..self.position
    }

    fn number(&mut self) -> Result<(), JsonError> {
        let token = self.token(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        let number = &self.input[token.clone()];
        let Some(mark) = number.iter().position(|byte| matches!(byte, b'e' | b'E')) else {
            return Ok(());
        };
        let exponent = &number[mark + 1..];
        let sign = exponent.iter().take_while(|byte| matches!(byte, b'+' | b'-')).count();
        let zeros = exponent[sign..].iter().take_while(|&&byte| byte == b'0').count();
        let digits = &exponent[sign + zeros..];
        if digits.len() <= MAX_EXPONENT_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
            return Ok(());
        }
        Ok(self.replace(token.start + mark + 1 + sign, b"99")?)
    }

    fn string(&mut self) -> Result<(), JsonError> {
        loop {
            let rest = &self.input[self.position..];
            self.position += rest.iter().position(|&byte| !is_plain(byte)).unwrap_or(rest.len());
            let start = self.position;
            match self.next().ok_or(JsonError::Invalid)? {
                b'"' => return Ok(()),
                b'\\' => self.escape(start)?,
                byte => self.coded(start, byte)?,
            }
        }
    }

    /// Writes one byte of a string's content in place of what `start` begins.
    fn coded(&mut self, start: usize, byte: u8) -> Result<(), JsonError> {
        if is_plain(byte) {
            return Ok(self.replace(start, &[byte])?);
        }
        let character = char::from_u32(CODE + u32::from(byte)).ok_or(JsonError::Invalid)?;
        Ok(self.replace(start, character.encode_utf8(&mut [0; 4]).as_bytes())?)
    }

    fn escape(&mut self, start: usize) -> Result<(), JsonError> {
        let byte = match self.next().ok_or(JsonError::Invalid)? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode_escape(start),
            _ => return Err(JsonError::Invalid),
        };
        self.coded(start, byte)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<(), JsonError> {
        let first = self.four_hex_digits()?;
        let units = match first {
            0xD800..=0xDBFF if self.input[self.position..].starts_with(b"\\u") => {
                self.position += 2;
                [first, self.four_hex_digits()?]
            }
            // The zero is no low surrogate: it only fills the pair, and a first unit that needs one stays invalid.
            _ => [first, 0],
        };
        let character = char::decode_utf16(units).next();
        let character = character.and_then(Result::ok).ok_or(JsonError::Invalid)?;
        let mut start = start;
        for byte in character.encode_utf8(&mut [0; 4]).bytes() {
            self.coded(start, byte)?;
            // The first byte stands for the whole escape, the others for nothing of it.
            start = self.position;
        }
        Ok(())
    }

    fn four_hex_digits(&mut self) -> Result<u16, JsonError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(|byte| char::from(byte).to_digit(16));
            unit = unit << 4 | digit.ok_or(JsonError::Invalid)?;
        }
        u16::try_from(unit).map_err(|_| JsonError::Invalid)
    }
}
