//! The value of a number.

use super::JsonError;

/// The largest exponent that counts; the loader reads no number that needs one.
const MAX_EXPONENT: i32 = 99;

/// The number that a text starts with, and its length in bytes.
///
/// # Errors
/// When the text breaks the grammar of numbers, or the number is out of range.
pub(super) fn number(text: &[u8]) -> Result<(f64, usize), JsonError> {
    let mut digits = Digits { text, at: 0 };
    let negative = digits.take(b'-');
    let mut number = Decimal::default();
    match digits.next() {
        Some(0) => {}
        Some(first) => {
            number.add_whole(first);
            while let Some(digit) = digits.next() {
                number.add_whole(digit);
            }
        }
        None => return Err(JsonError::Invalid),
    }
    // After a leading zero comes no digit.
    if digits.next().is_some() {
        return Err(JsonError::Invalid);
    }
    if digits.take(b'.') {
        number.add_part(digits.next().ok_or(JsonError::Invalid)?);
        while let Some(digit) = digits.next() {
            number.add_part(digit);
        }
    }
    if digits.take(b'e') || digits.take(b'E') {
        let down = !digits.take(b'+') && digits.take(b'-');
        let mut exponent: i32 = digits.next().ok_or(JsonError::Invalid)?.into();
        while let Some(digit) = digits.next() {
            exponent = (exponent * 10 + i32::from(digit)).min(MAX_EXPONENT);
        }
        number.exponent += if down { -exponent } else { exponent };
    }
    let value = number.value();
    match value.is_finite() {
        true => Ok((if negative { -value } else { value }, digits.at)),
        false => Err(JsonError::Invalid),
    }
}

/// The bytes of a number, one after the other.
struct Digits<'t> {
    text: &'t [u8],
    at: usize,
}

impl Digits<'_> {
    /// Passes over a byte if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        let comes = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(comes);
        comes
    }

    /// The value of the digit that comes next.
    fn next(&mut self) -> Option<u8> {
        let digit = self.text.get(self.at).filter(|byte| byte.is_ascii_digit())? - b'0';
        self.at += 1;
        Some(digit)
    }
}

/// Leading digits, and the power of ten that they are to be multiplied with.
#[derive(Default)]
struct Decimal {
    digits: u64,
    exponent: i32,
}

impl Decimal {
    /// Adds a digit before the point.
    fn add_whole(&mut self, digit: u8) {
        if !self.add(digit) {
            self.exponent = self.exponent.saturating_add(1);
        }
    }

    /// Adds a digit behind the point.
    fn add_part(&mut self, digit: u8) {
        if self.add(digit) {
            self.exponent = self.exponent.saturating_sub(1);
        }
    }

    /// Whether there was room for the digit; those without room are too small to matter.
    fn add(&mut self, digit: u8) -> bool {
        let has_room = self.digits <= (u64::MAX - 9) / 10;
        if has_room {
            self.digits = self.digits * 10 + u64::from(digit);
        }
        has_room
    }

    fn value(&self) -> f64 {
        let mut value = self.digits as f64;
        let mut left = self.exponent;
        // Zero stays zero, and no number takes more steps than this to leave the range.
        while left != 0 && value != 0.0 && value.is_finite() {
            // Powers of ten up to this one are exact.
            let step = left.clamp(-22, 22);
            let power = (0..step.unsigned_abs()).fold(1.0, |power, _| power * 10.0);
            value = if step < 0 { value / power } else { value * power };
            left -= step;
        }
        value
    }
}
