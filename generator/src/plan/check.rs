//! Checks that registry and policy fit together (GEN-70, GEN-83).

use super::command::CommandPlan;
use super::problem::{Advice, Code, Problem, Problems};
use super::reach::resolve;
use super::types::TypePlan;
use super::{output, review};
use crate::names;
use crate::policy::{End, Entry, Policy, Treatment};
use std::collections::{BTreeMap, BTreeSet};
use vk_registry::model::{Command, Level, Param, Registry};

/// Checks that the registry knows all names in the policy.
pub(super) fn names(registry: &Registry, policy: &Policy, problems: &mut Problems) {
    let commands: [(&str, Vec<&String>); 2] = [
        ("lifecycle", policy.lifecycle.iter().collect()),
        ("gate", policy.gates.iter().flat_map(|row| &row.commands).collect()),
    ];
    let mut unknown = |list: &str, kind: &str, name: &String| {
        problems.push(Problem::new(
            Code::UnknownName,
            name,
            format!("{list}: there is no such {kind}"),
        ));
    };
    for (list, names) in commands {
        for name in names.into_iter().filter(|name| !registry.commands.contains_key(*name)) {
            unknown(list, "command", name);
        }
    }
    for name in policy
        .wrapped_handles
        .iter()
        .filter(|name| !registry.handles.contains_key(*name))
    {
        unknown("wrapped-handles", "handle", name);
    }
    for name in policy
        .platforms
        .keys()
        .filter(|name| !registry.platforms.contains_key(*name))
    {
        unknown("platforms", "platform", name);
    }
    for name in policy
        .types
        .copied_chains
        .iter()
        .filter(|name| !registry.structs.contains_key(*name))
    {
        unknown("copied-chains", "structure", name);
    }
    let required = policy
        .treatments
        .iter()
        .filter_map(|row| row.absent.as_ref()?.requires.as_ref());
    let mentioned = policy.treatments.iter().flat_map(|row| &row.needs).chain(required);
    for name in mentioned.filter(|name| !registry.extensions.contains_key(*name)) {
        unknown("treatment", "extension", name);
    }
}

/// Checks the structure types that the policy lists. Each must exist in the registry, and must not be the `sType` of an emitted structure.
pub(super) fn structure_types(registry: &Registry, policy: &Policy, types: &TypePlan<'_>, problems: &mut Problems) {
    let enumerants = registry.enums.values().flat_map(|found| &found.enumerants);
    let known: BTreeSet<&str> = enumerants.map(|enumerant| enumerant.name.as_str()).collect();
    let brought = types.member_values();
    for name in &policy.types.structure_types {
        if !known.contains(name.as_str()) {
            let text = "structure-types: there is no such enumerant";
            problems.push(Problem::new(Code::UnknownName, name, text));
        } else if brought.contains(name.as_str()) {
            let text = "structure-types: an emitted structure brings it along";
            problems.push(Problem::new(Code::Stale, name, text));
        }
    }
}

/// Returns the treatment of each command that the policy treats.
pub(super) fn treatments<'a>(
    registry: &Registry,
    policy: &'a Policy,
    problems: &mut Problems,
) -> BTreeMap<&'a str, &'a Treatment> {
    let mut rows = BTreeMap::new();
    for treatment in &policy.treatments {
        for name in &treatment.commands {
            if !registry.commands.contains_key(name) {
                problems.push(Problem::new(
                    Code::Stale,
                    name,
                    "has a treatment, but there is no such command",
                ));
            }
            if rows.insert(name.as_str(), treatment).is_some() {
                problems.push(Problem::new(Code::Contradiction, name, "has two treatments"));
            }
        }
    }
    rows
}

/// GEN-70: checks that a special command has a row, that a row belongs to a special command, and that the row has no contradiction.
pub(super) fn command(
    (registry, policy, types): (&Registry, &Policy, &TypePlan<'_>),
    plan: &CommandPlan<'_>,
    problems: &mut Problems,
) {
    let name = plan.command.name.as_str();
    let is_counted = output::is_counted(registry, types, plan.command);
    if !plan.special.is_empty() && !plan.has_row {
        problems.push(review::unclassified(plan, is_counted));
        return;
    }
    let level = plan.command.level;
    let many_drivers = level == Level::Instance && matches!(plan.end, End::Generated | End::None);
    let shares = plan.entry == Entry::Shared || plan.end == End::Shared;
    let by_value = plan.end == End::Generated && passes_wrapped_by_value(registry, policy, plan.command);
    let rules: [(bool, Code, &str); 6] = [
        (
            plan.entry == Entry::OutputHandles && !is_counted,
            Code::Contradiction,
            "returns handles that a generated trampoline cannot count; it needs a hand-written entry (S2)",
        ),
        (
            plan.special.is_empty() && plan.has_row,
            Code::Stale,
            "has a treatment but is not special; remove it from the row",
        ),
        (
            level == Level::Global && plan.entry != Entry::Handwritten,
            Code::NewGlobal,
            "has no dispatchable first parameter and must be hand-written (GEN-50)",
        ),
        (
            shares && plan.command.alias.is_none(),
            Code::Contradiction,
            "shares with the target of its alias, but is no alias",
        ),
        (
            many_drivers,
            Code::Contradiction,
            "is called on an instance with several drivers and needs a hand-written end (S3)",
        ),
        (
            by_value,
            Code::Contradiction,
            "passes a wrapped handle by value and needs a hand-written end (S4)",
        ),
    ];
    let emulation = emulation(plan).map(|(broken, text)| (broken, Code::Contradiction, text));
    let broken = rules.into_iter().chain(emulation).filter(|(broken, ..)| *broken);
    problems.extend(broken.map(|(_, code, text)| Problem::new(code, name, text)));
}

/// Returns the rules for terminators that emulate the command for drivers without it. A rule consists of a message, and `true` if the
/// command breaks the rule.
fn emulation(plan: &CommandPlan<'_>) -> [(bool, &'static str); 3] {
    let answers = matches!(plan.end, End::Handwritten | End::Shared);
    [
        (
            plan.absent.is_some() && plan.end != End::Generated,
            "says what happens when a driver lacks it, but its end is not generated",
        ),
        (
            plan.emulated && plan.absent.is_some(),
            "is emulated by what `absent` says already; remove `emulated`",
        ),
        (
            plan.emulated && plan.absent.is_none() && !answers,
            "is emulated, but its end is not hand-written; say what to answer in `absent`",
        ),
    ]
}

/// Checks that each parameter name belongs to one handle type, because a trampoline chooses its check by the name.
pub(super) fn parameters(registry: &Registry, policy: &Policy, commands: &[CommandPlan<'_>], problems: &mut Problems) {
    let mut unused: BTreeSet<&String> = policy.checked_parameters.keys().collect();
    for plan in commands.iter().filter(|plan| plan.command.level != Level::Global) {
        let Some(param) = plan.command.params.first() else {
            continue;
        };
        unused.remove(&param.name);
        let listed = policy.checked_parameters.get(&param.name);
        let handle = plan.command.first_handle.as_deref();
        let (text, advice) = match listed {
            // The policy may use an old name of the handle, which is now an alias.
            Some(name) if Some(resolve(registry, name)) == handle => continue,
            Some(other) => (
                format!("but trampolines check a parameter of that name as a {other}"),
                Advice::None,
            ),
            None => {
                let text = "which no trampoline checks yet; first find out what such an object's first word points to";
                (text.to_owned(), Advice::Key("checked-parameters"))
            }
        };
        let text = format!("its first parameter is `{} {}`, {text}", param.ty, param.name);
        problems.push(Problem::new(Code::UnknownParameter, &plan.command.name, text).advised(advice));
    }
    let stale = |name: &&String| Problem::new(Code::Stale, name, "checked-parameters: no command has such a parameter");
    problems.extend(unused.iter().map(stale));
}

fn passes_wrapped_by_value(registry: &Registry, policy: &Policy, command: &Command) -> bool {
    let is_wrapped = |name: &str| {
        policy
            .wrapped_handles
            .iter()
            .any(|wrapped| wrapped == resolve(registry, name))
    };
    let by_value = |param: &Param| param.ty.pointers.is_empty() && is_wrapped(&param.ty.base);
    command.params.iter().skip(1).any(by_value) || is_wrapped(&command.return_type)
}

/// GEN-49: checks that different names stay different as identifiers.
pub(super) fn collisions(commands: &[CommandPlan<'_>], problems: &mut Problems) {
    let mut bodies: BTreeMap<String, &str> = BTreeMap::new();
    for plan in commands {
        let name = plan.command.name.as_str();
        if (plan.entry == Entry::Handwritten || plan.end == End::Handwritten)
            && let Some(other) = bodies.insert(names::body(name).to_string(), name)
        {
            let text = format!("its hand-written body has the same name as that of {other}");
            problems.push(Problem::new(Code::Collision, name, text));
        }
        let mut params: Vec<String> = plan
            .command
            .params
            .iter()
            .map(|p| names::ident(&p.name).to_string())
            .collect();
        params.sort_unstable();
        if params.windows(2).any(|pair| pair[0] == pair[1]) {
            problems.push(Problem::new(Code::Collision, name, "has two parameters of one name"));
        }
    }
}
