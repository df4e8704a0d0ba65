//! Where manifests and settings are searched, and what lies there.
//!
//! A *place* is a folder, or one file when its name ends in `.json` (DRV-17, LAY-15). [`mod@places`] assembles them from the
//! environment and the folders of the system ([`bases`], [`mod@system`]), [`mod@find`] lists the manifests in them. Paths are used as
//! assembled and nothing is probed: only opening decides (APP-218).

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
pub use find::{Files, Found, find, without_repeats};
pub use kind::ManifestKind;
pub use paths::{Paths, Place};
pub use places::{Search, override_places};
#[cfg(test)]
pub use system::{System, ThisSystem};

#[cfg(all(test, unix))]
mod tests;
