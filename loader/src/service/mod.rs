//! Drivers that a service hands out (LSV-37 to LSV-48): the client's side of the protocol in the crate `wire`.
//!
//! A scan asks the service for its manifests after it has looked into all folders; a library comes as an open file when its driver is
//! opened. [`mod@address`] says where the service is, once in a process; [`mod@client`] keeps the connection and the libraries that came
//! through it; [`mod@exchange`] is one request with its answer, [`mod@reply`] reads what came, and [`mod@library`] decides whether a file
//! is what it should be.
//!
//! The service is trusted with code, but not to be well: whatever it sends or leaves out costs its own drivers at most, and a scan the time
//! that it may take to answer. Nothing here happens on a thread of its own, and no lock is held while code outside of the loader runs.

#![forbid(unsafe_code)]

mod address;
mod client;
mod exchange;
mod library;
mod reply;

pub use client::{forget, is_off};
pub use reply::{Described, Manifest, described_library, listed_manifests, packet_for, read_reply};

use crate::env::Environment;
use crate::journal::reason::ServiceReason;
use crate::journal::{Decision, Journal, Source, Subject, Verdict};
use crate::library::{Library, OpenError};
use crate::text::Text;
use crate::trace;
use os::memory::{OutOfMemory, shortage};
use os::render;
use rust_alloc::vec::Vec;

/// What the paths of manifests and libraries of a service begin with in messages.
const PREFIX: &str = "service:";

/// A driver manifest that the service published.
#[derive(Debug)]
pub struct Publication {
    /// The name under which it was published.
    pub name: Text,
    /// What messages call it.
    pub path: Text,
    /// Its text.
    pub content: Vec<u8>,
    /// The number of the connection through which it came. Keys mean nothing to another one.
    connection: u32,
}

/// Why the library of a driver did not open.
#[derive(Debug)]
pub enum Unopened {
    /// It did not come.
    NotSent(ServiceReason),
    /// The system does not take it.
    Refused(OpenError),
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// Something about the service.
    Because(ServiceReason),
    /// Memory ran out, which ends the API call.
    OutOfMemory,
}

impl From<ServiceReason> for Failure {
    fn from(reason: ServiceReason) -> Self {
        Self::Because(reason)
    }
}

impl From<OutOfMemory> for Failure {
    fn from(OutOfMemory: OutOfMemory) -> Self {
        Self::OutOfMemory
    }
}

/// The manifests that the service has now, in its order; none where there is no service (LSV-37, LSV-38). What goes wrong is in the
/// journal.
///
/// # Errors
/// Only when memory runs out.
pub fn published(environment: &Environment<'_>, journal: &mut Journal<'_>) -> Result<Vec<Publication>, OutOfMemory> {
    let Some((socket, listed)) = client::list(environment) else {
        return Ok(Vec::new());
    };
    let count = listed.as_ref().map_or(0, Vec::len);
    trace::write("searched", |record| {
        record.word("for", "driver");
        record.text("folder", &socket);
        Source::Service.describe(record);
        record.number("manifests", count as u64);
    });
    match listed {
        Ok(list) => Ok(list),
        Err(Failure::OutOfMemory) => Err(OutOfMemory),
        Err(Failure::Because(reason)) => {
            journal.decide(Decision {
                subject: Subject::Service,
                name: socket,
                path: Text::default(),
                verdict: Verdict::Dropped(reason.into()),
                source: Source::Service,
            });
            Ok(Vec::new())
        }
    }
}

impl Publication {
    /// One that came through the connection of this number.
    fn new(manifest: Manifest, connection: u32) -> Self {
        Self {
            path: named(&manifest.name),
            name: manifest.name,
            content: manifest.content,
            connection,
        }
    }

    /// What messages call the library of this key.
    pub fn library_name(&self, key: &Text) -> Text {
        named(key)
    }

    /// Opens the library of this key, which messages call by `name`: the one that came before through the same connection, or else one that
    /// is asked for (LSV-39, LSV-40).
    ///
    /// # Errors
    /// Why there is none.
    pub fn open_library(&self, key: &Text, name: &Text) -> Result<Library, Unopened> {
        client::library(key, self.connection, name).map_err(|unopened| match unopened {
            client::Unopened::Failed(Failure::Because(reason)) => Unopened::NotSent(reason),
            client::Unopened::Failed(Failure::OutOfMemory) => {
                shortage::note();
                Unopened::NotSent(ServiceReason::Lost)
            }
            client::Unopened::Refused(error) => Unopened::Refused(error),
        })
    }
}

/// What messages call something that the service has a name for.
fn named(name: &Text) -> Text {
    render(format_args!("{PREFIX}{name}")).into()
}
