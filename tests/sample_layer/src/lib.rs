//! A Vulkan layer that prints, at the end of each command buffer, how much it draws.
//!
//! A layer is a library between the application and the drivers. A command on an object that was created through the layer
//! reaches the layer first, if the layer's look-up functions return a function for it. The layer then calls the next function.
//! The module `create` creates objects; `chain` keeps the layer's data and finds it by handle. The module `count` counts what
//! each command buffer draws, and `enumerate` describes the layer.

mod chain;
mod count;
mod create;
mod enumerate;

use std::ffi::{CStr, c_char};

use ash::vk;

use crate::chain::NegotiateInterface;

/// Version of the layer interface that this library implements.
const INTERFACE_VERSION: u32 = 2;

/// Agrees on the interface version, and returns the look-up functions. A loader calls this function first.
///
/// # Safety
/// `interface` points to the loader's structure.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
    interface: *mut NegotiateInterface,
) -> vk::Result {
    // SAFETY: the loader passes its own structure.
    let interface = unsafe { &mut *interface };
    if interface.version < INTERFACE_VERSION {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    }
    interface.version = INTERFACE_VERSION;
    interface.get_instance_proc_addr = Some(get_instance_proc_addr);
    interface.get_device_proc_addr = Some(get_device_proc_addr);
    // The layer adds no physical-device command and wraps no instance, so it does not need this function.
    interface.get_physical_device_proc_addr = None;
    vk::Result::SUCCESS
}

/// Returns a function of the layer as the type that look-ups return. The compiler checks that the function has the type of the command.
macro_rules! entry {
    ($function:path as $kind:ty) => {{
        let function: $kind = $function;
        // SAFETY: only the type of the function pointer changes. The caller of the look-up calls the function with the type of the name.
        Some(unsafe { std::mem::transmute::<$kind, unsafe extern "system" fn()>(function) })
    }};
}

/// Returns the layer's own function for an instance-level name, or `None`.
fn instance_entry(name: &[u8]) -> vk::PFN_vkVoidFunction {
    match name {
        b"vkGetInstanceProcAddr" => entry!(get_instance_proc_addr as vk::PFN_vkGetInstanceProcAddr),
        b"vkCreateInstance" => entry!(create::create_instance as vk::PFN_vkCreateInstance),
        b"vkDestroyInstance" => entry!(create::destroy_instance as vk::PFN_vkDestroyInstance),
        b"vkCreateDevice" => entry!(create::create_device as vk::PFN_vkCreateDevice),
        b"vkEnumerateInstanceLayerProperties" => {
            entry!(enumerate::instance_layer_properties as vk::PFN_vkEnumerateInstanceLayerProperties)
        }
        b"vkEnumerateDeviceLayerProperties" => {
            entry!(enumerate::device_layer_properties as vk::PFN_vkEnumerateDeviceLayerProperties)
        }
        b"vkEnumerateInstanceExtensionProperties" => {
            entry!(enumerate::instance_extension_properties as vk::PFN_vkEnumerateInstanceExtensionProperties)
        }
        b"vkEnumerateDeviceExtensionProperties" => {
            entry!(enumerate::device_extension_properties as vk::PFN_vkEnumerateDeviceExtensionProperties)
        }
        _ => None,
    }
}

/// Returns the layer's own function for a device-level name, or `None`.
fn device_entry(name: &[u8]) -> vk::PFN_vkVoidFunction {
    match name {
        b"vkGetDeviceProcAddr" => entry!(get_device_proc_addr as vk::PFN_vkGetDeviceProcAddr),
        b"vkDestroyDevice" => entry!(create::destroy_device as vk::PFN_vkDestroyDevice),
        b"vkFreeCommandBuffers" => entry!(count::free_command_buffers as vk::PFN_vkFreeCommandBuffers),
        b"vkBeginCommandBuffer" => entry!(count::begin_command_buffer as vk::PFN_vkBeginCommandBuffer),
        b"vkEndCommandBuffer" => entry!(count::end_command_buffer as vk::PFN_vkEndCommandBuffer),
        b"vkCmdDraw" => entry!(count::cmd_draw as vk::PFN_vkCmdDraw),
        b"vkCmdDrawIndexed" => entry!(count::cmd_draw_indexed as vk::PFN_vkCmdDrawIndexed),
        _ => None,
    }
}

/// Implements `vkGetInstanceProcAddr`.
///
/// # Safety
/// `instance` is valid or null, and `name` is a C string.
#[unsafe(export_name = "SampleLayer_GetInstanceProcAddr")]
unsafe extern "system" fn get_instance_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller passes a C string.
    let text = unsafe { CStr::from_ptr(name) }.to_bytes();
    if let Some(own) = instance_entry(text).or_else(|| device_entry(text)) {
        return Some(own);
    }
    let below = chain::instance(instance)?;
    // SAFETY: the next layer or the loader returned this look-up function for the instance.
    unsafe { (below.get_instance_proc_addr)(instance, name) }
}

/// Implements `vkGetDeviceProcAddr`.
///
/// # Safety
/// `device` is valid, and `name` is a C string.
#[unsafe(export_name = "SampleLayer_GetDeviceProcAddr")]
unsafe extern "system" fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller passes a C string.
    if let Some(own) = device_entry(unsafe { CStr::from_ptr(name) }.to_bytes()) {
        return Some(own);
    }
    let below = chain::device(device)?;
    // SAFETY: the look-up function comes from the next layer or the loader, and the device comes from there too.
    unsafe { (below.get_device_proc_addr)(device, name) }
}
