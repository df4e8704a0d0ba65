//! Comparing a text with what would be written, without memory for that.

use core::fmt::{self, Write};

/// Whether a text is exactly what these arguments write.
pub(crate) fn is_written(text: &[u8], expected: fmt::Arguments<'_>) -> bool {
    let mut rest = Rest(text);
    rest.write_fmt(expected).is_ok() && rest.0.is_empty()
}

/// What is left of a text that what is written to it must repeat.
struct Rest<'a>(&'a [u8]);

impl fmt::Write for Rest<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.strip_prefix(text.as_bytes()).ok_or(fmt::Error)?;
        Ok(())
    }
}
