//! Calls that failed, errors of the log, and what drivers printed.

use super::{Call, Printed};
use crate::events::{Event, Record, Step};
use crate::names;
use std::collections::HashMap;
use std::fmt;

/// Lines of each kind that are kept.
const MOST: usize = 40;
/// Characters of a line that are kept.
const LONGEST: usize = 400;

/// The calls that failed, each once: those of the program and those of drivers.
pub(super) fn failed(records: &[&Record]) -> Vec<Call> {
    let mut found: Vec<Call> = Vec::new();
    for record in records {
        let Event::End(step) = &record.event else { continue };
        let Some(code) = step.result.filter(|&code| code < 0) else {
            continue;
        };
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

/// The errors of the log that are not about a decision, each once.
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

/// What was printed on standard error, with the library that ran meanwhile.
pub(super) fn printed(records: &[&Record]) -> Vec<Printed> {
    let mut open: HashMap<&str, Vec<&Step>> = HashMap::new();
    let mut found: Vec<Printed> = Vec::new();
    for record in records {
        let steps = open.entry(&record.thread).or_default();
        match &record.event {
            Event::Begin(step) => steps.push(step),
            Event::End(_) => drop(steps.pop()),
            Event::Printed(text) if found.len() < MOST => {
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
