//! Look-up functions of a layer, which return functions of the layer, and functions that the layer passes on.

use std::ffi::{CStr, c_char};
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;

use crate::layer::{Layer, dispatch_word, layer};
use crate::{device, extensions, instance, own, physical, thunk, wrap};

/// Returns a function of any signature as the type that look-ups return.
macro_rules! erased {
    ($function:expr, $kind:ty) => {{
        let function: $kind = $function;
        // SAFETY: only the type of the function pointer changes. The caller converts the result to the type that belongs to the name.
        Some(unsafe { std::mem::transmute::<$kind, unsafe extern "system" fn()>(function) })
    }};
}
pub(crate) use erased;

/// Returns a command that the layer itself implements, if the configuration needs it.
fn written<const N: usize>(layer: &Layer, name: &str) -> vk::PFN_vkVoidFunction {
    match name {
        "vkCreateInstance" => erased!(instance::create_instance::<N>, vk::PFN_vkCreateInstance),
        "vkDestroyInstance" => erased!(instance::destroy_instance::<N>, vk::PFN_vkDestroyInstance),
        "vkCreateDevice" => erased!(device::create_device::<N>, vk::PFN_vkCreateDevice),
        "vkEnumerateDeviceExtensionProperties" if layer.config.flag("device-extension") => {
            erased!(extensions::of_device::<N>, vk::PFN_vkEnumerateDeviceExtensionProperties)
        }
        "vkEnumeratePhysicalDevices" if layer.wraps() || layer.config.flag("devices") => {
            erased!(physical::devices::<N>, vk::PFN_vkEnumeratePhysicalDevices)
        }
        "vkEnumeratePhysicalDeviceGroups" if layer.wraps() || layer.config.flag("devices") => {
            erased!(physical::groups::<N>, vk::PFN_vkEnumeratePhysicalDeviceGroups)
        }
        "vkEnumeratePhysicalDeviceGroupsKHR" if layer.wraps() || layer.config.flag("devices") => {
            erased!(physical::groups_khr::<N>, vk::PFN_vkEnumeratePhysicalDeviceGroups)
        }
        _ => None,
    }
}

/// Returns a device command that the layer itself implements.
fn written_for_device<const N: usize>(layer: &Layer, name: &str) -> vk::PFN_vkVoidFunction {
    match name {
        "vkGetDeviceProcAddr" => erased!(get_device_proc_addr::<N>, vk::PFN_vkGetDeviceProcAddr),
        "vkDestroyDevice" => erased!(device::destroy_device::<N>, vk::PFN_vkDestroyDevice),
        _ if layer.wraps() => wrap::command::<N>(name),
        _ => None,
    }
}

/// Returns a command that the layer passes on: unchanged, or through a thunk that records each call. `below` is the next layer's function.
/// If this function is missing, the layer cannot intercept the command.
fn passed_on(layer: &Layer, name: &str, below: vk::PFN_vkVoidFunction) -> vk::PFN_vkVoidFunction {
    let seen = layer.wraps()
        || layer.config.lists("intercept", name)
        || layer.config.lists("reenter", name)
        || layer.config.lists("hand-on", name)
        || layer.config.number_of("fail", name).is_some();
    if seen && below.is_some() {
        thunk::intercept(layer.identity, name)
    } else {
        below
    }
}

/// Reads the name, and records the look-up. Returns `None` if the configuration hides the command.
///
/// # Safety
/// `name` is a C string.
unsafe fn asked<'a>(layer: &Arc<Layer>, function: &str, handle: usize, name: *const c_char) -> Option<&'a str> {
    // SAFETY: the caller passes a C string.
    let name = unsafe { CStr::from_ptr(name) }.to_str().ok()?;
    if layer.config.flag("lookups") {
        let handle = if handle == 0 { "null" } else { "set" };
        layer.journal(&format!("{function} {name} handle={handle}"));
    }
    (!layer.config.lists("answer-null", name)).then_some(name)
}

/// Implements `vkGetInstanceProcAddr` of layer `N`.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn get_instance_proc_addr<const N: usize>(
    handle: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let layer = layer(N);
    // SAFETY: the caller passes a C string.
    let text = unsafe { asked(&layer, "gipa", handle.as_raw() as usize, name) }?;
    if text == "vkGetInstanceProcAddr" {
        return erased!(get_instance_proc_addr::<N>, vk::PFN_vkGetInstanceProcAddr);
    }
    let own = own::any_command::<N>(&layer, text);
    if let Some(function) = own.or_else(|| written::<N>(&layer, text)) {
        return Some(function);
    }
    if handle == vk::Instance::null() {
        return None;
    }
    let inner = layer.inner(handle.as_raw() as usize);
    // SAFETY: `handle` is a valid instance or the wrapper of an instance, and the name is a C string.
    let below = unsafe { layer.below(dispatch_word(inner), CStr::from_ptr(name)) };
    passed_on(&layer, text, below)
}

/// Implements `vk_layerGetPhysicalDeviceProcAddr` of layer `N` (LAY-303).
///
/// # Safety
/// `name` is a C string, and `handle` is a valid instance or null.
pub(crate) unsafe extern "system" fn get_physical_device_proc_addr<const N: usize>(
    handle: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let layer = layer(N);
    // SAFETY: the caller passes a C string.
    let text = unsafe { asked(&layer, "gpdpa", handle.as_raw() as usize, name) }?;
    if let Some(function) = own::physical_command::<N>(&layer, text) {
        return Some(function);
    }
    if handle == vk::Instance::null() {
        return None;
    }
    let inner = layer.inner(handle.as_raw() as usize);
    // SAFETY: `handle` is a valid instance or the wrapper of an instance.
    let record = layer.instance(unsafe { dispatch_word(inner) })?;
    // SAFETY: the look-up function comes from the loader's link, and the next layer created the instance.
    let below = record
        .next_physical
        .and_then(|next| unsafe { next(record.handle, name) });
    below.and_then(|below| written::<N>(&layer, text).or_else(|| passed_on(&layer, text, Some(below))))
}

/// Implements `vkGetDeviceProcAddr` of layer `N`.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn get_device_proc_addr<const N: usize>(
    handle: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    let layer = layer(N);
    // SAFETY: the caller passes a C string.
    let text = unsafe { asked(&layer, "gdpa", handle.as_raw() as usize, name) }?;
    if let Some(function) = own::device_command::<N>(&layer, text) {
        return Some(function);
    }
    if handle == vk::Device::null() {
        return None;
    }
    let inner = layer.inner(handle.as_raw() as usize);
    // SAFETY: `handle` is a valid device or the wrapper of a device, and the name is a C string.
    let below = unsafe { layer.below(dispatch_word(inner), CStr::from_ptr(name)) }?;
    written_for_device::<N>(&layer, text).or_else(|| passed_on(&layer, text, Some(below)))
}
