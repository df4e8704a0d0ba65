//! Emits the loader's tables, trampolines and terminators from the registry snapshot and the policy.
//!
//! [`policy`] reads the exceptions, and [`plan`] makes every decision. [`emit`] prints the decisions through [`mod@format`], and [`output`]
//! writes the files. [`verbs`] has the subcommands of the program `vkgen`, which use these modules.
#![forbid(unsafe_code)]

pub mod command_line;
pub mod diff;
pub mod dump;
pub mod emit;
pub mod error;
pub mod explain;
pub mod format;
pub mod input;
pub mod names;
pub mod output;
pub mod plan;
pub mod policy;
pub mod text;
pub mod verbs;
