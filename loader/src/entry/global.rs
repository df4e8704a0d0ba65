//! The commands that a program may call first, before which the library makes sure that it is ready.

use crate::generated::types::{
    VkAllocationCallbacks, VkExtensionProperties, VkInstanceCreateInfo, VkLayerProperties, VkResult,
};
use crate::handle::{App, InstanceHandle};
use crate::instance;
use crate::process::ensure_loaded;
use core::ffi::c_char;

/// Declares a command that a program may call first.
macro_rules! first {
    ($(#[$doc:meta])* $name:ident($($parameter:ident: $type:ty),*)) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// As the Vulkan specification demands.
        pub unsafe fn $name($($parameter: $type),*) -> VkResult {
            ensure_loaded();
            // SAFETY: passed on.
            unsafe { instance::$name($($parameter),*) }
        }
    };
}

first! {
    /// `vkCreateInstance`.
    create_instance(
        create_info: *const VkInstanceCreateInfo,
        callbacks: *const VkAllocationCallbacks,
        out: *mut InstanceHandle<App>
    )
}
first! {
    /// `vkEnumerateInstanceVersion`.
    enumerate_instance_version(version: *mut u32)
}
first! {
    /// `vkEnumerateInstanceLayerProperties`.
    enumerate_instance_layer_properties(count: *mut u32, properties: *mut VkLayerProperties)
}
first! {
    /// `vkEnumerateInstanceExtensionProperties`.
    enumerate_instance_extension_properties(
        layer_name: *const c_char,
        count: *mut u32,
        properties: *mut VkExtensionProperties
    )
}
