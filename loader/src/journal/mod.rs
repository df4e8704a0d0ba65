//! The one place through which decisions pass.
//!
//! Whatever keeps or drops a manifest, a library, a layer or a device reports a [`Decision`] with a closed [`Reason`].
//! The lines users read are one rendering of it; tools and tests can look at the decisions themselves. Everything else
//! worth saying is a note.

#![forbid(unsafe_code)]

pub mod bits;
mod decision;
pub mod reason;
mod render;

pub use bits::LogBits;
pub use decision::{Decision, Source, Subject, Verdict};
pub use reason::Reason;
pub use render::{Raw, decode, render};

use std::fmt;

/// Receives log lines, without header and line end.
pub trait Sink {
    /// Takes one line. `text` need not be UTF-8.
    fn log(&self, bits: LogBits, text: &[u8]);

    /// Whether anybody would see a line with these bits. Saves the work of rendering it.
    fn wants(&self, bits: LogBits) -> bool {
        let _ = bits;
        true
    }
}

/// Decisions that one journal remembers.
const MAX_DECISIONS: usize = 4096;

/// The decisions of one API call, and the way to its log.
pub struct Journal<'a> {
    sink: &'a dyn Sink,
    decisions: Vec<Decision>,
    forgotten: usize,
}

impl<'a> Journal<'a> {
    /// An empty journal whose lines go to `sink`.
    pub fn new(sink: &'a dyn Sink) -> Self {
        Self {
            sink,
            decisions: Vec::new(),
            forgotten: 0,
        }
    }

    /// Records a decision and logs its line.
    pub fn decide(&mut self, decision: Decision) {
        if let Some((bits, text)) = decision.message() {
            self.sink.log(bits, &text);
        }
        if self.decisions.len() == MAX_DECISIONS || self.decisions.try_reserve(1).is_err() {
            self.forgotten += 1;
        } else {
            self.decisions.push(decision);
        }
    }

    /// Logs a line that decides nothing.
    pub fn note(&self, bits: LogBits, message: fmt::Arguments<'_>) {
        if self.sink.wants(bits) {
            self.sink.log(bits, &render(message));
        }
    }

    /// The decisions so far, oldest first.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// How many decisions were logged but not remembered, because there were too many or memory was short.
    pub fn forgotten(&self) -> usize {
        self.forgotten
    }
}

impl fmt::Debug for Journal<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            sink: _,
            decisions,
            forgotten,
        } = self;
        formatter
            .debug_struct("Journal")
            .field("decisions", decisions)
            .field("forgotten", forgotten)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
pub mod testing;

#[cfg(test)]
mod tests;
