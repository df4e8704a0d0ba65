//! Manifests of the service as a scan has them, and the libraries behind their keys (LSV-38, LSV-39).

use super::client;
use super::failure::Failure;
use super::reply::Manifest;
use crate::library::{Library, OpenError};
use discovery::env::Environment;
use discovery::journal::reason::ServiceReason;
use discovery::journal::{Decision, Journal, Source, Subject, Verdict};
use discovery::text::Text;
use discovery::trace;
use os::memory::{Grow, OutOfMemory, shortage};
use os::render;
use rust_alloc::vec::Vec;

/// What the paths of manifests and libraries of a service begin with in messages.
const PREFIX: &str = "service:";

/// A driver manifest that the service published.
#[derive(Debug)]
pub(crate) struct Publication {
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
pub(crate) enum Unopened {
    /// It did not come.
    NotSent(ServiceReason),
    /// The system does not take it.
    Refused(OpenError),
}

/// The manifests that the service has now, in its order; none where there is no service (LSV-37, LSV-38). What goes wrong is in the
/// journal.
///
/// # Errors
/// Only when memory runs out.
pub(crate) fn published(
    environment: &Environment<'_>,
    journal: &mut Journal<'_>,
) -> Result<Vec<Publication>, OutOfMemory> {
    let Some((socket, listed)) = client::list(environment) else {
        return Ok(Vec::new());
    };
    let count = listed.as_ref().map_or(0, |(list, _)| list.len());
    trace::write("searched", |record| {
        record.word("for", "driver");
        record.text("folder", &socket);
        Source::Service.describe(record);
        record.number("manifests", count as u64);
    });
    match listed {
        Ok((list, connection)) => {
            let mut published = Vec::new();
            published.try_exact_room(list.len())?;
            published.extend(list.into_iter().map(|manifest| Publication::new(manifest, connection)));
            Ok(published)
        }
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
    pub(crate) fn library_name(&self, key: &Text) -> Text {
        named(key)
    }

    /// Opens the library of this key, which messages call by `name`: the one that came before through the same connection, or else one that
    /// is asked for (LSV-39, LSV-40).
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn open_library(&self, key: &Text, name: &Text) -> Result<Library, Unopened> {
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
