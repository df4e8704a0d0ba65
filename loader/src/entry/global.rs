//! Commands that a program may call before any other command. Each command makes sure that the library is initialised.

use crate::generated::types::{
    VkAllocationCallbacks, VkExtensionProperties, VkInstanceCreateInfo, VkLayerProperties, VkResult,
};
use crate::handle::{App, InstanceHandle};
use crate::instance;
use core::ffi::c_char;
use discovery::trace::Step;

traced! {
    /// Implements `vkCreateInstance`, and records the call in the trace.
    first b"vkCreateInstance": instance::create_instance = create_instance(
        create_info: *const VkInstanceCreateInfo,
        callbacks: *const VkAllocationCallbacks,
        out: *mut InstanceHandle<App>
    )
}
traced! {
    /// Implements `vkEnumerateInstanceVersion`, and records the call in the trace.
    first b"vkEnumerateInstanceVersion": instance::enumerate_instance_version = enumerate_instance_version(
        version: *mut u32
    )
}
traced! {
    /// Implements `vkEnumerateInstanceLayerProperties`, and records the call in the trace.
    first b"vkEnumerateInstanceLayerProperties":
    instance::enumerate_instance_layer_properties = enumerate_instance_layer_properties(
        count: *mut u32,
        properties: *mut VkLayerProperties
    )
}
traced! {
    /// Implements `vkEnumerateInstanceExtensionProperties`, and records the call in the trace.
    first b"vkEnumerateInstanceExtensionProperties":
    instance::enumerate_instance_extension_properties = enumerate_instance_extension_properties(
        layer_name: *const c_char,
        count: *mut u32,
        properties: *mut VkExtensionProperties
    )
}
