//! Counts the items of each kind in both registries.

use super::report::Count;
use super::view::View;
use vk_registry::model::{ExtensionKind, Level};

/// Returns the numbers of commands for each level, and the numbers of other items.
pub(super) fn counts(old: &View<'_>, new: &View<'_>) -> Vec<Count> {
    type Counter = fn(&View<'_>) -> usize;
    fn level(view: &View<'_>, level: Level) -> usize {
        view.registry
            .commands
            .values()
            .filter(|command| command.level == level)
            .count()
    }
    fn kind(view: &View<'_>, kind: ExtensionKind) -> usize {
        view.registry.extensions.values().filter(|it| it.kind == kind).count()
    }
    let counters: [(&str, Counter); 13] = [
        ("commands", |view| view.registry.commands.len()),
        ("global commands", |view| level(view, Level::Global)),
        ("instance commands", |view| level(view, Level::Instance)),
        ("physical-device commands", |view| level(view, Level::PhysicalDevice)),
        ("device commands", |view| level(view, Level::Device)),
        ("core commands", |view| {
            view.registry
                .commands
                .values()
                .filter(|command| command.core.is_some())
                .count()
        }),
        ("aliases", |view| {
            view.registry
                .commands
                .values()
                .filter(|command| command.alias.is_some())
                .count()
        }),
        ("special commands", |view| {
            view.plan
                .commands
                .iter()
                .filter(|command| !command.special.is_empty())
                .count()
        }),
        ("instance extensions", |view| kind(view, ExtensionKind::Instance)),
        ("device extensions", |view| kind(view, ExtensionKind::Device)),
        ("reserved extensions", |view| view.registry.reserved_extensions.len()),
        ("handles", |view| view.registry.handles.len()),
        ("dispatchable handles", |view| {
            view.registry
                .handles
                .values()
                .filter(|handle| handle.dispatchable)
                .count()
        }),
    ];
    counters
        .into_iter()
        .map(|(what, count)| Count {
            what,
            old: count(old),
            new: count(new),
        })
        .collect()
}
