//! Converts the bytes of a file to the text of a registry.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::{LineTable, Source};

/// Maximum length of a file, in bytes (GEN-85). The registry of a current header is shorter than a tenth of this maximum.
pub const MAX_BYTES: usize = 64 << 20;

impl<'a> Source<'a> {
    /// Reads the bytes of a file, at most [`MAX_BYTES`]. If the bytes are not UTF-8, returns a diagnostic with the place of the first
    /// invalid byte.
    pub fn from_bytes(name: &'a str, bytes: &'a [u8]) -> Result<Self, Diagnostic> {
        if bytes.len() > MAX_BYTES {
            let text = format!("the file has more than {} MiB", MAX_BYTES >> 20);
            return Err(Diagnostic::in_text(name, 1, 1, Code::InputLimit, text));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self { name, text }),
            Err(error) => {
                let good = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
                let (line, column) = LineTable::new(good).place(good, good.len());
                let text = format!("the file is not UTF-8 (byte {})", error.valid_up_to());
                Err(Diagnostic::in_text(name, line, column, Code::BadEncoding, text))
            }
        }
    }
}
