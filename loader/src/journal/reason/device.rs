//! Physical devices that are hidden from the application (APP-259, DRV-133).

use std::fmt;

use super::LogBits;
use crate::env::Variable;
use crate::manifest::Text;

/// Why a physical device is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceReason {
    /// An ID filter, this variable, does not contain its number.
    IdFilter(Variable),
    /// The settings file configures devices, and not this one.
    NotConfigured,
}

impl DeviceReason {
    pub(super) fn bits(&self) -> Option<LogBits> {
        match self {
            Self::IdFilter(_) => None,
            Self::NotConfigured => Some(LogBits::INFO),
        }
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, _path: &Text) -> fmt::Result {
        match self {
            Self::IdFilter(variable) => write!(out, "Device \"{name}\" is hidden by env var '{}'", variable.name()),
            Self::NotConfigured => {
                write!(
                    out,
                    "Device \"{name}\" is hidden, because the loader settings do not list it"
                )
            }
        }
    }
}
