//! Explains a name: prints all facts about it, and the lines of the registry that define it (GEN-2).

mod command;
mod facts;
mod other;
mod places;

use crate::command_line::Options;
use crate::error::Error;
use crate::plan::Plan;
use crate::policy::PolicyFile;
use facts::Facts;
use places::Places;

/// Explains a command, an extension, a handle or another name of the registry.
///
/// `policy` contains the texts from which the policy of the plan was read, for line numbers.
pub fn explain(options: &Options, plan: &Plan<'_>, policy: &[PolicyFile], name: &str) -> Result<String, Error> {
    let places = Places::new(options, plan, policy)?;
    let mut facts = Facts::new(name);
    let registry = plan.registry;
    if let Some(command) = plan.command(name) {
        command::tell(plan, command, &places, &mut facts);
    } else if let Some(reason) = registry.unlisted_commands.get(name) {
        facts.add("kind", "command that reaches no table");
        facts.add("why", reason);
    } else if let Some(extension) = registry.extensions.get(name) {
        other::extension(plan, extension, &mut facts);
    } else if registry.reserved_extensions.contains(name) {
        facts.add("kind", "disabled extension: a name only, it provides nothing");
    } else if let Some(handle) = registry.handles.get(name) {
        other::handle(plan, handle, &mut facts);
    } else if let Some(target) = registry.type_aliases.get(name) {
        facts.add("kind", format!("type, alias of {target}"));
    } else if let Some(kind) = other::type_kind(plan, name) {
        facts.add("kind", kind);
    } else if places.mentions(name).is_empty() {
        return Err(unknown(plan, name));
    } else {
        facts.add("kind", "a name that the registry mentions and the loader does not use");
    }
    facts.lines("policy", &places.policy(name));
    facts.lines("snapshot", &places.snapshot(name));
    if places.has_xml() {
        facts.lines("XML", &places.mentions(name));
    } else {
        facts.add(
            "XML",
            "not fetched; `make registry` brings it, and with it the lines that say all this",
        );
    }
    Ok(facts.finish())
}

/// Upper bound on the number of similar names that the error for an unknown name suggests.
const SUGGESTIONS: usize = 8;

fn unknown(plan: &Plan<'_>, name: &str) -> Error {
    let wanted = name.to_lowercase();
    let registry = plan.registry;
    let names = registry
        .commands
        .keys()
        .chain(registry.extensions.keys())
        .chain(registry.handles.keys());
    let close: Vec<&str> = names
        .filter(|known| known.to_lowercase().contains(&wanted))
        .take(SUGGESTIONS)
        .map(String::as_str)
        .collect();
    let hint = if close.is_empty() {
        String::new()
    } else {
        format!("; is it one of {}?", close.join(", "))
    };
    Error::Usage(format!("vkgen: nothing is known of {name:?}{hint}"))
}
