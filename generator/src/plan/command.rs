//! Decisions about one command.

use super::special::{Facts, Reason};
use crate::policy::{Absent, End, Entry, ExportList};
use std::collections::BTreeSet;
use vk_registry::model::{CType, Command, Level};

/// Condition under which `vkGetInstanceProcAddr` finds a command (GEN-52).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate<'a> {
    /// The condition always holds.
    Always,
    /// The command is found if one of the listed instance extensions is enabled.
    Instance(Vec<&'a str>),
}

/// Condition under which the end of the device chain returns the loader's terminator (APP-45).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceGate<'a> {
    /// The condition always holds.
    Always,
    /// The terminator is returned if one of the listed device extensions is enabled on the driver's device.
    Device(Vec<&'a str>),
    /// The terminator is returned if one of the listed instance extensions is enabled.
    Instance(Vec<&'a str>),
}

/// Targets on which a command is an exported symbol (GEN-53).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Export<'a> {
    /// The command is exported on no target.
    No,
    /// The command is exported on every target.
    Everywhere,
    /// The command is exported if the given `cfg` predicate holds, and is in the given lists.
    Where(&'a str, &'a [ExportList]),
}

/// Plan for one command.
#[derive(Clone, Debug)]
pub struct CommandPlan<'a> {
    /// Command of the registry.
    pub command: &'a Command,
    /// `true` if the policy has a treatment for the command.
    pub has_row: bool,
    /// Reason that the policy gives for the treatment.
    pub reason: Option<&'a str>,
    /// Reasons why the command is special. Most commands have none.
    pub special: BTreeSet<Reason>,
    /// Reasons of `special`, each with the steps that lead to handles.
    pub facts: Facts<'a>,
    /// Kind of the command's trampoline.
    pub entry: Entry,
    /// Kind of the command's terminator.
    pub end: End,
    /// Behaviour of the generated terminator if the driver lacks the function.
    pub absent: Option<&'a Absent>,
    /// `true` if a hand-written terminator answers without the driver's function.
    pub emulated: bool,
    /// `true` if a call does nothing when the function is missing (GEN-51); `false` if such a call ends the process.
    pub null_tolerant: bool,
    /// Condition under which the look-up of an instance finds the command.
    pub gate: Gate<'a>,
    /// Condition under which the look-up of a device returns the terminator.
    pub device_gate: DeviceGate<'a>,
    /// Condition under which the command is exported.
    pub export: Export<'a>,
    /// `cfg` predicate of the command's platform, or `None` if the command has no platform. The predicate of a platform that no target
    /// builds never holds.
    pub platform: Option<&'a str>,
    /// Return type of the command.
    pub returned: CType,
    /// `true` if the Rust type of the command's function pointer has the type parameter `L`, the level of handles.
    pub generic: bool,
}

impl CommandPlan<'_> {
    /// Returns `true` if calls of the command go through the instance chain.
    pub fn is_instance_chain(&self) -> bool {
        matches!(self.command.level, Level::Instance | Level::PhysicalDevice)
    }

    /// Returns `true` if the command has a terminator. The terminator can belong to several commands.
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
