//! Reasons about physical devices that are hidden from the application, or missing in the result of a call (APP-259, DRV-120, DRV-133,
//! DRV-150).

use core::fmt;

use super::LogBits;
use crate::env::Variable;
use crate::text::Text;
use reasons::Code;

/// Reason why a physical device, or a group of devices, is hidden or missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceReason {
    /// The variable is an ID filter, and no range contains the ID of the device.
    IdFilter(Variable),
    /// The settings file configures devices, but not this device.
    NotConfigured,
    /// No word of this variable, or of the settings file, matches the device (DRV-143a).
    NotVisible(Option<Variable>),
    /// The device belongs to a driver of the service, and an installed driver already supplies the device (LSV-68).
    Served,
    /// The settings file does not configure a device of the group with this number, so the group is not shown.
    GroupNotConfigured(usize),
    /// `vkEnumeratePhysicalDevices` of the driver failed with this `VkResult`. The loader uses the driver's previous list.
    EnumerationFailed(i32),
    /// The driver did not return this information about its device groups.
    GroupsFailed(&'static str),
}

impl DeviceReason {
    pub(super) fn code(&self) -> Code {
        match self {
            Self::IdFilter(_) => Code::DeviceIdFilter,
            Self::NotConfigured => Code::DeviceNotConfigured,
            Self::NotVisible(_) => Code::DeviceNotVisible,
            Self::Served => Code::DeviceServed,
            Self::GroupNotConfigured(_) => Code::DeviceGroupNotConfigured,
            Self::EnumerationFailed(_) => Code::DeviceEnumerationFailed,
            Self::GroupsFailed(_) => Code::DeviceGroupsFailed,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        match self {
            Self::IdFilter(_) => None,
            Self::NotConfigured | Self::NotVisible(_) | Self::Served | Self::GroupNotConfigured(_) => {
                Some(LogBits::INFO)
            }
            Self::EnumerationFailed(_) | Self::GroupsFailed(_) => Some(LogBits::ERROR),
        }
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, path: &Text) -> fmt::Result {
        match self {
            Self::IdFilter(variable) => write!(out, "Device \"{name}\" is hidden by env var '{}'", variable.name()),
            Self::NotConfigured => {
                write!(
                    out,
                    "VkPhysicalDevice \"{name}\" did not appear in the settings file device configurations list, so was \
                     not added to the pPhysicalDevices array"
                )
            }
            Self::NotVisible(variable) => {
                let by = variable.map_or("visible_devices of the settings file", Variable::name);
                write!(out, "Device \"{name}\" is hidden by {by}")
            }
            Self::Served => write!(
                out,
                "Device \"{name}\" of the driver service is left out: an installed driver serves it"
            ),
            Self::GroupNotConfigured(number) => write!(
                out,
                "terminator_EnumeratePhysicalDeviceGroups: Physical device group {number} contains a VkPhysicalDevice \
                 which the settings file device configurations exclude, so the group was not reported."
            ),
            Self::EnumerationFailed(result) => write!(
                out,
                "setup_loader_term_phys_devs: Call to 'vkEnumeratePhysicalDevices' in ICD {path} failed with error code \
                 {result}"
            ),
            Self::GroupsFailed(what) => write!(
                out,
                "terminator_EnumeratePhysicalDeviceGroups:  Failed during dispatch call of \
                 'EnumeratePhysicalDeviceGroups' to ICD {path} to get {what}."
            ),
        }
    }
}
