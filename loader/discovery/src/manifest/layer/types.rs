//! A layer as its manifest describes it.

use crate::journal::Source;
use crate::text::Text;
use crate::version::ApiVersion;
use alloc::vec::Vec;

/// The name that makes an implicit meta-layer the override layer (LAY-4).
pub const OVERRIDE_LAYER: &str = "VK_LAYER_LUNARG_override";

/// A layer of a manifest.
#[derive(Debug, PartialEq, Eq)]
pub struct LayerManifest {
    /// Path of the manifest, as found.
    pub manifest: Text,
    /// Origin of the manifest.
    pub source: Source,
    /// `true` if the manifest was read by the rules of implicit layers. The folder decides this, never the content (LAY-1).
    pub implicit: bool,
    /// Name that identifies the layer: `VkLayerProperties::layerName`, at most 255 bytes.
    pub name: Text,
    /// `VkLayerProperties::specVersion`. The variant is 0.
    pub api_version: ApiVersion,
    /// `VkLayerProperties::implementationVersion`.
    pub implementation_version: u32,
    /// `VkLayerProperties::description`, at most 255 bytes.
    pub description: Text,
    /// Library of the layer, or the layers that a meta-layer stands for.
    pub body: LayerBody,
    /// Names under which the library exports its first functions, through which the loader finds all others.
    pub functions: LayerFunctions,
    /// Instance extensions that the layer adds, each name once.
    pub instance_extensions: Vec<InstanceExtension>,
    /// Device extensions that the layer adds, each name once.
    pub device_extensions: Vec<DeviceExtension>,
    /// The variable whose presence switches the layer off. Implicit layers always have one, explicit layers never.
    pub disable_environment: Option<EnvironmentPair>,
    /// The variable and the value without which the layer is off. Implicit layers only.
    pub enable_environment: Option<EnvironmentPair>,
    /// Functions for commands that need no instance. Implicit layers only.
    pub pre_instance_functions: PreInstanceFunctions,
    /// Changes that the override layer makes in addition to its components; empty for all other layers.
    pub overrides: OverrideFields,
    /// Place of the layer in a chain, relative to other layers.
    pub order: ManifestOrder,
}

impl LayerManifest {
    /// Returns the layers that a meta-layer consists of; `None` for a layer with a library.
    pub fn components(&self) -> Option<&[Text]> {
        match &self.body {
            LayerBody::Library(_) => None,
            LayerBody::Components(components) => Some(components),
        }
    }

    /// Returns the library to open; `None` for a meta-layer. The path may be empty, which counts as a missing library and must never be
    /// passed to the system (LAY-100).
    pub fn library_path(&self) -> Option<&Text> {
        match &self.body {
            LayerBody::Library(path) => Some(path),
            LayerBody::Components(_) => None,
        }
    }

    /// Returns the symbol that intercepts a command which needs no instance.
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

/// Content of a layer.
#[derive(Debug, PartialEq, Eq)]
pub enum LayerBody {
    /// The library to open, a path that LAY-97 defines.
    Library(Text),
    /// A meta-layer: the names of its components; the one nearest to the application comes first (LAY-160).
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
    /// The commands that the extension adds.
    pub entrypoints: Vec<Text>,
}

/// A variable of the environment and a value.
#[derive(Debug, PartialEq, Eq)]
pub struct EnvironmentPair {
    /// The name of the variable.
    pub name: Text,
    /// The value that the manifest gives.
    pub value: Text,
}

/// A command that a layer can intercept before there is an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreInstanceFunction {
    /// `vkEnumerateInstanceExtensionProperties`.
    EnumerateInstanceExtensionProperties,
    /// `vkEnumerateInstanceLayerProperties`.
    EnumerateInstanceLayerProperties,
    /// `vkEnumerateInstanceVersion`.
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

/// Symbols for commands that a layer can intercept before there is an instance (LAY-270).
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
    /// Places that replace the search for explicit layers (LAY-175).
    pub paths: Vec<Text>,
    /// Names of layers to remove (LAY-177).
    pub blacklisted_layers: Vec<Text>,
    /// Executables that this manifest is for; empty means all (LAY-171).
    pub app_keys: Vec<Text>,
}

/// The declarations of a manifest about the order of its layer: words that stand for other layers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ManifestOrder {
    /// The layer is nearer to the application than these.
    pub above: Vec<Text>,
    /// The layer is nearer to the driver than these.
    pub below: Vec<Text>,
}

impl ManifestOrder {
    /// Returns `true` if the manifest declares no order.
    pub fn is_empty(&self) -> bool {
        self.above.is_empty() && self.below.is_empty()
    }
}
