//! Compares notes of the registry about commands, which do not affect the commands themselves.

use super::report::{Change, Severity};
use super::view::or_none;
use vk_registry::model::{Command, Deprecation};

/// Lists changes to deprecations of a command. A deprecation never changes availability (GEN-25).
pub(super) fn deprecations(before: &Command, after: &Command) -> Vec<Change> {
    let only = |here: &Command, there: &Command, what: &str| -> Vec<Change> {
        let advice = here.deprecations.iter().filter(|it| !there.deprecations.contains(it));
        let text = |it: &Deprecation| match &it.superseded_by {
            Some(other) => format!("{what} by {}, use {other}", it.by),
            None => format!("{what} by {}", it.by),
        };
        advice
            .map(|it| Change::new("deprecation", Severity::Informational, text(it)))
            .collect()
    };
    let mut found = only(before, after, "no longer deprecated");
    found.extend(only(after, before, "deprecated"));
    found
}

/// Lists changes to the attributes `len` and `optional` of parameters. The generator never uses `optional`, and uses `len` only
/// for returned dispatchable handles (GEN-48). The changes are informational, because the report also lists each emitted file that differs.
pub(super) fn annotations(old: &Command, new: &Command) -> Vec<Change> {
    let mut found = Vec::new();
    for (number, (before, after)) in old.params.iter().zip(&new.params).enumerate() {
        let pairs = [
            ("len", or_none(before.len.as_ref()), or_none(after.len.as_ref())),
            ("optional", flags(&before.optional), flags(&after.optional)),
        ];
        for (kind, before, after) in pairs.into_iter().filter(|(_, before, after)| before != after) {
            let text = format!("argument {}, {kind}: {before} -> {after}", number + 1);
            found.push(Change::new(kind, Severity::Informational, text));
        }
    }
    found
}

fn flags(values: &[bool]) -> String {
    if values.is_empty() {
        return "none".to_owned();
    }
    let words: Vec<String> = values.iter().map(ToString::to_string).collect();
    words.join(", ")
}
