//! Extensions and layers of a physical device (APP-130 to APP-133, DRV-135, DRV-136).

use super::object::ChainPhysicalDevice;
use super::walk::scratch;
use crate::alloc::HostVec;
use crate::driver_interface;
use crate::ffi;
use crate::gate::GATE;
use crate::generated::lookup::row;
use crate::generated::types::{VkExtensionProperties, VkLayerProperties, VkResult};
use crate::handle::{App, Chain, PhysicalDeviceHandle};
use crate::instance::Instance;
use crate::translation;
use core::ffi::c_char;
use discovery::journal::LogBits;
use discovery::log;
use discovery::trace::Step;
use os::memory::OutOfMemory;

/// Implements `vkEnumerateDeviceLayerProperties`: lists the active layers of the instance. Never calls the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands.
pub(crate) unsafe fn enumerate_device_layer_properties(
    device: PhysicalDeviceHandle<App>,
    count: *mut u32,
    array: *mut VkLayerProperties,
) -> VkResult {
    let _passage = GATE.enter();
    // SAFETY: Vulkan requires a physical device handle that the loader returned to the application.
    let Some(device) = (unsafe { translation::physical_device_object(device) }) else {
        return translation::reject(row::vkEnumerateDeviceLayerProperties);
    };
    if count.is_null() {
        return VkResult::VK_INCOMPLETE;
    }
    let active = device.instance().layers().map_or(&[][..], |layers| &layers.active);
    // SAFETY: `count` is not null, and Vulkan requires an array that is null or has room for `*count` elements.
    unsafe { ffi::write_all(count, array, active) }
}

/// Implements `vkEnumerateDeviceExtensionProperties` for the application: the chain answers, one thread at a time (DRV-118).
///
/// # Safety
/// The parameters are as the Vulkan specification demands.
pub(crate) unsafe fn enumerate_device_extension_properties(
    device: PhysicalDeviceHandle<App>,
    layer_name: *const c_char,
    count: *mut u32,
    array: *mut VkExtensionProperties,
) -> VkResult {
    let _passage = GATE.enter();
    // SAFETY: Vulkan requires a physical device handle that the loader returned to the application.
    let Some((table, device)) = (unsafe { translation::physical_device(device) }) else {
        return translation::reject(row::vkEnumerateDeviceExtensionProperties);
    };
    // SAFETY: function and handle belong to the topmost entity; Vulkan requires a valid name, count and array.
    unsafe { (table.vkEnumerateDeviceExtensionProperties.get())(device, layer_name, count, array) }
}

/// Implements `vkEnumerateDeviceExtensionProperties` at the end of the chain.
///
/// # Safety
/// The parameters are those that the lowest layer passed.
pub(super) unsafe fn enumerate(
    device: PhysicalDeviceHandle<Chain>,
    layer_name: *const c_char,
    count: *mut u32,
    array: *mut VkExtensionProperties,
) -> VkResult {
    if count.is_null() {
        return VkResult::VK_INCOMPLETE;
    }
    // SAFETY: the lowest layer passes a handle that the loader returned to the layer.
    let object = unsafe { translation::chain_physical_device(device) };
    let instance = object.driver().instance();
    // SAFETY: the name is not null, so the lowest layer passes a string.
    if !layer_name.is_null() && unsafe { *layer_name } != 0 {
        // SAFETY: the lowest layer passes a valid name, count and array.
        return unsafe { enumerate_of_layer(instance, layer_name, count, array) };
    }
    let layers = instance.layers().map_or(&[][..], |layers| &layers.chain);
    let implicit = layers.iter().filter(|layer| layer.implicit);
    let added = implicit.flat_map(|layer| layer.device_extensions.iter().map(|extension| &extension.properties));
    if !array.is_null() {
        // SAFETY: neither pointer is null, and the lowest layer passes an array with room for `*count` elements.
        return unsafe { fill(object, added, &mut *count, array) };
    }
    let list = driver_interface::device_extensions(&object.driver().table, object.handle, scratch(instance));
    match list.and_then(|offered| merge(offered, added).map_err(VkResult::from)) {
        // SAFETY: `count` is not null and `array` is null, which the function allows.
        Ok(list) => unsafe { ffi::write_all(count, array, &list) },
        Err(result) => result,
    }
}

/// Answers the second call of the enumeration, which has an array. The driver writes into the caller's own array, as drivers expect, and
/// the names that layers add fill the rest. If the driver reports more elements than there was room for, the excess is ignored (DRV-169).
///
/// # Safety
/// `array` has room for `count` elements.
unsafe fn fill<'a>(
    device: &ChainPhysicalDevice,
    added: impl Iterator<Item = &'a VkExtensionProperties>,
    count: &mut u32,
    array: *mut VkExtensionProperties,
) -> VkResult {
    let room = *count;
    let mut written = room;
    let step = Step::Driver(device.driver().path()).begin(b"vkEnumerateDeviceExtensionProperties");
    let result = match device.driver().table.vkEnumerateDeviceExtensionProperties {
        // SAFETY: function and device belong to this driver; the layer name may be NULL, and the array has room for `written` elements.
        Some(enumerate) => unsafe { enumerate(device.handle, core::ptr::null(), &mut written, array) },
        None => {
            written = 0;
            VkResult::VK_SUCCESS
        }
    };
    step.end(result.0);
    written = written.min(room);
    match result {
        VkResult::VK_SUCCESS => {}
        VkResult::VK_INCOMPLETE => {
            *count = written;
            return result;
        }
        // The caller's count stays unchanged, even if the driver wrote another number.
        failed => return driver_interface::failure(failed),
    }
    for extension in added {
        // SAFETY: the first `written` elements have been written.
        let listed = unsafe { core::slice::from_raw_parts(array, written as usize) };
        if is_listed(listed, extension) {
            continue;
        }
        if written == room {
            // The array is full, and the caller's count already equals its size.
            return VkResult::VK_INCOMPLETE;
        }
        // SAFETY: `written` is below `room`, so the array has room for this element.
        unsafe { array.add(written as usize).write(*extension) };
        written += 1;
    }
    *count = written;
    VkResult::VK_SUCCESS
}

/// Returns `true` if a list contains an extension with the name of `extension`.
fn is_listed(list: &[VkExtensionProperties], extension: &VkExtensionProperties) -> bool {
    let name = ffi::fixed_text(&extension.extensionName);
    list.iter().any(|known| ffi::is_fixed_text(&known.extensionName, name))
}

/// Returns the driver's list, followed by those `added` extensions that the list lacks. Of several extensions with the same name, the list
/// contains the first one (APP-131).
fn merge<'a>(
    mut list: HostVec<VkExtensionProperties>,
    added: impl Iterator<Item = &'a VkExtensionProperties>,
) -> Result<HostVec<VkExtensionProperties>, OutOfMemory> {
    for extension in added {
        if !is_listed(&list, extension) {
            list.try_push(*extension)?;
        }
    }
    Ok(list)
}

/// Lists the device extensions in the manifest of one layer, active or not (APP-132).
///
/// # Safety
/// `layer_name` is a string of the caller; `count` and `array` are as for [`ffi::TwoCall::new`].
unsafe fn enumerate_of_layer(
    instance: &Instance,
    layer_name: *const c_char,
    count: *mut u32,
    array: *mut VkExtensionProperties,
) -> VkResult {
    // SAFETY: the caller promises that the name is a string.
    let Some(name) = (unsafe { ffi::is_valid_name(layer_name) }) else {
        log::emit(
            Some(instance),
            LogBits::ERROR,
            format_args!("vkEnumerateDeviceExtensionProperties:  pLayerName is too long or is badly formed"),
        );
        return VkResult::VK_ERROR_EXTENSION_NOT_PRESENT;
    };
    let list = instance.layers().map_or(Ok(&[][..]), |layers| {
        layers.device_extensions.of_layer(name.to_bytes(), instance.allocator)
    });
    match list {
        // SAFETY: the caller promises a valid count and array.
        Ok(list) => unsafe { ffi::write_all(count, array, list) },
        Err(OutOfMemory) => VkResult::VK_ERROR_OUT_OF_HOST_MEMORY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::HostAllocator;

    fn extension(name: &str, version: u32) -> VkExtensionProperties {
        let mut properties = VkExtensionProperties {
            extensionName: [0; 256],
            specVersion: version,
        };
        ffi::set_fixed_text(&mut properties.extensionName, name.as_bytes());
        properties
    }

    #[test]
    fn app_131_the_driver_comes_first_and_wins() {
        let offered = HostVec::try_from_slice(&[extension("a", 1), extension("b", 2)], HostAllocator::system());
        let added = [extension("b", 9), extension("c", 3), extension("c", 4)];
        let merged = merge(offered.expect("memory"), added.iter()).expect("memory");
        let versions: Vec<u32> = merged.iter().map(|extension| extension.specVersion).collect();
        assert_eq!(versions, [1, 2, 3]);
    }
}
