//! Physical-device queries that an older driver lacks, answered with the driver's other functions (DRV-159 to DRV-161).
//!
//! Most of these queries exist both in core 1.1 and as an extension. [`Target::choose`](crate::target::Target::choose) picks the driver's
//! function. If the driver has neither function, the loader emulates the query with the function of Vulkan 1.0 that the query extends.
//! Structures that this function cannot fill stay unchanged, and a warning names them.

mod arrays;
mod external;
mod properties;
mod tools;

pub(crate) use arrays::{
    get_physical_device_queue_family_properties2, get_physical_device_sparse_image_format_properties2,
};
pub(crate) use external::{
    get_physical_device_external_buffer_properties, get_physical_device_external_fence_properties,
    get_physical_device_external_image_format_properties_nv, get_physical_device_external_semaphore_properties,
};
pub(crate) use properties::{
    get_physical_device_features2, get_physical_device_format_properties2,
    get_physical_device_image_format_properties2, get_physical_device_memory_properties2,
    get_physical_device_properties2,
};
pub(crate) use tools::{get_physical_device_tool_properties, get_physical_device_tool_properties_ext};
