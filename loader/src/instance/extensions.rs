//! Which instance extensions may be enabled, and which are (APP-28, APP-90).

use super::Instance;
use super::global::{LOADER_EXTENSIONS, lets_through, unfiltered};
use super::requests::Requests;
use crate::alloc::HostVec;
use crate::catalogue::{self, Known, KnownDrivers, Reserve};
use crate::driver::{self, OpenDriver};
use crate::ffi;
use crate::generated::types::{VkExtensionProperties, VkResult, VkSystemAllocationScope};
use core::sync::atomic::{AtomicU32, Ordering};
use discovery::activation::Activation;
use discovery::env::Environment;
use discovery::extension::{InstanceExtension, InstanceExtensionSet};
use discovery::journal::{Journal, LogBits};
use discovery::layers::DiscoveredLayers;
use discovery::log;
use discovery::manifest::DriverManifest;
use os::Raw;
use os::SetOnce;

/// The extensions the application enabled, united with those that reached the terminator (APP-28).
///
/// Read without a lock, since physical-device queries ask too (APP-272). In two halves, the lower one first, since not every
/// target has 64-bit atomics; only creation writes, and what may run beside it asks for one extension at a time.
#[derive(Default)]
pub(crate) struct EnabledExtensions {
    requested: SetOnce<InstanceExtensionSet>,
    all: [AtomicU32; 2],
}

impl EnabledExtensions {
    /// The set as it is now.
    pub(crate) fn get(&self) -> InstanceExtensionSet {
        let [low, high] = [0, 1].map(|half: usize| u64::from(self.all[half].load(Ordering::Acquire)));
        InstanceExtensionSet(high << u32::BITS | low)
    }

    /// Whether one extension is enabled.
    pub(crate) fn contains(&self, extension: InstanceExtension) -> bool {
        self.get().contains(extension)
    }

    /// Takes what is known among the names that the application asked for.
    pub(crate) fn request<'a>(&self, names: impl Iterator<Item = &'a [u8]>) {
        // Only creation asks, once.
        let requested = self.requested.get_or_set(known(names));
        self.set(*requested);
    }

    /// Takes what is known among the names that reached the terminator, in place of those that did so before.
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

/// The known extensions among `names`.
pub(super) fn known<'a>(names: impl Iterator<Item = &'a [u8]>) -> InstanceExtensionSet {
    names
        .filter_map(InstanceExtension::find)
        .fold(InstanceExtensionSet::empty(), InstanceExtensionSet::with)
}

/// Who may offer an instance extension.
pub(super) struct Offer<'a> {
    /// The drivers.
    pub drivers: &'a [OpenDriver],
    /// Those that are not open since they are not needed.
    pub known: (&'a KnownDrivers, &'a [(DriverManifest, Known, Reserve)]),
    /// All layers there are.
    pub discovered: &'a DiscoveredLayers,
    /// Those that are active.
    pub activation: &'a Activation,
    /// Says whether extensions that the loader does not know may pass.
    pub environment: &'a Environment<'a>,
}

impl Offer<'_> {
    /// Checks that each requested extension is known and offered by a driver, by the loader or by an active layer
    /// (APP-90, DRV-106, LAY-243). Drivers are only asked while something remains to be found.
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
            // SAFETY: by the contract of `Requests` the string is null or terminated.
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

    /// What the drivers offer. One that cannot say so is skipped here; creating its instance reports it.
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
                    // A creation that fails here, since the catalogue listed too much, shows that as one that succeeds does.
                    catalogue::compare(driver.known, &driver.path, &list, journal);
                    list.iter().try_for_each(|extension| all.try_push(*extension))?;
                }
                Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY) => return Err(VkResult::VK_ERROR_OUT_OF_HOST_MEMORY),
                Err(_) => {}
            }
        }
        let (known, aside) = self.known;
        for (_, one, _) in aside {
            known.extensions(*one, |extension| all.try_push(*extension))?;
        }
        Ok(all)
    }
}
