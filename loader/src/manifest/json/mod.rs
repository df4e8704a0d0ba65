//! Reading JSON the way existing manifests need it (LAY-70 to LAY-74, DRV-46, DRV-55, APP-249).
//!
//! [`parser`] goes over the text once and checks its grammar to the end of the first value. It builds the tree of [`value`]
//! down to the level that files of the loader reach, and passes over what lies deeper without recursion. Strings point
//! into the text; those with an escape or a NUL in them are written out by [`string`]. A string may hold any byte, and no
//! text is looked at for UTF-8.

mod number;
mod parser;
mod string;
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
///
/// # Errors
/// See [`JsonError`].
pub fn parse(text: &[u8]) -> Result<Value<'_>, JsonError> {
    parser::parse(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[cfg(test)]
mod tests;
