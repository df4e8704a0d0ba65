//! Reading JSON the way existing manifests need it (LAY-70 to LAY-74, DRV-46, DRV-55, APP-249).
//!
//! Two steps. [`normalize`] walks the text once, without recursion: it checks the nesting, decodes every string, and
//! writes the whole again as plain JSON that any strict parser takes. serde_json then checks the grammar and [`value`]
//! builds the tree. Strings cross the step between the two in a code of one character a byte, so they may hold any byte.

mod normalize;
mod value;

pub use value::{Object, Value};

use crate::alloc::OutOfMemory;

/// Why a text is not a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// The text is not JSON, or nests deeper than 1000 levels.
    Invalid,
    /// Memory ran out.
    OutOfMemory,
}

impl From<OutOfMemory> for JsonError {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// The value a text starts with. What follows the first complete value is ignored (LAY-72).
pub fn parse(text: &[u8]) -> Result<Value, JsonError> {
    value::build(&normalize::normalize(text)?)
}

#[cfg(test)]
mod tests;
