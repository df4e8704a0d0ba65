//! Reads the policy file, which contains the decisions that do not follow from the XML, each with its reason (GEN-70).
//!
//! A run fails if a row names something that the registry lacks, or if a special command has no row. The checks are in [`crate::plan`],
//! because they need the registry.

mod declaration;
mod overlay;
mod read;
mod rows;
mod text;

pub use declaration::Declared;
pub use overlay::PolicyOverlay;
pub use rows::{
    Absent, ByValue, End, Entry, ExportList, Exports, Extra, GateException, PlatformPolicy, Policy, Severity,
    SlotException, Table, Treatment, TypePolicy,
};
pub use text::{PolicyFile, place};
