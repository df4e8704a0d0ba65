//! Describes a driver: the configuration of the mock, the manifest, and the library file.

use std::fmt::{Display, Write as _};

/// Description of a mock driver. Each method changes one property. `tests/mock_driver/src/config.rs` lists all keys.
///
/// By default, a driver has interface version 7, API version 1.3.280, no extension and no device.
pub struct Driver {
    pub(crate) name: String,
    pub(crate) ordinal: usize,
    pub(crate) lines: String,
    pub(crate) manifest: Manifest,
    pub(crate) hidden: Vec<String>,
    pub(crate) listed: bool,
    pub(crate) folder: String,
}

/// Content of the driver's manifest.
pub(crate) struct Manifest {
    pub(crate) api_version: String,
    pub(crate) file_format_version: String,
    pub(crate) library_path: Option<String>,
    pub(crate) more: String,
    pub(crate) text: Option<String>,
}

impl Driver {
    pub(crate) fn new(name: &str, ordinal: usize) -> Self {
        let mut driver = Driver {
            name: name.into(),
            ordinal,
            lines: String::new(),
            manifest: Manifest {
                api_version: "1.3.280".into(),
                file_format_version: "1.0.1".into(),
                library_path: None,
                more: String::new(),
                text: None,
            },
            hidden: [
                "vkGetInstanceProcAddr",
                "vkCreateInstance",
                "vkEnumerateInstanceExtensionProperties",
            ]
            .map(String::from)
            .into(),
            listed: true,
            folder: "drivers".into(),
        };
        driver.line("name", name);
        driver
    }

    /// Adds a line to the mock's configuration.
    pub fn line(&mut self, key: &str, value: impl Display) -> &mut Self {
        writeln!(self.lines, "{key} {value}").expect("writing to a string does not fail");
        self
    }

    /// Sets the API version in the manifest, and in the answer of `vkEnumerateInstanceVersion`.
    pub fn api(&mut self, version: &str) -> &mut Self {
        self.manifest.api_version = version.into();
        self.line("api_version", version)
    }

    /// Sets the API version only in the manifest.
    pub fn manifest_api(&mut self, version: &str) -> &mut Self {
        self.manifest.api_version = version.into();
        self
    }

    /// Sets the highest driver interface version.
    pub fn interface(&mut self, version: u32) -> &mut Self {
        self.line("interface", version)
    }

    /// Adds an instance extension.
    pub fn extension(&mut self, name: &str) -> &mut Self {
        self.line("instance_extension", format_args!("{name} 1"))
    }

    /// Adds several instance extensions.
    pub fn extensions(&mut self, names: &[&str]) -> &mut Self {
        for name in names {
            self.extension(name);
        }
        self
    }

    /// Adds a plain physical device with this name.
    pub fn device(&mut self, name: &str) -> &mut Self {
        self.device_with(name, |device| device)
    }

    /// Adds a physical device that the closure describes.
    pub fn device_with(&mut self, name: &str, describe: impl for<'d> FnOnce(Device<'d>) -> Device<'d>) -> &mut Self {
        self.line("device", name);
        describe(Device { driver: self });
        self
    }

    /// Makes every look-up function return NULL for a command.
    pub fn missing(&mut self, command: &str) -> &mut Self {
        self.line("missing", command)
    }

    /// Makes every call of `command` return `code`.
    pub fn fail(&mut self, command: &str, code: i32) -> &mut Self {
        self.line("fail", format_args!("{command} {code}"))
    }

    /// Makes the calls of `command` with the numbers `from` to `to` return `code`. The first call has the number 1.
    pub fn fail_calls(&mut self, command: &str, code: i32, from: u32, to: u32) -> &mut Self {
        self.line("fail", format_args!("{command} {code} {from} {to}"))
    }

    /// Enables a switch of the mock driver.
    pub fn flag(&mut self, word: &str) -> &mut Self {
        self.line("flag", word)
    }

    /// Adds an unknown physical-device function, which both look-up functions of the instance return.
    pub fn unknown_physical(&mut self, name: &str) -> &mut Self {
        self.line("gpdpa", name).line("gipa", name)
    }

    /// Adds an unknown device function, which `vk_icdGetInstanceProcAddr` and `vkGetDeviceProcAddr` return.
    pub fn unknown_device(&mut self, name: &str) -> &mut Self {
        self.line("gipa", name).line("gdpa", name)
    }

    /// Removes this symbol from the exports of the library.
    pub fn hide(&mut self, symbol: &str) -> &mut Self {
        self.hidden.push(symbol.into());
        self
    }

    /// Makes the library export the functions of interface version 0, which are hidden by default.
    pub fn legacy_exports(&mut self) -> &mut Self {
        self.hidden.retain(|name| name.starts_with("vk_icd"));
        self
    }

    /// Sets the `library_path` of the manifest. The default is the absolute path of the library.
    pub fn library_path(&mut self, path: &str) -> &mut Self {
        self.manifest.library_path = Some(path.into());
        self
    }

    /// Sets the `file_format_version` of the manifest.
    pub fn format_version(&mut self, version: &str) -> &mut Self {
        self.manifest.file_format_version = version.into();
        self
    }

    /// Sets additional members of the manifest's `ICD` object, as JSON text, for example `"library_arch": "32"`.
    pub fn manifest_members(&mut self, json: &str) -> &mut Self {
        self.manifest.more = format!(", {json}");
        self
    }

    /// Sets the whole text of the manifest. `@LIBRARY@` means the library's absolute path.
    pub fn manifest_text(&mut self, text: &str) -> &mut Self {
        self.manifest.text = Some(text.into());
        self
    }

    /// Leaves the driver's manifest out of `VK_DRIVER_FILES`.
    pub fn unlisted(&mut self) -> &mut Self {
        self.listed = false;
        self
    }

    /// Puts the manifest into this folder of the scene, and removes it from `VK_DRIVER_FILES`. The loader must then find the manifest by
    /// searching the folder.
    pub fn folder(&mut self, folder: &str) -> &mut Self {
        self.folder = folder.into();
        self.unlisted()
    }
}

/// Physical device of a mock driver.
pub struct Device<'d> {
    driver: &'d mut Driver,
}

impl Device<'_> {
    /// Adds a `device.*` line to the mock's configuration.
    pub fn line(self, key: &str, value: impl Display) -> Self {
        self.driver.line(&format!("device.{key}"), value);
        self
    }

    /// Sets the `VkPhysicalDeviceType`: 0 other, 1 integrated, 2 discrete, 3 virtual, 4 CPU.
    pub fn kind(self, kind: i32) -> Self {
        self.line("type", kind)
    }

    /// Sets the vendor ID and the device ID.
    pub fn ids(self, vendor: u32, device: u32) -> Self {
        self.line("vendor", vendor).line("id", device)
    }

    /// Sets the API version of the device.
    pub fn api(self, version: &str) -> Self {
        self.line("api_version", version)
    }

    /// Adds a device extension.
    pub fn extension(self, name: &str) -> Self {
        self.line("extension", format_args!("{name} 1"))
    }

    /// Sets the address on the PCI bus, which `VK_EXT_pci_bus_info` reports.
    pub fn pci(self, domain: u32, bus: u32, device: u32, function: u32) -> Self {
        let place = format_args!("{domain} {bus} {device} {function}").to_string();
        self.extension("VK_EXT_pci_bus_info").line("pci", place)
    }

    /// Sets each byte of the device UUID to `device`, and each byte of the driver UUID to `driver`.
    pub fn uuids(self, device: u8, driver: u8) -> Self {
        self.line("uuid", device).line("driver_uuid", driver)
    }
}
