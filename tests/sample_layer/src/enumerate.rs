//! Answers queries for layers and for the extensions of layers: the layer lists itself, and has no extensions.

use std::ffi::{CStr, c_char};

use ash::vk;

use crate::chain;

/// Name of the layer, the same as in the manifests.
pub(crate) const NAME: &CStr = c"VK_LAYER_SAMPLE_SampleLayer";
/// Description of the layer, the same as in the manifests.
const DESCRIPTION: &CStr = c"Prints the draws, instances and vertices of each command buffer at its end";

/// Implements `vkEnumerateInstanceLayerProperties`: lists only this layer.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
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
    // SAFETY: the caller passes valid arguments, as the Vulkan command requires.
    unsafe { answer(&[own], count, properties) }
}

/// Implements `vkEnumerateDeviceLayerProperties`: lists only this layer.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
#[unsafe(export_name = "SampleLayer_EnumerateDeviceLayerProperties")]
pub(crate) unsafe extern "system" fn device_layer_properties(
    _: vk::PhysicalDevice,
    count: *mut u32,
    properties: *mut vk::LayerProperties,
) -> vk::Result {
    // SAFETY: the caller passes valid arguments, as the Vulkan command requires.
    unsafe { instance_layer_properties(count, properties) }
}

/// Implements `vkEnumerateInstanceExtensionProperties` for the name of this layer. Every other name is an error.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
#[unsafe(export_name = "SampleLayer_EnumerateInstanceExtensionProperties")]
pub(crate) unsafe extern "system" fn instance_extension_properties(
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: the caller passes valid arguments, as the Vulkan command requires.
    if !unsafe { is_own(layer) } {
        return vk::Result::ERROR_LAYER_NOT_PRESENT;
    }
    // SAFETY: the caller passes valid parameters of this command.
    unsafe { answer(&[], count, properties) }
}

/// Implements `vkEnumerateDeviceExtensionProperties`: answers a query for this layer's name, and passes other queries
/// to the next function.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
#[unsafe(export_name = "SampleLayer_EnumerateDeviceExtensionProperties")]
pub(crate) unsafe extern "system" fn device_extension_properties(
    physical_device: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: the caller passes valid arguments, as the Vulkan command requires.
    if unsafe { is_own(layer) } {
        // SAFETY: the caller passes valid parameters of this command.
        return unsafe { answer(&[], count, properties) };
    }
    let Some(below) = chain::instance(physical_device) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes valid arguments, as the Vulkan command requires.
    unsafe { (below.device_extension_properties)(physical_device, layer, count, properties) }
}

/// Returns `true` if a query names this layer.
///
/// # Safety
/// `layer` is null or a C string.
unsafe fn is_own(layer: *const c_char) -> bool {
    // SAFETY: `layer` is not null, so it is a C string.
    !layer.is_null() && unsafe { CStr::from_ptr(layer) } == NAME
}

/// Answers a query with two calls: the first call returns the number of elements, and the second call returns as many
/// elements as fit.
///
/// # Safety
/// `count` points to a number. `out` is null or has space for that number of elements.
unsafe fn answer<T: Copy>(all: &[T], count: *mut u32, out: *mut T) -> vk::Result {
    // SAFETY: the caller guarantees that `count` points to a number.
    let count = unsafe { &mut *count };
    let room = if out.is_null() {
        all.len()
    } else {
        all.len().min(*count as usize)
    };
    if !out.is_null() {
        // SAFETY: the caller guarantees space for `count` elements at `out`, and `room` is at most `count`.
        unsafe { std::ptr::copy_nonoverlapping(all.as_ptr(), out, room) };
    }
    *count = room as u32;
    if room < all.len() {
        vk::Result::INCOMPLETE
    } else {
        vk::Result::SUCCESS
    }
}

/// Copies a text to the start of the array, which contains zeros before the call.
fn copy_text(text: &CStr, room: &mut [c_char]) {
    for (place, byte) in room.iter_mut().zip(text.to_bytes()) {
        *place = *byte as c_char;
    }
}
