//! Explains programs that fail before they open a Vulkan loader: scripts, launchers and sandboxes that cannot start the program.

use super::own_loader;
use crate::child::Ending;
use crate::events::{Event, Record};
use crate::names;
use crate::report::{Fact, Report, codes};
use std::ffi::OsStr;
use std::path::Path;

/// Upper bound on the number of printed lines that the finding quotes.
const MOST_LINES: usize = 3;

/// Remedy for a program that failed early and printed nothing.
const WITHOUT_LINES: &str = "It printed nothing, so ask it for more: look for an option such as --verbose, or for a file with its log. The reason is in the \
    program, or in what starts it (a script, a launcher, a sandbox), not in a driver.";

/// Returns `true` if it is known that a program opened neither a Vulkan loader nor a library of OpenGL, and that it brings no loader of its own.
pub(crate) fn opened_nothing(graphics: Option<&[String]>, program: &OsStr) -> bool {
    graphics.is_some_and(<[String]>::is_empty) && own_loader(program).is_none()
}

/// Returns the last lines that the processes of a run printed on standard error.
pub(crate) fn last_lines(records: &[Record]) -> Vec<String> {
    let lines = records.iter().rev().filter_map(|record| match &record.event {
        Event::Printed(text) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    });
    let mut last: Vec<String> = lines.take(MOST_LINES).collect();
    last.reverse();
    last
}

/// Makes the failure of a program that opened no Vulkan loader the first finding of the report. `lines` are the last lines that it printed, if they are known. All
/// findings about the system are removed, because the program did not reach it.
pub(crate) fn add(report: &mut Report, program: &OsStr, ending: Ending, lines: Option<&[String]>) {
    let mut found = codes::PROGRAM_FAILED_EARLY.about(Path::new(program).display().to_string());
    if let Ending::Status(status) = ending {
        let status = names::status(status);
        found.reason = format!("The program ended with {status}, before it opened a Vulkan loader.");
    }
    if lines.is_some_and(<[String]>::is_empty) {
        found.advice = WITHOUT_LINES.into();
    }
    let lines = lines.unwrap_or_default().iter();
    found.findings.extend(lines.map(|line| Fact::printed(line)));
    report
        .dropped
        .retain(|one| one.subject == "program" && one.code != codes::PROGRAM_FAILED.name);
    report.dropped.insert(0, found);
}
