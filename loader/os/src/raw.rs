//! Log text that keeps every byte of the names and paths in it.
//!
//! Names and paths need not be UTF-8, but Rust's formatting only carries UTF-8. [`Raw`] prints bytes that are not UTF-8 as characters of a
//! private-use block, and [`render`] converts that block back to the bytes. Text that itself contains characters of that block is converted
//! byte by byte too, so the result is always exactly the input.

use crate::memory::{Grow, shortage};
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// First character of the block for the bytes 0x00 to 0xFF, at the end of the last private-use plane.
const BLOCK: u32 = 0x10_FE00;
const BLOCK_END: u32 = BLOCK + 0xFF;

/// Bytes inside a log message.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a>(pub &'a [u8]);

impl fmt::Display for Raw<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            let valid = chunk.valid();
            if valid.chars().any(in_block) {
                write_bytes(formatter, valid.as_bytes())?;
            } else {
                formatter.write_str(valid)?;
            }
            write_bytes(formatter, chunk.invalid())?;
        }
        Ok(())
    }
}

fn in_block(character: char) -> bool {
    (BLOCK..=BLOCK_END).contains(&u32::from(character))
}

fn write_bytes(formatter: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes
        .iter()
        .filter_map(|&byte| char::from_u32(BLOCK + u32::from(byte)))
        .try_for_each(|character| formatter.write_char(character))
}

/// Passes the bytes that formatted text represents to `take`, piece by piece, until `take` fails.
pub fn decode(text: &str, mut take: impl FnMut(&[u8]) -> fmt::Result) -> fmt::Result {
    if !text.contains(in_block) {
        return take(text.as_bytes());
    }
    text.chars().try_for_each(|character| {
        if in_block(character) {
            // The block has 256 characters, one for each byte value, so the offset of a character in the block fits into a byte.
            take(&[(u32::from(character) - BLOCK) as u8])
        } else {
            take(character.encode_utf8(&mut [0; 4]).as_bytes())
        }
    })
}

/// Displays the text that a function writes.
pub struct Show<F>(pub F);

impl<F: Fn(&mut fmt::Formatter<'_>) -> fmt::Result> fmt::Display for Show<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(formatter)
    }
}

struct Buffer(Vec<u8>);

impl Write for Buffer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        decode(text, |bytes| {
            self.0.try_room(bytes.len()).map_err(|_| fmt::Error)?;
            self.0.extend_from_slice(bytes);
            Ok(())
        })
    }
}

/// Returns the bytes of a text. If memory runs out, truncates the text and makes the Vulkan call return `VK_ERROR_OUT_OF_HOST_MEMORY`.
/// Otherwise, a truncated path would seem to be a missing file.
pub fn render(message: fmt::Arguments<'_>) -> Vec<u8> {
    let mut buffer = Buffer(Vec::new());
    if buffer.write_fmt(message).is_err() {
        shortage::note();
    }
    buffer.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bi_7_every_byte_survives() {
        let all: Vec<u8> = (0..=255).collect();
        let private = "a\u{10FE80}b".as_bytes();
        for bytes in [&all[..], private, "é€😀".as_bytes(), b"", b"\xF4\x8F\xB8", b"plain"] {
            assert_eq!(render(format_args!("<{}>", Raw(bytes))), [b"<", bytes, b">"].concat());
        }
    }
}
