//! Structures that the loader looks into, and platform types that it would have to know.

use super::View;
use super::report::{Change, Entry, Section, Severity};
use std::collections::BTreeSet;
use vk_registry::model::{Member, Struct};

pub(super) fn sections(old: &View<'_>, new: &View<'_>) -> Vec<Section> {
    let names: BTreeSet<&str> = old.plan.types.structs.union(&new.plan.types.structs).copied().collect();
    let changed = names.into_iter().filter_map(|name| {
        let (before, after) = (old.registry.structs.get(name)?, new.registry.structs.get(name)?);
        Entry::changed(name, changes(old, new, before, after))
    });
    vec![Section::new(
        "structures",
        "changed",
        "Emitted structures changed",
        changed.collect(),
    )]
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
