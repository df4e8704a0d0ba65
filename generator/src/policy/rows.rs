//! Rows of the policy file.

use super::declaration::Declared;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Policy {
    /// Handle types that the loader replaces by its own.
    pub wrapped_handles: Vec<String>,
    /// Names of the first parameters that trampolines check, each with its handle type.
    #[serde(default)]
    pub checked_parameters: BTreeMap<String, String>,
    /// Commands about lifetimes and lookup (GEN-71i).
    #[serde(default)]
    pub lifecycle: Vec<String>,
    /// Extensions whose instance-level commands the loader implements itself (GEN-71g).
    #[serde(default)]
    pub implemented_extensions: Vec<String>,
    /// Extensions whose commands are exported in addition to the core commands (GEN-53).
    pub exports: Exports,
    /// Targets that build the platforms of the registry.
    #[serde(default)]
    pub platforms: BTreeMap<String, PlatformPolicy>,
    /// Types that are emitted with all members.
    pub types: TypePolicy,
    /// Treatment of special commands.
    #[serde(default, rename = "treatment")]
    pub treatments: Vec<Treatment>,
    /// Deviations from the computed lookup gate (GEN-52).
    #[serde(default, rename = "gate")]
    pub gates: Vec<GateException>,
    /// Commands whose slots are not those of their level (GEN-62).
    #[serde(default, rename = "slot")]
    pub slots: Vec<SlotException>,
    /// Function types that no XML element mentions (GEN-63).
    #[serde(default, rename = "extra")]
    pub extras: Vec<Extra>,
    /// Device extensions that the runtime asks about by name.
    #[serde(default)]
    pub device_extensions: Vec<String>,
}

/// Exports beside the core commands.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Exports {
    /// Extensions whose commands are exported. Each has no platform, or a platform that a target builds.
    pub extensions: Vec<String>,
}

/// Targets on which a platform's commands are exported and its extensions known.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlatformPolicy {
    /// The Rust `cfg` predicate, absent if no target builds the platform.
    #[serde(default)]
    pub cfg: Option<String>,
    /// Export lists that contain the platform's commands.
    #[serde(default)]
    pub lists: Vec<ExportList>,
}

/// A file of exported symbols.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum ExportList {
    /// The list for ELF systems such as Linux.
    Linux,
    /// A module-definition file.
    Windows,
    /// An exported-symbols list.
    Macos,
}

/// Types that are emitted with all members.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TypePolicy {
    /// Structures. The structures that they contain by value are included.
    pub structs: Vec<String>,
    /// Enumerations whose enumerants are emitted.
    pub enumerants: Vec<String>,
    /// Enumerants of `VkStructureType` that no emitted structure has as its `sType`.
    #[serde(default)]
    pub structure_types: Vec<String>,
    /// Structures with a chain of which the runtime copies all members, known or not.
    #[serde(default)]
    pub copied_chains: Vec<String>,
    /// Rust types of platform types that occur by value (GEN-43).
    #[serde(default)]
    pub by_value: BTreeMap<String, ByValue>,
}

/// A platform type that is passed by value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByValue {
    /// The Rust type.
    pub rust: String,
    /// Size and alignment in bytes on a 64-bit target.
    pub size: u32,
}

/// Entry point of a command for the application.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// The generated body: check, unwrap, and call the slot.
    #[default]
    Generated,
    /// The runtime supplies the body.
    Handwritten,
    /// The trampoline of the alias target serves both names.
    Shared,
    /// The generated body, after which the returned objects get their dispatch pointers.
    OutputHandles,
}

/// End of a command's chain.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The generated body, which unwraps the object and calls the driver.
    Generated,
    /// The runtime supplies the body.
    Handwritten,
    /// The terminator of the alias target serves both names.
    Shared,
    /// The command has no terminator.
    None,
}

/// Behaviour of a generated terminator if the driver lacks the command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// The instance extension that must be enabled; otherwise the driver is not asked at all (DRV-164).
    #[serde(default)]
    pub requires: Option<String>,
    /// Returned value, as a constant's name.
    pub value: String,
    /// Severity of the message.
    pub severity: Severity,
}

/// Severity of the message about an absent driver function.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// `INFO`.
    Info,
    /// `WARN`.
    Warn,
    /// `ERROR`.
    Error,
}

/// Treatment of special commands.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Treatment {
    /// Commands with this treatment.
    pub commands: Vec<String>,
    /// Kind of trampoline of the commands.
    #[serde(default)]
    pub entry: Entry,
    /// End of the commands' chain; by default generated for physical-device commands, and none for device commands.
    #[serde(default)]
    pub end: Option<End>,
    /// Behaviour of a generated terminator if the driver lacks the commands. By default, the terminator ends the process.
    #[serde(default)]
    pub absent: Option<Absent>,
    /// `true` if a hand-written terminator answers when the driver lacks the commands (GEN-71h). For generated terminators, `absent` has
    /// this purpose.
    #[serde(default)]
    pub emulated: bool,
    /// `true` if the command does nothing when its target is absent (GEN-51).
    #[serde(default)]
    pub null_tolerant: bool,
    /// Extensions of which one must be enabled, so that the device-level lookup returns the terminator (APP-45).
    #[serde(default)]
    pub needs: Vec<String>,
    /// The reasons why the commands are special, and the steps by which they lead to handles, as reviewed (GEN-74).
    #[serde(default)]
    pub reviewed: Vec<String>,
    /// Reason for the row.
    pub reason: String,
}

impl Treatment {
    /// Returns `true` if the commands are treated like commands without a row.
    pub fn is_default(&self) -> bool {
        let is_plain = self.entry == Entry::Generated && self.end.is_none();
        is_plain && !self.is_emulated() && !self.null_tolerant && self.needs.is_empty()
    }

    /// Returns `true` if a terminator, generated or hand-written, answers for a driver that lacks the commands.
    pub fn is_emulated(&self) -> bool {
        self.emulated || self.absent.is_some()
    }
}

/// A table of functions.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// Functions of the first element of an instance's chain.
    Instance,
    /// Functions of the first element of a device's chain.
    Device,
    /// Functions of one driver for instances and physical devices.
    Driver,
    /// Functions of one driver for the terminators of a device.
    DeviceTerminator,
}

/// A command whose slots differ from those of its level.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SlotException {
    /// The command.
    pub command: String,
    /// Further tables that have a slot for the command.
    #[serde(default, rename = "in")]
    pub also_in: Vec<Table>,
    /// Tables of its level that have no slot for the command.
    #[serde(default)]
    pub not_in: Vec<Table>,
    /// Reason for the row.
    pub reason: String,
}

/// A lookup gate that differs from the registry's.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GateException {
    /// Commands with this condition.
    pub commands: Vec<String>,
    /// Instance extensions of which one must be enabled.
    pub extensions: Vec<String>,
    /// Reason for the row.
    pub reason: String,
}

/// A function type of the interface between loader, drivers and layers.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Extra {
    /// Name without `PFN_`.
    pub name: String,
    /// Name and C type of each parameter.
    pub params: Vec<(String, Declared)>,
    /// Return type.
    pub returns: Declared,
    /// Reason for the row.
    pub reason: String,
}
