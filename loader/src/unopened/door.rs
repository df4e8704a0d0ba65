//! The traits through which the core uses the modules for drivers that are not open. Each function has a body that does nothing, for builds
//! that lack the module.

use super::{Answer, Known, KnownDrivers, Purpose, Sent, Told, Wishes};
use crate::alloc::HostAllocator;
use crate::driver_interface::{GetProcAddr, Interface};
use crate::ffi::layer_interface::GetDeviceProcAddr;
use crate::generated::types::{
    VkAllocationCallbacks, VkExtensionProperties, VkInstanceCreateInfo, VkPhysicalDeviceProperties, VkResult,
};
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::late::LateHost;
use discovery::env::Environment;
use discovery::journal::Journal;
use discovery::manifest::DriverManifest;
use discovery::text::Text;
use discovery::version::ApiVersion;
use os::memory::OutOfMemory;
use rust_alloc::boxed::Box;
use rust_alloc::sync::Arc;

/// Facts about drivers before they are opened, for one Vulkan call.
pub(crate) trait BeforeOpening: Sized {
    /// Reads the variables that matter to the whole process.
    #[inline(always)]
    fn read_mode(_: &Environment<'_>) {}

    /// Frees the facts that the process keeps.
    #[inline(always)]
    fn forget() {}

    /// Loads the facts that a Vulkan call needs to decide which drivers remain closed.
    fn of_call(_: Purpose, _: Wishes, _: &Environment<'_>, _: &mut Journal<'_>) -> Self;

    /// Adds the facts from the user's own catalogue, if there are no other facts. A scan calls this function after it has found the marker
    /// file.
    #[inline(always)]
    fn add_users(&self, _: &Environment<'_>, _: &mut Journal<'_>) {}

    /// Returns the answer about the driver of a manifest.
    ///
    /// # Errors
    /// There is not enough memory.
    #[inline(always)]
    fn consider(&self, _: &DriverManifest, _: &mut Journal<'_>) -> Result<Answer, OutOfMemory> {
        Ok(Answer::Open(None))
    }

    /// Returns the answer about a driver that is to be opened. The driver stays closed if a policy and the driver's record allow that. The
    /// reason is logged if the driver must be opened although a policy keeps drivers closed.
    ///
    /// # Errors
    /// There is not enough memory.
    #[inline(always)]
    fn consider_closed(
        &self,
        _: &DriverManifest,
        known: Option<Known>,
        _: &mut Journal<'_>,
    ) -> Result<Answer, OutOfMemory> {
        Ok(Answer::Open(known))
    }

    /// Returns `true` if a driver is known to have devices.
    #[inline(always)]
    fn has_devices(&self, _: Option<Known>) -> bool {
        false
    }

    /// Passes the instance extensions of a driver to `take`, in the driver's order. With `_told`, leaves out extensions that are known to have
    /// been passed before.
    ///
    /// # Errors
    /// The error of `take`.
    #[inline(always)]
    fn extensions(
        &self,
        _: Known,
        _told: Option<&mut Told>,
        _: impl FnMut(&VkExtensionProperties) -> Result<(), OutOfMemory>,
    ) -> Result<(), OutOfMemory> {
        Ok(())
    }

    /// Compares the instance extensions of an opened driver with the known facts about the driver. If the extensions differ, the driver's
    /// list is used, and the facts are not used again in this process.
    #[inline(always)]
    fn compare_extensions(_: Option<Known>, _driver: &[u8], _offered: &[VkExtensionProperties], _: &Journal<'_>) {}

    /// Compares the interface version, the Vulkan version and the result of creating the driver's instance with the known facts, like
    /// [`Self::compare_extensions`].
    #[inline(always)]
    fn compare_instance(_: Option<Known>, _driver: &[u8], _: (u32, ApiVersion, VkResult), _: &Journal<'_>) {}

    /// Compares the number of devices that a driver reports with the number in the known facts about the driver. `_describe` returns the
    /// properties of each device.
    #[inline(always)]
    fn compare_devices(
        _: Option<Known>,
        _driver: &[u8],
        _reported: usize,
        _describe: impl Fn(usize) -> VkPhysicalDeviceProperties,
        _: &Journal<'_>,
    ) {
    }
}

/// A stand-in for a driver that is not open. The stand-in answers like an open driver, and opens the driver at the first call that it
/// cannot answer.
pub(crate) trait StandIn {
    /// Returns the manifest, by which the driver is opened later.
    fn manifest(&self) -> &DriverManifest;

    /// Returns the driver's own instance extensions.
    fn extensions(&self) -> &[VkExtensionProperties];

    /// Returns the version of Vulkan that the driver reported.
    fn version(&self) -> u32;

    /// Returns functions that find the commands of the stand-in. Functions that need no instance fail.
    fn interface(&self) -> Interface;

    /// Returns `true` if the driver must be opened before the instance that `info` describes is created. The reason is logged.
    ///
    /// # Safety
    /// The create info and everything that it points to are valid.
    unsafe fn must_open(
        &self,
        info: &VkInstanceCreateInfo,
        callbacks: *const VkAllocationCallbacks,
        journal: &Journal<'_>,
    ) -> bool;

    /// Creates the stand-in of the driver's instance.
    ///
    /// # Safety
    /// The create info and everything that it points to are valid.
    unsafe fn create(
        self: Arc<Self>,
        loader: (&'static dyn LateHost, HostAllocator),
        info: &VkInstanceCreateInfo,
        out: &mut InstanceHandle<Driver>,
    ) -> VkResult;
}

/// All drivers that have stand-ins.
pub(crate) trait StandIns {
    /// Returns the stand-in for the driver of a manifest, if the driver may stay closed. Logs why a driver must be opened although a policy
    /// keeps drivers closed.
    ///
    /// # Errors
    /// There is not enough memory.
    #[inline(always)]
    #[cfg_attr(
        not(all(feature = "catalogue", target_os = "linux")),
        expect(dead_code, reason = "all drivers are opened without a catalogue")
    )]
    fn of(
        _: &DriverManifest,
        _: Option<Known>,
        _: &KnownDrivers,
        _: &mut Journal<'_>,
    ) -> Result<Option<Arc<dyn StandIn>>, OutOfMemory> {
        Ok(None)
    }

    /// Returns the driver's own handle of a device, for structures that the driver reads. Opens the driver if a stand-in replaces its
    /// instance.
    ///
    /// # Errors
    /// The driver cannot be opened, or lacks the device.
    #[inline(always)]
    fn own_device(
        _: GetProcAddr,
        device: PhysicalDeviceHandle<Driver>,
    ) -> Result<PhysicalDeviceHandle<Driver>, VkResult> {
        Ok(device)
    }

    /// Returns the driver's own handle of an instance. Opens the driver if a stand-in replaces the instance.
    ///
    /// # Errors
    /// The driver cannot be opened.
    #[inline(always)]
    fn own_instance(_: GetProcAddr, instance: InstanceHandle<Driver>) -> Result<InstanceHandle<Driver>, VkResult> {
        Ok(instance)
    }

    /// Returns the look-up of device functions of a driver with a stand-in; `None` for other drivers.
    #[inline(always)]
    fn device_look_up(_: GetProcAddr, _: InstanceHandle<Driver>) -> Option<GetDeviceProcAddr> {
        None
    }
}

/// A source of drivers in addition to the folders of manifests.
pub(crate) trait Elsewhere {
    /// Returns `true` if the source is known to have no drivers.
    #[inline(always)]
    fn is_off() -> bool {
        true
    }

    /// Returns the first driver that the scan wants. Opens no library. `choose` reads each manifest, and returns `None` if the driver is
    /// not wanted.
    ///
    /// # Errors
    /// There is not enough memory.
    #[inline(always)]
    fn deliver(
        _: &Environment<'_>,
        _choose: impl FnMut(Published<'_>, &mut Journal<'_>) -> Result<Option<DriverManifest>, OutOfMemory>,
        _: &mut Journal<'_>,
    ) -> Result<Option<Box<Sent>>, OutOfMemory> {
        Ok(None)
    }

    /// Frees the data that the source keeps in the process.
    #[inline(always)]
    fn forget() {}
}

/// A driver manifest that does not come from a folder of manifests.
#[derive(Debug)]
pub(crate) struct Published<'a> {
    /// Name under which the manifest was published.
    pub name: &'a [u8],
    /// Name of the manifest in messages.
    pub path: &'a Text,
    /// Text of the manifest.
    pub content: &'a [u8],
}
