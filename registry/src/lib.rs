//! Facts of the Vulkan XML registry about entry points, as plain ordered data.
//!
//! The crate turns `vk.xml` into a [`model::Registry`]: commands with their dispatch level, handles, extensions, and the types that
//! commands use. The crate has only facts. The generator makes the decisions about Rust output.
//!
//! [`load()`] reads the XML strictly: a construct that no rule covers yet is an error with its place. The [`snapshot`] is the model in a
//! committed, line-oriented text form.
#![forbid(unsafe_code)]

mod bytes;
pub mod declaration;
pub mod depends;
pub mod diagnostic;
mod load;
mod mentions;
pub mod model;
mod overlay;
mod parse;
mod resolve;
pub mod snapshot;
mod source;

pub use bytes::MAX_BYTES;
pub use diagnostic::{Code, Diagnostic};
pub use load::{load, load_tolerant, load_with_overlays};
pub use mentions::{Mention, mentions};
pub use source::Source;

/// Returns the attributes that the crate reads, as pairs of an element's path and an attribute. The lists of known constructs mark all
/// other attributes as informational or irrelevant (GEN-80).
pub fn used_attributes() -> impl Iterator<Item = (&'static str, &'static str)> {
    parse::schema::used()
}
