//! Manifests: from the bytes of a JSON file to typed values.
//!
//! [`mod@file`] reads a file without ever blocking on it, [`json`] turns its text into a tree, and [`driver`] and [`layer`]
//! read the members they know. Nothing here opens a library or calls Vulkan, and no input makes it panic: what cannot be
//! used becomes a decision in the [journal](crate::journal) with its reason.

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
