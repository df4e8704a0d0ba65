//! Drivers from a driver service (LSV-37 to LSV-48): the client's side of the protocol in the crate `wire`.
//!
//! A scan connects after it has searched all folders. The scan asks for the manifests and for the libraries that it needs, and ends the
//! connection before any driver runs.
//!
//! | module | task |
//! |---|---|
//! | [`mod@address`] | finds the service |
//! | [`mod@session`] | makes the connection and the requests |
//! | [`mod@reply`] | parses the answers |
//! | [`mod@library`] | decides which libraries a driver needs, and keeps libraries open |
//! | [`mod@publication`] | gives the drivers to scans |
//!
//! The service is trusted with code, but may be faulty. A fault costs at most the service's own drivers, and the time that a scan waits for
//! answers. Between scans the loader keeps no descriptor, so a program that closes or reuses descriptors does no harm. The module starts no
//! thread, and holds no lock while code outside of the loader runs.

#![forbid(unsafe_code)]

mod address;
mod failure;
mod library;
mod publication;
mod reply;
mod session;

#[cfg(fuzzing)]
pub(crate) use failure::Failure;
pub(crate) use publication::{Sent, Service};
#[cfg(fuzzing)]
pub(crate) use reply::{List, packet_for, read_reply};
