//! Handwritten bodies of trampolines, with the names that the emitted entry points call.

/// Declares an entry point whose calls the trace records. `first` marks a command that a program may call before any other command.
macro_rules! traced {
    (@ready) => {};
    (@ready first) => {
        crate::process::ensure_loaded()
    };
    ($(#[$doc:meta])* $($first:ident)? $command:literal: $path:path = $name:ident($($parameter:ident: $type:ty),*)) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The parameters are as the Vulkan specification demands.
        pub(crate) unsafe fn $name($($parameter: $type),*) -> VkResult {
            traced!(@ready $($first)?);
            let call = Step::Call.begin($command);
            // SAFETY: the caller promises valid parameters of this command.
            let result = unsafe { $path($($parameter),*) };
            call.end(result.0);
            result
        }
    };
}

mod global;
mod instance_level;
mod surface;

pub(crate) use crate::debug::entry::{
    debug_marker_set_object_name_ext, debug_marker_set_object_tag_ext, set_debug_utils_object_name_ext,
    set_debug_utils_object_tag_ext,
};
pub(crate) use crate::physical_device::enumerate_device_layer_properties;
pub(crate) use crate::proc_addr::{get_device_proc_addr, get_instance_proc_addr};
pub(crate) use crate::wsi::entry::create_swapchain_khr;
pub(crate) use global::{
    create_instance, enumerate_instance_extension_properties, enumerate_instance_layer_properties,
    enumerate_instance_version,
};
pub(crate) use instance_level::{
    create_device, destroy_device, destroy_instance, enumerate_device_extension_properties,
    enumerate_physical_device_groups, enumerate_physical_devices,
};
pub(crate) use surface::{
    create_wayland_surface_khr, create_xcb_surface_khr, create_xlib_surface_khr,
    get_physical_device_surface_capabilities_khr, get_physical_device_surface_capabilities2_khr,
    get_physical_device_surface_formats_khr, get_physical_device_surface_formats2_khr,
    get_physical_device_surface_present_modes_khr, get_physical_device_surface_support_khr,
};
