//! Explains a command.

use super::facts::Facts;
use super::places::Places;
use crate::plan::{CommandPlan, DeviceGate, Export, Gate, Plan};
use crate::policy::{End, Entry};
use vk_registry::model::{Command, Level};

pub(super) fn tell(plan: &Plan<'_>, command: &CommandPlan<'_>, places: &Places<'_>, facts: &mut Facts) {
    let fact = command.command;
    facts.add("kind", "command");
    registry(plan, fact, facts);
    facts.add("exported", exported(&command.export));
    facts.add("lookup", lookup(command));
    class(command, facts);
    facts.lines("trampoline", &trampoline(command, places));
    facts.lines("terminator", &terminator(command, places));
    let slots = places.slots(&fact.name);
    if slots.is_empty() {
        facts.add("slots", "none: it is not found through a table")
    } else {
        facts.lines("slots", &slots)
    }
    facts.lines("lookup row", &places.lookup_row(&fact.name));
}

fn registry(plan: &Plan<'_>, command: &Command, facts: &mut Facts) {
    let handle = command
        .first_handle
        .as_deref()
        .filter(|_| command.level != Level::Global);
    let dispatch = handle.map_or("no dispatchable object".to_owned(), |handle| {
        format!("dispatched on {handle}")
    });
    facts.add("level", format!("{}, {dispatch}", command.level.word()));
    facts.optional("core", command.core.map(|version| format!("since {version}")));
    let providers: Vec<String> = command
        .providers
        .iter()
        .map(|provider| match &provider.depends {
            Some(depends) => format!("{} if {depends}", provider.extension),
            None => provider.extension.clone(),
        })
        .collect();
    facts.lines("extensions", &providers);
    facts.optional("platform", command.platform.as_ref());
    facts.optional("alias of", command.alias.as_ref());
    let aliases = plan.registry.commands.values();
    let aliases: Vec<&String> = aliases
        .filter(|other| other.alias.as_ref() == Some(&command.name))
        .map(|other| &other.name)
        .collect();
    facts.lines("aliases", &aliases);
    let deprecations: Vec<String> = command
        .deprecations
        .iter()
        .map(|it| match &it.superseded_by {
            Some(other) => format!("by {}, in favour of {other}", it.by),
            None => format!("by {}", it.by),
        })
        .collect();
    facts.lines("deprecated", &deprecations);
    let params: Vec<String> = command
        .params
        .iter()
        .map(|param| format!("    {} {}", param.ty, param.name))
        .collect();
    let prototype = format!("{} {}(\n{})", command.return_type, command.name, params.join(",\n"));
    facts.add("prototype", prototype);
}

fn exported(export: &Export<'_>) -> String {
    match export {
        Export::No => "no".to_owned(),
        Export::Everywhere => "on every target".to_owned(),
        Export::Where(cfg, _) => format!("where {cfg}"),
    }
}

fn lookup(command: &CommandPlan<'_>) -> String {
    let instance = match &command.gate {
        Gate::Instance(extensions) => format!("if the instance has {}", extensions.join(" or ")),
        Gate::Always => match command.command.core {
            Some(version) => format!("always; core since {version}"),
            None => "always: what a device has is not known to an instance".to_owned(),
        },
    };
    if command.command.level != Level::Device {
        return format!("by instance: {instance}");
    }
    let terminator = match &command.device_gate {
        _ if !command.has_terminator() => "the driver's function".to_owned(),
        DeviceGate::Always => "the terminator".to_owned(),
        DeviceGate::Device(names) => format!("the terminator if the device has {}", names.join(" or ")),
        DeviceGate::Instance(names) => format!("the terminator if the instance has {}", names.join(" or ")),
    };
    format!("by instance: {instance}\nby device, at the end of the chain: {terminator}")
}

fn class(command: &CommandPlan<'_>, facts: &mut Facts) {
    if command.special.is_empty() {
        let how = match command.command.level {
            Level::Device => "pass-through: the trampoline jumps through the device's table",
            _ => "ordinary: trampoline and terminator are generated",
        };
        facts.add("class", how);
        return;
    }
    let mut lines = vec!["special".to_owned()];
    for (reason, steps) in &command.facts {
        lines.push(reason.sentence().to_owned());
        lines.extend(steps.iter().map(|step| format!("    {step}")));
    }
    facts.lines("class", &lines);
    facts.optional("reason", command.reason);
    let absent = command
        .absent
        .map(|absent| format!("{} when the driver lacks it", absent.value));
    facts.optional("returns", absent);
    if command.null_tolerant {
        facts.add(
            "when absent",
            "a call does nothing instead of ending the process (GEN-51)",
        );
    }
}

fn trampoline(command: &CommandPlan<'_>, places: &Places<'_>) -> Vec<String> {
    let name = command.trampoline();
    let how = match command.entry {
        Entry::Generated => "generated".to_owned(),
        Entry::OutputHandles => "generated; gives returned objects their dispatch pointer".to_owned(),
        Entry::Shared => format!("that of {name}"),
        Entry::Handwritten => "hand-written".to_owned(),
    };
    let mut lines = vec![how];
    lines.extend(places.functions("trampoline/", name));
    if command.entry == Entry::Handwritten {
        lines.extend(places.body("entry", name));
    }
    lines
}

fn terminator(command: &CommandPlan<'_>, places: &Places<'_>) -> Vec<String> {
    let Some(name) = command.terminator() else {
        return vec![match command.command.level {
            Level::Global => "none: before there is an instance, the loader itself is the end".to_owned(),
            _ => "none: the chain ends in the driver".to_owned(),
        }];
    };
    let how = match command.end {
        End::Shared => format!("that of {name}"),
        End::Handwritten => "hand-written".to_owned(),
        End::Generated | End::None => "generated".to_owned(),
    };
    let mut lines = vec![how];
    lines.extend(places.functions("terminator/", name));
    if command.end == End::Handwritten {
        lines.extend(places.body("terminator", name));
    }
    lines
}
