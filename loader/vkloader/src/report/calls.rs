//! Collects failed calls, errors in the loader's log, and lines that drivers printed.

use super::{Call, Printed};
use crate::events::{Event, Record, Step};
use crate::names;
use std::collections::HashMap;
use std::fmt;

/// Upper bound on the number of lines of each kind in a report. Further lines are dropped.
const MOST: usize = 40;
/// Upper bound on the number of characters of a line. A longer line is truncated.
const LONGEST: usize = 400;

/// Returns the failed calls of the program and of drivers, without repetitions.
pub(super) fn failed(records: &[&Record]) -> Vec<Call> {
    let mut found: Vec<Call> = Vec::new();
    for record in records {
        let Event::End(step) = &record.event else { continue };
        let Some(code) = step.failure() else { continue };
        let call = Call {
            name: step.name.clone(),
            library: step.library.clone(),
            code,
            result: names::result(code),
        };
        if !found.contains(&call) && found.len() < MOST {
            found.push(call);
        }
    }
    found
}

/// Returns the errors in the loader's log, without repetitions and without errors that explain a recorded decision.
pub(super) fn errors(records: &[&Record]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for record in records {
        if let Event::Message(message) = &record.event
            && message.is_error()
            && !found.contains(&message.text)
            && found.len() < MOST
        {
            found.push(shortened(&message.text));
        }
    }
    found
}

/// Returns the lines on standard error, each with the library that was running when the line was printed.
pub(super) fn printed(records: &[&Record]) -> Vec<Printed> {
    let mut open: HashMap<&str, Vec<&Step>> = HashMap::new();
    let mut found: Vec<Printed> = Vec::new();
    let mut runtime = OfRuntime::default();
    for record in records {
        let steps = open.entry(&record.thread).or_default();
        match &record.event {
            Event::Begin(step) => steps.push(step),
            Event::End(_) => drop(steps.pop()),
            Event::Printed(text) if found.len() < MOST && !runtime.has(text) => {
                let library = steps.iter().rev().find_map(|step| step.runs());
                let printed = Printed {
                    library: library.map(String::from),
                    text: shortened(text),
                };
                if !found.contains(&printed) {
                    found.push(printed);
                }
            }
            _ => {}
        }
    }
    found
}

/// Recognises the lines that the runtime of Rust prints when an exception of C++ reaches it. These lines come from the program, although a
/// driver raised the exception.
#[derive(Default)]
struct OfRuntime {
    /// `true` between the first and the last of the lines.
    is_within: bool,
}

impl OfRuntime {
    /// Returns `true` if the runtime printed `line`, which follows the line of the last call.
    fn has(&mut self, line: &str) -> bool {
        const LAST: &str = "note: run with `RUST_BACKTRACE=";
        const FATAL: &str = "fatal runtime error: ";
        let is_first = line.contains(" panicked at ") && line.contains("/library/panic_");
        self.is_within |= is_first;
        let is_of_runtime = self.is_within || line.starts_with(FATAL);
        self.is_within &= !line.starts_with(LAST);
        is_of_runtime
    }
}

impl fmt::Display for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.library {
            Some(library) => write!(out, "{} of {library}: {}", self.name, self.result),
            None => write!(out, "{}: {}", self.name, self.result),
        }
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.library {
            Some(library) => write!(out, "{library}: {}", self.text),
            None => out.write_str(&self.text),
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_programs_runtime_are_not_those_of_a_driver() {
        let lines = |place: &str| {
            let first = format!("thread 'main' (54) panicked at {place}:28:5:");
            let rest = ["internal error", "note: run with `RUST_BACKTRACE=1`", "own: last"];
            std::iter::once(first).chain(rest.map(String::from))
        };
        for (place, kept) in [("/rustc/5980/library/panic_abort/src/lib.rs", 1), ("src/nak/ir.rs", 4)] {
            let mut runtime = OfRuntime::default();
            assert_eq!(lines(place).filter(|line| !runtime.has(line)).count(), kept, "{place}");
        }
    }
}
