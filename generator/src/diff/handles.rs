//! Compares handle types.

use super::report::{Change, Entry, Section, Severity};
use super::view::{Sides, View, or_none};
use vk_registry::model::Handle;

pub(super) fn sections(old: &View<'_>, new: &View<'_>) -> Vec<Section> {
    let sides = Sides::new(&old.registry.handles, &new.registry.handles);
    let list = |handles: &[(&str, &Handle)]| {
        let entry = |(name, handle): &(&str, &Handle)| Entry::noted(name, Severity::Concerns, "about", summary(handle));
        handles.iter().map(entry).collect()
    };
    let changed = sides
        .both
        .iter()
        .filter_map(|(name, before, after)| Entry::changed(name, changes(before, after)));
    vec![
        Section::new("handles", "added", "Handles added", list(&sides.added)),
        Section::new("handles", "removed", "Handles removed", list(&sides.removed)),
        Section::new("handles", "changed", "Handles changed", changed.collect()),
    ]
}

/// Describes a handle. A reviewer must notice every new dispatchable handle.
fn summary(handle: &Handle) -> String {
    let kind = if handle.dispatchable {
        "DISPATCHABLE"
    } else {
        "not dispatchable"
    };
    let parent = or_none(handle.parent.as_ref());
    format!("{kind}, parent {parent}, {}", handle.object_type)
}

fn changes(before: &Handle, after: &Handle) -> Vec<Change> {
    use Severity::{Breaking, Concerns};
    let parents = (before.parent.as_ref(), after.parent.as_ref());
    [
        Change::between(
            "dispatchable",
            Breaking,
            (before.dispatchable, after.dispatchable),
            ToString::to_string,
        ),
        Change::between("parent", Concerns, parents, |parent| or_none(parent.as_ref())),
        Change::between(
            "object type",
            Concerns,
            (&before.object_type, &after.object_type),
            ToString::to_string,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}
