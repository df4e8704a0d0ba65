//! Stand-in for the client of a driver service in builds without it.

use crate::library::{Library, OpenError};
use discovery::env::Environment;
use discovery::journal::Journal;
use discovery::journal::reason::ServiceReason;
use discovery::text::Text;
use os::memory::OutOfMemory;

/// A session with a service. None exists without a service.
pub(crate) enum Session {}

/// A list of a service. None exists without a service.
pub(crate) enum List {}

/// A driver manifest that a service published.
#[derive(Clone, Copy)]
pub(crate) struct Manifest<'a> {
    /// Name under which it was published.
    pub name: &'a [u8],
    /// Text of the manifest.
    pub content: &'a [u8],
}

/// The library of a driver.
pub(crate) struct Fetched {
    /// The name in messages.
    pub name: Text,
    /// A value that never exists, because this build has no service.
    never: Session,
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
pub(crate) fn ask(_: &Environment<'_>, _: &mut Journal<'_>) -> Result<Option<(Session, List)>, OutOfMemory> {
    Ok(None)
}

/// Does nothing: nothing is kept.
#[inline(always)]
pub(crate) fn forget() {}

impl List {
    /// The manifests.
    pub(crate) fn manifests(&self) -> core::iter::Empty<Manifest<'_>> {
        match *self {}
    }
}

impl Manifest<'_> {
    /// The name in messages.
    pub(crate) fn path(&self) -> Text {
        self.name.into()
    }
}

impl Session {
    /// The library of a published driver by its key.
    pub(crate) fn fetch(&mut self, _: Manifest<'_>, _: &Text) -> Fetched {
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
