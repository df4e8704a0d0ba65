//! Reasons why well-formed layers are removed from the list (LAY-31, LAY-125, LAY-153, LAY-161, LAY-162, LAY-172, LAY-177).

use core::fmt;

use super::{LAYER_INFO, LAYER_WARN, LogBits};
use crate::text::Text;
use reasons::Code;

const VERIFY: &str = "verify_meta_layer_component_layers:";

/// Reason why a layer is removed from the list of discovered layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerListReason {
    /// An earlier layer has the same name.
    Duplicate {
        /// Manifest of the earlier layer, which is kept.
        kept: Text,
    },
    /// `VK_LOADER_LAYERS_DISABLE` matches the layer; neither the allow filter nor the enable filter matches it.
    Disabled {
        /// The pattern or word that matches the layer.
        pattern: Text,
    },
    /// A component of the meta-layer is missing.
    ComponentMissing {
        /// Name of the component.
        component: Text,
        /// Index of the component in `component_layers`.
        index: usize,
    },
    /// A component is for an older API version than the meta-layer.
    ComponentOlder {
        /// Major and minor version of the meta-layer.
        version: (u32, u32),
        /// Index of the component in `component_layers`.
        index: usize,
        /// Major and minor version of the component.
        component_version: (u32, u32),
    },
    /// A component of the meta-layer is the meta-layer itself.
    ListsItself {
        /// Index of the layer in its own `component_layers`.
        index: usize,
    },
    /// A component contains this meta-layer, directly or through other meta-layers.
    Recursive {
        /// Name of the component that closes the cycle.
        component: Text,
    },
    /// A component is an invalid meta-layer. The reason was logged for that meta-layer.
    ComponentInvalid {
        /// Name of the component.
        component: Text,
    },
    /// The override layer lists the layer in `blacklisted_layers`.
    Blacklisted,
    /// The layer is an override layer, and its executables do not include the running executable.
    OtherExecutable {
        /// The path of the running executable.
        executable: Text,
    },
    /// The layer is a further override layer for all executables.
    SecondGlobalOverride,
    /// The layer is an override layer, but another override layer names the running executable.
    OverrideShadowed,
    /// The settings file lists this manifest for a layer with another name.
    NotListedInSettings,
    /// The settings file lists this layer's name and library twice.
    ListedTwice,
    /// The search found this layer, but the settings file lists a layer with the same name.
    ListedInSettings,
}

impl LayerListReason {
    pub(super) fn code(&self) -> Code {
        match self {
            Self::Duplicate { .. } => Code::LayerDuplicate,
            Self::Disabled { .. } => Code::LayerDisabled,
            Self::ComponentMissing { .. } => Code::LayerComponentMissing,
            Self::ComponentOlder { .. } => Code::LayerComponentOlder,
            Self::ListsItself { .. } => Code::LayerListsItself,
            Self::Recursive { .. } => Code::LayerRecursive,
            Self::ComponentInvalid { .. } => Code::LayerComponentInvalid,
            Self::Blacklisted => Code::LayerBlacklisted,
            Self::OtherExecutable { .. } => Code::LayerOtherExecutable,
            Self::SecondGlobalOverride => Code::LayerSecondGlobalOverride,
            Self::OverrideShadowed => Code::LayerOverrideShadowed,
            Self::NotListedInSettings => Code::LayerNotListedInSettings,
            Self::ListedTwice => Code::LayerListedTwice,
            Self::ListedInSettings => Code::LayerListedInSettings,
        }
    }

    pub(super) fn bits(&self) -> Option<LogBits> {
        Some(match self {
            Self::Duplicate { .. }
            | Self::ComponentMissing { .. }
            | Self::ComponentOlder { .. }
            | Self::ListsItself { .. }
            | Self::Recursive { .. } => LogBits::WARN,
            Self::Disabled { .. } | Self::SecondGlobalOverride => LAYER_WARN,
            Self::OtherExecutable { .. } => LAYER_INFO,
            Self::Blacklisted => LogBits::DEBUG,
            Self::ComponentInvalid { .. }
            | Self::OverrideShadowed
            | Self::NotListedInSettings
            | Self::ListedTwice
            | Self::ListedInSettings => return None,
        })
    }

    pub(super) fn write(&self, out: &mut fmt::Formatter<'_>, name: &Text, path: &Text) -> fmt::Result {
        match self {
            Self::Duplicate { kept } => {
                write!(
                    out,
                    "Removing layer {name} ({path}) because it is a duplicate of {name} ({kept})"
                )
            }
            Self::Disabled { .. } => write!(
                out,
                "Layer \"{name}\" forced disabled because name matches filter of env var 'VK_LOADER_LAYERS_DISABLE'."
            ),
            Self::ComponentMissing { component, index } => write!(
                out,
                "{VERIFY} Meta-layer {name} can't find component layer {component} at index {index}.  Skipping this layer."
            ),
            Self::ComponentOlder {
                version: (major, minor),
                index,
                component_version: (component_major, component_minor),
            } => write!(
                out,
                "{VERIFY} Meta-layer uses API version {major}.{minor}, but component layer {index} has API version \
                 {component_major}.{component_minor} that is lower.  Skipping this layer."
            ),
            Self::ListsItself { index } => write!(
                out,
                "{VERIFY} Meta-layer {name} lists itself in its component layer list at index {index}.  Skipping this \
                 layer."
            ),
            // Tools rely on the two blanks before the second name (LAY-162).
            Self::Recursive { component } => write!(
                out,
                "{VERIFY} Recursive dependency between Meta-layer {name} and  Meta-layer {component}.  Skipping this \
                 layer."
            ),
            Self::ComponentInvalid { component } => {
                write!(
                    out,
                    "{VERIFY} Meta-layer {name} contains the invalid layer {component}."
                )
            }
            Self::Blacklisted => write!(
                out,
                "loader_remove_layers_in_blacklist: Override layer is active and layer {name} is in the blacklist \
                 inside of it. Removing that layer from current layer list."
            ),
            Self::OtherExecutable { executable } => write!(
                out,
                "--Override layer found but not used because app '{executable}' is not in 'app_keys' list!"
            ),
            Self::SecondGlobalOverride => write!(
                out,
                "Removing global override layer {path}, because another one was found before."
            ),
            Self::OverrideShadowed => write!(out, "Removing override layer {path}, because another one is used."),
            Self::NotListedInSettings => write!(out, "Layer {name} of {path} is not the one the settings ask for."),
            Self::ListedTwice => write!(out, "Layer {name} of {path} is listed twice in the settings."),
            Self::ListedInSettings => write!(
                out,
                "Layer {name} of {path} is left out, because the settings list that name."
            ),
        }
    }
}
