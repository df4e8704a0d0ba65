//! Layers of an instance: their open libraries and their results.
//!
//! [`discovery`] decides from files and variables which layers are active, and their order. This module opens the chosen libraries,
//! negotiates with them, and keeps them as long as the instance lives.

mod active;
mod callstack;
mod extension_lists;
mod functions;
mod load;
mod properties;

pub(crate) use active::{ActiveLayer, InstanceLayers, LayerDeviceExtension};
pub(crate) use callstack::{log_device_stack, log_instance_stack, log_unloading};
pub(crate) use extension_lists::LayerExtensionLists;
pub(crate) use functions::LayerFunctions;
pub(crate) use load::{load_layers, open_library};
pub(crate) use properties::{device_extension_properties, extension_properties, properties_of};
