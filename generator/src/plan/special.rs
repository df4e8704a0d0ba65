//! Which commands are special, by the predicates of GEN-71.

use super::reach::{Reach, resolve};
use crate::policy::{Policy, Treatment};
use std::collections::BTreeSet;
use vk_registry::model::{Command, ExtensionKind, Level, Registry};

/// Why a command needs a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// GEN-71a: no dispatchable first parameter.
    Global,
    /// GEN-71b: returns a dispatchable handle.
    OutputsDispatchable,
    /// GEN-71c: one instance, several drivers.
    InstanceLevel,
    /// GEN-71d: a wrapped handle inside a parameter.
    WrappedHandle,
    /// GEN-71e: a raw 64-bit value whose kind is said elsewhere.
    RawHandle,
    /// GEN-71f: further dispatchable handles after the first.
    FurtherDispatchable,
    /// GEN-71g: about objects that the loader implements.
    Implemented,
    /// GEN-71h: emulated when a driver lacks it.
    Emulated,
    /// GEN-71i: lifetimes and lookup.
    Lifecycle,
    /// A device command of an instance extension, which a driver may lack (GEN-51).
    InstanceExtension,
}

impl Reason {
    /// The word used in dumps and messages.
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
        }
    }

    /// The reason as a sentence for people.
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
        }
    }
}

/// Answers the predicates for one registry.
pub(super) struct Predicates<'a> {
    registry: &'a Registry,
    policy: &'a Policy,
    to_wrapped: Reach<'a>,
    to_raw: Reach<'a>,
}

impl<'a> Predicates<'a> {
    pub(super) fn new(registry: &'a Registry, policy: &'a Policy) -> Self {
        let is_wrapped = |name: &str| {
            policy
                .wrapped_handles
                .iter()
                .any(|wrapped| wrapped == resolve(registry, name))
        };
        Self {
            registry,
            policy,
            to_wrapped: Reach::new(registry, |member| is_wrapped(&member.ty.base)),
            to_raw: Reach::new(registry, |member| member.object_type.is_some()),
        }
    }

    /// All reasons why the command is special.
    pub(super) fn reasons(&self, command: &'a Command, treatment: Option<&Treatment>) -> BTreeSet<Reason> {
        let checks: [(Reason, bool); 10] = [
            (Reason::Global, command.level == Level::Global),
            (Reason::OutputsDispatchable, self.outputs_dispatchable(command)),
            (Reason::InstanceLevel, command.level == Level::Instance),
            (Reason::WrappedHandle, self.wrapped_inside(command)),
            (Reason::RawHandle, self.raw_inside(command)),
            (Reason::FurtherDispatchable, self.further_dispatchable(command)),
            (Reason::Implemented, self.implemented(command)),
            (Reason::Emulated, treatment.is_some_and(Treatment::is_emulated)),
            (Reason::Lifecycle, self.policy.lifecycle.contains(&command.name)),
            (Reason::InstanceExtension, self.of_instance_extension(command)),
        ];
        checks
            .into_iter()
            .filter_map(|(reason, holds)| holds.then_some(reason))
            .collect()
    }

    fn is_dispatchable(&self, name: &str) -> bool {
        self.registry
            .handles
            .get(resolve(self.registry, name))
            .is_some_and(|handle| handle.dispatchable)
    }

    fn is_wrapped(&self, name: &str) -> bool {
        self.policy
            .wrapped_handles
            .iter()
            .any(|wrapped| wrapped == resolve(self.registry, name))
    }

    fn outputs_dispatchable(&self, command: &Command) -> bool {
        command
            .params
            .iter()
            .any(|param| param.ty.pointers.first() == Some(&false) && self.is_dispatchable(&param.ty.base))
    }

    /// The parameters behind the one that the command is dispatched on.
    fn behind_dispatch(command: &Command) -> &[vk_registry::model::Param] {
        let skipped = usize::from(command.level != Level::Global).min(command.params.len());
        &command.params[skipped..]
    }

    fn wrapped_inside(&self, command: &'a Command) -> bool {
        Self::behind_dispatch(command)
            .iter()
            .any(|param| self.is_wrapped(&param.ty.base) || self.to_wrapped.contains(self.registry, &param.ty.base))
    }

    fn raw_inside(&self, command: &'a Command) -> bool {
        command
            .params
            .iter()
            .any(|param| param.object_type.is_some() || self.to_raw.contains(self.registry, &param.ty.base))
    }

    fn further_dispatchable(&self, command: &Command) -> bool {
        Self::behind_dispatch(command).iter().any(|param| {
            let is_input = param.ty.pointers.first() != Some(&false);
            is_input && self.is_dispatchable(&param.ty.base)
        })
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
        command.level == Level::Device
            && command.core.is_none()
            && command
                .providers
                .iter()
                .all(|provider| is_instance(&provider.extension))
    }
}
