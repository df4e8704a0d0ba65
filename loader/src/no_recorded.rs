//! Replacement for the records of devices in builds without them.

use crate::catalogue::{Known, KnownDrivers};
use crate::generated::types::VkExtensionProperties;
use discovery::journal::Journal;
use discovery::manifest::DriverManifest;
use os::memory::OutOfMemory;
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

/// A driver that is not open. This build has none.
pub(crate) struct Closed {
    /// The manifest, by which the driver is opened later.
    pub manifest: DriverManifest,
    /// Entry of the driver in the driver catalogue.
    pub known: Known,
    /// Instance extensions of the driver itself.
    pub extensions: Vec<VkExtensionProperties>,
    never: core::convert::Infallible,
}

impl Closed {
    /// Returns `None`: every driver is opened.
    ///
    /// # Errors
    /// None.
    #[inline(always)]
    pub(crate) fn of(
        _: &DriverManifest,
        _: Option<Known>,
        _: &KnownDrivers,
        _: &mut Journal<'_>,
    ) -> Result<Option<Arc<Self>>, OutOfMemory> {
        Ok(None)
    }

    /// The version of Vulkan that the driver reported.
    pub(crate) fn version(&self) -> u32 {
        match self.never {}
    }
}
