//! Prints the report as JSON for programs.

use super::report::{Count, Entry, Report, Severity};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    old: &'a str,
    new: &'a str,
    severity: Severity,
    exit_code: u8,
    verdict: String,
    /// Entries by the group and the kind of change, for example `commands.added`.
    sections: BTreeMap<&'a str, BTreeMap<&'a str, &'a [Entry]>>,
    counts: &'a [Count],
}

/// Returns the whole report as indented JSON with a final newline.
pub fn json(report: &Report) -> String {
    let mut sections: BTreeMap<&str, BTreeMap<&str, &[Entry]>> = BTreeMap::new();
    for section in &report.sections {
        sections
            .entry(section.group)
            .or_default()
            .insert(section.name, &section.entries);
    }
    let document = Document {
        old: &report.old,
        new: &report.new,
        severity: report.severity(),
        exit_code: report.exit_code(),
        verdict: report.verdict(),
        sections,
        counts: &report.counts,
    };
    // Serializing strings and numbers into memory cannot fail.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
