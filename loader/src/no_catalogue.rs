//! Replacement for the reader of driver catalogues in builds without one.

#[path = "catalogue/advice.rs"]
mod advice;

pub(crate) use advice::{Advice, Purpose, Reserve, Wishes};

use crate::generated::types::{VkExtensionProperties, VkPhysicalDeviceProperties, VkResult};
use discovery::env::{Environment, Variable};
use discovery::journal::{Journal, LogBits};
use discovery::manifest::DriverManifest;
use discovery::version::ApiVersion;
use os::memory::OutOfMemory;

/// An entry of the catalogue. This build has no entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {}

/// Facts about drivers in one call. This build has none.
pub(crate) struct KnownDrivers;

impl KnownDrivers {
    /// Returns the empty value, even if the variable asks for a catalogue.
    pub(crate) fn of_call(_: Purpose, _: Wishes, environment: &Environment<'_>, journal: &mut Journal<'_>) -> Self {
        if environment.get(Variable::Catalogue).as_deref() == Some(b"off") {
            journal.note(
                LogBits::INFO | LogBits::DRIVER,
                format_args!("The driver catalogue is switched off"),
            );
        }
        Self
    }

    /// Adds nothing.
    #[inline(always)]
    pub(crate) fn add_users(&self, _: &Environment<'_>, _: &mut Journal<'_>) {}

    /// Returns `true`: nothing is known.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        true
    }

    /// Advises to open the driver.
    #[inline(always)]
    pub(crate) fn advice(&self, _: &DriverManifest, _: &mut Journal<'_>) -> Advice {
        Advice::Open(None)
    }

    /// Returns `false`: nothing is known.
    #[inline(always)]
    pub(crate) fn has_devices(&self, _: Option<Known>) -> bool {
        false
    }

    /// Lists no extensions.
    ///
    /// # Errors
    /// None; no entry exists to call this with.
    pub(crate) fn extensions(
        &self,
        known: Known,
        _: impl FnMut(&VkExtensionProperties) -> Result<(), OutOfMemory>,
    ) -> Result<(), OutOfMemory> {
        match known {}
    }
}

/// Does nothing: the variable only matters to the log.
#[inline(always)]
pub(crate) fn read_mode(_: &Environment<'_>) {}

/// Does nothing: there is no entry to compare with.
#[inline(always)]
pub(crate) fn compare(_: Option<Known>, _: &[u8], _: &[VkExtensionProperties], _: &Journal<'_>) {}

/// Does nothing: there is no entry to compare with.
#[inline(always)]
pub(crate) fn compare_instance(_: Option<Known>, _: &[u8], _: (u32, ApiVersion, VkResult), _: &Journal<'_>) {}

/// Does nothing: there is no entry to compare with.
#[inline(always)]
pub(crate) fn compare_devices(
    _: Option<Known>,
    _: &[u8],
    _: usize,
    _: impl Fn(usize) -> VkPhysicalDeviceProperties,
    _: &Journal<'_>,
) {
}

/// Does nothing: nothing is kept.
#[inline(always)]
pub(crate) fn forget() {}
