//! Decisions for the emitters. The plan makes each decision once, and the emitters only print it.

mod abi;
mod chains;
mod check;
mod command;
mod commands;
mod extensions;
mod layout;
mod output;
mod problem;
mod queries;
mod reach;
mod review;
mod slots;
mod special;
mod types;

pub use abi::class;
pub use chains::ChainMember;
pub use command::{CommandPlan, DeviceGate, Export, Gate};
pub use extensions::ExtensionPlan;
pub use layout::{Layout, bit_words, runs};
pub use problem::{Advice, Code, Problem};
pub use queries::QueryMember;
pub use reach::Step;
pub use special::{Facts, Reason};
pub use types::{Place, TypePlan};

use crate::policy::{Policy, Table};
use std::collections::BTreeSet;
use vk_registry::model::{Enum, Enumerant, Param, Registry};

/// Registry, policy, and the decisions that follow from both.
pub struct Plan<'a> {
    /// Facts of the registry.
    pub registry: &'a Registry,
    /// Exceptions of the policy.
    pub policy: &'a Policy,
    /// Emitted types, with the form in which each type is emitted.
    pub types: TypePlan<'a>,
    /// Plans of all commands, sorted by name.
    pub commands: Vec<CommandPlan<'a>>,
    /// Extensions for which enumerations and sets are emitted.
    pub extensions: ExtensionPlan<'a>,
    /// Enumerants that are emitted even if the policy does not list their enumeration.
    named_enumerants: BTreeSet<&'a str>,
}

impl<'a> Plan<'a> {
    /// Makes all decisions.
    ///
    /// # Errors
    /// Returns all problems: contradictions between registry and policy, and missing decisions.
    pub fn new(registry: &'a Registry, policy: &'a Policy) -> Result<Self, Vec<Problem>> {
        let (plan, problems) = Self::draft(registry, policy);
        if problems.is_empty() { Ok(plan) } else { Err(problems) }
    }

    /// Makes all possible decisions and lists the problems, for reports on any pair of registry and policy. The emitters need a plan from
    /// [`Plan::new`].
    pub fn draft(registry: &'a Registry, policy: &'a Policy) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let types = TypePlan::new(registry, policy, &mut problems);
        let extensions = ExtensionPlan::new(registry, policy, &mut problems);
        let commands = commands::plan(registry, policy, &types, &mut problems);
        check::structure_types(registry, policy, &types, &mut problems);
        problems.sort();
        problems.dedup();
        let mut named_enumerants = types.member_values();
        named_enumerants.extend(policy.types.structure_types.iter().map(String::as_str));
        let plan = Self {
            registry,
            policy,
            types,
            commands,
            extensions,
            named_enumerants,
        };
        (plan, problems)
    }

    /// Returns the plan of one command.
    pub fn command(&self, name: &str) -> Option<&CommandPlan<'a>> {
        let at = self
            .commands
            .binary_search_by(|plan| plan.command.name.as_str().cmp(name))
            .ok()?;
        self.commands.get(at)
    }

    /// Returns `true` if a parameter returns dispatchable handles.
    pub fn is_output(&self, param: &Param) -> bool {
        output::is_output(self.registry, param)
    }

    /// Returns the emitted enumerants of an enumeration. If the policy lists the enumeration, the result has all enumerants. Otherwise, the
    /// result has the enumerants that identify emitted structures, and the enumerants that the policy lists by name.
    pub fn enumerants<'e>(&self, found: &'e Enum) -> Vec<&'e Enumerant> {
        if self.policy.types.enumerants.contains(&found.name) {
            return found.enumerants.iter().collect();
        }
        let is_named = |enumerant: &&Enumerant| self.named_enumerants.contains(enumerant.name.as_str());
        found.enumerants.iter().filter(is_named).collect()
    }

    /// Returns the commands with a slot in the instance table.
    pub fn instance_table(&self) -> impl Iterator<Item = &CommandPlan<'a>> {
        self.table(Table::Instance)
    }

    /// Returns the commands with a slot in the device table.
    pub fn device_table(&self) -> impl Iterator<Item = &CommandPlan<'a>> {
        self.table(Table::Device)
    }

    /// Returns the commands with a slot in a driver's table.
    pub fn driver_table(&self) -> impl Iterator<Item = &CommandPlan<'a>> {
        self.table(Table::Driver)
    }

    /// Returns the device commands whose terminator needs the driver's function.
    pub fn device_terminator_table(&self) -> impl Iterator<Item = &CommandPlan<'a>> {
        self.table(Table::DeviceTerminator)
    }

    /// Returns `true` if the table has a slot for the command.
    pub fn has_slot(&self, command: &CommandPlan<'_>, table: Table) -> bool {
        slots::has_slot(self.policy, command, table)
    }

    fn table(&self, table: Table) -> impl Iterator<Item = &CommandPlan<'a>> {
        let commands = self.commands.iter();
        commands.filter(move |plan| self.has_slot(plan, table))
    }
}
