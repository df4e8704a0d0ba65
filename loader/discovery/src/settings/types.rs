//! The content of a settings file, reduced to the object for the running executable.

use super::DriverPolicies;
use crate::journal::LogBits;
use crate::text::Text;
use alloc::vec::Vec;
use core::fmt;
use os::Raw;

/// Active settings. At least one of the settings has an effect (APP-247).
#[derive(Debug, Default, PartialEq)]
pub struct Settings {
    /// File from which the settings were read.
    pub path: Text,
    /// Severities to print on standard error; empty if `VK_LOADER_DEBUG` decides (APP-234).
    pub log_mask: LogBits,
    /// The layers in the order of the chain. `None` leaves layers to normal discovery (APP-247); an empty list means that there are no
    /// layers (APP-251).
    pub layers: Option<Vec<LayerEntry>>,
    /// Manifests of further drivers, in the order of the file.
    pub additional_drivers: Vec<Text>,
    /// `true` if drivers from other sources are discarded.
    pub additional_drivers_exclusive: bool,
    /// The physical devices to show, in order. `None` shows all devices. An empty list shows no devices, but variables for drivers are also
    /// ignored then (APP-215).
    pub device_configurations: Option<Vec<DeviceConfiguration>>,
    /// Words for the devices to show, with [`END_OF_WORD`](crate::env::device_select::END_OF_WORD) after each word (DRV-143a). If the text
    /// is empty, `VK_LOADER_VISIBLE_DEVICES` decides.
    pub visible_devices: Text,
    /// Policies for opening drivers.
    pub driver_policies: DriverPolicies,
    /// Chains of layers in the order from the application to the driver (LAY-332).
    pub layer_order: Vec<Text>,
}

/// Effect of the settings file on one layer (APP-252).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The layer is active if the application, a variable or a manifest enables it.
    Auto,
    /// The layer is always active.
    On,
    /// The layer is treated as if it were not installed.
    Off,
    /// The entry marks the position of all layers that the file does not name.
    Unordered,
}

impl Control {
    /// Returns the word for the effect in the settings file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::On => "on",
            Self::Off => "off",
            Self::Unordered => "unordered_layer_location",
        }
    }
}

/// An entry of `layers`. For [`Control::Unordered`], the other fields are unused.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(Clone))]
pub struct LayerEntry {
    /// Effect of the entry on the layer or layers.
    pub control: Control,
    /// Exact name of the layer.
    pub name: Text,
    /// Path of the layer's manifest, as in the file.
    pub path: Text,
    /// `true` if the layer is treated as an implicit layer.
    pub implicit: bool,
}

/// A physical device to show (APP-258). The type contains no pointers, so an instance can store a copy in memory from the application's
/// allocator (APP-170).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceConfiguration {
    /// Value of `VkPhysicalDeviceIDProperties::deviceUUID`.
    pub device_uuid: [u8; 16],
    /// Value of `VkPhysicalDeviceIDProperties::driverUUID`.
    pub driver_uuid: [u8; 16],
    /// Value of `VkPhysicalDeviceProperties::driverVersion`.
    pub driver_version: u32,
    /// Name of the device, for messages only; may be empty.
    pub device_name: ShortName,
    /// Name of the device's driver, for messages only; may be empty.
    pub driver_name: ShortName,
}

/// A name of at most 255 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ShortName {
    bytes: [u8; Self::LONGEST],
    len: u8,
}

impl ShortName {
    /// Upper bound on the length of a name, in bytes.
    const LONGEST: usize = promises::limits::MAX_DEVICE_NAME;

    /// Returns the name; an empty name for a text that is too long.
    pub fn new(text: &[u8]) -> Self {
        let mut name = Self {
            bytes: [0; Self::LONGEST],
            len: 0,
        };
        if let (Some(room), Ok(len)) = (name.bytes.get_mut(..text.len()), u8::try_from(text.len())) {
            room.copy_from_slice(text);
            name.len = len;
        }
        name
    }

    /// Returns the bytes of the name.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl Default for ShortName {
    fn default() -> Self {
        Self::new(b"")
    }
}

/// Prints every byte unchanged, like [`Text`].
impl fmt::Display for ShortName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Raw(self.as_bytes()).fmt(formatter)
    }
}

impl fmt::Debug for ShortName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{}\"", self.as_bytes().escape_ascii())
    }
}
