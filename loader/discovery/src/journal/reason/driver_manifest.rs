//! Reasons about driver manifests that are skipped (DRV-11, DRV-26, DRV-27, DRV-49, DRV-51, DRV-98).

use core::fmt;

use super::{DRIVER_INFO, DRIVER_WARN, LogBits};
use crate::text::{Text, file_name};
use os::Raw;
use reasons::Code;

/// Reason why a readable driver manifest is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DriverManifestReason {
    /// `file_format_version` is missing or not a string.
    NoFormatVersion,
    /// `ICD` is missing or not an object.
    NoIcd,
    /// `ICD` is missing, but the file describes layers: a layer manifest in the wrong folder.
    LayerManifest,
    /// `library_path` is missing or not a string.
    NoLibraryPath,
    /// `library_path` is the empty string.
    EmptyLibraryPath,
    /// `library_path` cannot be passed to the system: it contains a null byte, is not UTF-8, or is too long.
    UnusableLibraryPath,
    /// `api_version` is missing or not a string.
    NoApiVersion,
    /// `api_version` has this variant, which is not the variant of Vulkan.
    Variant(u32),
    /// The driver is a portability driver, and portability drivers are not requested.
    Portability,
    /// `library_arch` is for another pointer size than this process has.
    Architecture,
    /// `VK_LOADER_DRIVERS_DISABLE` matches the manifest; `VK_LOADER_DRIVERS_SELECT` does not match it.
    Disabled {
        /// The pattern that matches the manifest.
        pattern: Text,
    },
    /// `VK_LOADER_DRIVERS_SELECT` is set and does not match the manifest.
    NotSelected,
    /// The search has found the same file under another path before. For a driver that a service published, this reason means
    /// that an installed driver has the same library.
    SameFile {
        /// The path of the manifest that was kept.
        kept: Text,
    },
}

impl DriverManifestReason {
    pub(super) fn code(&self) -> Code {
        match self {
            Self::NoFormatVersion => Code::DriverManifestNoFormatVersion,
            Self::NoIcd => Code::DriverManifestNoIcd,
            Self::LayerManifest => Code::DriverManifestOfLayer,
            Self::NoLibraryPath => Code::DriverManifestNoLibraryPath,
            Self::EmptyLibraryPath => Code::DriverManifestEmptyLibraryPath,
            Self::UnusableLibraryPath => Code::DriverManifestUnusableLibraryPath,
            Self::NoApiVersion => Code::DriverManifestNoApiVersion,
            Self::Variant(_) => Code::DriverManifestVariant,
            Self::Portability => Code::DriverManifestPortability,
            Self::Architecture => Code::DriverManifestArchitecture,
            Self::Disabled { .. } => Code::DriverManifestDisabled,
            Self::NotSelected => Code::DriverManifestNotSelected,
            Self::SameFile { .. } => Code::FileFoundBefore,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        match self {
            Self::LayerManifest | Self::Portability => None,
            Self::Variant(_) | Self::SameFile { .. } => Some(DRIVER_INFO),
            Self::Architecture => Some(LogBits::INFO),
            Self::NoFormatVersion
            | Self::NoIcd
            | Self::NoLibraryPath
            | Self::EmptyLibraryPath
            | Self::UnusableLibraryPath
            | Self::NoApiVersion
            | Self::Disabled { .. }
            | Self::NotSelected => Some(DRIVER_WARN),
        }
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, _path: &Text) -> fmt::Result {
        const HERE: &str = "loader_parse_icd_manifest:";
        let file = Raw(file_name(name));
        match self {
            Self::NoFormatVersion => {
                write!(
                    out,
                    "{HERE} ICD JSON {name} does not have a 'file_format_version' field. Skipping ICD JSON."
                )
            }
            Self::NoIcd => write!(
                out,
                "{HERE} Can not find 'ICD' object in ICD JSON file {name}. Skipping ICD JSON"
            ),
            Self::LayerManifest => write!(
                out,
                "{HERE} {name} describes layers and lies in a driver folder. Skipping it."
            ),
            Self::NoLibraryPath => {
                write!(
                    out,
                    "{HERE} Failed to find 'library_path' object in ICD JSON file {name}. Skipping ICD JSON."
                )
            }
            Self::EmptyLibraryPath => write!(
                out,
                "{HERE} ICD JSON {name} 'library_path' field is empty. Skipping ICD JSON."
            ),
            Self::UnusableLibraryPath => {
                write!(
                    out,
                    "{HERE} ICD JSON {name} 'library_path' field is no usable path. Skipping ICD JSON."
                )
            }
            Self::NoApiVersion => {
                write!(
                    out,
                    "{HERE} ICD JSON {name} does not have an 'api_version' field. Skipping ICD JSON."
                )
            }
            Self::Variant(variant) => write!(
                out,
                "{HERE} Driver's ICD JSON {name} 'api_version' field contains a non-zero variant value of {variant}.  \
                 Skipping ICD JSON."
            ),
            Self::Portability => write!(
                out,
                "{HERE} Skipping portability driver {name}, because it was not asked for."
            ),
            Self::Architecture => write!(
                out,
                "{HERE} Driver library architecture doesn't match the current running architecture, skipping this driver"
            ),
            Self::Disabled { .. } => write!(
                out,
                "Driver \"{file}\" ignored because it was disabled by env var 'VK_LOADER_DRIVERS_DISABLE'"
            ),
            Self::NotSelected => write!(
                out,
                "Driver \"{file}\" ignored because not selected by env var 'VK_LOADER_DRIVERS_SELECT'"
            ),
            Self::SameFile { kept } => write!(
                out,
                "{HERE} ICD JSON {name} is the same file as {kept}, which was found before. Skipping ICD JSON."
            ),
        }
    }
}
