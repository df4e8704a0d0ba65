//! A line of output, built without an allocation (APP-232).

use crate::journal::LogBits;
use core::ffi::CStr;
use core::fmt::{Arguments, Write};
use os::decode;
use os::write_to_standard_error;
use promises::limits::TEXT_LIMIT;

/// The column at which the text starts.
const HEADER_WIDTH: usize = 32;
/// Length of the buffer: header, text, and either a newline or a null byte. The longest header (`[Vulkan Loader] WARNING | DRIVER: `) is 34
/// bytes.
const CAPACITY: usize = 40 + TEXT_LIMIT + 1;

/// A header and a text, followed by a null byte.
pub(super) struct Line {
    buffer: [u8; CAPACITY],
    header: usize,
    end: usize,
}

impl Line {
    /// Formats a message. Text beyond the limit is cut at a character boundary.
    pub(super) fn new(bits: LogBits, text: Arguments<'_>) -> Self {
        let mut line = Self {
            buffer: [0; CAPACITY],
            header: 0,
            end: 0,
        };
        line.push(b"[Vulkan Loader] ", CAPACITY);
        let severity = [
            (LogBits::ERROR, "ERROR"),
            (LogBits::WARN, "WARNING"),
            (LogBits::INFO, "INFO"),
            (LogBits::DEBUG, "DEBUG"),
        ];
        let category = [
            (LogBits::PERF, "PERF"),
            (LogBits::DRIVER, "DRIVER"),
            (LogBits::LAYER, "LAYER"),
        ];
        let first = |words: &[(LogBits, &'static str)]| {
            words
                .iter()
                .find(|(bit, _)| bits.intersects(*bit))
                .map(|(_, word)| *word)
        };
        let (severity, category) = (first(&severity), first(&category));
        line.push(severity.unwrap_or_default().as_bytes(), CAPACITY);
        if severity.is_some() && category.is_some() {
            line.push(b" | ", CAPACITY);
        }
        line.push(category.unwrap_or_default().as_bytes(), CAPACITY);
        line.push(b": ", CAPACITY);
        while line.end < HEADER_WIDTH {
            line.push(b" ", CAPACITY);
        }
        line.header = line.end;
        // If the buffer is full, formatting stops, and the text is cut off at that point.
        let _ = write!(
            Cut {
                limit: line.header + TEXT_LIMIT,
                line: &mut line
            },
            "{text}"
        );
        line
    }

    /// Returns the message without its header, for messengers.
    pub(super) fn text(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.buffer[self.header..]).unwrap_or_default()
    }

    /// Writes header, text and newline in one call, so that lines of several threads do not mix. The newline is not part
    /// of the text (APP-194).
    pub(super) fn write(&mut self) {
        self.buffer[self.end] = b'\n';
        write_to_standard_error(&self.buffer[..=self.end]);
        self.buffer[self.end] = 0;
    }

    /// Appends bytes up to `limit`, but never a part of a character. Returns `true` if all bytes fit.
    fn push(&mut self, bytes: &[u8], limit: usize) -> bool {
        let room = limit.min(CAPACITY - 1).saturating_sub(self.end);
        let mut taken = bytes.len().min(room);
        let inside_character = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
        while taken > 0 && inside_character(taken) {
            taken -= 1;
        }
        self.buffer[self.end..self.end + taken].copy_from_slice(&bytes[..taken]);
        self.end += taken;
        taken == bytes.len()
    }
}

struct Cut<'a> {
    line: &'a mut Line,
    limit: usize,
}

impl Write for Cut<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let Self { line, limit } = self;
        decode(text, |bytes| {
            if line.push(bytes, *limit) {
                Ok(())
            } else {
                Err(core::fmt::Error)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::Raw;

    fn rendered(bits: LogBits, text: &str) -> String {
        let line = Line::new(bits, format_args!("{text}"));
        String::from_utf8_lossy(&line.buffer[..line.end]).into_owned()
    }

    #[test]
    fn app_232_headers_are_padded_to_32_columns() {
        let cases = [
            (LogBits::ERROR, "[Vulkan Loader] ERROR:          x"),
            (LogBits::DRIVER, "[Vulkan Loader] DRIVER:         x"),
            (LogBits::WARN | LogBits::LAYER, "[Vulkan Loader] WARNING | LAYER: x"),
            (LogBits::INFO | LogBits::DRIVER, "[Vulkan Loader] INFO | DRIVER:  x"),
            (LogBits::LAYER | LogBits::DRIVER, "[Vulkan Loader] DRIVER:         x"),
        ];
        for (bits, expected) in cases {
            assert_eq!(rendered(bits, "x"), expected);
        }
    }

    #[test]
    fn app_232_long_text_is_cut_at_511_bytes() {
        let line = Line::new(LogBits::ERROR, format_args!("{}", "ä".repeat(400)));
        assert_eq!(line.text().to_bytes().len(), 510);
        let line = Line::new(LogBits::ERROR, format_args!("{}", Raw(&[0x80; 600])));
        assert_eq!(line.text().to_bytes(), [0x80; 511]);
    }

    #[test]
    fn app_194_the_text_has_no_newline_after_it_was_printed() {
        let mut line = Line::new(LogBits::ERROR, format_args!("app_194 text"));
        line.write();
        assert_eq!(line.text(), c"app_194 text");
    }

    #[test]
    fn app_236_names_keep_bytes_that_are_no_text() {
        let line = Line::new(LogBits::LAYER, format_args!("<{}>", Raw(b"a\xFFb")));
        assert_eq!(line.text().to_bytes(), b"<a\xFFb>");
    }

    #[test]
    fn app_232_a_character_without_room_for_all_of_it_is_left_out() {
        for (count, kept) in [(509, true), (510, false), (511, false)] {
            let before = "x".repeat(count);
            let line = Line::new(LogBits::INFO, format_args!("{before}{}{}", "\u{e9}", "y"));
            let (text, expected) = (line.text().to_bytes(), before.as_bytes());
            let whole = [expected, "\u{e9}".as_bytes()].concat();
            assert_eq!(text, if kept { &whole } else { expected }, "{count}");
        }
    }
}
