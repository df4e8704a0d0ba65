//! Reading JSON the way existing manifests need it (LAY-70 to LAY-74, DRV-46, DRV-55, APP-249).
//!
//! Most files are plain: strict JSON in UTF-8 without escapes. [`value`] builds their tree at once, with strings that point
//! into the text. All others take two steps. [`normalize`] walks the text once, without recursion: it checks the nesting, decodes every string, and
//! writes the whole again as plain JSON that any strict parser takes. serde_json then checks the grammar and [`value`]
//! builds the tree of that. Strings cross the step between the two in a code of one character a byte, so they may hold any byte.

mod normalize;
mod value;

use rust_alloc::vec::Vec;
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

/// The value a text starts with. What follows the first complete value is ignored (LAY-72). `normalized` is room for the
/// text of the second step.
pub fn parse<'t>(text: &'t [u8], normalized: &'t mut Vec<u8>) -> Result<Value<'t>, JsonError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    match value::build_plain(text) {
        Err(JsonError::Invalid) => {}
        decided => return decided,
    }
    *normalized = normalize::normalize(text)?;
    value::build_normalized(normalized)
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[cfg(test)]
mod tests;
