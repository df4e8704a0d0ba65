//! Physical-device queries that an older driver lacks, answered with what it has (DRV-159 to DRV-161).
//!
//! Most of these exist as core 1.1 and as an extension. [`Target::choose`](crate::target::Target::choose) picks the driver's function; where there is
//! none, the query is emulated by the function of Vulkan 1.0 that it grew from, and structures that no such function can
//! fill are left as they were, with a warning.

mod arrays;
mod external;
mod properties;
#[cfg(test)]
mod tests;
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
