//! Positions in a text, for messages.

/// Position in a text: a line, and a byte in that line, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the line, counted from 1.
    pub line: u32,
    /// Number of the byte in the line, counted from 1.
    pub column: u32,
}

impl Place {
    /// Returns the position of a byte of a text.
    pub fn of(text: &[u8], byte: usize) -> Self {
        let before = &text[..byte.min(text.len())];
        let lines = before.split(|&byte| byte == b'\n');
        let (mut line, mut column) = (0, 0);
        for text in lines {
            line += 1;
            column = text.len() + 1;
        }
        // The casts are exact, because files with 4 GiB or more are not read.
        Self {
            line,
            column: column as u32,
        }
    }

    /// Returns the offset in a text of the byte at this position, or the length of the text if the position is after the end.
    pub fn byte_in(self, text: &[u8]) -> usize {
        let lines = text.split_inclusive(|&byte| byte == b'\n');
        let start: usize = lines.take(self.line.saturating_sub(1) as usize).map(<[u8]>::len).sum();
        (start + self.column.saturating_sub(1) as usize).min(text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_begin_at_one() {
        let text = b"ab\n\ncd";
        for (byte, line, column) in [(0, 1, 1), (2, 1, 3), (3, 2, 1), (4, 3, 1), (5, 3, 2), (6, 3, 3)] {
            let place = Place { line, column };
            assert_eq!(Place::of(text, byte), place);
            assert_eq!(place.byte_in(text), byte);
        }
        assert_eq!(Place::of(text, 100), Place { line: 3, column: 3 });
        assert_eq!(Place { line: 9, column: 9 }.byte_in(text), 6);
    }
}
