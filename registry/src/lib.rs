//! What the Vulkan XML registry says about entry points, as plain ordered data.
//!
//! The crate turns `vk.xml` into a [`model::Registry`]: commands with their dispatch level, handles, extensions, and
//! the types that reach a command's parameters. It states facts and takes no decision about Rust output; that is the
//! generator's business.
#![forbid(unsafe_code)]

pub mod model;
