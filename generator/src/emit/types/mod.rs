//! `types/`: the C types that commands are made of.

mod enums;
mod handles;
mod layout;
mod plain;
mod start;
mod structs;

use super::file::File;
use crate::plan::Plan;

/// The modules of `types/`, whose items are all reachable as `types::Name`.
const ROOT: &str = include_str!("../templates/types.rs");

pub(super) fn files(plan: &Plan<'_>) -> Vec<File> {
    vec![
        File::rust(plan, "types/mod.rs").text(ROOT),
        plain::constants(plan),
        plain::base(plan),
        plain::function_pointers(plan),
        plain::opaque(plan),
        plain::aliases(plan),
        enums::enums(plan),
        enums::flags(plan),
        handles::file(plan),
        structs::file(plan),
        layout::file(plan),
    ]
}
