//! A Vulkan driver with one device and one queue, which executes nothing.
//!
//! A driver is a library whose functions the loader calls. This file contains the interface to the loader: the negotiation and the look-up
//! functions. A driver exports no other functions. The module `instance` describes the physical device, and the module `device` creates
//! logical devices.

mod device;
mod instance;

use std::ffi::{CStr, c_char};

use ash::vk;

/// Oldest interface version that the driver accepts. From version 5 on, the loader passes every API version to the driver.
const OLDEST_INTERFACE: u32 = 5;
/// Newest interface version that the driver knows.
const NEWEST_INTERFACE: u32 = 7;

/// Negotiates the interface version. A loader calls this function first.
///
/// # Safety
/// `version` points to the newest interface version that the loader supports, and is valid for writes.
#[unsafe(no_mangle)]
unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> vk::Result {
    // SAFETY: the caller passes a valid pointer.
    let version = unsafe { &mut *version };
    if *version < OLDEST_INTERFACE {
        return vk::Result::ERROR_INCOMPATIBLE_DRIVER;
    }
    *version = (*version).min(NEWEST_INTERFACE);
    vk::Result::SUCCESS
}

/// Returns a function in the form that look-ups return. The compiler compares the function with the type of the command.
macro_rules! entry {
    ($function:path as $kind:ident) => {{
        let function: vk::$kind = $function;
        // SAFETY: both types are function pointers, and the caller of the look-up converts the result to the type of the command.
        Some(unsafe { std::mem::transmute::<vk::$kind, unsafe extern "system" fn()>(function) })
    }};
}

/// Returns the function of a global command, or `None`.
fn global_entry(name: &[u8]) -> vk::PFN_vkVoidFunction {
    match name {
        b"vkCreateInstance" => entry!(instance::create as PFN_vkCreateInstance),
        b"vkEnumerateInstanceExtensionProperties" => {
            entry!(instance::extensions as PFN_vkEnumerateInstanceExtensionProperties)
        }
        // With interface version 7, the loader looks up these functions, and does not use the exported symbols.
        b"vk_icdNegotiateLoaderICDInterfaceVersion" => {
            let function: unsafe extern "system" fn(*mut u32) -> vk::Result = vk_icdNegotiateLoaderICDInterfaceVersion;
            // SAFETY: both types are function pointers, and the loader converts the result to the type of this function.
            Some(unsafe {
                std::mem::transmute::<unsafe extern "system" fn(*mut u32) -> vk::Result, unsafe extern "system" fn()>(
                    function,
                )
            })
        }
        b"vk_icdGetPhysicalDeviceProcAddr" => entry!(vk_icdGetPhysicalDeviceProcAddr as PFN_vkGetInstanceProcAddr),
        _ => None,
    }
}

/// Returns the function of a command of the physical device, or `None`.
fn physical_device_entry(name: &[u8]) -> vk::PFN_vkVoidFunction {
    match name {
        b"vkGetPhysicalDeviceFeatures" => entry!(instance::features as PFN_vkGetPhysicalDeviceFeatures),
        b"vkGetPhysicalDeviceFormatProperties" => {
            entry!(instance::format_properties as PFN_vkGetPhysicalDeviceFormatProperties)
        }
        b"vkGetPhysicalDeviceImageFormatProperties" => {
            entry!(instance::image_format_properties as PFN_vkGetPhysicalDeviceImageFormatProperties)
        }
        b"vkGetPhysicalDeviceSparseImageFormatProperties" => {
            entry!(instance::sparse_properties as PFN_vkGetPhysicalDeviceSparseImageFormatProperties)
        }
        b"vkGetPhysicalDeviceProperties" => entry!(instance::properties as PFN_vkGetPhysicalDeviceProperties),
        b"vkGetPhysicalDeviceQueueFamilyProperties" => {
            entry!(instance::queue_families as PFN_vkGetPhysicalDeviceQueueFamilyProperties)
        }
        b"vkGetPhysicalDeviceMemoryProperties" => {
            entry!(instance::memory_properties as PFN_vkGetPhysicalDeviceMemoryProperties)
        }
        b"vkEnumerateDeviceExtensionProperties" => {
            entry!(device::extensions as PFN_vkEnumerateDeviceExtensionProperties)
        }
        b"vkCreateDevice" => entry!(device::create as PFN_vkCreateDevice),
        _ => None,
    }
}

/// Returns the function of a command of the instance, or `None`.
fn instance_entry(name: &[u8]) -> vk::PFN_vkVoidFunction {
    match name {
        b"vkDestroyInstance" => entry!(instance::destroy as PFN_vkDestroyInstance),
        b"vkEnumeratePhysicalDevices" => entry!(instance::devices as PFN_vkEnumeratePhysicalDevices),
        b"vkGetDeviceProcAddr" => entry!(get_device_proc_addr as PFN_vkGetDeviceProcAddr),
        _ => None,
    }
}

/// Returns the function of a command of the device or queue, or `None`.
fn device_entry(name: &[u8]) -> vk::PFN_vkVoidFunction {
    match name {
        b"vkGetDeviceProcAddr" => entry!(get_device_proc_addr as PFN_vkGetDeviceProcAddr),
        b"vkDestroyDevice" => entry!(device::destroy as PFN_vkDestroyDevice),
        b"vkGetDeviceQueue" => entry!(device::queue as PFN_vkGetDeviceQueue),
        b"vkDeviceWaitIdle" => entry!(device::wait as PFN_vkDeviceWaitIdle),
        b"vkQueueWaitIdle" => entry!(device::wait_for_queue as PFN_vkQueueWaitIdle),
        _ => None,
    }
}

/// Returns the function of any command except device commands.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
unsafe extern "system" fn vk_icdGetInstanceProcAddr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller passes a C string.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let global = global_entry(name);
    if global.is_some() || instance == vk::Instance::null() {
        return global;
    }
    instance_entry(name)
        .or_else(|| physical_device_entry(name))
        .or_else(|| device_entry(name))
}

/// Returns the function of a command whose first parameter is a physical device. The loader calls this look-up function for commands that
/// the loader does not know.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    _: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller passes a C string.
    physical_device_entry(unsafe { CStr::from_ptr(name) }.to_bytes())
}

/// Returns the function of a device or queue command.
///
/// # Safety
/// `name` is a C string.
unsafe extern "system" fn get_device_proc_addr(_: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller passes a C string.
    device_entry(unsafe { CStr::from_ptr(name) }.to_bytes())
}
