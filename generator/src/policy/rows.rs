//! Rows of the policy file.

use super::declaration::Declared;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Content of the policy file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Policy {
    /// Handle types that the loader replaces by its own handles.
    pub wrapped_handles: Vec<String>,
    /// Names of the first parameters that trampolines check, each with its handle type.
    #[serde(default)]
    pub checked_parameters: BTreeMap<String, String>,
    /// Commands that concern the lifetime of objects, or the look-up of functions (GEN-71i).
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
    /// Commands whose look-up condition differs from the condition that follows from the registry (GEN-52).
    #[serde(default, rename = "gate")]
    pub gates: Vec<GateException>,
    /// Commands whose slots are different from the usual slots of their level (GEN-62).
    #[serde(default, rename = "slot")]
    pub slots: Vec<SlotException>,
    /// Function types that no XML element mentions (GEN-63).
    #[serde(default, rename = "extra")]
    pub extras: Vec<Extra>,
    /// Device extensions that get a constant and a bit in the set of device extensions.
    #[serde(default)]
    pub device_extensions: Vec<String>,
}

/// Exports in addition to the core commands.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Exports {
    /// Extensions whose commands are exported. Each has no platform, or a platform that a target builds.
    pub extensions: Vec<String>,
}

/// Targets on which a platform's commands are exported and the loader knows the platform's extensions.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlatformPolicy {
    /// Rust `cfg` predicate, or `None` if no target builds the platform.
    #[serde(default)]
    pub cfg: Option<String>,
    /// Export lists that contain the platform's commands.
    #[serde(default)]
    pub lists: Vec<ExportList>,
}

/// List of exported symbols for a family of systems.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum ExportList {
    /// List for ELF systems, for example Linux.
    Linux,
    /// Module-definition file for Windows.
    Windows,
    /// List of exported symbols for macOS.
    Macos,
}

/// Types that are emitted with all members.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TypePolicy {
    /// Names of structures. The structures that they contain by value are included.
    pub structs: Vec<String>,
    /// Enumerations whose enumerants are emitted.
    pub enumerants: Vec<String>,
    /// Enumerants of `VkStructureType` that are emitted although no emitted structure has them as its `sType`.
    #[serde(default)]
    pub structure_types: Vec<String>,
    /// Structures whose `pNext` chain the runtime copies completely, including structures that the registry does not define.
    #[serde(default)]
    pub copied_chains: Vec<String>,
    /// Rust types of platform types that occur by value (GEN-43).
    #[serde(default)]
    pub by_value: BTreeMap<String, ByValue>,
}

/// Platform type that is passed by value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByValue {
    /// Rust type of the same size.
    pub rust: String,
    /// Size in bytes on a 64-bit target, which is also the alignment.
    pub size: u32,
}

/// Kind of a command's trampoline.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// A generated trampoline checks and unwraps the handle, and calls the slot.
    #[default]
    Generated,
    /// The runtime has a hand-written function.
    Handwritten,
    /// The trampoline of the alias target serves both names.
    Shared,
    /// A generated trampoline calls the slot, and sets the dispatch pointers of the returned objects.
    OutputHandles,
}

/// Kind of a command's terminator.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// A generated terminator unwraps the object and calls the driver.
    Generated,
    /// The runtime has a hand-written function.
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
    /// Instance extension that must be enabled; otherwise, the terminator does not call the driver (DRV-164).
    #[serde(default)]
    pub requires: Option<String>,
    /// Returned value, as the name of a constant.
    pub value: String,
    /// Severity of the message about the missing driver function.
    pub severity: Severity,
}

/// Severity of the message about a missing driver function.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Severity `INFO`.
    Info,
    /// Severity `WARN`.
    Warn,
    /// Severity `ERROR`.
    Error,
}

/// Treatment of special commands.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Treatment {
    /// Commands with this treatment.
    pub commands: Vec<String>,
    /// Kind of the commands' trampolines.
    #[serde(default)]
    pub entry: Entry,
    /// Kind of the commands' terminators. By default, terminators of physical-device commands are generated, and device commands have none.
    #[serde(default)]
    pub end: Option<End>,
    /// Behaviour of a generated terminator if the driver lacks the commands. By default, the terminator ends the process.
    #[serde(default)]
    pub absent: Option<Absent>,
    /// `true` if a hand-written terminator answers when the driver lacks the commands (GEN-71h). For generated terminators, `absent` has
    /// this purpose.
    #[serde(default)]
    pub emulated: bool,
    /// `true` if a call of the command does nothing when the driver lacks the function (GEN-51).
    #[serde(default)]
    pub null_tolerant: bool,
    /// The look-up of a device returns the terminator only if one of the listed extensions is enabled (APP-45).
    #[serde(default)]
    pub needs: Vec<String>,
    /// Reviewed reasons why the commands are special, and steps by which they lead to handles (GEN-74).
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

/// Dispatch table.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Table {
    /// Functions of the first element of an instance's chain.
    Instance,
    /// Functions of the first element of a device's chain.
    Device,
    /// Functions of one driver for instances and physical devices.
    Driver,
    /// Functions of one driver that the terminators of device commands call.
    DeviceTerminator,
}

/// Command whose slots are different from the usual slots of its level.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SlotException {
    /// Name of the command.
    pub command: String,
    /// Further tables that have a slot for the command.
    #[serde(default, rename = "in")]
    pub also_in: Vec<Table>,
    /// Tables of the command's level that have no slot for the command.
    #[serde(default)]
    pub not_in: Vec<Table>,
    /// Reason for the row.
    pub reason: String,
}

/// Commands whose look-up condition differs from the condition that follows from the registry.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GateException {
    /// Commands with this condition.
    pub commands: Vec<String>,
    /// Instance extensions. At least one of them must be enabled.
    pub extensions: Vec<String>,
    /// Reason for the row.
    pub reason: String,
}

/// Function type of the interface between loader, drivers and layers.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Extra {
    /// Name without `PFN_`.
    pub name: String,
    /// Name and C type of each parameter.
    pub params: Vec<(String, Declared)>,
    /// Return type of the function.
    pub returns: Declared,
    /// Reason for the row.
    pub reason: String,
}
