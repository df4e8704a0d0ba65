//! Active layers of an instance.

use super::{LayerExtensionLists, LayerFunctions};
use crate::alloc::{HostText, HostVec};
use crate::generated::types::{VkExtensionProperties, VkLayerProperties};
use crate::library::Library;
use discovery::activation::EnabledBy;

/// Data that an instance keeps about its layers.
pub(crate) struct InstanceLayers {
    /// Layers of the chain whose libraries loaded, nearest to the application first. Before the libraries close, this list is sorted by
    /// [`ActiveLayer::place`].
    pub chain: HostVec<ActiveLayer>,
    /// `true` if any layer should have joined the chain, even if none loaded; the create info then gets a link node (LAY-231, LAY-284).
    pub wanted: bool,
    /// Answer of `vkEnumerateDeviceLayerProperties`: the active layers, with meta-layers under their own names (APP-133).
    pub active: HostVec<VkLayerProperties>,
    /// Device extensions of every discovered layer, active or not (LAY-324).
    pub device_extensions: LayerExtensionLists,
}

/// A device extension that a layer adds.
pub(crate) struct LayerDeviceExtension {
    /// Name and version of the extension.
    pub properties: VkExtensionProperties,
    /// Names of the extension's commands. The registry may not know these commands (LAY-105).
    pub entry_points: HostVec<HostText>,
}

/// A layer in the call chain.
pub(crate) struct ActiveLayer {
    /// Name of the layer (`layerName`).
    pub name: HostText,
    /// Path of the layer's manifest.
    pub manifest: HostText,
    /// Path of the library as the system reports it.
    pub library_path: HostText,
    /// `true` if the layer was found as an implicit layer.
    pub implicit: bool,
    /// Index of the layer among all discovered layers. When the instance is destroyed, the libraries close in the order of these indices
    /// (LAY-201).
    pub place: usize,
    /// Reason why the layer is active.
    pub enabled_by: EnabledBy,
    /// Variable that disables the layer, for implicit layers.
    pub disable_variable: Option<HostText>,
    /// Variable and value that enabled the layer, if the layer needs one.
    pub enable_variable: Option<(HostText, HostText)>,
    /// Device extensions that the layer adds.
    pub device_extensions: HostVec<LayerDeviceExtension>,
    /// Lookup functions of the layer.
    pub functions: LayerFunctions,
    /// The open library, which contains the functions. This member is the last, so that the library closes after all other members are
    /// dropped.
    pub _library: Library,
}
