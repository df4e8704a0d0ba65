//! Prints the facts of the registry and the decisions of the plan as JSON (GEN-60).

use crate::plan::{CommandPlan, DeviceGate, Gate, Plan};
use serde::Serialize;
use std::collections::BTreeMap;
use vk_registry::model::{ExtensionKind, Level};

#[derive(Serialize)]
struct Dump<'a> {
    header_version: String,
    commands: Vec<Command<'a>>,
    extensions: Vec<Extension<'a>>,
    handles: Vec<Handle<'a>>,
    platforms: Vec<Platform<'a>>,
    core_versions: Vec<String>,
    reserved_extensions: Vec<&'a str>,
    unlisted_commands: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Command<'a> {
    name: &'a str,
    level: &'static str,
    first_handle: Option<&'a str>,
    core: Option<String>,
    extensions: Vec<&'a str>,
    depends: BTreeMap<&'a str, Option<&'a str>>,
    alias: Option<&'a str>,
    platform: Option<&'a str>,
    params: Vec<String>,
    param_names: Vec<&'a str>,
    return_type: &'a str,
    export: bool,
    lookup: Lookup<'a>,
    special: Vec<&'static str>,
    /// Name of the command whose trampoline serves this command.
    trampoline: &'a str,
    /// Name of the command whose terminator serves this command.
    terminator: Option<&'a str>,
    /// Condition under which a device's look-up returns the terminator.
    device_lookup: Lookup<'a>,
    /// The command's slot number in each table that contains it.
    slots: BTreeMap<&'static str, usize>,
}

/// Condition under which a look-up returns a function.
#[derive(Serialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
enum Lookup<'a> {
    Always,
    Core { version: String },
    Extensions { any: &'a [&'a str] },
}

#[derive(Serialize)]
struct Extension<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    platform: Option<&'a str>,
    provisional: bool,
    promoted_to: Option<&'a str>,
    deprecated_by: Option<&'a str>,
    obsoleted_by: Option<&'a str>,
    depends: Option<&'a str>,
    spec_version: u32,
}

#[derive(Serialize)]
struct Handle<'a> {
    name: &'a str,
    dispatchable: bool,
    parent: Option<&'a str>,
    object_type: &'a str,
    aliases: Vec<&'a str>,
}

#[derive(Serialize)]
struct Platform<'a> {
    name: &'a str,
    protect: &'a str,
}

/// Returns the dump as indented JSON.
pub fn json(plan: &Plan<'_>) -> String {
    let registry = plan.registry;
    let dump = Dump {
        header_version: registry.header.to_string(),
        commands: commands(plan),
        extensions: registry.extensions.values().map(extension).collect(),
        handles: registry
            .handles
            .values()
            .map(|handle| self::handle(plan, handle))
            .collect(),
        platforms: registry
            .platforms
            .values()
            .map(|platform| Platform {
                name: &platform.name,
                protect: &platform.protect,
            })
            .collect(),
        core_versions: registry.core_versions.iter().map(ToString::to_string).collect(),
        reserved_extensions: registry.reserved_extensions.iter().map(String::as_str).collect(),
        unlisted_commands: &registry.unlisted_commands,
    };
    // Serializing strings and numbers into memory cannot fail.
    serde_json::to_string_pretty(&dump).unwrap_or_default()
}

/// Numbers of slots by table and command.
type Slots<'a> = BTreeMap<&'a str, BTreeMap<&'static str, usize>>;

fn slots<'a>(plan: &'a Plan<'a>) -> Slots<'a> {
    let mut slots = Slots::new();
    let mut number = |table: &'static str, commands: &mut dyn Iterator<Item = &'a CommandPlan<'a>>| {
        for (slot, command) in commands.enumerate() {
            slots.entry(&command.command.name).or_default().insert(table, slot);
        }
    };
    number("instance", &mut plan.instance_table());
    number("device", &mut plan.device_table());
    number("driver", &mut plan.driver_table());
    number("device_terminator", &mut plan.device_terminator_table());
    slots
}

fn commands<'a>(plan: &'a Plan<'a>) -> Vec<Command<'a>> {
    let slots = slots(plan);
    plan.commands.iter().map(|it| command(it, &slots)).collect()
}

fn command<'a>(plan: &'a CommandPlan<'a>, slots: &Slots<'a>) -> Command<'a> {
    let command = plan.command;
    let device_lookup = match &plan.device_gate {
        DeviceGate::Always => Lookup::Always,
        DeviceGate::Device(extensions) | DeviceGate::Instance(extensions) => Lookup::Extensions { any: extensions },
    };
    let lookup = match (&plan.gate, command.core) {
        (Gate::Instance(extensions), _) => Lookup::Extensions { any: extensions },
        (Gate::Always, Some(version)) if command.level != Level::Global => Lookup::Core {
            version: version.to_string(),
        },
        (Gate::Always, _) => Lookup::Always,
    };
    let provider =
        |provider: &'a vk_registry::model::Provider| (provider.extension.as_str(), provider.depends.as_deref());
    let depends: BTreeMap<&str, Option<&str>> = command.providers.iter().map(provider).collect();
    Command {
        name: &command.name,
        level: command.level.word(),
        first_handle: command.first_handle.as_deref(),
        core: command.core.map(|version| version.to_string()),
        extensions: depends.keys().copied().collect(),
        depends,
        alias: command.alias.as_deref(),
        platform: command.platform.as_deref(),
        params: command.params.iter().map(|param| param.ty.to_string()).collect(),
        param_names: command.params.iter().map(|param| param.name.as_str()).collect(),
        return_type: &command.return_type,
        export: command.export,
        lookup,
        special: plan.special.iter().map(|reason| reason.word()).collect(),
        trampoline: plan.trampoline(),
        terminator: plan.terminator(),
        device_lookup,
        slots: slots.get(command.name.as_str()).cloned().unwrap_or_default(),
    }
}

fn extension(extension: &vk_registry::model::Extension) -> Extension<'_> {
    Extension {
        name: &extension.name,
        kind: match extension.kind {
            ExtensionKind::Instance => "instance",
            ExtensionKind::Device => "device",
        },
        platform: extension.platform.as_deref(),
        provisional: extension.provisional,
        promoted_to: extension.promoted_to.as_deref(),
        deprecated_by: extension.deprecated_by.as_deref(),
        obsoleted_by: extension.obsoleted_by.as_deref(),
        depends: extension.depends.as_deref(),
        spec_version: extension.spec_version,
    }
}

fn handle<'a>(plan: &Plan<'a>, handle: &'a vk_registry::model::Handle) -> Handle<'a> {
    let aliases = plan
        .registry
        .type_aliases
        .iter()
        .filter(|(_, target)| **target == handle.name);
    Handle {
        name: &handle.name,
        dispatchable: handle.dispatchable,
        parent: handle.parent.as_deref(),
        object_type: &handle.object_type,
        aliases: aliases.map(|(alias, _)| alias.as_str()).collect(),
    }
}
