//! Checks that each treatment was reviewed for all present reasons and steps of its commands (GEN-74).

use super::command::CommandPlan;
use super::problem::{Advice, Code, Problem, Problems};
use super::reach::renamed;
use super::special::Reason;
use crate::policy::Policy;
use std::collections::{BTreeMap, BTreeSet};
use vk_registry::model::{Level, Registry};

/// Returns the entries that `reviewed` must have for a command, each with its reason. An entry is the name of a reason, or a step that
/// belongs to a reason.
fn words(plan: &CommandPlan<'_>) -> BTreeMap<String, Reason> {
    let mut words = BTreeMap::new();
    for (reason, steps) in plan.facts.iter().filter(|(reason, _)| reason.is_fact()) {
        words.insert(reason.word().to_owned(), *reason);
        for step in steps {
            words.entry(step.to_string()).or_insert(*reason);
        }
    }
    words
}

/// Checks that each row lists exactly the reasons and steps of its commands.
pub(super) fn check(registry: &Registry, policy: &Policy, plans: &[CommandPlan<'_>], problems: &mut Problems) {
    let plan_of = |name: &String| plans.iter().find(|plan| plan.command.name == *name);
    for row in &policy.treatments {
        let reviewed: BTreeMap<String, &String> = row
            .reviewed
            .iter()
            .map(|entry| (renamed(registry, entry), entry))
            .collect();
        let mut unused: BTreeSet<&String> = row.reviewed.iter().collect();
        for plan in row.commands.iter().filter_map(plan_of) {
            let words = words(plan);
            let (known, fresh): (Vec<_>, Vec<_>) = words.iter().partition(|(word, _)| reviewed.contains_key(*word));
            for (word, _) in known {
                unused.remove(reviewed[word]);
            }
            if !fresh.is_empty() {
                problems.push(unreviewed(&plan.command.name, &fresh));
            }
        }
        let name = row.commands.first().map_or("", String::as_str);
        problems.extend(unused.into_iter().map(|entry| {
            let text = format!("reviewed: no command of this row has `{entry}`; remove it");
            Problem::new(Code::Stale, name, text)
        }));
    }
}

fn unreviewed(name: &str, fresh: &[(&String, &Reason)]) -> Problem {
    let reasons: BTreeSet<Reason> = fresh.iter().map(|(_, reason)| **reason).collect();
    let sentences: Vec<&str> = reasons.iter().map(|reason| reason.sentence()).collect();
    let text = format!(
        "its treatment was not reviewed for these reasons: {}",
        sentences.join("; ")
    );
    let lines = fresh.iter().map(|(word, _)| format!("    \"{word}\",")).collect();
    Problem::new(Code::Unreviewed, name, text).advised(Advice::Review(lines))
}

/// Reports a special command without a treatment, and proposes a row. `is_counted` is `true` if a generated trampoline can count the
/// handles that the command returns.
pub(super) fn unclassified(plan: &CommandPlan<'_>, is_counted: bool) -> Problem {
    let name = &plan.command.name;
    let sentences: Vec<&str> = plan.special.iter().map(|reason| reason.sentence()).collect();
    let reasons: Vec<&str> = plan.special.iter().map(|reason| reason.word()).collect();
    let text = format!(
        "is special ({}) and needs a treatment: {}",
        reasons.join(", "),
        sentences.join("; ")
    );
    let mut row = vec!["[[treatment]]".to_owned(), format!("commands = [\"{name}\"]")];
    let (entry, end) = ends(plan, is_counted);
    row.extend(entry.map(|word| format!("entry = \"{word}\"")));
    row.extend(end.map(|word| format!("end = \"{word}\"")));
    if end.is_some() && plan.command.level == Level::Device {
        let extensions = plan
            .command
            .providers
            .iter()
            .map(|provider| format!("\"{}\"", provider.extension));
        row.push(format!("needs = [{}]", extensions.collect::<Vec<_>>().join(", ")));
    }
    let words = words(plan);
    if !words.is_empty() {
        row.push("reviewed = [".to_owned());
        row.extend(words.keys().map(|word| format!("    \"{word}\",")));
        row.push("]".to_owned());
    }
    row.push("reason = \"\"".to_owned());
    Problem::new(Code::Unclassified, name, text).advised(Advice::Row(row))
}

/// Suggests the trampoline and terminator from the reasons. A person makes the decision.
fn ends(plan: &CommandPlan<'_>, is_counted: bool) -> (Option<&'static str>, Option<&'static str>) {
    let is = |reason| plan.special.contains(&reason);
    match plan.command.level {
        Level::Global => (Some("handwritten"), Some("none")),
        _ if is(Reason::OtherName) && plan.command.alias.is_some() => (Some("shared"), Some("shared")),
        Level::Instance => (None, Some("handwritten")),
        _ if is(Reason::WrappedHandle) => (None, Some("handwritten")),
        _ if is(Reason::OutputsDispatchable) && is_counted => (Some("output-handles"), None),
        _ if is(Reason::OutputsDispatchable) => (Some("handwritten"), None),
        _ => (None, None),
    }
}
