//! The commands of debug-utils messengers, debug-report callbacks and object names (APP-190 to APP-200, DRV-166).
//!
//! The loader offers `VK_EXT_debug_utils` and `VK_EXT_debug_report` itself, even if no driver has them. A messenger is one object of the
//! loader that occupies a slot (see [`messenger`](crate::messenger)). Each driver with the extension has an object of its own for that
//! slot. Handles in object names are translated twice: a trampoline turns the application's handle into the chain's ([`entry`]), and a
//! terminator turns the chain's into the driver's ([`terminator`]).

mod create_info;
pub(crate) mod entry;
mod labels;
mod late;
mod names;
pub(crate) mod terminator;
