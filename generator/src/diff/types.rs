//! Compares structures that the loader reads, and platform types that the generator must know.

use super::report::{Change, Entry, Section, Severity};
use super::view::{View, or_none};
use std::collections::BTreeSet;
use vk_registry::model::{Member, Struct};

pub(super) fn sections(old: &View<'_>, new: &View<'_>) -> Vec<Section> {
    let names: BTreeSet<&str> = old.plan.types.structs.union(&new.plan.types.structs).copied().collect();
    let changed = names.into_iter().filter_map(|name| {
        let (before, after) = (old.registry.structs.get(name)?, new.registry.structs.get(name)?);
        Entry::changed(name, changes(old, new, before, after))
    });
    let kinds = (kinds(old), kinds(new));
    vec![
        Section::new("structures", "changed", "Emitted structures changed", changed.collect()),
        Section::new("types", "added", "Emitted types added", only(&kinds.1, &kinds.0)),
        Section::new("types", "removed", "Emitted types removed", only(&kinds.0, &kinds.1)),
        Section::new("types", "changed", "Emitted types changed", meanings(old, new)),
    ]
}

/// Returns the emitted types, each with its kind.
fn kinds<'a>(view: &View<'a>) -> BTreeSet<(&'a str, &'static str)> {
    let types = &view.plan.types;
    let lists = [
        (&types.structs, "structure"),
        (&types.opaque, "opaque"),
        (&types.enums, "enumeration"),
        (&types.bitmasks, "flags"),
        (&types.base_types, "base type"),
        (&types.aliases, "alias"),
        (&types.function_pointers, "function pointer"),
        (&types.by_value, "type of a platform"),
    ];
    let named = lists
        .into_iter()
        .flat_map(|(names, kind)| names.iter().map(move |name| (*name, kind)));
    named.collect()
}

/// Returns an entry for each type that `there` lacks, or that has another kind in `there`.
fn only(here: &BTreeSet<(&str, &'static str)>, there: &BTreeSet<(&str, &'static str)>) -> Vec<Entry> {
    let entry = |(name, kind): &(&str, &'static str)| Entry::noted(name, Severity::Concerns, "kind", *kind);
    here.difference(there).map(entry).collect()
}

/// Returns the types that both registries emit, and that have changed.
fn meanings(old: &View<'_>, new: &View<'_>) -> Vec<Entry> {
    let meaning = |view: &View<'_>, name: &str| -> Option<String> {
        let registry = view.registry;
        if let Some(base) = registry.base_types.get(name) {
            return Some(or_none(base.target.as_ref()));
        }
        if let Some(target) = registry.type_aliases.get(name) {
            return Some(target.clone());
        }
        let pointer = registry.function_pointers.get(name)?;
        let params: Vec<String> = pointer.params.iter().map(|(name, ty)| format!("{ty} {name}")).collect();
        Some(format!("{}({})", pointer.return_type, params.join(", ")))
    };
    let (before, after) = (kinds(old), kinds(new));
    let both = before.intersection(&after).filter_map(|(name, kind)| {
        let meanings = (meaning(old, name), meaning(new, name));
        let change = Change::between(kind, Severity::Concerns, meanings, |it| or_none(it.as_ref()));
        Entry::changed(name, change.into_iter().collect())
    });
    both.collect()
}

fn changes(old: &View<'_>, new: &View<'_>, before: &Struct, after: &Struct) -> Vec<Change> {
    let layouts = (old.plan.layout(&before.name), new.plan.layout(&after.name));
    let layout = (layouts.0 != layouts.1)
        .then(|| Change::new("layout", Severity::Breaking, "size or offsets of members differ"));
    let extends = (&before.extends, &after.extends);
    let extends = Change::between("extends", Severity::Concerns, extends, |names| names.join(", "));
    let declared = |member: &Member| format!("{} {}", member.ty, member.name);
    let only = |here: &Struct, there: &Struct, what: &str| -> Vec<Change> {
        let there: BTreeSet<String> = there.members.iter().map(declared).collect();
        let members = here
            .members
            .iter()
            .map(declared)
            .filter(|member| !there.contains(member));
        members
            .map(|member| Change::new("members", Severity::Concerns, format!("{what} {member}")))
            .collect()
    };
    let members = only(before, after, "without")
        .into_iter()
        .chain(only(after, before, "with"));
    layout.into_iter().chain(members).chain(extends).collect()
}
