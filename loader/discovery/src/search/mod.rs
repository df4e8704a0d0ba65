//! Folders that are searched for manifests and settings, and the manifests in these folders.
//!
//! A *place* is a folder, or one file if its name ends in `.json` (DRV-17, LAY-15). [`mod@places`] collects the places from the environment
//! and the folders of the system ([`bases`], [`mod@system`]); [`mod@find`] lists the manifests in the places. The search does not check or
//! change paths: the loader finds out that a file exists by opening the file (APP-218).

mod bases;
pub mod build_dirs;
mod executable;
mod find;
mod kind;
mod paths;
mod places;
mod registered;
mod system;

pub use bases::BaseFolders;
pub use executable::Executable;
pub use find::{Files, Found, find, trace_searched, without_repeats};
pub use kind::ManifestKind;
pub use paths::{Paths, Place};
pub use places::{Search, override_places};
#[cfg(test)]
pub use system::{System, ThisSystem};

#[cfg(all(test, unix))]
mod tests;
