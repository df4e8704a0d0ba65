//! Physical devices that are hidden from the application, or left out of a call (APP-259, DRV-120, DRV-133, DRV-150).

use core::fmt;

use super::LogBits;
use crate::env::Variable;
use crate::manifest::Text;

/// Why a physical device, or a group of them, is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceReason {
    /// An ID filter, this variable, does not contain its number.
    IdFilter(Variable),
    /// The settings file configures devices, and not this one.
    NotConfigured,
    /// The settings file does not configure this device, so a group with it is not shown.
    GroupNotConfigured,
    /// This command of the driver failed with this `VkResult`, so nothing that it would have reported is known.
    EnumerationFailed(&'static str, i32),
}

impl DeviceReason {
    pub(super) fn bits(&self) -> Option<LogBits> {
        match self {
            Self::IdFilter(_) => None,
            Self::NotConfigured | Self::GroupNotConfigured => Some(LogBits::INFO),
            Self::EnumerationFailed(..) => Some(LogBits::ERROR),
        }
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, path: &Text) -> fmt::Result {
        match self {
            Self::IdFilter(variable) => write!(out, "Device \"{name}\" is hidden by env var '{}'", variable.name()),
            Self::NotConfigured => {
                write!(
                    out,
                    "Device \"{name}\" is hidden, because the loader settings do not list it"
                )
            }
            Self::GroupNotConfigured => write!(
                out,
                "A device group is hidden, because the loader settings do not list its device \"{name}\""
            ),
            Self::EnumerationFailed(command, result) => write!(
                out,
                "Call to {command} in ICD {path} failed with VkResult {result}, so its devices are left out"
            ),
        }
    }
}
