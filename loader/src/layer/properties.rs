//! Data from manifests in the structures of the C interface (LAY-320, LAY-321).

use crate::ffi::set_fixed_text;
use crate::generated::types::{VkExtensionProperties, VkLayerProperties};
use discovery::manifest::LayerManifest;
use discovery::manifest::layer::{DeviceExtension, InstanceExtension};
use discovery::text::Text;

/// Returns the properties of a layer. The function is inlined, so that the properties are written in place instead of copied.
#[inline(always)]
pub(crate) fn properties_of(layer: &LayerManifest) -> VkLayerProperties {
    let mut properties = VkLayerProperties {
        layerName: [0; 256],
        specVersion: layer.api_version.0,
        implementationVersion: layer.implementation_version,
        description: [0; 256],
    };
    set_fixed_text(&mut properties.layerName, &layer.name);
    set_fixed_text(&mut properties.description, &layer.description);
    properties
}

/// Returns the properties of a layer's instance extension.
pub(crate) fn extension_properties(extension: &InstanceExtension) -> VkExtensionProperties {
    properties(&extension.name, extension.spec_version)
}

/// Returns the properties of a layer's device extension.
pub(crate) fn device_extension_properties(extension: &DeviceExtension) -> VkExtensionProperties {
    properties(&extension.name, extension.spec_version)
}

fn properties(name: &Text, version: u32) -> VkExtensionProperties {
    let mut properties = VkExtensionProperties {
        extensionName: [0; 256],
        specVersion: version,
    };
    set_fixed_text(&mut properties.extensionName, name);
    properties
}
