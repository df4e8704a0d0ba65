//! Converts the text of a file to plain, strict JSON.

use alloc::vec::Vec;
use core::ops::Range;

use os::memory::{Grow, OutOfMemory};
use promises::limits::MAX_DEPTH;

/// Reason why a text has no JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The text is not valid JSON from this byte on.
    At(usize),
    /// Memory ran out.
    OutOfMemory,
}

impl From<OutOfMemory> for Fault {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// Upper bound on the number of digits of an exponent. Every number with fewer digits fits into a floating-point value.
const MAX_EXPONENT_DIGITS: usize = 2;

/// First of the 256 characters that represent bytes inside strings of normalised text.
const CODE: u32 = 0x100;

/// Returns `true` if normalisation leaves a byte inside a string unchanged.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

/// Returns the number of digits at the start of a text.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns the byte that a character of a normalised string represents.
pub(super) fn decode(character: char) -> u8 {
    // Each character is ASCII or `CODE` plus a byte, so its low eight bits are the byte.
    (u32::from(character) & 0xFF) as u8
}

/// Rewrites the first value of `input` as UTF-8 with the white space of strict JSON. The result has no escapes in strings, no exponents out
/// of range, and no superfluous zeros or points in numbers. The parser checks the grammar, except inside strings. Copies unchanged bytes in
/// long runs.
pub(super) fn normalize(input: &[u8]) -> Result<Vec<u8>, Fault> {
    let mut normalizer = Normalizer::new(input, usize::MAX)?;
    normalizer.run()?;
    Ok(normalizer.output)
}

/// Returns the position in `input` of the byte that became byte number `byte` of the normalised text.
#[cold]
pub(super) fn place_before(input: &[u8], byte: usize) -> usize {
    let normalizer = Normalizer::new(input, byte).and_then(|mut normalizer| {
        normalizer.run()?;
        Ok(normalizer)
    });
    normalizer.map_or(input.len(), |normalizer| {
        normalizer.found.unwrap_or(normalizer.position)
    })
}

struct Normalizer<'a> {
    input: &'a [u8],
    position: usize,
    /// Length of the part of the input that has been written to the output.
    written: usize,
    output: Vec<u8>,
    /// Position in the output whose origin in the input is sought.
    sought: usize,
    /// Position in the input that belongs to the sought position; `None` until it is known.
    found: Option<usize>,
}

impl<'a> Normalizer<'a> {
    fn new(input: &'a [u8], sought: usize) -> Result<Self, Fault> {
        let mut output = Vec::new();
        output.try_exact_room(input.len())?;
        Ok(Self {
            input,
            position: 0,
            written: 0,
            output,
            sought,
            found: None,
        })
    }

    fn run(&mut self) -> Result<(), Fault> {
        self.first_value()?;
        Ok(self.replace(self.position..self.position, b"")?)
    }

    /// Returns the fault at the last byte that was read.
    fn fault(&self) -> Fault {
        Fault::At(self.position.saturating_sub(1))
    }

    fn first_value(&mut self) -> Result<(), Fault> {
        let mut depth = 0_usize;
        while let Some(byte) = self.next() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => {
                    // Indentation is a large part of most files, so all spaces in a row are skipped at once.
                    self.token(|byte| byte == b' ');
                    continue;
                }
                0..b' ' => {
                    self.replace(self.position - 1..self.position, b" ")?;
                    continue;
                }
                b',' | b':' => {}
                b'{' | b'[' => {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(self.fault());
                    }
                }
                b'}' | b']' => depth = depth.checked_sub(1).ok_or_else(|| self.fault())?,
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b'a'..=b'z' => drop(self.token(|byte| byte.is_ascii_lowercase())),
                _ => return Err(self.fault()),
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

    /// Writes the pending input before `part`, and `bytes` instead of `part`.
    fn replace(&mut self, part: Range<usize>, bytes: &[u8]) -> Result<(), OutOfMemory> {
        let unchanged = &self.input[self.written..part.start];
        let behind = self.output.len() + unchanged.len();
        if self.sought < behind + bytes.len() && self.found.is_none() {
            self.found = Some(part.start - behind.saturating_sub(self.sought));
        }
        self.output.try_room(unchanged.len() + bytes.len())?;
        self.output.extend_from_slice(unchanged);
        self.output.extend_from_slice(bytes);
        self.written = part.end;
        Ok(())
    }

    /// Returns the token that starts at the last byte that was read and consists of bytes for which `belongs` returns `true`.
    fn token(&mut self, belongs: fn(u8) -> bool) -> Range<usize> {
        let start = self.position - 1;
        let rest = &self.input[self.position..];
        self.position += rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len());
        start..self.position
    }

    /// Accepts the numbers of C: with leading zeros, or with digits on only one side of the point (LAY-71).
    fn number(&mut self) -> Result<(), Fault> {
        let token = self.token(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        let number = &self.input[token.clone()];
        let mark = number.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (sign, end) = (usize::from(number[0] == b'-'), mark.unwrap_or(number.len()));
        let whole = digits(&number[sign..end]);
        let zeros = number[sign..].iter().take_while(|&&byte| byte == b'0').count();
        // If the number has no other digits, one zero remains.
        let spare = zeros.min(whole.saturating_sub(1));
        let (first, point) = (token.start + sign, token.start + sign + whole);
        match number[sign + whole..end] {
            [b'.', _, ..] if whole == 0 => self.replace(first..first, b"0")?,
            [b'.'] if whole > 0 => {
                self.replace(first..first + spare, b"")?;
                self.replace(point..point + 1, b"")?;
            }
            _ if spare > 0 => self.replace(first..first + spare, b"")?,
            _ => {}
        }
        match mark {
            Some(mark) => self.exponent(token.start + mark + 1..token.end),
            None => Ok(()),
        }
    }

    /// Limits the number of digits in an exponent.
    fn exponent(&mut self, token: Range<usize>) -> Result<(), Fault> {
        let exponent = &self.input[token.clone()];
        let sign = exponent.iter().take_while(|byte| matches!(byte, b'+' | b'-')).count();
        let zeros = exponent[sign..].iter().take_while(|&&byte| byte == b'0').count();
        let significant = &exponent[sign + zeros..];
        if significant.len() <= MAX_EXPONENT_DIGITS || digits(significant) < significant.len() {
            return Ok(());
        }
        Ok(self.replace(token.start + sign..token.end, b"99")?)
    }

    fn string(&mut self) -> Result<(), Fault> {
        loop {
            let rest = &self.input[self.position..];
            self.position += rest.iter().position(|&byte| !is_plain(byte)).unwrap_or(rest.len());
            let start = self.position;
            match self.next().ok_or_else(|| self.fault())? {
                b'"' => return Ok(()),
                b'\\' => self.escape(start)?,
                byte => self.coded(start, byte)?,
            }
        }
    }

    /// Replaces the input from `start` to the current position with one byte of a string's content. Encodes the byte if it is not plain.
    fn coded(&mut self, start: usize, byte: u8) -> Result<(), Fault> {
        if is_plain(byte) {
            return Ok(self.replace(start..self.position, &[byte])?);
        }
        let character = char::from_u32(CODE + u32::from(byte)).ok_or_else(|| self.fault())?;
        Ok(self.replace(start..self.position, character.encode_utf8(&mut [0; 4]).as_bytes())?)
    }

    fn escape(&mut self, start: usize) -> Result<(), Fault> {
        let byte = match self.next().ok_or_else(|| self.fault())? {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode_escape(start),
            _ => return Err(self.fault()),
        };
        self.coded(start, byte)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<(), Fault> {
        let first = self.four_hex_digits()?;
        let units = match first {
            0xD800..=0xDBFF if self.input[self.position..].starts_with(b"\\u") => {
                self.position += 2;
                [first, self.four_hex_digits()?]
            }
            // Zero is not a low surrogate, so a high surrogate without a partner stays invalid.
            _ => [first, 0],
        };
        let character = char::decode_utf16(units).next();
        let character = character.and_then(Result::ok).ok_or_else(|| self.fault())?;
        let mut start = start;
        for byte in character.encode_utf8(&mut [0; 4]).bytes() {
            self.coded(start, byte)?;
            // The first byte of the character replaces the whole escape sequence. Each further byte follows the first byte.
            start = self.position;
        }
        Ok(())
    }

    fn four_hex_digits(&mut self) -> Result<u16, Fault> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(|byte| char::from(byte).to_digit(16));
            unit = unit << 4 | digit.ok_or_else(|| self.fault())?;
        }
        u16::try_from(unit).map_err(|_| self.fault())
    }
}
