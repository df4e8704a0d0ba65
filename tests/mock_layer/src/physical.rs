//! Enumerates the physical devices of a layer. The layer can wrap, reorder or omit devices (LAY-253).

use std::sync::atomic::{AtomicBool, Ordering};

use ash::vk;
use ash::vk::Handle;

use crate::extensions::copy_out;
use crate::instance::devices_below;
use crate::layer::{Layer, dispatch_word, layer, typed};
use crate::wrap;

/// Changes a list of physical devices according to the configuration, and wraps the devices if the layer wraps objects.
fn shown(layer: &Layer, key: usize, mut devices: Vec<vk::PhysicalDevice>) -> Vec<vk::PhysicalDevice> {
    let is_old = || {
        layer
            .instance(key)
            .is_some_and(|record| record.version < vk::API_VERSION_1_1)
    };
    if layer.config.lists("devices", "reverse") || layer.config.lists("devices", "reverse-old") && is_old() {
        devices.reverse();
    }
    if layer.config.lists("devices", "drop-first") && !devices.is_empty() {
        devices.remove(0);
    }
    if layer.wraps() {
        for device in &mut devices {
            *device = vk::PhysicalDevice::from_raw(wrap::wrapper(layer, device.as_raw() as usize, key) as u64);
        }
    }
    devices
}

/// Implements `vkEnumeratePhysicalDevices` of layer `N`.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn devices<const N: usize>(
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDevice,
) -> vk::Result {
    let layer = layer(N);
    let _exclusive = layer.exclusive("vkEnumeratePhysicalDevices");
    // SAFETY: the handle is a valid instance, or the wrapper of an instance.
    let key = unsafe { dispatch_word(layer.inner(instance.as_raw() as usize)) };
    let Some(record) = layer.instance(key) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: Vulkan requires a valid instance in this command, and the record describes this instance.
    let list = shown(&layer, key, unsafe { devices_below(&layer, &record) });
    // SAFETY: the caller passes valid parameters of this command.
    unsafe {
        let result = copy_out(&list, count, out);
        overstate(&layer, count, out.is_null());
        come_late(&layer, count, out.is_null());
        result
    }
}

/// With the configuration line `devices late`, reports no devices in the first query for the number of devices.
///
/// # Safety
/// `count` is writable.
unsafe fn come_late(layer: &Layer, count: *mut u32, counts_only: bool) {
    static COUNTED: AtomicBool = AtomicBool::new(false);
    if counts_only && layer.config.lists("devices", "late") && !COUNTED.swap(true, Ordering::Relaxed) {
        // SAFETY: the caller promises a count that is writable.
        unsafe { *count = 0 };
    }
}

/// With the configuration line `devices overstate`, reports the largest possible number when a query asks only for the number.
///
/// # Safety
/// `count` is writable.
unsafe fn overstate(layer: &Layer, count: *mut u32, counts_only: bool) {
    if counts_only && layer.config.lists("devices", "overstate") {
        // SAFETY: the caller promises a count that is writable.
        unsafe { *count = u32::MAX };
    }
}

/// Implements `vkEnumeratePhysicalDeviceGroups` of layer `N`.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn groups<const N: usize>(
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceGroupProperties<'_>,
) -> vk::Result {
    // SAFETY: the caller passes valid parameters of this command.
    unsafe { groups_by_name::<N>(c"vkEnumeratePhysicalDeviceGroups", instance, count, out) }
}

/// Implements `vkEnumeratePhysicalDeviceGroupsKHR` of layer `N`, the alias of the core command.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn groups_khr<const N: usize>(
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceGroupProperties<'_>,
) -> vk::Result {
    // SAFETY: the caller passes valid parameters of this command.
    unsafe { groups_by_name::<N>(c"vkEnumeratePhysicalDeviceGroupsKHR", instance, count, out) }
}

/// Calls the next function, and changes the devices of each group as [`shown`] describes. With the configuration line
/// `devices incomplete`, the list of groups is never complete.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
unsafe fn groups_by_name<const N: usize>(
    name: &std::ffi::CStr,
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDeviceGroupProperties<'_>,
) -> vk::Result {
    let layer = layer(N);
    let _exclusive = layer.exclusive("vkEnumeratePhysicalDeviceGroups");
    let inner = layer.inner(instance.as_raw() as usize);
    // SAFETY: the handle is a valid instance, or the wrapper of an instance.
    let key = unsafe { dispatch_word(inner) };
    // SAFETY: the core command and its KHR alias have the same signature.
    let below = unsafe { typed::<vk::PFN_vkEnumeratePhysicalDeviceGroups>(layer.below(key, name)) };
    let Some(below) = below else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes valid arguments, and the handle belongs to the next layer or driver.
    let result = unsafe { below(vk::Instance::from_raw(inner as u64), count, out) };
    if out.is_null() || result.as_raw() < 0 {
        // SAFETY: the caller passes a writable count.
        unsafe { overstate(&layer, count, out.is_null()) };
        return result;
    }
    // SAFETY: the command filled `*count` elements.
    for group in unsafe { std::slice::from_raw_parts_mut(out, *count as usize) } {
        let list = group.physical_devices[..group.physical_device_count as usize].to_vec();
        let list = shown(&layer, key, list);
        group.physical_device_count = list.len() as u32;
        group.physical_devices[..list.len()].copy_from_slice(&list);
    }
    if layer.config.lists("devices", "incomplete") {
        return vk::Result::INCOMPLETE;
    }
    result
}
