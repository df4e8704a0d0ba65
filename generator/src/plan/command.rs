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
    /// Exported on every target.
    Everywhere,
    /// Exported if the `cfg` predicate holds, in these lists.
    Where(&'a str, &'a [ExportList]),
}

/// Plan for one command.
#[derive(Clone, Debug)]
pub struct CommandPlan<'a> {
    /// The command.
    pub command: &'a Command,
    /// `true` if the policy has a treatment for the command.
    pub has_row: bool,
    /// Reason that the policy gives for the treatment.
    pub reason: Option<&'a str>,
    /// Reasons why the command is special; empty for most commands.
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
    /// Condition under which the command is exported.
    pub export: Export<'a>,
    /// The `cfg` predicate of the command's platform, if the command belongs to a platform. If no target builds the platform, the predicate
    /// never holds.
    pub platform: Option<&'a str>,
    /// Return type.
    pub returned: CType,
    /// `true` if the type of the command's function pointer has a level parameter.
    pub generic: bool,
}

impl CommandPlan<'_> {
    /// Returns `true` if calls of the command go through the instance chain.
    pub fn is_instance_chain(&self) -> bool {
        matches!(self.command.level, Level::Instance | Level::PhysicalDevice)
    }

    /// Returns `true` if the command has a terminator, its own or a shared one.
    pub fn has_terminator(&self) -> bool {
        self.end != End::None
    }

    /// Returns the name of the command whose trampoline serves this command.
    pub fn trampoline(&self) -> &str {
        self.served_by(self.entry == Entry::Shared)
    }

    /// Returns the name of the command whose terminator serves this command, if there is one.
    pub fn terminator(&self) -> Option<&str> {
        self.has_terminator().then(|| self.served_by(self.end == End::Shared))
    }

    fn served_by(&self, shared: bool) -> &str {
        let alias = self.command.alias.as_deref().filter(|_| shared);
        alias.unwrap_or(&self.command.name)
    }

    /// Returns `true` if the loader rejects a driver that lacks the command (GEN-62).
    pub fn is_mandatory(&self) -> bool {
        self.command
            .core
            .is_some_and(|version| version.major == 1 && version.minor == 0)
    }

    /// Returns `true` if the command is in the given export list.
    pub fn is_in(&self, list: ExportList) -> bool {
        match self.export {
            Export::No => false,
            Export::Everywhere => true,
            Export::Where(_, lists) => lists.contains(&list),
        }
    }
}
