//! Drivers from a driver service. The crate `client` sends the requests to the service.

#![forbid(unsafe_code)]

use crate::driver_interface::DriverLibrary;
use crate::library::{Library, traced};
use crate::unopened::{Elsewhere, Published};
use client::Received;
use discovery::env::Environment;
use discovery::journal::reason::ServiceReason;
use discovery::journal::{Journal, Reason};
use discovery::manifest::DriverManifest;
use discovery::text::Text;
use os::memory::{Grow, OutOfMemory, shortage};
use os::service::SharedLibrary;
use rust_alloc::vec::Vec;

/// The drivers of the service.
pub(crate) struct Service;

/// A driver's library that the service sent or that is open already, or the reason why there is no library.
pub(crate) struct Sent {
    name: Text,
    library: Result<Received, ServiceReason>,
}

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
    ) -> Result<Vec<(DriverManifest, Sent)>, OutOfMemory> {
        deliver(environment, &mut choose, journal)
    }

    /// Closes the libraries of the service that no driver uses.
    fn forget() {
        client::forget();
    }
}

/// Function that chooses from the service's manifests.
type Choose<'c> = dyn FnMut(Published<'_>, &mut Journal<'_>) -> Result<Option<DriverManifest>, OutOfMemory> + 'c;

/// Asks the service for its manifests, and fetches the libraries of the drivers that are wanted. The connection ends before any code of a
/// driver runs (LSV-42).
#[cold]
#[inline(never)]
fn deliver(
    environment: &Environment<'_>,
    choose: &mut Choose<'_>,
    journal: &mut Journal<'_>,
) -> Result<Vec<(DriverManifest, Sent)>, OutOfMemory> {
    let mut wanted = Vec::new();
    let Some((mut session, list)) = client::ask(environment, journal)? else {
        return Ok(wanted);
    };
    for manifest in list.manifests() {
        shortage::check()?;
        let published = Published {
            name: manifest.name,
            path: client::named(manifest.name),
            content: manifest.content,
        };
        if let Some(chosen) = choose(published, journal)? {
            let sent = Sent {
                name: client::named(&chosen.library_path),
                library: session.fetch(manifest, &chosen.library_path),
            };
            wanted.try_push((chosen, sent))?;
        }
    }
    Ok(wanted)
}

impl Sent {
    /// Returns the name of the library for messages.
    pub(crate) fn name(&self) -> &Text {
        &self.name
    }

    /// Opens the library.
    ///
    /// # Errors
    /// The reason why the library does not open.
    pub(crate) fn open(&self, journal: &Journal<'_>) -> Result<Library, Reason> {
        let (file, sum, needs) = match &self.library {
            Ok(Received::Open(library)) => return Ok(library.clone().into()),
            Ok(Received::File(file, sum, needs)) => (file, sum, needs),
            Err(reason) => return Err(reason.clone().into()),
        };
        let needs = client::open_needs(needs);
        let opened = traced(&self.name, || SharedLibrary::open(file, needs));
        let opened = opened.map_err(|error| DriverLibrary::reason_of(error, journal))?;
        client::keep(*sum, opened.clone());
        Ok(opened.into())
    }
}
