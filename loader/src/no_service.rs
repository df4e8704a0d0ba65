//! Stand-in for the client of a driver service in builds without it.

use crate::library::{Library, OpenError};
use discovery::env::Environment;
use discovery::journal::Journal;
use discovery::journal::reason::ServiceReason;
use discovery::text::Text;
use os::memory::OutOfMemory;
use rust_alloc::vec::Vec;

/// An offer of a service. None exists without a service.
pub(crate) enum Offer {}

/// A driver manifest that a service published.
#[derive(Debug)]
pub(crate) struct Publication {
    /// Name under which it was published.
    pub name: Text,
    /// The name in messages.
    pub path: Text,
    /// Text of the manifest.
    pub content: Vec<u8>,
}

/// The library of a driver.
pub(crate) struct Fetched {
    /// The name in messages.
    pub name: Text,
    /// A value that never exists, because this build has no service.
    never: Offer,
}

/// Reason why the library of a driver did not open.
#[derive(Debug)]
#[expect(dead_code, reason = "nothing is opened without the service")]
pub(crate) enum Unopened {
    /// The library did not come.
    NotSent(ServiceReason),
    /// The system refused to load it.
    Refused(OpenError),
}

/// Returns `true`, because this build has no service.
#[inline(always)]
pub(crate) fn is_off() -> bool {
    true
}

/// Asks nobody.
///
/// # Errors
/// None.
#[inline(always)]
pub(crate) fn ask(_: &Environment<'_>, _: &mut Journal<'_>) -> Result<Option<Offer>, OutOfMemory> {
    Ok(None)
}

/// Does nothing: nothing is kept.
#[inline(always)]
pub(crate) fn forget() {}

impl Offer {
    /// The manifests.
    pub(crate) fn take_manifests(&mut self) -> core::iter::Empty<Publication> {
        match *self {}
    }

    /// The library of a published driver by its key.
    pub(crate) fn fetch(&mut self, _: &Publication, _: &Text) -> Fetched {
        match *self {}
    }
}

impl Fetched {
    /// Opens the library.
    ///
    /// # Errors
    /// Why it does not open.
    pub(crate) fn open(&self) -> Result<Library, Unopened> {
        match self.never {}
    }
}
