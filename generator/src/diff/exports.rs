//! Compares the exported symbols of each list (GEN-53).

use super::report::{Entry, Section, Severity};
use super::view::View;
use crate::policy::ExportList;
use std::collections::BTreeMap;

const LISTS: [(ExportList, &str); 3] = [
    (ExportList::Linux, "linux"),
    (ExportList::Windows, "windows"),
    (ExportList::Macos, "macos"),
];

pub(super) fn sections(old: &View<'_>, new: &View<'_>) -> Vec<Section> {
    let (before, after) = (exported(old), exported(new));
    vec![
        Section::new(
            "exports",
            "added",
            "Exported symbols added",
            only(&after, &before, Severity::Concerns),
        ),
        Section::new(
            "exports",
            "removed",
            "Exported symbols removed",
            only(&before, &after, Severity::Breaking),
        ),
    ]
}

/// Returns each exported command with the names of the export lists that contain it.
fn exported<'a>(view: &'a View<'_>) -> BTreeMap<&'a str, Vec<&'static str>> {
    let mut found = BTreeMap::new();
    for command in &view.plan.commands {
        let lists = LISTS.iter().filter(|(list, _)| command.is_in(*list));
        let words: Vec<&str> = lists.map(|(_, word)| *word).collect();
        if !words.is_empty() {
            found.insert(command.command.name.as_str(), words);
        }
    }
    found
}

/// Lists the symbols that are in an export list of `here` but not of `there`.
fn only(here: &BTreeMap<&str, Vec<&str>>, there: &BTreeMap<&str, Vec<&str>>, severity: Severity) -> Vec<Entry> {
    let more = |(name, lists): (&&str, &Vec<&str>)| {
        let other = there.get(*name);
        let words: Vec<&str> = lists
            .iter()
            .filter(|list| other.is_none_or(|other| !other.contains(list)))
            .copied()
            .collect();
        (!words.is_empty()).then(|| Entry::noted(name, severity, "lists", words.join(", ")))
    };
    here.iter().filter_map(more).collect()
}
