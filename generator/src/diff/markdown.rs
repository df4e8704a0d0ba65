//! Prints the report as Markdown, for a comment on a change or the summary of a build step.

use super::report::{Entry, Report, Section, Severity};
use std::fmt::Write;

/// Maximum length of the text. Code-hosting sites refuse comments of more than 65,536 characters. The report therefore shows only the
/// number of entries beyond the limit.
const LIMIT: usize = 60_000;

/// Returns the report, shortened to the length limit of a comment.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("## Vulkan registry {} → {}\n\n", report.old, report.new);
    // Writing to a string cannot fail.
    let _ = writeln!(out, "**{}**\n", report.verdict());
    for severity in [Severity::Breaking, Severity::Undecided] {
        urgent(report, severity, &mut out);
    }
    out.push_str("| | old | new | |\n|---|---:|---:|---:|\n");
    for count in &report.counts {
        let moved = signed(count.old, count.new);
        let _ = writeln!(out, "| {} | {} | {} | {moved} |", count.what, count.old, count.new);
    }
    report.full().for_each(|section| write_section(section, &mut out));
    out
}

/// Writes the changes of the given severity. A reviewer must see these changes first.
fn urgent(report: &Report, severity: Severity, out: &mut String) {
    let found: Vec<_> = report.of(severity).collect();
    if found.is_empty() {
        return;
    }
    let title = match severity {
        Severity::Breaking => "Breaking",
        _ => "Needs a decision",
    };
    let _ = writeln!(out, "### {title}\n");
    let lines = found
        .iter()
        .map(|(section, entry)| format!("- {}: {}\n", section.title, line(entry)));
    push_within_limit(lines, out);
    out.push('\n');
}

fn write_section(section: &Section, out: &mut String) {
    let count = section.entries.len();
    // The section of files is expanded, because a reviewer reads it next.
    let open = if section.group == "files" { " open" } else { "" };
    let _ = writeln!(out, "\n<details{open}><summary>{} ({count})</summary>\n", section.title);
    let lines = section.entries.iter().map(|entry| format!("- {}\n", line(entry)));
    push_within_limit(lines, out);
    out.push_str("\n</details>\n");
}

fn push_within_limit(lines: impl Iterator<Item = String>, out: &mut String) {
    let mut left_out = 0;
    for line in lines {
        if left_out > 0 || out.len() + line.len() > LIMIT {
            left_out += 1;
        } else {
            out.push_str(&line);
        }
    }
    if left_out > 0 {
        let _ = writeln!(out, "- … and {left_out} more, which the HTML and JSON reports list");
    }
}

fn line(entry: &Entry) -> String {
    let mut line = code(&entry.name);
    for (index, change) in entry.changes.iter().enumerate() {
        let separator = if index == 0 { ": " } else { "; " };
        line.push_str(separator);
        line.push_str(&escaped(&change.text));
    }
    line
}

/// Formats a name as code. Names in a valid registry contain no backtick, but unknown constructs may contain one.
fn code(text: &str) -> String {
    if text.contains('`') {
        escaped(text)
    } else {
        format!("`{text}`")
    }
}

/// Escapes text that Markdown would read as markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '*' | '_' | '`' | '[' | ']' | '|' | '\\' | '#' | '~' => {
                out.push('\\');
                out.push(character);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\n' | '\r' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

fn signed(old: usize, new: usize) -> String {
    match new.cmp(&old) {
        std::cmp::Ordering::Less => format!("−{}", old - new),
        std::cmp::Ordering::Equal => String::new(),
        std::cmp::Ordering::Greater => format!("+{}", new - old),
    }
}
