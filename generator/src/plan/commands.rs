//! Plans each command.

use super::check;
use super::command::{CommandPlan, DeviceGate, Export, Gate};
use super::problem::{Code, Problem, Problems};
use super::special::{Facts, Predicates};
use super::types::TypePlan;
use super::{review, slots};
use crate::policy::{End, PlatformPolicy, Policy, Treatment};
use std::collections::{BTreeMap, BTreeSet};
use vk_registry::model::{CType, Command, ExtensionKind, Level, Registry};

/// `cfg` predicate that holds on no target.
const NOWHERE: &str = "any()";

/// Policy of a platform that the policy file does not list, and that no target builds.
static UNLISTED: PlatformPolicy = PlatformPolicy {
    cfg: None,
    lists: Vec::new(),
};

/// Plans all commands. Adds each conflict to `problems`.
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
    let predicates = Predicates::new(registry, policy, &context.treatments);
    check::names(registry, policy, problems);
    let mut plans = Vec::with_capacity(registry.commands.len());
    for command in registry.commands.values() {
        let Ok(returned) = command.return_type.parse() else {
            let text = format!("cannot read its return type {}", command.return_type);
            problems.push(Problem::new(Code::UnknownByValue, &command.name, text));
            continue;
        };
        let treatment = context.treatments.get(command.name.as_str()).copied();
        let facts = predicates.reasons(command, treatment);
        let plan = CommandPlan {
            special: facts.keys().copied().collect(),
            facts,
            generic: types.is_generic_command(command),
            ..context.one(command, treatment, returned)
        };
        check::command((registry, policy, types), &plan, problems);
        plans.push(plan);
    }
    review::check(registry, policy, &plans, problems);
    check::collisions(&plans, problems);
    check::parameters(registry, policy, &plans, problems);
    slots::check(policy, &plans, problems);
    plans
}

struct Context<'a> {
    registry: &'a Registry,
    policy: &'a Policy,
    treatments: BTreeMap<&'a str, &'a Treatment>,
}

impl<'a> Context<'a> {
    fn one(&self, command: &'a Command, treatment: Option<&'a Treatment>, returned: CType) -> CommandPlan<'a> {
        let default_end = if command.level == Level::PhysicalDevice {
            End::Generated
        } else {
            End::None
        };
        CommandPlan {
            command,
            has_row: treatment.is_some(),
            reason: treatment.map(|row| row.reason.as_str()),
            special: BTreeSet::new(),
            facts: Facts::new(),
            entry: treatment.map(|row| row.entry).unwrap_or_default(),
            end: treatment.and_then(|row| row.end).unwrap_or(default_end),
            absent: treatment.and_then(|row| row.absent.as_ref()),
            emulated: treatment.is_some_and(|row| row.emulated),
            null_tolerant: treatment.is_some_and(|row| row.null_tolerant),
            gate: self.gate(command),
            device_gate: self.device_gate(treatment),
            export: self.export(command),
            platform: self.platform(command).map(|row| row.cfg.as_deref().unwrap_or(NOWHERE)),
            returned,
            generic: false,
        }
    }

    fn kind(&self, extension: &str) -> Option<ExtensionKind> {
        self.registry.extensions.get(extension).map(|extension| extension.kind)
    }

    /// Returns the look-up condition of a command (GEN-52). Commands of core versions and of device extensions are always found. Commands
    /// of instance extensions are found only if the extension is enabled.
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

    /// Returns the platform that a command belongs to.
    fn platform(&self, command: &Command) -> Option<&'a PlatformPolicy> {
        // The registry lists `provisional` as a platform, but the word is a degree of maturity, and not an operating system (GEN-54).
        let platform = command.platform.as_ref().filter(|word| *word != "provisional")?;
        Some(self.policy.platforms.get(platform).unwrap_or(&UNLISTED))
    }
}
