//! Logical device of the driver, and its queue.

use std::ffi::c_char;

use ash::vk;
use ash::vk::Handle;

use crate::instance::{LOADER_MAGIC, none};

/// Queue of a device.
#[repr(C)]
struct Queue {
    /// Machine word that begins as [`LOADER_MAGIC`], and that the loader replaces.
    loader: usize,
}

/// Logical device, which owns its queue.
#[repr(C)]
struct Device {
    /// Machine word that begins as [`LOADER_MAGIC`], and that the loader replaces.
    loader: usize,
    queue: Queue,
}

/// Implements `vkEnumerateDeviceExtensionProperties`. The device has no extension.
pub(crate) unsafe extern "system" fn extensions(
    _: vk::PhysicalDevice,
    _: *const c_char,
    count: *mut u32,
    _: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: the caller of the command passes a valid count.
    unsafe { none(count) }
}

/// Implements `vkCreateDevice`.
pub(crate) unsafe extern "system" fn create(
    _: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Device,
) -> vk::Result {
    // SAFETY: the caller of the command passes a valid structure.
    if unsafe { (*info).enabled_extension_count } > 0 {
        return vk::Result::ERROR_EXTENSION_NOT_PRESENT;
    }
    let device = Box::new(Device {
        loader: LOADER_MAGIC,
        queue: Queue { loader: LOADER_MAGIC },
    });
    // SAFETY: the caller of the command passes a place for the handle.
    unsafe { *out = vk::Device::from_raw(Box::into_raw(device) as u64) };
    vk::Result::SUCCESS
}

/// Implements `vkDestroyDevice`.
pub(crate) unsafe extern "system" fn destroy(device: vk::Device, _: *const vk::AllocationCallbacks<'_>) {
    let device = device.as_raw() as *mut Device;
    if !device.is_null() {
        // SAFETY: the handle came from `create`, and the caller does not use it after this call.
        drop(unsafe { Box::from_raw(device) });
    }
}

/// Implements `vkGetDeviceQueue`. The device has only one queue.
pub(crate) unsafe extern "system" fn queue(device: vk::Device, _: u32, _: u32, out: *mut vk::Queue) {
    let device = device.as_raw() as *mut Device;
    // SAFETY: the handle came from `create`, and the object is not destroyed.
    let queue = unsafe { &raw mut (*device).queue };
    // SAFETY: the caller of the command passes a place for the handle.
    unsafe { *out = vk::Queue::from_raw(queue as u64) };
}

/// Implements `vkDeviceWaitIdle`. The device never has work.
pub(crate) unsafe extern "system" fn wait(_: vk::Device) -> vk::Result {
    vk::Result::SUCCESS
}

/// Implements `vkQueueWaitIdle`. The queue never has work.
pub(crate) unsafe extern "system" fn wait_for_queue(_: vk::Queue) -> vk::Result {
    vk::Result::SUCCESS
}
