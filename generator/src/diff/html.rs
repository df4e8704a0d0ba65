//! Prints the report as one HTML page, which needs no network and no other file, and is readable without scripts.

use super::report::{Count, Entry, Report, Section, Severity};
use std::fmt::Write;

/// HTML around the report. The function `html` replaces each mark `{{name}}` by a text.
const PAGE: &str = include_str!("templates/page.html");

/// Returns the whole report as a self-contained page.
pub fn html(report: &Report) -> String {
    let parts = [
        ("{{old}}", escaped(&report.old)),
        ("{{new}}", escaped(&report.new)),
        ("{{severity}}", report.severity().word().to_owned()),
        ("{{verdict}}", escaped(&report.verdict())),
        ("{{urgent}}", urgent(report)),
        ("{{cards}}", cards(report)),
        ("{{counts}}", counts(report)),
        ("{{groups}}", groups(report)),
        ("{{rows}}", rows(report)),
    ];
    let mut page = String::with_capacity(PAGE.len() * 2);
    let mut rest = PAGE;
    // The search for marks continues after each inserted text, so `{{...}}` inside an inserted text is not treated as a mark.
    while let Some(start) = rest.find("{{") {
        page.push_str(&rest[..start]);
        rest = &rest[start..];
        match parts.iter().find(|(mark, _)| rest.starts_with(mark)) {
            Some((mark, text)) => {
                page.push_str(text);
                rest = &rest[mark.len()..];
            }
            None => {
                page.push_str("{{");
                rest = &rest[2..];
            }
        }
    }
    page.push_str(rest);
    page
}

/// Returns the breaking changes, followed by the entries that need a decision.
fn urgent(report: &Report) -> String {
    let mut out = String::new();
    for (severity, title) in [
        (Severity::Breaking, "Breaking changes"),
        (Severity::Undecided, "Needs a decision"),
    ] {
        let found: Vec<_> = report.of(severity).collect();
        if found.is_empty() {
            continue;
        }
        // Writing to a string cannot fail.
        let word = severity.word();
        let _ = writeln!(
            out,
            "<section class=\"urgent {word}\"><h2>{title} ({})</h2><ul>",
            found.len()
        );
        for (section, entry) in found {
            let _ = writeln!(
                out,
                "<li><span class=\"what\">{}</span> <code>{}</code>{}</li>",
                escaped(section.title),
                escaped(&entry.name),
                details(entry)
            );
        }
        out.push_str("</ul></section>\n");
    }
    if out.is_empty() {
        out.push_str("<p class=\"calm\">No breaking changes.</p>\n");
    }
    out
}

/// Returns the summary with the number of entries in each section.
fn cards(report: &Report) -> String {
    let card = |section: &Section| {
        format!(
            "<button type=\"button\" class=\"card\" data-group=\"{}\" data-change=\"{}\"><b>{}</b>{}</button>\n",
            section.group,
            section.name,
            section.entries.len(),
            escaped(section.title)
        )
    };
    report.full().map(card).collect()
}

fn counts(report: &Report) -> String {
    let row = |count: &Count| {
        let moved = if count.old == count.new { "" } else { " class=\"moved\"" };
        format!(
            "<tr{moved}><th>{}</th><td>{}</td><td>{}</td></tr>\n",
            escaped(count.what),
            count.old,
            count.new
        )
    };
    report.counts.iter().map(row).collect()
}

/// Returns the choices of the filter as HTML, in the order of the sections.
fn groups(report: &Report) -> String {
    let mut groups: Vec<&str> = Vec::new();
    for section in report.full() {
        if !groups.contains(&section.group) {
            groups.push(section.group);
        }
    }
    let option = |group: &&str| format!("<option value=\"{group}\">{}</option>\n", group.replace('_', " "));
    groups.iter().map(option).collect()
}

fn rows(report: &Report) -> String {
    let mut out = String::new();
    for section in &report.sections {
        for entry in &section.entries {
            let _ = writeln!(
                out,
                "<tr data-group=\"{}\" data-change=\"{}\" data-severity=\"{severity}\" class=\"{severity}\">\
                 <td>{}</td><td>{}</td><td><code>{}</code></td><td>{}</td><td>{severity}</td></tr>",
                section.group,
                section.name,
                section.group.replace('_', " "),
                section.name,
                escaped(&entry.name),
                details(entry),
                severity = entry.severity.word(),
            );
        }
    }
    out
}

fn details(entry: &Entry) -> String {
    let texts = entry
        .changes
        .iter()
        .map(|change| format!("<div>{}</div>", escaped(&change.text)));
    texts.collect()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{Change, Count};

    #[test]
    fn nothing_in_a_registry_becomes_markup() {
        let name = "<script>alert(\"{{rows}}\")</script>";
        let entry = Entry::new(
            name,
            Severity::Breaking,
            vec![Change::new("abi", Severity::Breaking, "a & b's")],
        );
        let report = Report {
            old: "1".to_owned(),
            new: "2".to_owned(),
            sections: vec![Section::new("commands", "removed", "Commands removed", vec![entry])],
            counts: vec![Count {
                what: "commands",
                old: 1,
                new: 0,
            }],
        };
        let page = html(&report);
        assert!(!page.contains(name));
        assert_eq!(
            page.matches("&lt;script&gt;alert(&quot;{{rows}}&quot;)").count(),
            2,
            "on top and in the table"
        );
        assert!(page.contains("a &amp; b&#39;s"));
    }
}
