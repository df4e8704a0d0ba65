//! Implements `vkEnumerateDeviceExtensionProperties` of a layer that has device extensions (LAY-324).

use std::ffi::{CStr, c_char};

use ash::vk;
use ash::vk::Handle;

use crate::layer::{Layer, dispatch_word, layer, typed};

/// Returns the properties of an extension with this name and revision.
pub(crate) fn property(name: &str, revision: u32) -> vk::ExtensionProperties {
    let mut made = vk::ExtensionProperties {
        spec_version: revision,
        ..Default::default()
    };
    for (to, from) in made.extension_name.iter_mut().zip(name.bytes().take(255)) {
        *to = from as c_char;
    }
    made
}

/// Returns the extensions in the lines `key NAME REVISION` of the configuration.
pub(crate) fn configured(layer: &Layer, key: &str) -> Vec<vk::ExtensionProperties> {
    let parse = |value: &str| {
        let (name, revision) = value.split_once(' ').unwrap_or((value, "1"));
        property(name, revision.trim().parse().unwrap_or(1))
    };
    layer.config.all(key).map(parse).collect()
}

/// Copies a list to the caller, by the rules of two-call queries.
///
/// # Safety
/// `count` is readable and writable, and `out` is NULL or an array of `*count` elements.
pub(crate) unsafe fn copy_out<T: Copy>(list: &[T], count: *mut u32, out: *mut T) -> vk::Result {
    if out.is_null() {
        // SAFETY: the caller passes a count that is writable.
        unsafe { *count = list.len() as u32 };
        return vk::Result::SUCCESS;
    }
    // SAFETY: the caller passes a count that is readable.
    let room = (unsafe { *count } as usize).min(list.len());
    // SAFETY: the array has at least `room` elements, and the count is writable.
    unsafe {
        std::ptr::copy_nonoverlapping(list.as_ptr(), out, room);
        *count = room as u32;
    }
    if room < list.len() {
        vk::Result::INCOMPLETE
    } else {
        vk::Result::SUCCESS
    }
}

/// Implements `vkEnumerateDeviceExtensionProperties` of layer `N`. For the layer's own name, returns the layer's list.
/// For other names, returns the list of the next layer, with the layer's extensions added if the layer advertises them.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn of_device<const N: usize>(
    device: vk::PhysicalDevice,
    name: *const c_char,
    count: *mut u32,
    out: *mut vk::ExtensionProperties,
) -> vk::Result {
    let layer = layer(N);
    let _exclusive = layer.exclusive("vkEnumerateDeviceExtensionProperties");
    let asked = if name.is_null() {
        None
    } else {
        // SAFETY: the caller passes a C string.
        Some(unsafe { CStr::from_ptr(name) }.to_string_lossy())
    };
    layer.journal(&format!(
        "vkEnumerateDeviceExtensionProperties layer={}",
        asked.as_deref().unwrap_or("null")
    ));
    let mut list = configured(&layer, "device-extension");
    if asked.as_deref() == Some(layer.name()) {
        // SAFETY: the caller passes valid parameters of this command.
        return unsafe { copy_out(&list, count, out) };
    }
    let inner = vk::PhysicalDevice::from_raw(layer.inner(device.as_raw() as usize) as u64);
    // SAFETY: the caller passes a valid physical device, and a look-up of this command returns a function of its type.
    let below = unsafe {
        let key = dispatch_word(inner.as_raw() as usize);
        typed::<vk::PFN_vkEnumerateDeviceExtensionProperties>(layer.below(key, c"vkEnumerateDeviceExtensionProperties"))
    };
    let Some(below) = below else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    if asked.is_some() || !layer.config.flag("advertise") {
        // SAFETY: the caller passes valid arguments, and the handle belongs to the next layer or driver.
        return unsafe { below(inner, name, count, out) };
    }
    let mut lower = 0;
    // SAFETY: the first call has no array, and the array of the second call has the counted number of elements.
    unsafe {
        let _ = below(inner, name, &mut lower, std::ptr::null_mut());
        let mut rest = vec![vk::ExtensionProperties::default(); lower as usize];
        let _ = below(inner, name, &mut lower, rest.as_mut_ptr());
        rest.truncate(lower as usize);
        list.splice(0..0, rest);
        copy_out(&list, count, out)
    }
}
