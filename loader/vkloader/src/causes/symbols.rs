//! Finds the missing symbol because of which the dynamic linker ended the program. The linker searches for most functions only when a
//! library calls them.

use super::elf::{self, Identity};
use crate::events::Record;
use crate::report::{self, Dropped, Printed, Report, UNTIL_THEN, codes};
use std::path::Path;

/// Parts of the dynamic linker's messages, between the program and the library that needs the symbol.
const MESSAGES: [&str; 2] = [": symbol lookup error: ", ": relocation error: "];

/// Exit status with which the dynamic linker ends a program that lacks a symbol.
const STATUS: i32 = 127;

/// Adds the missing symbol and the library that needs it to the finding about a program that exited. `printed` are the lines on standard
/// error, followed by the exit status. The lines of the user's program are not recorded, so the symbols of the library are read instead.
pub(super) fn explain(
    dropped: &mut Dropped,
    (printed, status): (&[Printed], Option<i32>),
    records: &[&Record],
    about: (Identity, Option<&Path>),
) {
    let has_ended = [codes::PROGRAM_EXITED.name, codes::PROGRAM_FAILED.name].contains(&dropped.code.as_str());
    if !has_ended || status != Some(STATUS) {
        return;
    }
    let after = |line: &Printed| {
        MESSAGES
            .iter()
            .find_map(|message| line.text.split_once(message).map(|(_, words)| words.to_owned()))
    };
    let words = printed.iter().rev().find_map(after);
    let Some(words) = words.or_else(|| of_library(&dropped.name, about)) else {
        return;
    };
    let Some((library, _)) = words.split_once(": ") else {
        return;
    };
    let Some((finding, advice)) = elf::undefined(&words, about.0, about.1, &dropped.name) else {
        return;
    };
    if dropped.name != library {
        report::leave_out(dropped, library, records);
        dropped.name = library.into();
    }
    add(dropped, finding, advice);
}

/// Adds the missing symbol to the finding about a layer, if the dynamic linker ended the program and runs without the layer end normally.
pub(crate) fn of_layer(report: &mut Report) {
    let ended = (report.ending.by, report.ending.number);
    let program = report.loader.as_ref().and_then(|loader| loader.executable.clone());
    let own = Identity::of_this_process();
    let Some(found) = report.dropped.first_mut() else {
        return;
    };
    let library = found.file.clone().filter(|_| found.code == codes::PROGRAM_EXITED.name);
    let Some(library) = library.filter(|_| ended == ("status", Some(STATUS)) && !found.names_file) else {
        return;
    };
    let about = (own, program.as_deref().map(Path::new));
    let added = of_library(&library, about).and_then(|words| elf::undefined(&words, about.0, about.1, &library));
    if let Some((finding, advice)) = added {
        add(found, finding, advice);
    }
}

/// Adds the missing symbol, and puts the remedy for it before the one without the library.
fn add(dropped: &mut Dropped, finding: String, advice: String) {
    dropped.findings.insert(0, finding);
    dropped.names_file = true;
    dropped.advice = match dropped.advice.find(UNTIL_THEN) {
        Some(at) => format!("{}; {}", advice.trim_end_matches('.'), &dropped.advice[at..]),
        None => advice,
    };
}

/// Returns the dynamic linker's message about the first symbol that a library lacks; `None` if the library lacks none.
fn of_library(library: &str, (own, program): (Identity, Option<&Path>)) -> Option<String> {
    let path = elf::locate(library, own).filter(|_| library.contains(".so"))?;
    let missing = elf::undefined_in(&path, program, own);
    let path = path.display();
    missing
        .first()
        .map(|symbol| format!("{path}: undefined symbol: {symbol}"))
}
