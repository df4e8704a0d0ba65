//! A sink that stores log lines for tests.

use core::cell::RefCell;

use super::{LogBits, Sink};
use os::render;

/// A sink that stores every line with its bits.
#[derive(Debug, Default)]
pub struct Lines(RefCell<Vec<(LogBits, String)>>);

impl Sink for Lines {
    fn log(&self, bits: LogBits, text: core::fmt::Arguments<'_>) {
        let text = render(text);
        self.0
            .borrow_mut()
            .push((bits, String::from_utf8_lossy(&text).into_owned()));
    }
}

impl Lines {
    /// Removes and returns all lines so far.
    pub fn take(&self) -> Vec<(LogBits, String)> {
        self.0.take()
    }

    /// Removes all lines so far, and returns their texts.
    pub fn texts(&self) -> Vec<String> {
        self.take().into_iter().map(|(_, text)| text).collect()
    }

    /// Returns `true` if a line with the bits `bits` contains `part`.
    pub fn has(&self, bits: LogBits, part: &str) -> bool {
        self.0
            .borrow()
            .iter()
            .any(|(found, text)| *found == bits && text.contains(part))
    }
}
