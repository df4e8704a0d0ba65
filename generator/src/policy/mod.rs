//! The policy file: what the XML cannot say, as data with reasons (GEN-70).
//!
//! A row that names something the registry lacks, or a special command without a row, stops the run; the checks are in
//! [`crate::plan`], since they need the registry.

mod declaration;
mod overlay;

pub use declaration::Declared;
pub use overlay::PolicyOverlay;

use crate::error::Error;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Policy {
    /// Handle types that the loader replaces by its own.
    pub wrapped_handles: Vec<String>,
    /// Names of the first parameters that trampolines check.
    #[serde(default)]
    pub checked_parameters: Vec<String>,
    /// Which commands are emulated when a driver lacks them (GEN-71h).
    #[serde(default)]
    pub emulated: Vec<String>,
    /// Commands about lifetimes and lookup (GEN-71i).
    #[serde(default)]
    pub lifecycle: Vec<String>,
    /// Extensions whose instance-level commands the loader implements itself (GEN-71g).
    #[serde(default)]
    pub implemented_extensions: Vec<String>,
    /// Commands of these levels that a driver is never asked for, with the reason (GEN-62).
    #[serde(default)]
    pub not_asked_of_drivers: BTreeMap<String, String>,
    /// Which extensions' commands are exported beside core (GEN-53).
    pub exports: Exports,
    /// Operating systems of the registry's platforms.
    #[serde(default)]
    pub platforms: BTreeMap<String, PlatformPolicy>,
    /// Which types are emitted in full.
    pub types: TypePolicy,
    /// How special commands are treated.
    #[serde(default, rename = "treatment")]
    pub treatments: Vec<Treatment>,
    /// Deviations from the computed lookup gate (GEN-52).
    #[serde(default, rename = "gate")]
    pub gates: Vec<GateException>,
    /// Function types that no XML element mentions (GEN-63).
    #[serde(default, rename = "extra")]
    pub extras: Vec<Extra>,
    /// Device extensions that the runtime asks about by name.
    #[serde(default)]
    pub device_extensions: Vec<String>,
}

/// What is exported beside the core commands.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Exports {
    /// Extensions without a platform, or with one that a target builds.
    pub extensions: Vec<String>,
}

/// Where a platform's commands are exported and its extensions known.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlatformPolicy {
    /// The Rust `cfg` predicate, absent if no target builds the platform.
    #[serde(default)]
    pub cfg: Option<String>,
    /// The export lists it belongs to.
    #[serde(default)]
    pub lists: Vec<ExportList>,
}

/// A file of exported symbols.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum ExportList {
    /// ELF, as on Linux.
    Linux,
    /// A module-definition file.
    Windows,
    /// An exported-symbols list.
    Macos,
}

/// Which types are emitted in full.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TypePolicy {
    /// Structures; what they contain by value comes along.
    pub structs: Vec<String>,
    /// Enumerations whose enumerants are emitted.
    pub enumerants: Vec<String>,
    /// Enumerants of `VkStructureType` that no emitted structure brings along.
    #[serde(default)]
    pub structure_types: Vec<String>,
    /// Structures with a chain of which the runtime copies members that it does not know.
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

/// How a command is entered by the application.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// Check, unwrap, call the slot.
    #[default]
    Generated,
    /// The runtime supplies the body.
    Handwritten,
    /// The trampoline of the alias target serves both names.
    Shared,
    /// As generated, and the objects it returns get their dispatch pointer.
    OutputHandles,
}

/// How the chain ends for a command.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Unwrap and call the driver.
    Generated,
    /// The runtime supplies the body.
    Handwritten,
    /// The terminator of the alias target serves both names.
    Shared,
    /// There is none.
    None,
}

/// What a generated terminator does when the driver lacks the command.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// The instance extension without which the driver is not even looked at (DRV-164).
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

/// How special commands are treated.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Treatment {
    /// The commands it is about.
    pub commands: Vec<String>,
    /// How the application enters them.
    #[serde(default)]
    pub entry: Entry,
    /// How the chain ends for them; by default generated for physical-device commands and none for device commands.
    #[serde(default)]
    pub end: Option<End>,
    /// What a generated terminator does when the driver lacks them; by default it ends the process.
    #[serde(default)]
    pub absent: Option<Absent>,
    /// Whether an absent target is tolerated by doing nothing (GEN-51).
    #[serde(default)]
    pub null_tolerant: bool,
    /// Extensions, one of which makes the device-level lookup give out the terminator (APP-45).
    #[serde(default)]
    pub needs: Vec<String>,
    /// Why.
    pub reason: String,
}

/// A lookup gate that differs from what the registry says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct GateException {
    /// The commands it is about.
    pub commands: Vec<String>,
    /// Instance extensions, one of which must be enabled.
    pub extensions: Vec<String>,
    /// Why.
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
    /// Why.
    pub reason: String,
}

/// A policy file's name and text, for messages that point into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// As the user called it.
    pub name: String,
    /// Its content.
    pub text: String,
}

impl PolicyFile {
    fn read(path: &Path) -> Result<Self, Error> {
        Ok(Self {
            name: path.display().to_string(),
            text: std::fs::read_to_string(path).map_err(|error| Error::file(path, &error))?,
        })
    }
}

impl Policy {
    /// Reads the file and checks its form, then adds what further files say about overlays.
    pub fn read(path: &Path, overlays: &[PathBuf]) -> Result<(Self, Vec<PolicyFile>), Error> {
        let refused = |line| Error::Policy(vec![line]);
        let mut files = vec![PolicyFile::read(path)?];
        let mut policy = Self::parse(&files[0].name, &files[0].text).map_err(refused)?;
        for path in overlays {
            let file = PolicyFile::read(path)?;
            policy.add(PolicyOverlay::parse(&file.name, &file.text).map_err(refused)?);
            files.push(file);
        }
        Ok((policy, files))
    }

    /// Parses the text of `file`; a complaint names the place.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        let policy: Self = syntax(file, text)?;
        reasons(file, text, &policy.treatments, &policy.gates)?;
        Ok(policy)
    }
}

/// Reads TOML; a complaint names the place.
fn syntax<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let (line, column) = place(text, error.span().map_or(0, |span| span.start));
        let message = error.message().replace('\n', "; ");
        format!("{file}:{line}:{column}: error[policy-syntax]: {message}")
    })
}

/// Every row says why.
fn reasons(file: &str, text: &str, treatments: &[Treatment], gates: &[GateException]) -> Result<(), String> {
    let treatments = treatments.iter().map(|row| (&row.commands, &row.reason));
    let gates = gates.iter().map(|row| (&row.commands, &row.reason));
    match treatments.chain(gates).find(|(_, reason)| reason.trim().is_empty()) {
        None => Ok(()),
        Some((commands, _)) => {
            let command = commands.first().map_or("", String::as_str);
            let (line, column) = place(text, text.find(&format!("\"{command}\"")).unwrap_or(0));
            Err(format!(
                "{file}:{line}:{column}: error[policy-reason]: {command}: the row has no reason"
            ))
        }
    }
}

/// Line and column of a byte offset, both counted from one.
pub fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before.len() - line_start + 1)
}
