//! The hand-written bodies of trampolines, under the names that the emitted entry points call.

mod global;

pub use crate::debug::entry::{
    debug_marker_set_object_name_ext, debug_marker_set_object_tag_ext, set_debug_utils_object_name_ext,
    set_debug_utils_object_tag_ext,
};
pub use crate::device::{create_device, destroy_device};
pub use crate::instance::destroy_instance;
pub use crate::physical_device::{
    enumerate_device_extension_properties, enumerate_device_layer_properties, enumerate_physical_device_groups,
    enumerate_physical_devices,
};
pub use crate::proc_addr::{get_device_proc_addr, get_instance_proc_addr};
pub use crate::wsi::entry::create_swapchain_khr;
pub use global::{
    create_instance, enumerate_instance_extension_properties, enumerate_instance_layer_properties,
    enumerate_instance_version,
};
