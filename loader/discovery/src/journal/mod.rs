//! A decision log: log lines, and the record of the decisions of one API call.
//!
//! All code that keeps or drops a manifest, library, layer or device reports a [`Decision`], with a [`Reason`] for dropping. Most decisions
//! produce log lines; tools and tests read the decisions themselves. All other messages are notes.

pub mod bits;
mod cause;
mod decision;
mod described;
pub mod reason;

use alloc::vec::Vec;
pub use bits::LogBits;
pub use cause::Cause;
pub use decision::{Decision, Source, Subject, Verdict};
use reason::FileReason;
pub use reason::Reason;

use crate::env::Environment;
use crate::scan_cache::{Cached, PathRecorder, VariableRecorder};
use crate::text::Place;
use crate::trace;
use core::fmt;
use os::memory::{Grow, OutOfMemory};
use promises::limits::MAX_DECISIONS;

/// A receiver of log lines, which have neither a header nor a newline.
pub trait Sink {
    /// Receives one line. The bytes of the line, which need not be UTF-8, are the result of [`os::decode`] for the formatted text.
    fn log(&self, bits: LogBits, text: fmt::Arguments<'_>);

    /// Receives the line about a decision. The trace already contains the decision.
    fn log_decision(&self, bits: LogBits, text: fmt::Arguments<'_>) {
        self.log(bits, text);
    }

    /// Returns `true` if the sink shows a line with the level and categories in `bits`. The caller need not format other lines.
    fn wants(&self, bits: LogBits) -> bool {
        let _ = bits;
        true
    }
}

/// A sink that drops every line.
#[derive(Clone, Copy, Debug)]
pub struct Silence;

impl Sink for Silence {
    fn log(&self, _: LogBits, _: fmt::Arguments<'_>) {}

    fn wants(&self, _: LogBits) -> bool {
        false
    }
}

/// The log of one API call, which passes lines to a sink, and records the decisions of the call for tools.
pub struct Journal<'a> {
    sink: &'a dyn Sink,
    remembers: bool,
    decisions: Vec<Decision>,
    forgotten: usize,
    /// First cause of a failure. Used only if the journal does not remember decisions.
    cause: Cause,
    paths: Option<PathRecorder>,
    /// Device number of the last file system that a scan found to be local; 0 if there is none.
    local: u64,
}

impl<'a> Journal<'a> {
    /// Returns an empty journal that remembers decisions and sends its lines to `sink`.
    pub fn new(sink: &'a dyn Sink) -> Self {
        Self {
            remembers: true,
            ..Self::of_call(sink)
        }
    }

    /// Returns a journal that does not remember decisions, for an API call.
    pub fn of_call(sink: &'a dyn Sink) -> Self {
        Self {
            sink,
            remembers: false,
            decisions: Vec::new(),
            forgotten: 0,
            cause: Cause::NONE,
            paths: None,
            local: 0,
        }
    }

    /// Records a decision and logs its line.
    pub fn decide(&mut self, decision: Decision) {
        trace::write("decision", |record| decision.describe(record));
        if let Some(bits) = decision.bits().filter(|&bits| self.sink.wants(bits)) {
            self.sink.log_decision(bits, format_args!("{}", decision.text()));
            if let Verdict::Dropped(Reason::File(FileReason::InvalidJson(Some(place)))) = decision.verdict {
                // Tools parse the line about the decision, so the position of the fault in the file is on a separate line.
                let (name, Place { line, column }) = (&decision.name, place);
                self.note(
                    bits,
                    format_args!("loader_get_json: {name} is valid JSON up to line {line}, column {column}"),
                );
            }
        }
        if !self.remembers {
            return self.cause.consider(decision);
        }
        if self.decisions.len() == MAX_DECISIONS || self.decisions.try_room(1).is_err() {
            self.forgotten += 1;
        } else {
            self.decisions.push(decision);
        }
    }

    /// Records a decision to keep an object. A decision of this kind is not logged, so `decision` is called only if the journal remembers
    /// decisions or the trace is on.
    pub fn keep(&mut self, decision: impl FnOnce() -> Decision) {
        if self.remembers || trace::is_on() {
            self.decide(decision());
        }
    }

    /// Logs a line that is not about a decision.
    pub fn note(&self, bits: LogBits, message: fmt::Arguments<'_>) {
        if self.sink.wants(bits) {
            self.sink.log(bits, message);
        }
    }

    /// Returns `true` if the sink shows lines of any kind.
    pub fn is_heard(&self) -> bool {
        self.sink.wants(LogBits::from_word(u32::MAX))
    }

    /// Runs `make`, which computes a result from the environment and files, and records the inputs of the result. The scans of a call examine a
    /// file system only once.
    ///
    /// # Errors
    ///
    /// The error of `make`.
    pub fn record<T>(
        &mut self,
        make: impl FnOnce(&Environment<'_>, &mut Self) -> Result<T, OutOfMemory>,
    ) -> Result<Cached<T>, OutOfMemory> {
        let variables = VariableRecorder::default();
        let outer = self.paths.take();
        self.paths = Some(PathRecorder::begin_knowing(self.local));
        let value = make(&Environment::new(&variables), self);
        let paths = core::mem::replace(&mut self.paths, outer);
        self.local = paths.as_ref().map_or(0, PathRecorder::local);
        Ok(Cached::new(value?, variables, paths))
    }

    /// Returns the recorder of the paths that are read; `None` if nothing is recorded.
    pub fn paths(&self) -> Option<&PathRecorder> {
        self.paths.as_ref()
    }

    /// Returns `true` if the sink shows a line with the level and categories in `bits`.
    pub fn wants(&self, bits: LogBits) -> bool {
        self.sink.wants(bits)
    }

    /// Returns and removes the first cause of a failure.
    pub fn take_cause(&mut self) -> Cause {
        core::mem::take(&mut self.cause)
    }

    /// Returns the decisions so far, oldest first.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Returns the number of decisions that were logged but not remembered, because there were too many or memory was short.
    pub fn forgotten(&self) -> usize {
        self.forgotten
    }
}

impl fmt::Debug for Journal<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            sink: _,
            remembers: _,
            decisions,
            forgotten,
            cause,
            paths,
            local: _,
        } = self;
        formatter
            .debug_struct("Journal")
            .field("decisions", decisions)
            .field("forgotten", forgotten)
            .field("cause", cause)
            .field("paths", paths)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
pub mod testing;

#[cfg(test)]
mod tests;
