//! The C types that commands are made of, in C spelling.
//!
//! What contains a handle that the loader wraps has a parameter `L` that says at which level the handle is.

mod aliases;
mod base;
mod constants;
mod enums;
mod flags;
mod function_pointers;
mod handles;
mod layout;
mod opaque;
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
