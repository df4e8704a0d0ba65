//! Reasons about layer manifests, and single layers in them, that are skipped (LAY-80 to LAY-107).

use core::fmt;

use super::{LAYER_ERROR, LAYER_INFO, LAYER_WARN, LogBits};
use crate::text::Text;
use reasons::Code;

/// Reason why a readable layer manifest adds no layers, or no further layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerManifestReason {
    /// `file_format_version` is missing or not a string.
    NoFormatVersion,
    /// Both `layers` and `layer` are missing.
    NoLayer,
    /// The file describes a driver but no layer: a driver manifest in the wrong folder.
    DriverManifest,
    /// `layer` is repeated in a file of version 1.0.1 or newer.
    RepeatedLayer,
    /// A member of `layers` is not an object. Layers of earlier members are kept.
    ElementNotObject,
}

impl LayerManifestReason {
    pub(super) fn code(&self) -> Code {
        match self {
            Self::NoFormatVersion => Code::LayerManifestNoFormatVersion,
            Self::NoLayer => Code::LayerManifestNoLayer,
            Self::DriverManifest => Code::LayerManifestOfDriver,
            Self::RepeatedLayer => Code::LayerManifestRepeatedLayer,
            Self::ElementNotObject => Code::LayerManifestElementNotObject,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        match self {
            Self::DriverManifest => None,
            Self::RepeatedLayer => Some(LAYER_ERROR),
            Self::NoFormatVersion | Self::NoLayer | Self::ElementNotObject => Some(LAYER_WARN),
        }
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, _path: &Text) -> fmt::Result {
        const HERE: &str = "loader_add_layer_properties:";
        match self {
            Self::NoFormatVersion => {
                write!(out, "{HERE} Manifest {name} missing required field file_format_version")
            }
            Self::NoLayer => write!(
                out,
                "{HERE} Can not find 'layer' object in manifest JSON file {name}.  Skipping this file."
            ),
            Self::DriverManifest => write!(
                out,
                "{HERE} {name} describes a driver and lies in a layer folder. Skipping it."
            ),
            Self::RepeatedLayer => write!(
                out,
                "{HERE} Multiple 'layer' nodes are deprecated starting in file version \"1.0.1\".  Please use \
                 'layers' : [] array instead in {name}."
            ),
            Self::ElementNotObject => write!(
                out,
                "{HERE} Array element in \"layers\" field in manifest JSON file {name} is not an object.  Skipping \
                 this file"
            ),
        }
    }
}

/// Reason why one layer of a manifest is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerReason {
    /// The required member with this name is missing, of the wrong type, or longer than the API allows.
    NoField(&'static str),
    /// `type` is `DEVICE`.
    DeviceLayer,
    /// `type` is an unknown word.
    UnknownType,
    /// `api_version` has this variant, which is not the variant of Vulkan.
    Variant(u32),
    /// The layer has both `library_path` and `component_layers`.
    LibraryAndComponents,
    /// The layer has neither `library_path` nor `component_layers`.
    NoLibraryNorComponents,
    /// The layer is implicit and has no `disable_environment`.
    NoDisableEnvironment,
    /// `disable_environment` does not name a variable.
    BadDisableEnvironment,
    /// `library_arch` is for another pointer size than this process has.
    Architecture,
}

impl LayerReason {
    pub(super) fn code(&self) -> Code {
        match self {
            Self::NoField(_) => Code::LayerNoField,
            Self::DeviceLayer => Code::LayerDeviceLayer,
            Self::UnknownType => Code::LayerUnknownType,
            Self::Variant(_) => Code::LayerVariant,
            Self::LibraryAndComponents => Code::LayerLibraryAndComponents,
            Self::NoLibraryNorComponents => Code::LayerNoLibraryNorComponents,
            Self::NoDisableEnvironment => Code::LayerNoDisableEnvironment,
            Self::BadDisableEnvironment => Code::LayerBadDisableEnvironment,
            Self::Architecture => Code::LayerArchitecture,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        Some(match self {
            Self::UnknownType => return None,
            Self::DeviceLayer => LAYER_WARN,
            Self::Variant(_) => LAYER_INFO,
            Self::Architecture => LogBits::INFO,
            Self::NoField(_)
            | Self::LibraryAndComponents
            | Self::NoLibraryNorComponents
            | Self::NoDisableEnvironment
            | Self::BadDisableEnvironment => LogBits::WARN,
        })
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, path: &Text) -> fmt::Result {
        match self {
            Self::NoField(field) => write!(
                out,
                "Layer located at {path} didn't find required layer value \"{field}\" in manifest JSON file, skipping this layer"
            ),
            Self::DeviceLayer => write!(out, "Device layers are deprecated. Skipping layer {name}"),
            Self::UnknownType => write!(out, "Layer \"{name}\" is of no known type.  Skipping this layer."),
            Self::Variant(variant) => write!(
                out,
                "Layer \"{name}\" has an 'api_version' field which contains a non-zero variant value of {variant}.  \
                 Skipping Layer."
            ),
            Self::LibraryAndComponents => write!(
                out,
                "Layer \"{name}\" contains meta-layer-specific component_layers, but also defining layer library path.  \
                 Both are not compatible, so skipping this layer"
            ),
            Self::NoLibraryNorComponents => write!(
                out,
                "Layer \"{name}\" is missing both library_path and component_layers fields.  One or the other MUST be \
                 defined.  Skipping this layer"
            ),
            Self::NoDisableEnvironment => write!(
                out,
                "Layer \"{name}\" doesn't contain required layer object disable_environment in the manifest JSON file \
                 {path}, skipping this layer"
            ),
            Self::BadDisableEnvironment => write!(
                out,
                "Layer \"{name}\" doesn't contain required child value in object disable_environment in the manifest \
                 JSON file {path}, skipping this layer (Policy #LLP_LAYER_9)"
            ),
            Self::Architecture => write!(
                out,
                "The library architecture in layer {path} doesn't match the current running architecture, skipping \
                 this layer"
            ),
        }
    }
}
