//! What becomes of each command.

use super::check;
use super::problem::{Code, Problem, Problems};
use super::special::{Predicates, Reason};
use super::types::TypePlan;
use crate::policy::{Absent, End, Entry, ExportList, PlatformPolicy, Policy, Treatment};
use std::collections::{BTreeMap, BTreeSet};
use vk_registry::model::{CType, Command, ExtensionKind, Level, Registry};

/// When `vkGetInstanceProcAddr` finds a command (GEN-52).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate<'a> {
    /// Always.
    Always,
    /// If one of these instance extensions is enabled.
    Instance(Vec<&'a str>),
}

/// When the end of the device chain gives out the loader's terminator (APP-45).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceGate<'a> {
    /// Always.
    Always,
    /// If one of these device extensions is enabled on the driver's device.
    Device(Vec<&'a str>),
    /// If one of these instance extensions is enabled.
    Instance(Vec<&'a str>),
}

/// Where a command is an exported symbol (GEN-53).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Export<'a> {
    /// Nowhere.
    No,
    /// On every target.
    Everywhere,
    /// Where the `cfg` predicate holds, and in these lists.
    Where(&'a str, &'a [ExportList]),
}

/// The `cfg` predicate that holds on no target.
const NOWHERE: &str = "any()";

/// A platform that the policy does not list: no target builds it.
static UNLISTED: PlatformPolicy = PlatformPolicy {
    cfg: None,
    lists: Vec::new(),
};

/// What becomes of one command.
#[derive(Clone, Debug)]
pub struct CommandPlan<'a> {
    /// The command.
    pub command: &'a Command,
    /// Whether the policy has a treatment for it.
    pub has_row: bool,
    /// Why the policy treats it as it does.
    pub reason: Option<&'a str>,
    /// Why it is special; empty for most.
    pub special: BTreeSet<Reason>,
    /// How the application enters it.
    pub entry: Entry,
    /// How the chain ends.
    pub end: End,
    /// What the generated terminator does without the driver's function.
    pub absent: Option<&'a Absent>,
    /// Whether a missing target does nothing instead of ending the process.
    pub null_tolerant: bool,
    /// Instance-level lookup.
    pub gate: Gate<'a>,
    /// Device-level lookup of the terminator.
    pub device_gate: DeviceGate<'a>,
    /// Exported or not.
    pub export: Export<'a>,
    /// The `cfg` predicate of its platform, if it belongs to one; that of a platform which no target builds never holds.
    pub platform: Option<&'a str>,
    /// What it returns.
    pub returned: CType,
    /// Whether its type has a level parameter.
    pub generic: bool,
}

impl CommandPlan<'_> {
    /// Whether it travels the instance chain.
    pub fn is_instance_chain(&self) -> bool {
        matches!(self.command.level, Level::Instance | Level::PhysicalDevice)
    }

    /// Whether a terminator answers for it, of its own or a shared one.
    pub fn has_terminator(&self) -> bool {
        self.end != End::None
    }

    /// The command whose trampoline serves it.
    pub fn trampoline(&self) -> &str {
        self.served_by(self.entry == Entry::Shared)
    }

    /// The command whose terminator serves it, if there is one.
    pub fn terminator(&self) -> Option<&str> {
        self.has_terminator().then(|| self.served_by(self.end == End::Shared))
    }

    fn served_by(&self, shared: bool) -> &str {
        let alias = self.command.alias.as_deref().filter(|_| shared);
        alias.unwrap_or(&self.command.name)
    }

    /// Whether a driver without it is rejected (GEN-62).
    pub fn is_mandatory(&self) -> bool {
        self.command
            .core
            .is_some_and(|version| version.major == 1 && version.minor == 0)
    }

    /// Whether it is in the given export list.
    pub fn is_in(&self, list: ExportList) -> bool {
        match self.export {
            Export::No => false,
            Export::Everywhere => true,
            Export::Where(_, lists) => lists.contains(&list),
        }
    }
}

/// Plans all commands; whatever does not fit is added to `problems`.
pub(super) fn plan<'a>(
    registry: &'a Registry,
    policy: &'a Policy,
    types: &TypePlan<'a>,
    problems: &mut Problems,
) -> Vec<CommandPlan<'a>> {
    let context = Context {
        registry,
        policy,
        treatments: check::treatments(registry, policy, problems),
    };
    let predicates = Predicates::new(registry, policy);
    check::names(registry, policy, problems);
    let mut plans = Vec::with_capacity(registry.commands.len());
    for command in registry.commands.values() {
        let Ok(returned) = command.return_type.parse() else {
            let text = format!("cannot read its return type {}", command.return_type);
            problems.push(Problem::new(Code::UnknownByValue, &command.name, text));
            continue;
        };
        let special = predicates.reasons(command);
        let plan = context.one(command, special, returned, types.is_generic_command(command));
        check::command(registry, policy, &plan, problems);
        plans.push(plan);
    }
    check::collisions(&plans, problems);
    check::parameters(policy, &plans, problems);
    plans
}

struct Context<'a> {
    registry: &'a Registry,
    policy: &'a Policy,
    treatments: BTreeMap<&'a str, &'a Treatment>,
}

impl<'a> Context<'a> {
    fn one(&self, command: &'a Command, special: BTreeSet<Reason>, returned: CType, generic: bool) -> CommandPlan<'a> {
        let treatment = self.treatments.get(command.name.as_str()).copied();
        let default_end = if command.level == Level::PhysicalDevice {
            End::Generated
        } else {
            End::None
        };
        CommandPlan {
            command,
            has_row: treatment.is_some(),
            reason: treatment.map(|row| row.reason.as_str()),
            special,
            entry: treatment.map(|row| row.entry).unwrap_or_default(),
            end: treatment.and_then(|row| row.end).unwrap_or(default_end),
            absent: treatment.and_then(|row| row.absent.as_ref()),
            null_tolerant: treatment.is_some_and(|row| row.null_tolerant),
            gate: self.gate(command),
            device_gate: self.device_gate(treatment),
            export: self.export(command),
            platform: self.platform(command).map(|row| row.cfg.as_deref().unwrap_or(NOWHERE)),
            returned,
            generic,
        }
    }

    fn kind(&self, extension: &str) -> Option<ExtensionKind> {
        self.registry.extensions.get(extension).map(|extension| extension.kind)
    }

    /// GEN-52: core and device extensions are always found, instance extensions when enabled.
    fn gate(&self, command: &'a Command) -> Gate<'a> {
        let exception = self
            .policy
            .gates
            .iter()
            .find(|row| row.commands.contains(&command.name));
        if let Some(row) = exception {
            return Gate::Instance(row.extensions.iter().map(String::as_str).collect());
        }
        let of_device = |name: &str| self.kind(name) == Some(ExtensionKind::Device);
        if command.core.is_some() || command.providers.iter().any(|provider| of_device(&provider.extension)) {
            return Gate::Always;
        }
        Gate::Instance(
            command
                .providers
                .iter()
                .map(|provider| provider.extension.as_str())
                .collect(),
        )
    }

    fn device_gate(&self, treatment: Option<&'a Treatment>) -> DeviceGate<'a> {
        let needs: Vec<&str> = treatment
            .into_iter()
            .flat_map(|row| &row.needs)
            .map(String::as_str)
            .collect();
        match needs.first() {
            None => DeviceGate::Always,
            Some(first) if self.kind(first) == Some(ExtensionKind::Instance) => DeviceGate::Instance(needs),
            Some(_) => DeviceGate::Device(needs),
        }
    }

    fn export(&self, command: &'a Command) -> Export<'a> {
        let listed = |name: &String| self.policy.exports.extensions.contains(name);
        if command.core.is_none() && !command.providers.iter().any(|provider| listed(&provider.extension)) {
            return Export::No;
        }
        match self.platform(command) {
            None => Export::Everywhere,
            Some(row) => row
                .cfg
                .as_ref()
                .map_or(Export::No, |cfg| Export::Where(cfg, &row.lists)),
        }
    }

    /// The platform that a command belongs to.
    fn platform(&self, command: &Command) -> Option<&'a PlatformPolicy> {
        // Provisional is a maturity, not an operating system (GEN-54).
        let platform = command.platform.as_ref().filter(|word| *word != "provisional")?;
        Some(self.policy.platforms.get(platform).unwrap_or(&UNLISTED))
    }
}
