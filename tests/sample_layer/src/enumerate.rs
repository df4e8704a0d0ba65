//! What the layer says of itself: that it is one layer, and has no extensions.

use std::ffi::{CStr, c_char};

use ash::vk;

use crate::chain;

/// The layer's name, as its manifests have it.
pub(crate) const NAME: &CStr = c"VK_LAYER_SAMPLE_SampleLayer";
/// The same for its description.
const DESCRIPTION: &CStr = c"Prints the draws, instances and vertices of each command buffer at its end";

/// `vkEnumerateInstanceLayerProperties`: the layer itself.
///
/// # Safety
/// As the command demands.
#[unsafe(export_name = "SampleLayer_EnumerateInstanceLayerProperties")]
pub(crate) unsafe extern "system" fn instance_layer_properties(
    count: *mut u32,
    properties: *mut vk::LayerProperties,
) -> vk::Result {
    let mut own = vk::LayerProperties {
        spec_version: vk::API_VERSION_1_3,
        implementation_version: 1,
        ..Default::default()
    };
    copy_text(NAME, &mut own.layer_name);
    copy_text(DESCRIPTION, &mut own.description);
    // SAFETY: the caller's own arguments.
    unsafe { answer(&[own], count, properties) }
}

/// `vkEnumerateDeviceLayerProperties`: the same.
///
/// # Safety
/// As the command demands.
#[unsafe(export_name = "SampleLayer_EnumerateDeviceLayerProperties")]
pub(crate) unsafe extern "system" fn device_layer_properties(
    _: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::LayerProperties,
) -> vk::Result {
    // SAFETY: the caller's own arguments.
    unsafe { instance_layer_properties(count, properties) }
}

/// `vkEnumerateInstanceExtensionProperties`: an answer for this layer's name alone.
///
/// # Safety
/// As the command demands.
#[unsafe(export_name = "SampleLayer_EnumerateInstanceExtensionProperties")]
pub(crate) unsafe extern "system" fn instance_extension_properties(
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: the caller's own arguments.
    match unsafe { is_own(layer) } {
        // SAFETY: as above.
        true => unsafe { answer(&[], count, properties) },
        false => vk::Result::ERROR_LAYER_NOT_PRESENT,
    }
}

/// `vkEnumerateDeviceExtensionProperties`: an answer for this layer's name; any other question is for those below.
///
/// # Safety
/// As the command demands.
#[unsafe(export_name = "SampleLayer_EnumerateDeviceExtensionProperties")]
pub(crate) unsafe extern "system" fn device_extension_properties(
    physical_device: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: the caller's own arguments.
    if unsafe { is_own(layer) } {
        // SAFETY: as above.
        return unsafe { answer(&[], count, properties) };
    }
    let Some(below) = chain::instance(physical_device) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller's own arguments.
    unsafe { (below.device_extension_properties)(physical_device, layer, count, properties) }
}

/// Whether a question is about this layer.
///
/// # Safety
/// `layer` is null or a C string.
unsafe fn is_own(layer: *const c_char) -> bool {
    // SAFETY: as the caller says.
    !layer.is_null() && unsafe { CStr::from_ptr(layer) } == NAME
}

/// Answers a question in two calls: how many there are, and what fits.
///
/// # Safety
/// `count` points to a number; `out` is null or has room for as many elements.
unsafe fn answer<T: Copy>(all: &[T], count: *mut u32, out: *mut T) -> vk::Result {
    // SAFETY: as the caller says.
    let count = unsafe { &mut *count };
    let room = match out.is_null() {
        true => all.len(),
        false => all.len().min(*count as usize),
    };
    if !out.is_null() {
        // SAFETY: there is room for the number that the caller gave, which is not smaller.
        unsafe { std::ptr::copy_nonoverlapping(all.as_ptr(), out, room) };
    }
    *count = room as u32;
    match room < all.len() {
        true => vk::Result::INCOMPLETE,
        false => vk::Result::SUCCESS,
    }
}

/// Writes a text and the zeros behind it.
fn copy_text(text: &CStr, room: &mut [c_char]) {
    for (place, byte) in room.iter_mut().zip(text.to_bytes()) {
        *place = *byte as c_char;
    }
}
