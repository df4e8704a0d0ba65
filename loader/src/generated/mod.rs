//! Everything that follows from the Vulkan registry and the policy alone: the files of `generated/`, which `vkgen` writes.
//!
//! This module only declares the files. Modules of the loader process their rows: [`crate::lookup`], [`crate::dispatch_table`],
//! [`discovery::extension`], [`crate::messenger`], [`crate::forward`]. A file that is not declared here is not compiled.
//!
//! Names have the spelling of the C headers. The reference pages describe the functions.
#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    clippy::upper_case_acronyms,
    reason = "the C world knows these names"
)]
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    reason = "emitted as a whole, whatever the loader uses of it"
)]
#![allow(
    missing_docs,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    reason = "what a command demands stands on its reference page; the unsafe steps are explained once, in `translation`"
)]

#[path = "../../../generated/chains.rs"]
pub mod chains;
pub mod dispatch;
#[cfg(vkl_steps_aside)]
#[path = "../../../generated/exports/aside.rs"]
pub mod exports;
#[path = "../../../generated/lookup.rs"]
pub mod lookup;
#[path = "../../../generated/object_types.rs"]
pub mod object_types;
#[path = "../../../generated/pfn.rs"]
pub mod pfn;
#[path = "../../../generated/terminator/mod.rs"]
pub mod terminator;
#[path = "../../../generated/trampoline/mod.rs"]
pub mod trampoline;
pub mod types;
