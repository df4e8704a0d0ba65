//! What stands in for the client of a driver service where there is none.

use crate::library::{Library, OpenError};
use discovery::env::Environment;
use discovery::journal::Journal;
use discovery::journal::reason::ServiceReason;
use discovery::text::Text;
use os::memory::OutOfMemory;
use rust_alloc::vec::Vec;

/// A driver manifest that a service published: there is none.
#[derive(Debug)]
pub(crate) struct Publication {
    /// The name under which it was published.
    pub name: Text,
    /// What messages call it.
    pub path: Text,
    /// Its text.
    pub content: Vec<u8>,
    /// Of which there is none.
    pub service: Never,
}

/// What there is none of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Never {}

/// Why the library of a driver did not open.
#[derive(Debug)]
#[expect(dead_code, reason = "nothing is opened without the service")]
pub(crate) enum Unopened {
    /// It did not come.
    NotSent(ServiceReason),
    /// The system does not take it.
    Refused(OpenError),
}

/// There is no service.
#[inline(always)]
pub(crate) fn is_off() -> bool {
    true
}

/// No manifests.
///
/// # Errors
/// Never.
#[inline(always)]
pub(crate) fn published(_: &Environment<'_>, _: &mut Journal<'_>) -> Result<Vec<Publication>, OutOfMemory> {
    Ok(Vec::new())
}

/// Nothing is kept.
#[inline(always)]
pub(crate) fn forget() {}

impl Publication {
    /// What messages call the library of this key.
    pub(crate) fn library_name(&self, _: &Text) -> Text {
        match self.service {}
    }

    /// Opens the library of this key, which messages call by `name`.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn open_library(&self, _: &Text, _: &Text) -> Result<Library, Unopened> {
        match self.service {}
    }
}
