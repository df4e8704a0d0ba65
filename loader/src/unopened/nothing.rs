//! The implementation of the traits in `door` for builds without the catalogue, the records of devices, or the driver service.

use super::door::{BeforeOpening, Elsewhere, StandIns};
use super::{Purpose, Wishes};
use crate::library::Library;
use discovery::env::{Environment, Variable};
use discovery::journal::{Journal, LogBits, Reason};
use discovery::manifest::DriverManifest;
use discovery::text::Text;
use rust_alloc::boxed::Box;

/// Replacement for a module of [`super`] that the build lacks: has no facts about drivers and supplies no drivers.
pub(crate) struct Nothing;

/// Facts about one driver. This build has no facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {}

/// A driver that a driver service sent. Such a driver cannot exist in this build.
pub(crate) enum Sent {}

impl BeforeOpening for Nothing {
    /// Returns the only value of this type. If `VK_LOADER_CATALOGUE` turns the catalogue off, logs the message that a build with a
    /// catalogue logs.
    fn of_call(_: Purpose, _: Wishes, environment: &Environment<'_>, journal: &mut Journal<'_>) -> Self {
        if environment.get(Variable::Catalogue).as_deref() == Some(b"off") {
            journal.note(
                LogBits::INFO | LogBits::DRIVER,
                format_args!("The driver catalogue is switched off"),
            );
        }
        Self
    }
}

impl StandIns for Nothing {}

impl Elsewhere for Nothing {}

impl Sent {
    /// Returns the manifest of the driver.
    pub(crate) fn manifest(&self) -> &DriverManifest {
        match *self {}
    }

    /// Returns the name by which messages refer to the library.
    pub(crate) fn name(&self) -> &Text {
        match *self {}
    }

    /// Removes the drivers after this one, and returns them.
    pub(crate) fn take_next(&mut self) -> Option<Box<Self>> {
        match *self {}
    }
}

/// Opens the library of a driver that a driver service sent.
///
/// # Errors
/// No error occurs, because no value of [`Sent`] exists.
pub(crate) fn open_sent(sent: &Sent, _: &Journal<'_>) -> Result<Library, Reason> {
    match *sent {}
}
