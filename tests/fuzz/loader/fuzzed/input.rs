//! Reads the bytes of an input one after another.

/// Rest of an input. After the end, all bytes are zero.
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Creates an input with all bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the next byte.
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0,
        }
    }

    /// Returns the next four bytes, little-endian.
    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }
}
