//! Finds the missing symbol because of which the dynamic linker ended the program. The linker searches for most functions only when a
//! library calls them.

use super::elf::{self, Identity};
use crate::events::Record;
use crate::report::{self, Dropped, Printed, UNTIL_THEN, codes};
use std::path::Path;

/// Part of the dynamic linker's message, between the program and the library that needs the symbol.
const MESSAGE: &str = ": symbol lookup error: ";

/// Adds the missing symbol and the library that needs it to the finding about a program that exited. `printed` are the lines on standard
/// error.
pub(super) fn explain(
    dropped: &mut Dropped,
    printed: &[Printed],
    records: &[&Record],
    about: (Identity, Option<&Path>),
) {
    let has_ended = [codes::PROGRAM_EXITED.name, codes::PROGRAM_FAILED.name].contains(&dropped.code.as_str());
    let mut lines = printed.iter().rev().filter_map(|line| line.text.split_once(MESSAGE));
    let Some((_, words)) = lines.next().filter(|_| has_ended) else {
        return;
    };
    let Some((library, _)) = words.split_once(": ") else {
        return;
    };
    let Some((finding, advice)) = elf::undefined(words, about.0, about.1) else {
        return;
    };
    if dropped.name != library {
        report::leave_out(dropped, library, records);
        dropped.name = library.into();
    }
    dropped.findings.insert(0, finding);
    dropped.names_file = true;
    dropped.advice = match dropped.advice.find(UNTIL_THEN) {
        Some(at) => format!("{}; {}", advice.trim_end_matches('.'), &dropped.advice[at..]),
        None => advice,
    };
}
