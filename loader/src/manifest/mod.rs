//! Manifests: from the bytes of a JSON file to typed values.
//!
//! [`mod@file`] reads a file without ever blocking on it, [`json`] turns its text into a tree, and [`driver`] and [`layer`]
//! read the members they know. Nothing here opens a library or calls Vulkan, and no input makes it panic: what cannot be
//! used becomes a decision in the [journal](crate::journal) with its reason.

#![forbid(unsafe_code)]

pub mod driver;
pub mod file;
pub mod json;
pub mod layer;
mod library;
mod names;
mod path;
mod text;
mod version;

#[cfg(all(test, unix))]
pub mod scratch;

pub use driver::DriverManifest;
pub use layer::{LayerManifest, PreInstanceFunction};
pub use names::Names;
pub use path::{append_joined, file_name, folder_of, has_json_name, join};
pub use text::Text;
pub use version::FormatVersion;
