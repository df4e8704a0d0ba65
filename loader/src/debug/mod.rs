//! The commands of debug-utils messengers, debug-report callbacks and object names (APP-190 to APP-200, DRV-166).
//!
//! The loader offers both extensions itself, whether or not a driver has them. A messenger is one loader object that
//! holds a slot (see [`messenger`](crate::messenger)); each driver that knows the extension has an object of its own at that
//! slot. Object names pass through twice: the trampoline turns the application's handles into the chain's
//! ([`entry`]), the terminator turns those into the driver's ([`terminator`]).

mod create_info;
#[cfg(test)]
mod driver_tests;
pub(crate) mod entry;
mod labels;
mod names;
pub(crate) mod terminator;
#[cfg(test)]
pub(crate) mod testing;
