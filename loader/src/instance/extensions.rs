//! Instance extensions that may be enabled, and those that are enabled (APP-28, APP-90).

use super::Instance;
use super::global::{LOADER_EXTENSIONS, lets_through, unfiltered};
use super::requests::Requests;
use crate::alloc::HostVec;
use crate::driver::{self, OpenDriver};
use crate::ffi;
use crate::generated::types::{VkExtensionProperties, VkResult, VkSystemAllocationScope};
use crate::unopened::{BeforeOpening as _, KnownDrivers, Reserves};
use core::sync::atomic::{AtomicU32, Ordering};
use discovery::activation::Activation;
use discovery::env::Environment;
use discovery::extension::{InstanceExtension, InstanceExtensionSet};
use discovery::journal::{Journal, LogBits};
use discovery::layers::DiscoveredLayers;
use discovery::log;
use os::Raw;
use os::SetOnce;

/// Extensions that the application enabled, and extensions that reached the terminator because a layer added them (APP-28).
///
/// Readers take no lock, because physical-device queries read the set too (APP-272). The set has two halves, the lower one first, because
/// not every target has 64-bit atomics. Only the creation of the instance writes to the set, and readers that run at the same time ask for
/// one extension at a time.
#[derive(Default)]
pub(crate) struct EnabledExtensions {
    requested: SetOnce<InstanceExtensionSet>,
    all: [AtomicU32; 2],
}

impl EnabledExtensions {
    /// Returns the current set.
    pub(crate) fn get(&self) -> InstanceExtensionSet {
        let [low, high] = [0, 1].map(|half: usize| u64::from(self.all[half].load(Ordering::Acquire)));
        InstanceExtensionSet(high << u32::BITS | low)
    }

    /// Returns `true` if an extension is enabled.
    pub(crate) fn contains(&self, extension: InstanceExtension) -> bool {
        self.get().contains(extension)
    }

    /// Adds the known extensions among the names that the application requested.
    pub(crate) fn request<'a>(&self, names: impl Iterator<Item = &'a [u8]>) {
        // Only the creation of the instance calls this function, and only once.
        let requested = self.requested.get_or_set(known(names));
        self.set(*requested);
    }

    /// Replaces the extensions that reached the terminator earlier by the known ones among `names`.
    pub(crate) fn reach<'a>(&self, names: impl Iterator<Item = &'a [u8]>) {
        let requested = self.requested.get().copied().unwrap_or_default();
        self.set(requested.union(known(names)));
    }

    fn set(&self, InstanceExtensionSet(bits): InstanceExtensionSet) {
        for (half, part) in self.all.iter().zip([bits as u32, (bits >> u32::BITS) as u32]) {
            half.store(part, Ordering::Release);
        }
    }
}

/// Returns the known extensions among `names`.
pub(super) fn known<'a>(names: impl Iterator<Item = &'a [u8]>) -> InstanceExtensionSet {
    names
        .filter_map(InstanceExtension::find)
        .fold(InstanceExtensionSet::empty(), InstanceExtensionSet::with)
}

/// Sources of instance extensions.
pub(super) struct Offer<'a> {
    /// Open drivers that the scan found.
    pub drivers: &'a [OpenDriver],
    /// Known facts about drivers, and the drivers that are not open because they are not needed.
    pub known: (&'a KnownDrivers, &'a Reserves),
    /// All layers that were found.
    pub discovered: &'a DiscoveredLayers,
    /// Layers that are active.
    pub activation: &'a Activation,
    /// Environment, in which `VK_LOADER_DISABLE_INST_EXT_FILTER` may let unknown extensions pass.
    pub environment: &'a Environment<'a>,
}

impl Offer<'_> {
    /// Checks that each requested extension is known and offered by a driver, by the loader or by an active layer (APP-90, DRV-106,
    /// LAY-243). Asks drivers only while an extension remains to be found.
    ///
    /// # Errors
    /// `VK_ERROR_EXTENSION_NOT_PRESENT`, after a message that names the extension; or out of host memory.
    pub(super) fn check(
        &self,
        instance: &Instance,
        requests: &Requests<'_>,
        journal: &Journal<'_>,
    ) -> Result<(), VkResult> {
        let refuse = |what: core::fmt::Arguments<'_>| {
            log::emit(Some(instance), LogBits::ERROR, what);
            Err(VkResult::VK_ERROR_EXTENSION_NOT_PRESENT)
        };
        if requests.extensions_are_missing() {
            return refuse(format_args!(
                "loader_validate_instance_extensions: Instance ppEnabledExtensionNames is NULL but enabledExtensionCount is greater than zero"
            ));
        }
        let unfiltered = unfiltered(self.environment);
        let mut drivers = None;
        for &name in requests.extension_names() {
            // SAFETY: the caller of `Requests::new` promised names that are null or terminated.
            let Some(name) = (unsafe { ffi::requested_name(name) }) else {
                return refuse(format_args!(
                    "loader_validate_instance_extensions: Instance ppEnabledExtensionNames contains string that is too \
                     long or is badly formed"
                ));
            };
            let name = name.to_bytes();
            if !lets_through(name, unfiltered) {
                return refuse(format_args!(
                    "loader_validate_instance_extensions: Extension {} not found in list of known instance extensions.",
                    Raw(name)
                ));
            }
            if LOADER_EXTENSIONS.iter().any(|own| own.name().to_bytes() == name) || self.is_offered_by_layer(name) {
                continue;
            }
            let offered = match &mut drivers {
                Some(offered) => offered,
                none => none.insert(self.driver_extensions(instance, journal)?),
            };
            if !offered
                .iter()
                .any(|extension| ffi::is_fixed_text(&extension.extensionName, name))
            {
                return refuse(format_args!(
                    "loader_validate_instance_extensions: Instance extension {} not supported by available ICDs or \
                     enabled layers.",
                    Raw(name)
                ));
            }
        }
        Ok(())
    }

    fn is_offered_by_layer(&self, name: &[u8]) -> bool {
        let active = self.activation.app.iter().chain(&self.activation.chain);
        active
            .flat_map(|layer| self.discovered.layers[layer.index].instance_extensions.iter())
            .any(|extension| *extension.name == *name)
    }

    /// Lists the extensions of the drivers. Skips a driver that fails to list them; the creation of its instance reports the failure.
    fn driver_extensions(
        &self,
        instance: &Instance,
        journal: &Journal<'_>,
    ) -> Result<HostVec<VkExtensionProperties>, VkResult> {
        let scratch = instance
            .allocator
            .scoped(VkSystemAllocationScope::VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
        let mut all = HostVec::new(scratch);
        for driver in self.drivers {
            match driver::instance_extensions(driver, scratch) {
                Ok(list) => {
                    // If the known facts list extensions that the driver lacks, the creation may fail here. The difference is therefore
                    // reported here too, as after a successful creation.
                    KnownDrivers::compare_extensions(driver.known, &driver.path, &list, journal);
                    list.iter().try_for_each(|extension| all.try_push(*extension))?;
                }
                Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY) => return Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY),
                Err(_) => {}
            }
        }
        let (known, aside) = self.known;
        aside.extensions(known, |extension| all.try_push(*extension))?;
        Ok(all)
    }
}
