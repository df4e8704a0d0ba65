//! Debug-utils messengers, debug-report callbacks and object names (APP-190 to APP-200, DRV-166).
//!
//! The loader offers both extensions itself, whether or not a driver has them. A messenger is one loader object that
//! holds a slot ([`Messengers`]); each driver that knows the extension has an object of its own at that slot. A message
//! reaches callbacks of both kinds, translated where the kinds differ ([`message`]); loader log lines take the same
//! way. Object names pass through twice: the trampoline turns the application's handles into the chain's
//! ([`entry`]), the terminator turns those into the driver's ([`terminator`]).

mod callback;
mod create_info;
#[cfg(test)]
mod driver_tests;
pub mod entry;
mod labels;
mod leftovers;
pub mod message;
mod messengers;
mod names;
mod registered;
pub mod terminator;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use leftovers::{free_forgotten, release_all};
pub use messengers::Messengers;

use crate::instance::Instance;
use crate::journal::LogBits;
use core::ffi::CStr;

/// Gives a log line of the loader to the callbacks of an instance (APP-194).
pub fn deliver_loader_message(instance: &Instance, bits: LogBits, text: &CStr) {
    let object = message::instance_object(instance.handle());
    let data = message::loader_data(text, &object);
    let (severity, types) = message::severity_and_types(bits);
    // SAFETY: the data and what it points to live on this stack frame until all callbacks have returned.
    let message = unsafe { message::Message::from_utils(severity, types, &data) };
    // SAFETY: as above.
    unsafe { instance.messengers.deliver(&message) };
}
