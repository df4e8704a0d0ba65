//! C types as the policy spells them: `const char*`, `uint32_t`.

use serde::Deserialize;
use vk_registry::model::CType;

/// A C type in normal form (GEN-13).
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Declared(pub CType);

impl TryFrom<String> for Declared {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| format!("{text:?} is no C type"))
    }
}
