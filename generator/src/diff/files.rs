//! Compares the emitted files and the files of the snapshot. The report has a line for each file that differs, so that
//! no change of the output is hidden.
//!
//! If only a file of the snapshot changes, its checksum in the manifest changes, but no compiled file.

use super::report::{Entry, Section, Severity};
use super::view::View;
use std::collections::BTreeMap;
use vk_registry::snapshot;

pub(super) fn sections(old: &View<'_>, new: &View<'_>) -> Vec<Section> {
    let emitted = entries(old.emitted(), new.emitted(), Severity::Concerns);
    let facts = entries(&facts(old), &facts(new), Severity::Informational);
    vec![
        Section::new("files", "changed", "Emitted files that change", emitted),
        Section::new("files", "snapshot", "Snapshot files that change", facts),
    ]
}

fn entries(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>, severity: Severity) -> Vec<Entry> {
    let entry = |name: &str, text: String| Entry::noted(name, severity, "file", text);
    let mut entries = Vec::new();
    for (path, text) in before {
        match after.get(path) {
            None => entries.push(entry(path, "no longer emitted".to_owned())),
            Some(other) if other != text => {
                let count = |here: &str, there: &str| {
                    let there: std::collections::HashSet<&str> = there.lines().collect();
                    here.lines().filter(|line| !there.contains(line)).count()
                };
                let (gone, fresh) = (count(text, other), count(other, text));
                entries.push(entry(path, format!("+{fresh} -{gone}")));
            }
            Some(_) => {}
        }
    }
    let fresh = after.keys().filter(|path| !before.contains_key(*path));
    entries.extend(fresh.map(|path| entry(path, "new".to_owned())));
    entries
}

/// Returns the files of the snapshot by name.
fn facts(view: &View<'_>) -> BTreeMap<String, String> {
    let files = snapshot::write(view.registry).into_iter();
    files.map(|(name, text)| (name.to_owned(), text)).collect()
}
