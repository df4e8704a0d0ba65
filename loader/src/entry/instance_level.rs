//! Commands of instances and physical devices whose calls the trace records.

use crate::generated::types::{
    VkAllocationCallbacks, VkDevice, VkDeviceCreateInfo, VkExtensionProperties, VkPhysicalDeviceGroupProperties,
    VkResult,
};
use crate::handle::{App, InstanceHandle, PhysicalDeviceHandle};
use crate::{device, instance, physical_device};
use core::ffi::c_char;
use discovery::trace::Step;

traced! {
    /// Implements `vkEnumeratePhysicalDevices`, and records the call in the trace.
    b"vkEnumeratePhysicalDevices": physical_device::enumerate_physical_devices = enumerate_physical_devices(
        instance: InstanceHandle<App>,
        count: *mut u32,
        array: *mut PhysicalDeviceHandle<App>
    )
}
traced! {
    /// Implements `vkEnumeratePhysicalDeviceGroups`, and records the call in the trace.
    b"vkEnumeratePhysicalDeviceGroups":
    physical_device::enumerate_physical_device_groups = enumerate_physical_device_groups(
        instance: InstanceHandle<App>,
        count: *mut u32,
        array: *mut VkPhysicalDeviceGroupProperties<App>
    )
}
traced! {
    /// Implements `vkEnumerateDeviceExtensionProperties`, and records the call in the trace.
    b"vkEnumerateDeviceExtensionProperties":
    physical_device::enumerate_device_extension_properties = enumerate_device_extension_properties(
        device: PhysicalDeviceHandle<App>,
        layer_name: *const c_char,
        count: *mut u32,
        array: *mut VkExtensionProperties
    )
}
traced! {
    /// Implements `vkCreateDevice`, and records the call in the trace.
    b"vkCreateDevice": device::create_device = create_device(
        physical_device: PhysicalDeviceHandle<App>,
        create_info: *const VkDeviceCreateInfo,
        callbacks: *const VkAllocationCallbacks,
        out: *mut VkDevice
    )
}

/// Implements `vkDestroyInstance`, and records the call in the trace.
///
/// # Safety
/// The parameters are as the Vulkan specification demands.
pub(crate) unsafe fn destroy_instance(handle: InstanceHandle<App>, callbacks: *const VkAllocationCallbacks) {
    let call = Step::Call.begin(b"vkDestroyInstance");
    // SAFETY: the caller promises valid parameters of this command.
    unsafe { instance::destroy_instance(handle, callbacks) };
    call.end_with(|_| ());
}

/// Implements `vkDestroyDevice`, and records the call in the trace.
///
/// # Safety
/// The parameters are as the Vulkan specification demands.
pub(crate) unsafe fn destroy_device(handle: VkDevice, callbacks: *const VkAllocationCallbacks) {
    let call = Step::Call.begin(b"vkDestroyDevice");
    // SAFETY: the caller promises valid parameters of this command.
    unsafe { device::destroy_device(handle, callbacks) };
    call.end_with(|_| ());
}
