//! Determines the slots of commands in the dispatch tables (GEN-62).

use super::command::CommandPlan;
use super::problem::{Code, Problem, Problems};
use crate::policy::{Policy, Table};
use vk_registry::model::Level;

/// Returns `true` if a command has a slot in the table. The level of the command decides, unless the policy has an
/// exception.
pub(super) fn has_slot(policy: &Policy, plan: &CommandPlan<'_>, table: Table) -> bool {
    let mut rows = policy.slots.iter().filter(|row| row.command == plan.command.name);
    let exception = rows.find_map(|row| {
        if row.also_in.contains(&table) {
            Some(true)
        } else {
            row.not_in.contains(&table).then_some(false)
        }
    });
    exception.unwrap_or_else(|| by_level(plan, table))
}

fn by_level(plan: &CommandPlan<'_>, table: Table) -> bool {
    match table {
        Table::Instance | Table::Driver => plan.is_instance_chain(),
        Table::Device => plan.command.level == Level::Device,
        Table::DeviceTerminator => plan.command.level == Level::Device && plan.has_terminator(),
    }
}

/// Checks the policy's exceptions about slots. Each exception must name a command, and must be different from the rule
/// for the command's level.
pub(super) fn check(policy: &Policy, commands: &[CommandPlan<'_>], problems: &mut Problems) {
    for (index, row) in policy.slots.iter().enumerate() {
        let mut refuse = |code, text: &str| problems.push(Problem::new(code, &row.command, text));
        let Some(plan) = commands.iter().find(|plan| plan.command.name == row.command) else {
            refuse(Code::UnknownName, "slot: there is no such command");
            continue;
        };
        if policy.slots[..index].iter().any(|other| other.command == row.command) {
            refuse(Code::Contradiction, "slot: has two rows");
        }
        let has = |table: &&Table| by_level(plan, **table);
        if row.also_in.iter().any(|table| has(&table)) {
            refuse(Code::Stale, "slot: a table of `in` has it anyway");
        }
        if row.not_in.iter().any(|table| !has(&table)) {
            refuse(Code::Stale, "slot: a table of `not-in` lacks it anyway");
        }
        if row.also_in.is_empty() && row.not_in.is_empty() {
            refuse(Code::Stale, "slot: the row names no table");
        }
    }
}
