//! Drivers from a driver service. The crate `client` sends the requests to the service.

#![forbid(unsafe_code)]

use crate::driver_interface::DriverLibrary;
use crate::library::{Library, traced};
use crate::unopened::{Elsewhere, Published};
pub(crate) use client::Sent;
use discovery::env::Environment;
use discovery::journal::{Journal, Reason};
use discovery::manifest::DriverManifest;
use discovery::text::Text;
use os::memory::OutOfMemory;
use rust_alloc::boxed::Box;

/// The drivers of the service.
pub(crate) struct Service;

impl Elsewhere for Service {
    #[inline]
    fn is_off() -> bool {
        client::is_off()
    }

    #[inline]
    fn deliver(
        environment: &Environment<'_>,
        mut choose: impl FnMut(Published<'_>, &mut Journal<'_>) -> Result<Option<DriverManifest>, OutOfMemory>,
        journal: &mut Journal<'_>,
    ) -> Result<Option<Box<Sent>>, OutOfMemory> {
        let mut choose = |content: &[u8], path: &Text, journal: &mut Journal<'_>| {
            let name = path.get(client::PREFIX.len()..).unwrap_or_default();
            choose(Published { name, path, content }, journal)
        };
        client::deliver(environment, &mut choose, journal)
    }

    /// Closes the libraries of the service that no driver uses.
    fn forget() {
        client::forget();
    }
}

/// Opens the library of a driver that the service sent.
///
/// # Errors
/// The reason why the library does not open.
pub(crate) fn open_sent(sent: &Sent, journal: &Journal<'_>) -> Result<Library, Reason> {
    if let Some(library) = sent.opened() {
        return Ok(library.clone().into());
    }
    let opened = traced(sent.name(), &|| Ok(sent.open()?.into()));
    opened.map_err(|error| DriverLibrary::reason_of(error, journal))
}
