//! What a settings file says, after the object for this executable was chosen.

use crate::journal::LogBits;
use crate::manifest::Text;

/// Active settings: at least one of them has an effect (APP-247).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The file they were read from.
    pub path: Text,
    /// What to report on standard error; no bit when the file leaves that to `VK_LOADER_DEBUG` (APP-234).
    pub log_mask: LogBits,
    /// The layers in the order of the chain. `None` leaves layers to normal discovery (APP-247); an empty list means
    /// that there are none at all (APP-251).
    pub layers: Option<Vec<LayerEntry>>,
    /// Manifests of further drivers, in the order of the file.
    pub additional_drivers: Vec<Text>,
    /// Whether drivers found elsewhere are to be discarded.
    pub additional_drivers_exclusive: bool,
    /// The physical devices to show, in order. `None` shows all; an empty list selects none, and still switches off
    /// the variables for drivers (APP-215).
    pub device_configurations: Option<Vec<DeviceConfiguration>>,
}

/// What the file wants of one layer (APP-252).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Active if anything else asks for it.
    Auto,
    /// Always active.
    On,
    /// As if it were not installed.
    Off,
    /// No layer: the place for all layers that the file does not list.
    Unordered,
}

impl Control {
    /// The word of the file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::On => "on",
            Self::Off => "off",
            Self::Unordered => "unordered_layer_location",
        }
    }
}

/// One entry of `layers`. For [`Control::Unordered`] the other fields mean nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerEntry {
    /// What is wanted.
    pub control: Control,
    /// The exact name of the layer.
    pub name: Text,
    /// Its manifest, as written.
    pub path: Text,
    /// Whether its manifest is read by the rules of implicit layers.
    pub implicit: bool,
}

/// A physical device to show (APP-258).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceConfiguration {
    /// `VkPhysicalDeviceIDProperties::deviceUUID`.
    pub device_uuid: [u8; 16],
    /// `VkPhysicalDeviceIDProperties::driverUUID`.
    pub driver_uuid: [u8; 16],
    /// `VkPhysicalDeviceProperties::driverVersion`.
    pub driver_version: u32,
    /// Its name, for messages only; may be empty.
    pub device_name: Text,
    /// The name of its driver, for messages only; may be empty.
    pub driver_name: Text,
}
