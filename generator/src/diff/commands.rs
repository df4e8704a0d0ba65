//! Compares commands: added, removed, changed, promoted and aliased commands.

use super::notes;
use super::report::{Change, Entry, Section, Severity};
use super::view::{Sides, View, or_none};
use crate::plan;
use vk_registry::model::{CType, Command, Param, Version};

pub(super) fn sections(old: &View<'_>, new: &View<'_>) -> Vec<Section> {
    let sides = Sides::new(&old.registry.commands, &new.registry.commands);
    let list = |commands: &[(&str, &Command)], severity| {
        let entry = |&(name, command): &(&str, &Command)| Entry::noted(name, severity, "about", summary(command));
        commands.iter().map(entry).collect()
    };
    let changed = sides
        .both
        .iter()
        .filter_map(|(name, before, after)| Entry::changed(name, changes(old, new, before, after)));
    let noted = sides
        .both
        .iter()
        .filter_map(|(name, before, after)| Entry::changed(name, notes::annotations(before, after)));
    let advised = sides
        .both
        .iter()
        .filter_map(|(name, before, after)| Entry::changed(name, notes::deprecations(before, after)));
    let promoted = sides.both.iter().filter_map(|(name, before, after)| {
        let changes = [became_alias(before, after), became_core(before.core, after.core)];
        Entry::changed(name, changes.into_iter().flatten().collect())
    });
    vec![
        Section::new(
            "commands",
            "added",
            "Commands added",
            list(&sides.added, Severity::Concerns),
        ),
        Section::new(
            "commands",
            "removed",
            "Commands removed",
            list(&sides.removed, Severity::Breaking),
        ),
        Section::new("commands", "changed", "Commands changed", changed.collect()),
        Section::new(
            "commands",
            "annotations",
            "Commands with other annotations",
            noted.collect(),
        ),
        Section::new(
            "commands",
            "deprecations",
            "Commands with other deprecations",
            advised.collect(),
        ),
        Section::new("promotions", "commands", "Commands promoted", promoted.collect()),
        Section::new("aliases", "added", "Aliases added", aliases(new, old)),
        Section::new("aliases", "removed", "Aliases removed", aliases(old, new)),
    ]
}

/// Describes a command in a line: its level and its providers, and its alias target and platform if it has them.
fn summary(command: &Command) -> String {
    let mut words = vec![format!("level {}", command.level.word())];
    words.extend(command.core.map(|version| format!("core {version}")));
    words.extend(command.providers.iter().map(|provider| provider.extension.clone()));
    words.extend(command.alias.as_ref().map(|target| format!("alias of {target}")));
    words.extend(command.platform.as_ref().map(|platform| format!("platform {platform}")));
    words.join(", ")
}

fn became_alias(before: &Command, after: &Command) -> Option<Change> {
    let target = after.alias.as_ref().filter(|_| before.alias.is_none())?;
    let text = format!("became an alias of {target}");
    Some(Change::new("alias", Severity::Concerns, text))
}

fn became_core(before: Option<Version>, after: Option<Version>) -> Option<Change> {
    let version = after.filter(|_| before.is_none())?;
    let text = format!("became core in {version}");
    Some(Change::new("core", Severity::Concerns, text))
}

/// Lists the aliases of `here` that `there` lacks, or that have another target in `there`.
fn aliases(here: &View<'_>, there: &View<'_>) -> Vec<Entry> {
    let of_there = |name: &str| there.registry.commands.get(name)?.alias.as_ref();
    let here = here.registry.commands.values();
    here.filter_map(|command| Some((command, command.alias.as_ref()?)))
        .filter(|(command, target)| of_there(&command.name) != Some(*target))
        .map(|(command, target)| {
            let text = format!("alias of {target}");
            Entry::noted(&command.name, Severity::Concerns, "alias", text)
        })
        .collect()
}

/// Lists the changes to a command that both registries have (GEN-91).
fn changes(old: &View<'_>, new: &View<'_>, before: &Command, after: &Command) -> Vec<Change> {
    use Severity::{Concerns, Informational};
    let mut found = abi(old, new, before, after);
    found.extend(spelling(before, after));
    let core = Change::between("core", Concerns, (before.core, after.core), |core| {
        or_none(core.as_ref())
    });
    found.extend(core);
    let aliases = (before.alias.as_deref(), after.alias.as_deref());
    found.extend(Change::between("alias", Concerns, aliases, |it| or_none(it.as_ref())));
    let names = |command: &Command| -> Vec<String> {
        let names = command.providers.iter().map(|provider| provider.extension.clone());
        names.collect()
    };
    let providers = (names(before), names(after));
    found.extend(Change::between("providers", Concerns, providers, |it| listed(it)));
    found.extend(conditions(before, after));
    let platforms = (before.platform.as_deref(), after.platform.as_deref());
    found.extend(Change::between("platform", Concerns, platforms, |it| {
        or_none(it.as_ref())
    }));
    let export = (before.export, after.export);
    found.extend(Change::between("export", Informational, export, ToString::to_string));
    found.sort_by_key(|change| std::cmp::Reverse(change.severity));
    found
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

/// Lists changes to the calling convention of a command. Each change breaks programs that were compiled for the old header.
fn abi(old: &View<'_>, new: &View<'_>, before: &Command, after: &Command) -> Vec<Change> {
    let change = |text: String| Change::new("abi", Severity::Breaking, text);
    let mut found = Vec::new();
    if before.level != after.level {
        found.push(change(format!(
            "level: {} -> {}",
            before.level.word(),
            after.level.word()
        )));
    }
    if before.params.len() != after.params.len() {
        let (before, after) = (before.params.len(), after.params.len());
        found.push(change(format!("number of arguments: {before} -> {after}")));
    }
    for (number, (param_before, param_after)) in before.params.iter().zip(&after.params).enumerate() {
        let class_before = plan::class(old.registry, old.policy, &param_before.ty);
        let class_after = plan::class(new.registry, new.policy, &param_after.ty);
        if class_before != class_after {
            let name = &param_after.name;
            found.push(change(format!(
                "argument {} ({name}): {class_before} -> {class_after}",
                number + 1
            )));
        }
    }
    let class_of = |view: &View<'_>, command: &Command| {
        let parsed = command.return_type.parse::<CType>();
        parsed.map_or_else(
            |_| command.return_type.clone(),
            |ty| plan::class(view.registry, view.policy, &ty),
        )
    };
    let (returned_before, returned_after) = (class_of(old, before), class_of(new, after));
    if returned_before != returned_after {
        found.push(change(format!("returns: {returned_before} -> {returned_after}")));
    }
    found
}

/// Lists changes to the text of a command's parameters and return type, and to the attribute `objecttype` of parameters.
fn spelling(before: &Command, after: &Command) -> Vec<Change> {
    let change = |text: String| Change::new("spelling", Severity::Informational, text);
    let mut found = Vec::new();
    for (number, (before, after)) in before.params.iter().zip(&after.params).enumerate() {
        let number = number + 1;
        let declared = |param: &Param| format!("{} {}", param.ty, param.name);
        if declared(before) != declared(after) {
            found.push(change(format!(
                "argument {number}: {} -> {}",
                declared(before),
                declared(after)
            )));
        }
        let kinds = (before.object_type.as_ref(), after.object_type.as_ref());
        let kinds = Change::between("objecttype", Severity::Concerns, kinds, |it| or_none(it.as_ref()));
        found.extend(kinds.map(|it| Change::new(it.kind, it.severity, format!("argument {number}, {}", it.text))));
    }
    if before.return_type != after.return_type {
        found.push(change(format!(
            "returns: {} -> {}",
            before.return_type, after.return_type
        )));
    }
    found
}

/// Lists changes to the conditions of providers that both registries have. No look-up depends on conditions (GEN-32).
fn conditions(before: &Command, after: &Command) -> Vec<Change> {
    let pairs = before.providers.iter().filter_map(|old| {
        let new = after.providers.iter().find(|new| new.extension == old.extension)?;
        (old.depends != new.depends).then_some((old, new))
    });
    let text = |(old, new): (&vk_registry::model::Provider, &vk_registry::model::Provider)| {
        let (before, after) = (or_none(old.depends.as_ref()), or_none(new.depends.as_ref()));
        format!("{}: {before} -> {after}", old.extension)
    };
    pairs
        .map(|pair| Change::new("conditions", Severity::Informational, text(pair)))
        .collect()
}
