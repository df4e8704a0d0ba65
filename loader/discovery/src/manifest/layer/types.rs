//! The description of a layer in its manifest.

use crate::journal::Source;
use crate::text::Text;
use crate::version::ApiVersion;
use alloc::vec::Vec;

/// Name of the override layer, which is an implicit meta-layer (LAY-4).
pub const OVERRIDE_LAYER: &str = "VK_LAYER_LUNARG_override";

/// A layer that a manifest describes.
#[derive(Debug, PartialEq, Eq)]
pub struct LayerManifest {
    /// Path of the manifest, in the form that the search assembled.
    pub manifest: Text,
    /// Origin of the manifest.
    pub source: Source,
    /// `true` if the layer is implicit. The folder of the manifest decides this, never the content (LAY-1).
    pub implicit: bool,
    /// Name that identifies the layer: `VkLayerProperties::layerName`, at most 255 bytes.
    pub name: Text,
    /// `VkLayerProperties::specVersion`. The variant is 0.
    pub api_version: ApiVersion,
    /// `VkLayerProperties::implementationVersion`.
    pub implementation_version: u32,
    /// `VkLayerProperties::description`, at most 255 bytes.
    pub description: Text,
    /// Library of the layer, or the components of a meta-layer.
    pub body: LayerBody,
    /// Names of the exported functions through which the loader finds all other functions.
    pub functions: LayerFunctions,
    /// Instance extensions that the layer adds; no name is repeated.
    pub instance_extensions: Vec<InstanceExtension>,
    /// Device extensions that the layer adds; no name is repeated.
    pub device_extensions: Vec<DeviceExtension>,
    /// The variable whose presence switches the layer off. Every implicit layer has a variable; an explicit layer has none.
    pub disable_environment: Option<EnvironmentPair>,
    /// The variable and the value that switch an implicit layer on. If the variable does not have this value, the layer is off unless a
    /// filter or the override layer switches the layer on. `None` for explicit layers.
    pub enable_environment: Option<EnvironmentPair>,
    /// Functions of an implicit layer for commands that need no instance.
    pub pre_instance_functions: PreInstanceFunctions,
    /// The changes by the override layer in addition to its components; empty for all other layers.
    pub overrides: OverrideFields,
    /// Declarations about the position of the layer in a chain, relative to other layers.
    pub order: ManifestOrder,
}

impl LayerManifest {
    /// Returns the components of a meta-layer; `None` for a layer with a library.
    pub fn components(&self) -> Option<&[Text]> {
        match &self.body {
            LayerBody::Library(_) => None,
            LayerBody::Components(components) => Some(components),
        }
    }

    /// Returns the library to open; `None` for a meta-layer. An empty path means that the library is missing, and must never be passed to
    /// the system (LAY-100).
    pub fn library_path(&self) -> Option<&Text> {
        match &self.body {
            LayerBody::Library(path) => Some(path),
            LayerBody::Components(_) => None,
        }
    }

    /// Returns the symbol with which the layer intercepts a command that needs no instance.
    pub fn pre_instance_function(&self, function: PreInstanceFunction) -> Option<&Text> {
        let functions = &self.pre_instance_functions;
        let symbol = match function {
            PreInstanceFunction::EnumerateInstanceExtensionProperties => {
                &functions.enumerate_instance_extension_properties
            }
            PreInstanceFunction::EnumerateInstanceLayerProperties => &functions.enumerate_instance_layer_properties,
            PreInstanceFunction::EnumerateInstanceVersion => &functions.enumerate_instance_version,
        };
        symbol.as_ref()
    }

    /// Returns `true` if the layer intercepts any command that needs no instance.
    pub fn has_pre_instance_functions(&self) -> bool {
        self.pre_instance_functions != PreInstanceFunctions::default()
    }

    /// Returns `true` for an override layer (LAY-4, LAY-170).
    pub fn is_override(&self) -> bool {
        self.implicit && self.components().is_some() && self.name == OVERRIDE_LAYER
    }
}

/// Implementation of a layer.
#[derive(Debug, PartialEq, Eq)]
pub enum LayerBody {
    /// The library to open, with a path according to LAY-97.
    Library(Text),
    /// The names of the components of a meta-layer. The first component is nearest to the application (LAY-160).
    Components(Vec<Text>),
}

/// Names of exported symbols that differ from the usual ones (LAY-102).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LayerFunctions {
    /// Name to use instead of `vkNegotiateLoaderLayerInterfaceVersion`.
    pub negotiate: Option<Text>,
    /// Name to use instead of `vkGetInstanceProcAddr`.
    pub get_instance_proc_addr: Option<Text>,
    /// Name to use instead of `vkGetDeviceProcAddr`.
    pub get_device_proc_addr: Option<Text>,
}

/// An instance extension of a layer.
#[derive(Debug, PartialEq, Eq)]
pub struct InstanceExtension {
    /// Name of the extension, at most 255 bytes.
    pub name: Text,
    /// Revision of the extension.
    pub spec_version: u32,
}

/// A device extension of a layer.
#[derive(Debug, PartialEq, Eq)]
pub struct DeviceExtension {
    /// Name of the extension, at most 255 bytes.
    pub name: Text,
    /// Revision of the extension.
    pub spec_version: u32,
    /// Commands that the extension adds.
    pub entrypoints: Vec<Text>,
}

/// An environment variable and a value.
#[derive(Debug, PartialEq, Eq)]
pub struct EnvironmentPair {
    /// Name of the variable.
    pub name: Text,
    /// Value in the manifest.
    pub value: Text,
}

/// A command that a layer can intercept before there is an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreInstanceFunction {
    /// The command `vkEnumerateInstanceExtensionProperties`.
    EnumerateInstanceExtensionProperties,
    /// The command `vkEnumerateInstanceLayerProperties`.
    EnumerateInstanceLayerProperties,
    /// The command `vkEnumerateInstanceVersion`.
    EnumerateInstanceVersion,
}

impl PreInstanceFunction {
    /// Returns the name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Self::EnumerateInstanceExtensionProperties => "vkEnumerateInstanceExtensionProperties",
            Self::EnumerateInstanceLayerProperties => "vkEnumerateInstanceLayerProperties",
            Self::EnumerateInstanceVersion => "vkEnumerateInstanceVersion",
        }
    }
}

/// Names of the functions with which a layer intercepts commands before there is an instance (LAY-270).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PreInstanceFunctions {
    /// Function for `vkEnumerateInstanceExtensionProperties`.
    pub enumerate_instance_extension_properties: Option<Text>,
    /// Function for `vkEnumerateInstanceLayerProperties`.
    pub enumerate_instance_layer_properties: Option<Text>,
    /// Function for `vkEnumerateInstanceVersion`.
    pub enumerate_instance_version: Option<Text>,
}

/// The fields that only the override layer may have (LAY-170 to LAY-182).
#[derive(Debug, Default, PartialEq, Eq)]
pub struct OverrideFields {
    /// Folders and files that replace the search for explicit layers (LAY-175).
    pub paths: Vec<Text>,
    /// Names of layers to remove (LAY-177).
    pub blacklisted_layers: Vec<Text>,
    /// Executables that the override layer applies to; empty for all executables (LAY-171).
    pub app_keys: Vec<Text>,
}

/// Declarations in a manifest about the order of its layer. Each text is the name of another layer, a pattern of names, or the word for a
/// kind of layers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ManifestOrder {
    /// Texts for the layers that this layer must be above. These other layers are nearer to the driver.
    pub above: Vec<Text>,
    /// Texts for the layers that this layer must be below. These other layers are nearer to the application.
    pub below: Vec<Text>,
}

impl ManifestOrder {
    /// Returns `true` if the manifest declares no order.
    pub fn is_empty(&self) -> bool {
        self.above.is_empty() && self.below.is_empty()
    }
}
