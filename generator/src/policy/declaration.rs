//! Parses C types in the policy's spelling, for example `const char*`.

use serde::Deserialize;
use vk_registry::model::CType;

/// C type in normal form (GEN-13).
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Declared(pub CType);

impl TryFrom<String> for Declared {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| format!("{text:?} is no C type"))
    }
}
