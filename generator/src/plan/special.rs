//! Finds the special commands, by the predicates of GEN-71.

use super::reach::{Graph, RawHandles, Reach, Step};
use crate::policy::{Policy, Treatment};
use std::collections::{BTreeMap, BTreeSet};
use vk_registry::model::{Command, ExtensionKind, Level, Param, Registry};

/// Reason why a command needs a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// GEN-71a: the command has no dispatchable first parameter.
    Global,
    /// GEN-71b: the command returns a dispatchable handle, as a result or in a structure.
    OutputsDispatchable,
    /// GEN-71c: the command acts on an instance, which may have several drivers.
    InstanceLevel,
    /// GEN-71d: a parameter contains a wrapped handle.
    WrappedHandle,
    /// GEN-71e: a parameter contains a raw 64-bit handle, and another parameter or member contains the handle's object type.
    RawHandle,
    /// GEN-71f: the command has dispatchable handles in parameters after the first parameter.
    FurtherDispatchable,
    /// GEN-71g: the command works on objects that the loader implements.
    Implemented,
    /// GEN-71h: the loader emulates the command if a driver lacks it.
    Emulated,
    /// GEN-71i: the command concerns the lifetime of objects, or the look-up of functions.
    Lifecycle,
    /// GEN-51: an instance extension adds the command, and the command acts on an object of one driver. That driver may lack the command.
    InstanceExtension,
    /// GEN-71j: the command is another name of a command whose treatment is not the default.
    OtherName,
}

impl Reason {
    /// Returns the word for dumps and messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::OutputsDispatchable => "outputs_dispatchable",
            Self::InstanceLevel => "instance_level",
            Self::WrappedHandle => "wrapped_handle",
            Self::RawHandle => "raw_handle",
            Self::FurtherDispatchable => "further_dispatchable",
            Self::Implemented => "implemented",
            Self::Emulated => "emulated",
            Self::Lifecycle => "lifecycle",
            Self::InstanceExtension => "instance_extension",
            Self::OtherName => "other_name",
        }
    }

    /// Returns `true` if the reason follows from the registry. A treatment must list these reasons in `reviewed`. The other reasons follow
    /// from rows of the policy.
    pub const fn is_fact(self) -> bool {
        !matches!(self, Self::Emulated | Self::Lifecycle | Self::OtherName)
    }

    /// Returns the reason as a sentence for people.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Global => "S1: it is called before there is an object to dispatch on",
            Self::OutputsDispatchable => "S2: it returns a dispatchable handle",
            Self::InstanceLevel => "S3: one instance stands for several drivers",
            Self::WrappedHandle => "S4: a parameter holds or leads to a handle that the loader wraps",
            Self::RawHandle => "S5: a raw 64-bit value may be a handle that the loader wraps",
            Self::FurtherDispatchable => "S6: it takes further dispatchable handles after the first",
            Self::Implemented => "S7: it is about objects that the loader implements",
            Self::Emulated => "S8: it is answered for drivers that lack it",
            Self::Lifecycle => "S9: it is about lifetimes or lookup",
            Self::InstanceExtension => "GEN-51: an instance extension provides it, so a driver may lack it",
            Self::OtherName => "S10: it is another name of a command that has a treatment",
        }
    }
}

/// Reasons why a command is special, each with the steps that lead to handles.
pub type Facts<'a> = BTreeMap<Reason, BTreeSet<Step<'a>>>;

/// Evaluates the predicates on one registry.
pub(super) struct Predicates<'a> {
    registry: &'a Registry,
    policy: &'a Policy,
    graph: Graph<'a>,
    to_wrapped: Reach<'a>,
    to_raw: Reach<'a>,
    to_dispatchable: Reach<'a>,
    /// Commands that share their function with a command whose treatment is not the default.
    other_names: BTreeSet<&'a str>,
}

impl<'a> Predicates<'a> {
    pub(super) fn new(
        registry: &'a Registry,
        policy: &'a Policy,
        treatments: &BTreeMap<&'a str, &'a Treatment>,
    ) -> Self {
        let graph = Graph::new(registry);
        Self {
            to_wrapped: Reach::new(&graph, |step| is_wrapped(policy, step)),
            to_raw: Reach::new(&graph, |step| step.is_raw),
            to_dispatchable: Reach::new(&graph, |step| is_dispatchable(registry, step)),
            other_names: other_names(registry, treatments),
            registry,
            policy,
            graph,
        }
    }

    /// Returns all reasons why the command is special.
    pub(super) fn reasons(&self, command: &'a Command, treatment: Option<&Treatment>) -> Facts<'a> {
        let checks = [
            (Reason::Global, command.level == Level::Global),
            (Reason::InstanceLevel, command.level == Level::Instance),
            (Reason::Implemented, self.implemented(command)),
            (Reason::Emulated, treatment.is_some_and(Treatment::is_emulated)),
            (Reason::Lifecycle, self.policy.lifecycle.contains(&command.name)),
            (Reason::InstanceExtension, self.of_instance_extension(command)),
            (Reason::OtherName, self.other_names.contains(command.name.as_str())),
        ];
        let ways = [
            (Reason::OutputsDispatchable, self.outputs_dispatchable(command)),
            (Reason::WrappedHandle, self.wrapped_inside(command)),
            (Reason::RawHandle, self.raw_inside(command)),
            (Reason::FurtherDispatchable, self.further_dispatchable(command)),
        ];
        let holding = checks.into_iter().filter(|(_, holds)| *holds);
        let mut facts: Facts<'a> = holding.map(|(reason, _)| (reason, BTreeSet::new())).collect();
        facts.extend(ways.into_iter().filter(|(_, steps)| !steps.is_empty()));
        facts
    }

    /// Returns the first steps of the search for handles that starts at `command`: one step for each parameter in `params`, and one for the
    /// return value if there is one.
    fn steps(&self, command: &'a Command, params: &'a [Param]) -> Vec<Step<'a>> {
        let raw = RawHandles::new(command.params.iter().map(|it| (&it.ty, it.object_type.is_some())));
        let step = |param: &'a Param| {
            let is_raw = raw.holds(&param.ty, param.object_type.is_some());
            self.graph.step("", &param.name, &param.ty, is_raw)
        };
        let returned = self.graph.returned(&command.return_type);
        params.iter().map(step).chain(returned).collect()
    }

    /// Returns the parameters after the parameter on which the command is dispatched.
    fn behind_dispatch(command: &Command) -> &[Param] {
        let skipped = usize::from(command.level != Level::Global).min(command.params.len());
        &command.params[skipped..]
    }

    fn outputs_dispatchable(&self, command: &'a Command) -> BTreeSet<Step<'a>> {
        let by_itself = |step: &Step<'a>| is_dispatchable(self.registry, step);
        // Excludes wrapped handles in structures, because the reason for these handles is `WrappedHandle`.
        let in_structure = |step: &Step<'a>| by_itself(step) && !is_wrapped(self.policy, step);
        let steps = || self.steps(command, &command.params).into_iter();
        let mut found: BTreeSet<Step<'a>> = steps().filter(|step| by_itself(step) && step.is_output()).collect();
        let inside = || steps().filter(|step| !by_itself(step));
        if self.to_dispatchable.is_written(&self.graph, inside(), in_structure) {
            found.extend(self.to_dispatchable.ways(&self.graph, inside(), in_structure));
        }
        found
    }

    fn wrapped_inside(&self, command: &'a Command) -> BTreeSet<Step<'a>> {
        let steps = self.steps(command, Self::behind_dispatch(command));
        let is_end = |step: &Step<'a>| is_wrapped(self.policy, step);
        self.to_wrapped.ways(&self.graph, steps, is_end)
    }

    fn raw_inside(&self, command: &'a Command) -> BTreeSet<Step<'a>> {
        let steps = self.steps(command, &command.params);
        self.to_raw.ways(&self.graph, steps, |step| step.is_raw)
    }

    fn further_dispatchable(&self, command: &'a Command) -> BTreeSet<Step<'a>> {
        let params = Self::behind_dispatch(command).iter();
        let inputs = params.filter(|param| param.ty.pointers.first() != Some(&false));
        let steps = inputs.map(|param| self.graph.step("", &param.name, &param.ty, false));
        steps.filter(|step| is_dispatchable(self.registry, step)).collect()
    }
    fn implemented(&self, command: &Command) -> bool {
        command.level == Level::Instance
            && command
                .providers
                .iter()
                .any(|provider| self.policy.implemented_extensions.contains(&provider.extension))
    }

    fn of_instance_extension(&self, command: &Command) -> bool {
        let is_instance = |name: &str| {
            self.registry
                .extensions
                .get(name)
                .is_some_and(|extension| extension.kind == ExtensionKind::Instance)
        };
        matches!(command.level, Level::Device | Level::PhysicalDevice)
            && command.core.is_none()
            && command
                .providers
                .iter()
                .all(|provider| is_instance(&provider.extension))
    }
}

fn is_wrapped(policy: &Policy, step: &Step<'_>) -> bool {
    policy.wrapped_handles.iter().any(|wrapped| wrapped == step.target)
}

fn is_dispatchable(registry: &Registry, step: &Step<'_>) -> bool {
    registry
        .handles
        .get(step.target)
        .is_some_and(|handle| handle.dispatchable)
}

/// Returns the commands that share a prototype with a command whose treatment is not the default. The decision about that command may apply
/// to its other names too.
fn other_names<'a>(registry: &'a Registry, treatments: &BTreeMap<&'a str, &'a Treatment>) -> BTreeSet<&'a str> {
    let target = |command: &'a Command| command.alias.as_deref().unwrap_or(&command.name);
    let mut treated: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for command in registry.commands.values() {
        let row = treatments.get(command.name.as_str());
        if row.is_some_and(|row| !row.is_default()) {
            treated.entry(target(command)).or_default().push(&command.name);
        }
    }
    let others = registry.commands.values().filter(|command| {
        let names = treated.get(target(command));
        names.is_some_and(|names| names.iter().any(|name| *name != command.name))
    });
    others.map(|command| command.name.as_str()).collect()
}
