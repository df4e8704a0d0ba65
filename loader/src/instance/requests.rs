//! Requests of the application for a new instance, read from its create info.

use super::Instance;
use crate::ffi;
use crate::generated::types::{VkInstanceCreateFlagBits, VkInstanceCreateInfo, VkResult};
use core::ffi::{CStr, c_char};
use discovery::extension::{InstanceExtension, InstanceExtensionSet};
use discovery::journal::{Journal, LogBits};
use discovery::layers::DiscoveredLayers;
use discovery::log;
use discovery::trace;
use discovery::version::ApiVersion;
use os::Raw;

/// Safe access to the requests in a `VkInstanceCreateInfo`.
#[derive(Clone, Copy)]
pub(super) struct Requests<'a> {
    info: &'a VkInstanceCreateInfo,
}

impl<'a> Requests<'a> {
    /// Wraps a create info.
    ///
    /// # Safety
    /// `info` is a valid structure: each array is null or holds as many elements as its count says, and everything stays valid for `'a`.
    /// Names are readable up to a terminator or for 257 bytes.
    pub(super) const unsafe fn new(info: &'a VkInstanceCreateInfo) -> Self {
        Self { info }
    }

    /// Returns the names of the requested layers, as pointers that may be null.
    pub(super) fn layer_names(&self) -> &'a [*const c_char] {
        // SAFETY: the caller of `new` promised an array that is null or holds as many elements as its count says.
        unsafe { ffi::c_array(self.info.ppEnabledLayerNames, self.info.enabledLayerCount) }
    }

    /// Returns the names of the requested extensions, as pointers that may be null.
    pub(super) fn extension_names(&self) -> &'a [*const c_char] {
        // SAFETY: the caller of `new` promised an array that is null or holds as many elements as its count says.
        unsafe { ffi::c_array(self.info.ppEnabledExtensionNames, self.info.enabledExtensionCount) }
    }

    /// Returns `true` if the create info has a count of extensions without an array.
    pub(super) fn extensions_are_missing(&self) -> bool {
        self.info.enabledExtensionCount > 0 && self.info.ppEnabledExtensionNames.is_null()
    }

    /// Iterates over the extension names as bytes; null names are empty, names that are too long are truncated.
    pub(super) fn extensions(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        // SAFETY: the caller of `new` promised names that are null, terminated or readable for 257 bytes.
        self.extension_names().iter().map(|&name| unsafe { ffi::c_name(name) })
    }

    /// Iterates over the layer names as bytes; null names are empty, names that are too long are truncated.
    pub(super) fn layers(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        // SAFETY: the caller of `new` promised names that are null, terminated or readable for 257 bytes.
        self.layer_names().iter().map(|&name| unsafe { ffi::c_name(name) })
    }

    /// Returns the API version exactly as the application wrote it; 0 without application info.
    pub(super) fn raw_api_version(&self) -> ApiVersion {
        // SAFETY: the caller of `new` promised a pointer that is null or valid.
        ApiVersion(unsafe { self.info.pApplicationInfo.as_ref() }.map_or(0, |info| info.apiVersion))
    }

    /// Returns the major and minor version that the application requests; 1.0 if the application requests no version (APP-62).
    pub(super) fn api_version(&self) -> ApiVersion {
        let raw = self.raw_api_version();
        if raw.0 == 0 {
            ApiVersion::V1_0
        } else {
            raw.without_patch()
        }
    }

    /// Returns the known extensions among the requested ones.
    pub(super) fn known_extensions(&self) -> InstanceExtensionSet {
        super::extensions::known(self.extensions())
    }

    /// Returns `true` if the flag for portability drivers is set.
    pub(super) fn portability_flag(&self) -> bool {
        let bit = VkInstanceCreateFlagBits::VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR.0;
        self.info.flags.0 & bit != 0
    }

    /// Returns `true` if portability drivers may be used: with both the flag and the extension (DRV-97).
    pub(super) fn portability(&self) -> bool {
        self.portability_flag()
            && self
                .known_extensions()
                .contains(InstanceExtension::VK_KHR_portability_enumeration)
    }

    /// Returns `true` if layers are requested, even if the create info has a count without an array.
    pub(super) fn has_layers(&self) -> bool {
        self.info.enabledLayerCount > 0
    }

    /// Logs the requests (APP-83).
    pub(super) fn log(&self, instance: &Instance) {
        const NONE: &CStr = c"";
        let info = |text: core::fmt::Arguments<'_>| log::emit(Some(instance), LogBits::INFO, text);
        // SAFETY: the caller of `new` promised a pointer that is null or valid.
        let app = unsafe { self.info.pApplicationInfo.as_ref() };
        // SAFETY: the caller of `new` promised strings that are null or terminated.
        let text = |name: *const c_char| unsafe { ffi::c_text(if name.is_null() { NONE.as_ptr() } else { name }) };
        let version = self.raw_api_version();
        info(format_args!(
            "vkCreateInstance: applicationName: \"{}\", applicationVersion: {}, engineName: \"{}\", engineVersion: {}, \
             apiVersion: {}.{}.{}",
            Raw(app.map_or(b"", |app| text(app.pApplicationName))),
            app.map_or(0, |app| app.applicationVersion),
            Raw(app.map_or(b"", |app| text(app.pEngineName))),
            app.map_or(0, |app| app.engineVersion),
            version.major(),
            version.minor(),
            version.patch(),
        ));
        info(format_args!(
            "vkCreateInstance: Requested {} instance layer(s):",
            self.info.enabledLayerCount
        ));
        self.log_names(instance, self.layer_names());
        info(format_args!(
            "vkCreateInstance: Requested {} instance extension(s):",
            self.info.enabledExtensionCount
        ));
        self.log_names(instance, self.extension_names());
    }

    fn log_names(&self, instance: &Instance, names: &[*const c_char]) {
        for &name in names {
            // SAFETY: the caller of `new` promised strings that are null or terminated.
            let text = unsafe { ffi::c_name(name) };
            let shown = if name.is_null() { b"<NULL>" } else { text };
            log::emit(Some(instance), LogBits::INFO, format_args!("   {}", Raw(shown)));
        }
    }

    /// Logs an error for an invalid API version (APP-85), and a note if portability drivers may be used (APP-86). The creation of the
    /// instance continues.
    pub(super) fn note_oddities(&self, instance: &Instance) {
        let version = self.raw_api_version();
        if version.0 != 0 && version < ApiVersion::V1_0 {
            log::fatal_with(
                Some(instance),
                LogBits::NONE,
                format_args!(
                    "VkInstanceCreateInfo::pApplicationInfo::apiVersion has value of {} which is not permitted. If \
                     apiVersion is not 0, then it must be greater than or equal to the value of VK_API_VERSION_1_0 \
                     [VUID-VkApplicationInfo-apiVersion]",
                    version.0
                ),
            );
        }
        if version.variant() != 0 {
            log::emit(
                Some(instance),
                LogBits::WARN,
                format_args!(
                    "vkCreateInstance: The API Variant specified in pCreateInfo->pApplicationInfo.apiVersion is {} \
                     instead of the expected value of 0.",
                    version.variant()
                ),
            );
        }
        if self.portability() {
            log::emit(
                Some(instance),
                LogBits::INFO,
                format_args!("Portability enumeration bit was set, enumerating portability drivers."),
            );
        }
    }

    /// Logs which part of the request for portability drivers is missing, if all drivers that were found are portability drivers (APP-89).
    pub(super) fn explain_portability(&self, journal: &Journal<'_>) {
        let error = LogBits::ERROR | LogBits::DRIVER;
        let extension = self
            .known_extensions()
            .contains(InstanceExtension::VK_KHR_portability_enumeration);
        if self.portability_flag() && !extension {
            journal.note(
                error,
                format_args!(
                    "VkInstanceCreateInfo: If flags has the VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR bit set, \
                     the list of enabled extensions in ppEnabledExtensionNames must contain \
                     VK_KHR_portability_enumeration [VUID-VkInstanceCreateInfo-flags-06559 ]Applications that wish to \
                     enumerate portability drivers must enable the VK_KHR_portability_enumeration instance extension."
                ),
            );
            return;
        }
        let ending = if extension {
            "."
        } else {
            " and enable the VK_KHR_portability_enumeration instance extension."
        };
        journal.note(
            error,
            format_args!(
                "vkCreateInstance: Found drivers that contain devices which support the portability subset, but the \
                 instance does not enumerate portability drivers! Applications that wish to enumerate portability \
                 drivers must set the VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR bit in the \
                 VkInstanceCreateInfo flags{ending}"
            ),
        );
    }

    /// Checks that the requested layers were discovered (APP-88, LAY-144).
    pub(super) fn check_layers(&self, instance: &Instance, discovered: &DiscoveredLayers) -> Result<(), VkResult> {
        let refuse = |what: core::fmt::Arguments<'_>| {
            log::emit(Some(instance), LogBits::ERROR, what);
            Err(VkResult::VK_ERROR_LAYER_NOT_PRESENT)
        };
        if self.info.enabledLayerCount > 0 && self.info.ppEnabledLayerNames.is_null() {
            return refuse(format_args!(
                "loader_validate_layers: ppEnabledLayerNames is NULL but enabledLayerCount is greater than zero"
            ));
        }
        for (index, &name) in self.layer_names().iter().enumerate() {
            // SAFETY: the caller of `new` promised a string that is null or terminated.
            let Some(name) = (unsafe { ffi::requested_name(name) }) else {
                return refuse(format_args!(
                    "loader_validate_layers: ppEnabledLayerNames contains string that is too long or is badly formed"
                ));
            };
            if !discovered.can_be_requested(name.to_bytes()) {
                trace::write("refused", |record| {
                    record.word("subject", "layer");
                    record.text("name", name.to_bytes());
                });
                return refuse(format_args!(
                    "loader_validate_layers: Layer {index} does not exist in the list of available layers"
                ));
            }
        }
        Ok(())
    }
}
