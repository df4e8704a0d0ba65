//! The C types of parameters, results and structures, in C spelling.
//!
//! A type that contains a wrapped handle has a parameter `L` for the level of the handle. This module exports all types, so code need not
//! name the file of a type.

#[path = "../../../generated/types/aliases.rs"]
mod aliases;
#[path = "../../../generated/types/base.rs"]
mod base;
#[path = "../../../generated/types/constants.rs"]
mod constants;
#[path = "../../../generated/types/enums.rs"]
mod enums;
#[path = "../../../generated/types/flags.rs"]
mod flags;
#[path = "../../../generated/types/function_pointers.rs"]
mod function_pointers;
#[path = "../../../generated/types/handles.rs"]
mod handles;
// The sizes and offsets in this file are those of 64-bit targets.
#[cfg(target_pointer_width = "64")]
#[path = "../../../generated/types/layout.rs"]
mod layout;
// The sizes and offsets that a C compiler computes, if the build names a file with them (tests/targets/layouts.py).
#[cfg(vkl_layouts)]
mod layout_of_c {
    include!(env!("VKL_LAYOUTS"));
}
#[path = "../../../generated/types/opaque.rs"]
mod opaque;
#[path = "../../../generated/types/structs.rs"]
mod structs;

pub use aliases::*;
pub use base::*;
pub use constants::*;
pub use core::ffi::{c_char, c_int, c_ulong, c_void};
pub use enums::*;
pub use flags::*;
pub use function_pointers::*;
pub use handles::*;
pub use opaque::*;
pub use structs::*;

use crate::handle::{Dispatchable, Level};
