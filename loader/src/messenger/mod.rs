//! Callbacks of an instance that receive messages: debug-utils messengers and debug-report callbacks (APP-190 to APP-197).
//!
//! A message reaches callbacks of both kinds, converted where the kinds differ ([`Message`]). Log lines of the loader take the same path
//! ([`Messengers::deliver_log_line`]). This module knows nothing about the drivers' objects for the callbacks.

mod callback;
mod message;
mod messengers;
mod object_types;
mod registered;
#[cfg(test)]
mod tests;

pub(crate) use callback::Callback;
pub(crate) use message::{Message, ReportFields};
pub(crate) use messengers::Messengers;
pub(crate) use object_types::ObjectTypeRow;
pub(crate) use object_types::object_types;
pub(crate) use registered::{Kind, Registered};
