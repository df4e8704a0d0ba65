//! What follows from the Vulkan registry and the policy alone.
//!
//! Names keep the spelling of the C headers. Functions are described by their reference pages.
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

pub mod chains;
pub mod dispatch;
pub mod extensions;
pub mod lookup;
pub mod object_types;
pub mod pfn;
pub mod terminator;
pub mod trampoline;
pub mod types;
