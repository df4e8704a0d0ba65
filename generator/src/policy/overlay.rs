//! Policy rows for the commands of a registry overlay, in a file beside the policy. Driver teams use overlays for extensions that are not
//! public yet.

use super::rows::{ByValue, GateException, Policy, Treatment};
use super::text::{reasons, syntax};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Additional rows, with the same meaning as in the policy.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct PolicyOverlay {
    #[serde(rename = "treatment")]
    treatments: Vec<Treatment>,
    #[serde(rename = "gate")]
    gates: Vec<GateException>,
    structs: Vec<String>,
    by_value: BTreeMap<String, ByValue>,
}

impl PolicyOverlay {
    /// Parses the text of `file`. Error messages contain the line and column in the file.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        let overlay: Self = syntax(file, text)?;
        reasons(file, text, &overlay.treatments, &overlay.gates, &[])?;
        Ok(overlay)
    }
}

impl Policy {
    /// Adds the rows of an overlay. The plan reports commands with two rows.
    pub fn add(&mut self, overlay: PolicyOverlay) {
        self.treatments.extend(overlay.treatments);
        self.gates.extend(overlay.gates);
        self.types.structs.extend(overlay.structs);
        self.types.by_value.extend(overlay.by_value);
    }
}
