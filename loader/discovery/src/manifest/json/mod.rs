//! Reading JSON the way existing manifests need it (LAY-70 to LAY-74, DRV-46, DRV-55, APP-249).
//!
//! Most files are plain: strict JSON in UTF-8 without escapes. [`parser`] lets serde_json read those as they are. For all others
//! [`normalize`] walks the text once, without recursion: it checks the nesting, decodes every string, and writes the whole again
//! as plain JSON that any strict parser takes, with strings in a code of one character a byte, so that they may hold any
//! byte. Each value becomes a node of a few bytes that points into the text; [`tree`] is how the nodes are read. So a text of
//! any kind takes memory in proportion to its length, and what grows with it is asked for in ways that report a shortage.

mod normalize;
mod parser;
mod tree;

pub use parser::JsonError;
pub use tree::{Document, Elements, Object, Value};

#[cfg(test)]
mod tests;
