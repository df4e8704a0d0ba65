//! Drivers that a service hands out (LSV-37 to LSV-48): the client's side of the protocol in the crate `wire`.
//!
//! A scan connects after it has looked into all folders, asks for the manifests and for the libraries that it needs, and ends the
//! connection before any driver runs. [`mod@address`] says where the service is, [`mod@session`] is the connection, [`mod@reply`] reads
//! what came, [`mod@library`] decides whether a file is what it should be and keeps libraries open, and [`mod@publication`] is what scans
//! see.
//!
//! The service is trusted with code, but not to be well: whatever it sends or leaves out costs its own drivers at most, and a scan the time
//! that it may take to answer. Between scans there is no descriptor, so nothing that the program does with descriptors can harm either.
//! Nothing here happens on a thread of its own, and no lock is held while code outside of the loader runs.

#![forbid(unsafe_code)]

mod address;
mod failure;
mod library;
mod publication;
mod reply;
mod session;

#[cfg(fuzzing)]
pub(crate) use failure::Failure;
pub(crate) use publication::{Fetched, Unopened, ask, forget, is_off};
#[cfg(fuzzing)]
pub(crate) use reply::{Described, Manifest, described_library, listed_manifests, packet_for, read_reply};
