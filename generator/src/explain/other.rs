//! Explains extensions, handles and other types.

use super::facts::Facts;
use crate::plan::Plan;
use crate::text::counted;
use vk_registry::model::{Command, Extension, ExtensionKind, Handle, Level};

pub(super) fn extension(plan: &Plan<'_>, extension: &Extension, facts: &mut Facts) {
    let kind = match extension.kind {
        ExtensionKind::Instance => "instance extension; the loader filters these by its table",
        ExtensionKind::Device => "device extension; the loader passes these on",
    };
    facts.add("kind", kind);
    facts.add("number", extension.number.to_string());
    facts.add("version", extension.spec_version.to_string());
    facts.optional("platform", extension.platform.as_ref());
    if extension.provisional {
        facts.add("provisional", "yes");
    }
    facts.optional("depends", extension.depends.as_ref());
    facts.optional("promoted to", extension.promoted_to.as_ref());
    let deprecated = extension.deprecated_by.as_deref();
    facts.optional(
        "deprecated by",
        deprecated.map(|by| if by.is_empty() { "no successor" } else { by }),
    );
    facts.optional("obsoleted by", extension.obsoleted_by.as_ref());
    if plan.policy.implemented_extensions.contains(&extension.name) {
        facts.add("loader", "implements its instance-level commands (S7)");
    }
    if plan.policy.exports.extensions.contains(&extension.name) {
        facts.add(
            "exported",
            "its commands are exported symbols where its platform is built (GEN-53)",
        );
    }
    let provided = |command: &&Command| command.providers.iter().any(|it| it.extension == extension.name);
    let commands: Vec<String> = plan.registry.commands.values().filter(provided).map(brief).collect();
    facts.lines("commands", &commands);
}

pub(super) fn handle(plan: &Plan<'_>, handle: &Handle, facts: &mut Facts) {
    let kind = if handle.dispatchable {
        "dispatchable handle"
    } else {
        "handle"
    };
    facts.add("kind", kind);
    facts.optional("parent", handle.parent.as_ref());
    facts.add("object type", &handle.object_type);
    let aliases = plan.registry.type_aliases.iter();
    let aliases: Vec<&String> = aliases
        .filter(|(_, target)| **target == handle.name)
        .map(|(alias, _)| alias)
        .collect();
    facts.lines("aliases", &aliases);
    if plan.types.is_wrapped(&handle.name) {
        facts.add(
            "loader",
            "wraps it: applications, layers and drivers hold different objects",
        );
    }
    let commands = plan.registry.commands.values();
    if handle.dispatchable {
        let dispatched = |command: &&Command| {
            command.level != Level::Global && command.first_handle.as_deref() == Some(handle.name.as_str())
        };
        facts.add(
            "commands",
            counted(
                commands.filter(dispatched).count(),
                "is dispatched on it",
                "are dispatched on it",
            ),
        );
    } else {
        let taken = |command: &&Command| command.params.iter().any(|param| param.ty.base == handle.name);
        let names: Vec<String> = commands.filter(taken).map(brief).collect();
        facts.lines("commands", &names);
    }
}

fn brief(command: &Command) -> String {
    format!("{} ({})", command.name, command.level.word())
}

/// Returns the kind of type that a name denotes, and how the generator emits the type.
pub(super) fn type_kind(plan: &Plan<'_>, name: &str) -> Option<String> {
    let registry = plan.registry;
    let kinds = [
        ("structure or union", registry.structs.contains_key(name)),
        ("enumeration", registry.enums.contains_key(name)),
        ("flags", registry.bitmasks.contains_key(name)),
        ("base type", registry.base_types.contains_key(name)),
        ("function pointer", registry.function_pointers.contains_key(name)),
        ("constant", registry.constants.contains_key(name)),
        ("type of a platform header", registry.platform_types.contains_key(name)),
    ];
    let (kind, _) = kinds.into_iter().find(|(_, holds)| *holds)?;
    let types = &plan.types;
    let how = if types.structs.contains(name) {
        ", emitted with its members"
    } else if types.opaque.contains(name) {
        ", emitted as an opaque type"
    } else {
        ""
    };
    Some(format!("{kind}{how}"))
}
