//! `types/`: the C types that commands use.

mod enums;
mod handles;
mod layout;
mod plain;
mod start;
mod structs;

use super::file::File;
use crate::plan::Plan;

pub(super) fn files(plan: &Plan<'_>) -> Vec<File> {
    vec![
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
