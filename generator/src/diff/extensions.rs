//! Compares extensions, platforms and core versions.

use super::report::{Change, Entry, Section, Severity};
use super::view::{Sides, View, or_none};
use std::collections::BTreeSet;
use vk_registry::model::{Extension, ExtensionKind, Platform};

pub(super) fn sections(old: &View<'_>, new: &View<'_>) -> Vec<Section> {
    let sides = Sides::new(&old.registry.extensions, &new.registry.extensions);
    let (was_reserved, is_reserved) = (&old.registry.reserved_extensions, &new.registry.reserved_extensions);
    let (enabled, added) = split(&sides.added, was_reserved);
    let (disabled, removed) = split(&sides.removed, is_reserved);
    let both = || sides.both.iter();
    let changed = both().filter_map(|(name, before, after)| Entry::changed(name, changes(before, after)));
    let promoted = both().filter_map(|(name, before, after)| Entry::changed(name, promotion(before, after)));
    let mut sections = vec![
        Section::new("extensions", "added", "Extensions added", added),
        Section::new("extensions", "removed", "Extensions removed", removed),
        Section::new("extensions", "changed", "Extensions changed", changed.collect()),
        Section::new("extensions", "enabled", "Extensions enabled from disabled", enabled),
        Section::new("extensions", "disabled", "Extensions newly disabled", disabled),
        Section::new(
            "extensions",
            "reserved",
            "Extension names newly reserved",
            names_only(is_reserved.difference(was_reserved), &old.registry.extensions),
        ),
        Section::new(
            "extensions",
            "unreserved",
            "Extension names no longer reserved",
            names_only(was_reserved.difference(is_reserved), &new.registry.extensions),
        ),
        Section::new("promotions", "extensions", "Extensions promoted", promoted.collect()),
    ];
    sections.extend(platforms(old, new));
    sections.extend(versions(old, new));
    sections
}

/// Splits extensions into two lists: the extensions whose names the other registry reserves (`reserved`), and all others.
fn split(extensions: &[(&str, &Extension)], reserved: &BTreeSet<String>) -> (Vec<Entry>, Vec<Entry>) {
    let entry =
        |&(name, extension): &(&str, &Extension)| Entry::noted(name, Severity::Concerns, "about", summary(extension));
    let (inside, outside): (Vec<_>, Vec<_>) = extensions.iter().partition(|(name, _)| reserved.contains(*name));
    (inside.iter().map(entry).collect(), outside.iter().map(entry).collect())
}

fn summary(extension: &Extension) -> String {
    let mut words = vec![
        word(extension.kind).to_owned(),
        format!("version {}", extension.spec_version),
    ];
    words.extend(
        extension
            .platform
            .as_ref()
            .map(|platform| format!("platform {platform}")),
    );
    if extension.provisional {
        words.push("provisional".to_owned());
    }
    words.extend(
        extension
            .promoted_to
            .as_ref()
            .map(|target| format!("promoted to {target}")),
    );
    words.join(", ")
}

const fn word(kind: ExtensionKind) -> &'static str {
    match kind {
        ExtensionKind::Instance => "instance extension",
        ExtensionKind::Device => "device extension",
    }
}

/// Returns an entry for each reserved extension name that is not in `supported`, the extensions of the other registry. Another section
/// lists the names that became supported.
fn names_only<'a>(
    names: impl Iterator<Item = &'a String>,
    supported: &std::collections::BTreeMap<String, Extension>,
) -> Vec<Entry> {
    names
        .filter(|name| !supported.contains_key(*name))
        .map(|name| Entry::new(name, Severity::Informational, Vec::new()))
        .collect()
}

fn changes(before: &Extension, after: &Extension) -> Vec<Change> {
    use Severity::{Breaking, Concerns, Informational};
    let text = |value: &Option<&String>| or_none(value.as_ref());
    let optional = |kind, severity, old: &'_ Option<String>, new: &'_ Option<String>| {
        Change::between(kind, severity, (old.as_ref(), new.as_ref()), text)
    };
    [
        Change::between("type", Breaking, (before.kind, after.kind), |kind| {
            word(*kind).to_owned()
        }),
        Change::between("number", Breaking, (before.number, after.number), ToString::to_string),
        optional("platform", Concerns, &before.platform, &after.platform),
        Change::between(
            "provisional",
            Concerns,
            (before.provisional, after.provisional),
            ToString::to_string,
        ),
        Change::between(
            "version",
            Concerns,
            (before.spec_version, after.spec_version),
            ToString::to_string,
        ),
        optional("promoted to", Concerns, &before.promoted_to, &after.promoted_to),
        optional("depends", Informational, &before.depends, &after.depends),
        optional(
            "deprecated by",
            Informational,
            &before.deprecated_by,
            &after.deprecated_by,
        ),
        optional("obsoleted by", Informational, &before.obsoleted_by, &after.obsoleted_by),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Lists the changes of `promotedto`, which are independent of aliases of commands (GEN-36).
fn promotion(before: &Extension, after: &Extension) -> Vec<Change> {
    let targets = (before.promoted_to.as_ref(), after.promoted_to.as_ref());
    let change = Change::between("promoted to", Severity::Concerns, targets, |it| or_none(it.as_ref()));
    change.into_iter().collect()
}

fn platforms(old: &View<'_>, new: &View<'_>) -> [Section; 3] {
    let sides = Sides::new(&old.registry.platforms, &new.registry.platforms);
    let list = |platforms: &[(&str, &Platform)]| {
        let entry = |(name, platform): &(&str, &Platform)| {
            Entry::noted(name, Severity::Concerns, "about", format!("macro {}", platform.protect))
        };
        platforms.iter().map(entry).collect()
    };
    let changed = sides.both.iter().filter_map(|(name, before, after)| {
        let values = (&before.protect, &after.protect);
        let change = Change::between("macro", Severity::Concerns, values, ToString::to_string);
        Entry::changed(name, change.into_iter().collect())
    });
    [
        Section::new("platforms", "added", "Platforms added", list(&sides.added)),
        Section::new("platforms", "removed", "Platforms removed", list(&sides.removed)),
        Section::new("platforms", "changed", "Platforms changed", changed.collect()),
    ]
}

fn versions(old: &View<'_>, new: &View<'_>) -> [Section; 2] {
    let only = |here: &View<'_>, there: &View<'_>, severity| {
        let versions = here.registry.core_versions.difference(&there.registry.core_versions);
        versions
            .map(|version| Entry::new(&version.to_string(), severity, Vec::new()))
            .collect()
    };
    [
        Section::new(
            "core_versions",
            "added",
            "Core versions added",
            only(new, old, Severity::Concerns),
        ),
        Section::new(
            "core_versions",
            "removed",
            "Core versions removed",
            only(old, new, Severity::Breaking),
        ),
    ]
}
