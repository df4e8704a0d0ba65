//! Drivers that a service hands out (LSV-37 to LSV-48): the client's side of the protocol in the crate `wire`.
//!
//! A scan asks the service for its manifests after it has looked into all folders; a library comes as an open file when its driver is
//! opened. [`mod@address`] says where the service is, once in a process; [`mod@client`] keeps the connection and the libraries that came
//! through it; [`mod@publication`] is what scans see of it, [`mod@exchange`] is one request with its answer, [`mod@reply`] reads what came, and [`mod@library`] decides whether a file
//! is what it should be.
//!
//! The service is trusted with code, but not to be well: whatever it sends or leaves out costs its own drivers at most, and a scan the time
//! that it may take to answer. Nothing here happens on a thread of its own, and no lock is held while code outside of the loader runs.

#![forbid(unsafe_code)]

mod address;
mod client;
mod exchange;
mod failure;
mod library;
mod publication;
mod reply;

pub(crate) use client::{forget, is_off};
#[cfg(fuzzing)]
pub(crate) use failure::Failure;
pub(crate) use publication::{Publication, Unopened, published};
#[cfg(fuzzing)]
pub(crate) use reply::{Described, Manifest, described_library, listed_manifests, packet_for, read_reply};
