//! The emitted files that come out different, so that no change of the output goes without a line.

use super::View;
use super::report::{Entry, Section, Severity};
use crate::emit;
use std::collections::BTreeMap;

pub(super) fn sections(old: &View<'_>, new: &View<'_>) -> Vec<Section> {
    let (before, after) = (emitted(old), emitted(new));
    let entry = |name: &str, text: String| Entry::noted(name, Severity::Concerns, "file", text);
    let mut entries = Vec::new();
    for (path, text) in &before {
        match after.get(path) {
            None => entries.push(entry(path, "no longer emitted".to_owned())),
            Some(other) if other != text => {
                let count = |here: &str, there: &str| {
                    let there: std::collections::HashSet<&str> = there.lines().collect();
                    here.lines().filter(|line| !there.contains(line)).count()
                };
                let (gone, fresh) = (count(text, other), count(other, text));
                entries.push(entry(path, format!("{gone} lines go, {fresh} come")));
            }
            Some(_) => {}
        }
    }
    let fresh = after.keys().filter(|path| !before.contains_key(*path));
    entries.extend(fresh.map(|path| entry(path, "new".to_owned())));
    vec![Section::new("files", "changed", "Emitted files that change", entries)]
}

/// The files by path, without the line that names the header.
fn emitted(view: &View<'_>) -> BTreeMap<String, String> {
    let files = emit::all(&view.plan).into_iter();
    files
        .map(|file| {
            let body = file.text.split_once('\n').map_or("", |(_, body)| body);
            (file.path, body.to_owned())
        })
        .collect()
}
