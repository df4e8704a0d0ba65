//! Reads manifests: converts the bytes of a JSON file to typed values.
//!
//! [`mod@file`] reads a file without blocking, [`json`] turns the text into a tree, and [`driver`] and [`layer`] read the known members.
//! This module never opens a library, calls Vulkan or panics, whatever a file contains. The [journal](crate::journal) records a decision,
//! with the reason, for everything that cannot be used.

pub mod driver;
pub mod file;
pub mod json;
pub mod layer;
mod library;
mod names;
mod version;

pub use driver::DriverManifest;
pub use layer::{LayerManifest, PreInstanceFunction};
pub use names::Names;
pub use version::FormatVersion;
