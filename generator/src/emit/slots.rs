//! `slots/`: machine code for functions without a known type, and for table slots that nobody fills (GEN-68).

use super::file::File;
use crate::plan::Plan;

/// Path and text of each file; nothing in them depends on the registry.
const FILES: [(&str, &str); 7] = [
    ("slots/mod.rs", include_str!("templates/slots.rs")),
    ("slots/x86_64.rs", include_str!("templates/slots_x86_64.rs")),
    ("slots/x86.rs", include_str!("templates/slots_x86.rs")),
    ("slots/aarch64.rs", include_str!("templates/slots_aarch64.rs")),
    ("slots/arm.rs", include_str!("templates/slots_arm.rs")),
    ("slots/blocks.rs", include_str!("templates/slots_blocks.rs")),
    ("slots/fallback.rs", include_str!("templates/slots_fallback.rs")),
];

pub(super) fn files(plan: &Plan<'_>) -> Vec<File> {
    FILES
        .iter()
        .map(|(path, text)| File::rust(plan, path).text(text))
        .collect()
}
