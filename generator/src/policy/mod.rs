//! The policy file: what the XML cannot say, as data with reasons (GEN-70).
//!
//! A row that names something the registry lacks, or a special command without a row, stops the run; the checks are in
//! [`crate::plan`], since they need the registry.

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
