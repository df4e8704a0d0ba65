//! Decisions about one command.

use super::special::{Facts, Reason};
use crate::policy::{Absent, End, Entry, ExportList};
use std::collections::BTreeSet;
use vk_registry::model::{CType, Command, Level};

/// Condition under which `vkGetInstanceProcAddr` finds a command (GEN-52).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate<'a> {
    /// Always.
    Always,
    /// Found if one of these instance extensions is enabled.
    Instance(Vec<&'a str>),
}

/// Condition under which the end of the device chain returns the loader's terminator (APP-45).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceGate<'a> {
    /// Always.
    Always,
    /// Returned if one of these device extensions is enabled on the driver's device.
    Device(Vec<&'a str>),
    /// Returned if one of these instance extensions is enabled.
    Instance(Vec<&'a str>),
}

/// Export of a command as a symbol (GEN-53).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Export<'a> {
    /// Nowhere.
    No,
    /// On every target.
    Everywhere,
    /// Exported if the `cfg` predicate holds, in these lists.
    Where(&'a str, &'a [ExportList]),
}

/// Plan for one command.
#[derive(Clone, Debug)]
pub struct CommandPlan<'a> {
    /// The command.
    pub command: &'a Command,
    /// `true` if the policy has a treatment for it.
    pub has_row: bool,
    /// Reason why the policy treats it as it does.
    pub reason: Option<&'a str>,
    /// Reason why it is special; empty for most.
    pub special: BTreeSet<Reason>,
    /// The reasons of `special`, each with the steps that lead to handles.
    pub facts: Facts<'a>,
    /// Entry point for the application.
    pub entry: Entry,
    /// End of the chain.
    pub end: End,
    /// Behaviour of the generated terminator if the driver lacks the function.
    pub absent: Option<&'a Absent>,
    /// `true` if a hand-written terminator answers without the driver's function.
    pub emulated: bool,
    /// `true` if a missing target does nothing instead of ending the process.
    pub null_tolerant: bool,
    /// Instance-level lookup.
    pub gate: Gate<'a>,
    /// Device-level lookup of the terminator.
    pub device_gate: DeviceGate<'a>,
    /// Exported or not.
    pub export: Export<'a>,
    /// The `cfg` predicate of its platform, if it belongs to one; that of a platform which no target builds never holds.
    pub platform: Option<&'a str>,
    /// Return type.
    pub returned: CType,
    /// `true` if its type has a level parameter.
    pub generic: bool,
}

impl CommandPlan<'_> {
    /// Returns `true` if it travels the instance chain.
    pub fn is_instance_chain(&self) -> bool {
        matches!(self.command.level, Level::Instance | Level::PhysicalDevice)
    }

    /// Returns `true` if the command has a terminator, its own or a shared one.
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

    /// Returns `true` if a driver without it is rejected (GEN-62).
    pub fn is_mandatory(&self) -> bool {
        self.command
            .core
            .is_some_and(|version| version.major == 1 && version.minor == 0)
    }

    /// Returns `true` if it is in the given export list.
    pub fn is_in(&self, list: ExportList) -> bool {
        match self.export {
            Export::No => false,
            Export::Everywhere => true,
            Export::Where(_, lists) => lists.contains(&list),
        }
    }
}
