//! Lists changes that a person must judge: special commands, policy rows and unknown constructs.

use super::report::{Change, Entry, Section, Severity};
use super::view::View;
use crate::plan::{Code, CommandPlan, Problem};
use std::collections::BTreeSet;
use vk_registry::Diagnostic;

/// Path of the policy in reports, whichever file the policy was read from.
const POLICY: &str = "generator/policy.toml";

pub(super) fn sections(old: &View<'_>, new: &View<'_>) -> Vec<Section> {
    let is_stale = |problem: &&Problem| problem.code == Code::Stale;
    let is_open = |problem: &&Problem| !matches!(problem.code, Code::Stale | Code::Unclassified);
    vec![
        Section::new("special", "added", "New special-case candidates", candidates(new, old)),
        Section::new(
            "special",
            "removed",
            "Special-case candidates gone",
            candidates(old, new)
                .into_iter()
                .map(|entry| Entry::new(&entry.name, Severity::Informational, entry.changes))
                .collect(),
        ),
        Section::new("policy", "stale", "Stale policy entries", problems(old, new, is_stale)),
        Section::new(
            "policy",
            "undecided",
            "Other things the policy has no answer for",
            problems(old, new, is_open),
        ),
        Section::new("unknown", "added", "New unknown constructs", unknown(old, new)),
    ]
}

/// Returns an entry for each command that is special in `here` and not in `there`. `emit` fails until the policy has a row for each
/// command.
fn candidates(here: &View<'_>, there: &View<'_>) -> Vec<Entry> {
    let is_special_there = |name: &str| there.plan.command(name).is_some_and(|plan| !plan.special.is_empty());
    let entry = |plan: &CommandPlan<'_>| {
        let reasons: Vec<&str> = plan.special.iter().map(|reason| reason.word()).collect();
        let (severity, decided) = if plan.has_row {
            (Severity::Concerns, "the policy has a treatment")
        } else {
            (Severity::Undecided, "NO TREATMENT in the policy")
        };
        let text = format!("{}; {decided}", reasons.join(", "));
        let mut changes = vec![Change::new("special", Severity::Informational, text)];
        let problems = here.problems.iter().filter(|problem| problem.name == plan.command.name);
        changes.extend(
            problems
                .filter(|problem| problem.code == Code::Unclassified)
                .flat_map(told),
        );
        Entry::new(&plan.command.name, severity, changes)
    };
    let plans = here.plan.commands.iter().filter(|plan| !plan.special.is_empty());
    plans
        .filter(|plan| !is_special_there(&plan.command.name))
        .map(entry)
        .collect()
}

/// Returns the conflicts between policy and new registry that the old registry did not have.
fn problems(old: &View<'_>, new: &View<'_>, wanted: impl Fn(&&Problem) -> bool) -> Vec<Entry> {
    let before: BTreeSet<&Problem> = old.problems.iter().collect();
    let found = new
        .problems
        .iter()
        .filter(wanted)
        .filter(|problem| !before.contains(problem));
    found
        .map(|problem| Entry::new(&problem.name, Severity::Undecided, told(problem)))
        .collect()
}

/// Returns the description of a problem, the advice, and the policy rows to write.
fn told(problem: &Problem) -> Vec<Change> {
    let change = |kind, text: &str| Change::new(kind, Severity::Informational, text.trim());
    let mut changes = vec![change(problem.code.word(), &problem.text)];
    if let Some((help, lines)) = problem.help(POLICY) {
        changes.push(change("help", &help));
        changes.extend(lines.iter().map(|line| change("write", line)));
    }
    changes
}

/// Returns the unknown constructs that only the new registry has, once per kind. `import` refuses unknown constructs.
fn unknown(old: &View<'_>, new: &View<'_>) -> Vec<Entry> {
    let key = |found: &Diagnostic| format!("{}: {}", found.path, found.text);
    let before: BTreeSet<String> = old.unknown.iter().map(key).collect();
    let mut seen = before.clone();
    let fresh = new.unknown.iter().filter(|found| seen.insert(key(found)));
    fresh
        .map(|found| {
            let place = format!("{}:{}:{}: {}", found.file, found.line, found.column, found.snippet);
            Entry::noted(&key(found), Severity::Undecided, found.code.word(), place)
        })
        .collect()
}
