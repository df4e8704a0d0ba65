//! From the text of a file to plain, strict JSON.

use core::ops::Range;
use rust_alloc::vec::Vec;

use super::JsonError;
use crate::alloc::OutOfMemory;

/// Arrays and objects inside each other that are accepted.
const MAX_DEPTH: usize = 1000;
/// Digits of an exponent that stay. The largest number still fits a floating-point value with room to spare.
const MAX_EXPONENT_DIGITS: usize = 2;

/// First of the 256 characters that stand for bytes inside strings of normalised text.
const CODE: u32 = 0x100;

/// The byte that a character of a normalised string stands for.
pub(super) fn decode(character: char) -> u8 {
    // Characters are ASCII or CODE plus a byte, so the low eight bits are the byte either way.
    (u32::from(character) & 0xFF) as u8
}

/// Writes the first value of `input` again such that the result is UTF-8, its only white space is the blank, no string
/// contains an escape, and no exponent is out of range. Grammar is left to the parser, except inside strings.
pub(super) fn normalize(input: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut output = Vec::new();
    output.try_reserve(input.len()).map_err(OutOfMemory::from)?;
    let mut normalizer = Normalizer {
        input,
        position: 0,
        output,
    };
    normalizer.first_value()?;
    Ok(normalizer.output)
}

struct Normalizer<'a> {
    input: &'a [u8],
    position: usize,
    output: Vec<u8>,
}

impl Normalizer<'_> {
    fn first_value(&mut self) -> Result<(), JsonError> {
        let mut depth = 0_usize;
        while let Some(byte) = self.next() {
            match byte {
                0..=b' ' => {
                    self.push(b" ")?;
                    continue;
                }
                b',' | b':' => self.push(&[byte])?,
                b'{' | b'[' => {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(JsonError::Invalid);
                    }
                    self.push(&[byte])?;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1).ok_or(JsonError::Invalid)?;
                    self.push(&[byte])?;
                }
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b'a'..=b'z' => self.word()?,
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

    fn push(&mut self, bytes: &[u8]) -> Result<(), OutOfMemory> {
        self.output.try_reserve(bytes.len())?;
        self.output.extend_from_slice(bytes);
        Ok(())
    }

    /// The token that starts at the byte read last and consists of bytes that `belongs` accepts.
    fn token(&mut self, belongs: fn(u8) -> bool) -> Range<usize> {
        let start = self.position - 1;
        let rest = &self.input[self.position..];
        self.position += rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len());
        start..self.position
    }

    fn word(&mut self) -> Result<(), JsonError> {
        let word = self.token(|byte| byte.is_ascii_lowercase());
        Ok(self.push(&self.input[word])?)
    }

    fn number(&mut self) -> Result<(), JsonError> {
        let number = self.token(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        let number = &self.input[number];
        let Some(mark) = number.iter().position(|byte| matches!(byte, b'e' | b'E')) else {
            return Ok(self.push(number)?);
        };
        let (mantissa, exponent) = number.split_at(mark + 1);
        let sign = exponent.iter().take_while(|byte| matches!(byte, b'+' | b'-')).count();
        let zeros = exponent[sign..].iter().take_while(|&&byte| byte == b'0').count();
        let digits = &exponent[sign + zeros..];
        if digits.len() <= MAX_EXPONENT_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
            return Ok(self.push(number)?);
        }
        self.push(mantissa)?;
        self.push(&exponent[..sign])?;
        Ok(self.push(b"99")?)
    }

    fn string(&mut self) -> Result<(), JsonError> {
        self.push(b"\"")?;
        loop {
            match self.next().ok_or(JsonError::Invalid)? {
                b'"' => return Ok(self.push(b"\"")?),
                b'\\' => self.escape()?,
                byte => self.coded(byte)?,
            }
        }
    }

    /// Writes one byte of a string's content.
    fn coded(&mut self, byte: u8) -> Result<(), JsonError> {
        if matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\' {
            return Ok(self.push(&[byte])?);
        }
        let character = char::from_u32(CODE + u32::from(byte)).ok_or(JsonError::Invalid)?;
        Ok(self.push(character.encode_utf8(&mut [0; 4]).as_bytes())?)
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        let byte = match self.next().ok_or(JsonError::Invalid)? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode_escape(),
            _ => return Err(JsonError::Invalid),
        };
        self.coded(byte)
    }

    fn unicode_escape(&mut self) -> Result<(), JsonError> {
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
        character
            .encode_utf8(&mut [0; 4])
            .bytes()
            .try_for_each(|byte| self.coded(byte))
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
