//! The layers that an instance made active.

use super::{LayerExtensionLists, LayerFunctions};
use crate::alloc::{HostText, HostVec};
use crate::generated::types::{VkExtensionProperties, VkLayerProperties};
use crate::library::Library;
use discovery::activation::EnabledBy;

/// Everything an instance keeps about layers.
pub(crate) struct InstanceLayers {
    /// The chain: libraries that loaded, nearest the application first. Closed in reverse order of loading.
    pub chain: HostVec<ActiveLayer>,
    /// Whether any layer was to join the chain, even if none loaded: then there is a link node (LAY-231, LAY-284).
    pub wanted: bool,
    /// What `vkEnumerateDeviceLayerProperties` answers: active layers with meta-layers under their own names (APP-133).
    pub active: HostVec<VkLayerProperties>,
    /// Device extensions of every discovered layer, active or not (LAY-324).
    pub device_extensions: LayerExtensionLists,
}

/// A device extension that a layer adds.
pub(crate) struct LayerDeviceExtension {
    /// Name and version.
    pub properties: VkExtensionProperties,
    /// Commands it adds that the registry may not know (LAY-105).
    pub entry_points: HostVec<HostText>,
}

/// A layer in the call chain.
pub(crate) struct ActiveLayer {
    /// `layerName`.
    pub name: HostText,
    /// The manifest it came from.
    pub manifest: HostText,
    /// The file that the system loaded, as it reports it.
    pub library_path: HostText,
    /// Found as an implicit layer.
    pub implicit: bool,
    /// Its place among all layers that were discovered: libraries close in that order (LAY-201).
    pub place: usize,
    /// Why it is active.
    pub enabled_by: EnabledBy,
    /// The variable that would switch it off, for implicit layers.
    pub disable_variable: Option<HostText>,
    /// The variable and value that switched it on, if it needs one.
    pub enable_variable: Option<(HostText, HostText)>,
    /// Device extensions it adds.
    pub device_extensions: HostVec<LayerDeviceExtension>,
    /// Its lookup functions.
    pub functions: LayerFunctions,
    /// Keeps the functions valid. Last, so that everything above is gone when it closes.
    pub _library: Library,
}
