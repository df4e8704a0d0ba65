//! Prints the report as plain text for a terminal.

use super::report::{Entry, Report, Section, Severity};
use std::fmt::Write;

/// Returns the report as text. Empty sections are omitted.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "Vulkan registry {} -> {}: {}",
        report.old,
        report.new,
        report.verdict()
    );
    for severity in [Severity::Breaking, Severity::Undecided] {
        let found: Vec<_> = report.of(severity).collect();
        if !found.is_empty() {
            let _ = writeln!(out, "\n{} ({})", severity.word().to_uppercase(), found.len());
        }
        for (section, entry) in found {
            let _ = writeln!(out, "  {}: {}{}", section.title, entry.name, joined(entry));
        }
    }
    report.full().for_each(|section| write_section(section, &mut out));
    out.push_str("\nCounts\n");
    for count in &report.counts {
        let moved = if count.old == count.new { "" } else { "  *" };
        let _ = writeln!(out, "  {:26}{:6} -> {:6}{moved}", count.what, count.old, count.new);
    }
    out
}

fn joined(entry: &Entry) -> String {
    let texts: Vec<&str> = entry.changes.iter().map(|change| change.text.as_str()).collect();
    if texts.is_empty() {
        String::new()
    } else {
        format!(": {}", texts.join("; "))
    }
}

fn write_section(section: &Section, out: &mut String) {
    let _ = writeln!(out, "\n{}: {}", section.title, section.entries.len());
    for entry in &section.entries {
        let _ = writeln!(out, "  {}{}", entry.name, mark(entry.severity));
        for change in &entry.changes {
            let _ = writeln!(out, "      [{}] {}", change.kind, change.text);
        }
    }
}

const fn mark(severity: Severity) -> &'static str {
    match severity {
        Severity::Breaking => "  !! breaking",
        Severity::Undecided => "  ?? undecided",
        Severity::Concerns | Severity::Informational => "",
    }
}
