//! Collects the log lines of a scan.

use std::cell::RefCell;

use discovery::journal::{LogBits, Sink};
use os::render;

/// Log that stores every line.
#[derive(Debug, Default)]
pub struct Lines(RefCell<Vec<(LogBits, Vec<u8>)>>);

impl Lines {
    /// Removes and returns the logged messages.
    pub fn take(&self) -> Vec<(LogBits, Vec<u8>)> {
        self.0.take()
    }
}

impl Sink for Lines {
    fn log(&self, bits: LogBits, text: std::fmt::Arguments<'_>) {
        self.0.borrow_mut().push((bits, render(text)));
    }
}
