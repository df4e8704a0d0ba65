//! Commands of surfaces whose calls the trace records. Layers and drivers often fail in them, and no other record shows the failure.

use crate::generated::lookup::row;
use crate::generated::types::*;
use crate::handle::{App, InstanceHandle, PhysicalDeviceHandle};
use crate::translation;
use discovery::trace::Step;

/// Declares an entry point that calls the function in the table of the instance with the chain's handle. `$unwrap` is the function of
/// [`translation`] for the handle.
macro_rules! forwarded {
    ($unwrap:ident: $command:ident = $name:ident($object:ident: $kind:ty $(, $parameter:ident: $type:ty $(as $cast:ident)?)*)) => {
        #[doc = concat!("Implements `", stringify!($command), "`, and records the call in the trace.")]
        ///
        /// # Safety
        /// The parameters are as the Vulkan specification demands.
        pub(crate) unsafe fn $name($object: $kind $(, $parameter: $type)*) -> VkResult {
            // SAFETY: the application's handle is readable (APP-183).
            let Some((table, handle)) = (unsafe { translation::$unwrap($object) }) else {
                return translation::reject(row::$command);
            };
            let call = Step::Call.begin(stringify!($command).as_bytes());
            // SAFETY: the function is the chain's and receives the caller's parameters; application and chain have the same surface handles.
            let result = unsafe { (*table.$command)(handle $(, $parameter$(.$cast())?)*) };
            call.end(result.0);
            result
        }
    };
}

forwarded! {
    instance: vkCreateWaylandSurfaceKHR = create_wayland_surface_khr(
        instance: InstanceHandle<App>,
        info: *const VkWaylandSurfaceCreateInfoKHR,
        callbacks: *const VkAllocationCallbacks,
        surface: *mut VkSurfaceKHR<App> as cast
    )
}
forwarded! {
    instance: vkCreateXcbSurfaceKHR = create_xcb_surface_khr(
        instance: InstanceHandle<App>,
        info: *const VkXcbSurfaceCreateInfoKHR,
        callbacks: *const VkAllocationCallbacks,
        surface: *mut VkSurfaceKHR<App> as cast
    )
}
forwarded! {
    instance: vkCreateXlibSurfaceKHR = create_xlib_surface_khr(
        instance: InstanceHandle<App>,
        info: *const VkXlibSurfaceCreateInfoKHR,
        callbacks: *const VkAllocationCallbacks,
        surface: *mut VkSurfaceKHR<App> as cast
    )
}
forwarded! {
    physical_device: vkGetPhysicalDeviceSurfaceCapabilitiesKHR = get_physical_device_surface_capabilities_khr(
        device: PhysicalDeviceHandle<App>,
        surface: VkSurfaceKHR<App>,
        capabilities: *mut VkSurfaceCapabilitiesKHR
    )
}
forwarded! {
    physical_device: vkGetPhysicalDeviceSurfaceCapabilities2KHR = get_physical_device_surface_capabilities2_khr(
        device: PhysicalDeviceHandle<App>,
        info: *const VkPhysicalDeviceSurfaceInfo2KHR<App> as cast,
        capabilities: *mut VkSurfaceCapabilities2KHR
    )
}
forwarded! {
    physical_device: vkGetPhysicalDeviceSurfaceFormatsKHR = get_physical_device_surface_formats_khr(
        device: PhysicalDeviceHandle<App>,
        surface: VkSurfaceKHR<App>,
        count: *mut u32,
        formats: *mut VkSurfaceFormatKHR
    )
}
forwarded! {
    physical_device: vkGetPhysicalDeviceSurfaceFormats2KHR = get_physical_device_surface_formats2_khr(
        device: PhysicalDeviceHandle<App>,
        info: *const VkPhysicalDeviceSurfaceInfo2KHR<App> as cast,
        count: *mut u32,
        formats: *mut VkSurfaceFormat2KHR
    )
}
forwarded! {
    physical_device: vkGetPhysicalDeviceSurfacePresentModesKHR = get_physical_device_surface_present_modes_khr(
        device: PhysicalDeviceHandle<App>,
        surface: VkSurfaceKHR<App>,
        count: *mut u32,
        modes: *mut VkPresentModeKHR
    )
}

/// Implements `vkGetPhysicalDeviceSurfaceSupportKHR`, and records the call with its answer in the trace.
///
/// # Safety
/// The parameters are as the Vulkan specification demands.
pub(crate) unsafe fn get_physical_device_surface_support_khr(
    device: PhysicalDeviceHandle<App>,
    queue_family: u32,
    surface: VkSurfaceKHR<App>,
    supported: *mut VkBool32,
) -> VkResult {
    // SAFETY: the application's handle is readable (APP-183).
    let Some((table, handle)) = (unsafe { translation::physical_device(device) }) else {
        return translation::reject(row::vkGetPhysicalDeviceSurfaceSupportKHR);
    };
    let call = Step::Call.begin(b"vkGetPhysicalDeviceSurfaceSupportKHR");
    // SAFETY: the function is the chain's and receives the caller's parameters.
    let result = unsafe { (*table.vkGetPhysicalDeviceSurfaceSupportKHR)(handle, queue_family, surface, supported) };
    call.end_with(|record| {
        record.signed("result", result.0.into());
        if result == VkResult::VK_SUCCESS {
            // SAFETY: Vulkan requires a writable output parameter, and a successful call has written it.
            let answer = unsafe { supported.as_ref() };
            if let Some(&answer) = answer {
                record.flag("supported", answer != VK_FALSE);
            }
        }
    });
    result
}
