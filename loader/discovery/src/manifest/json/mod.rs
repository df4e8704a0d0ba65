//! A JSON reader that accepts all existing manifests (LAY-70 to LAY-74, DRV-46, DRV-55, APP-249).
//!
//! Most files are plain: strict JSON in UTF-8 without escapes. [`parser`] passes these to serde_json unchanged. For all others,
//! [`normalize`] walks the text once, without recursion: it checks the nesting, decodes every string, and writes plain JSON that any strict
//! parser accepts. The strings of that JSON use a code of one character per byte, so that they can represent any byte.
//!
//! Each value becomes a node of a few bytes that points into the text; [`tree`] reads the nodes. The memory for any text is therefore
//! proportional to its length, and all allocations whose size depends on the text report a failure.

mod normalize;
mod parser;
mod tree;

pub use parser::JsonError;
pub use tree::{Document, Elements, Object, Value};

#[cfg(test)]
mod tests;
