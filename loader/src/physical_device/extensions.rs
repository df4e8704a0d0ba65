//! What a physical device offers beyond the core: extensions of driver and layers, and the layers themselves (APP-130 to
//! APP-133, DRV-135, DRV-136).

use super::object::ChainPhysicalDevice;
use super::walk::scratch;
use crate::alloc::HostVec;
use crate::driver;
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

/// `vkEnumerateDeviceLayerProperties`: the layers active on the instance. Never goes down the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands.
pub(crate) unsafe fn enumerate_device_layer_properties(
    device: PhysicalDeviceHandle<App>,
    count: *mut u32,
    array: *mut VkLayerProperties,
) -> VkResult {
    let _passage = GATE.enter();
    // SAFETY: passed on to the caller.
    let Some(device) = (unsafe { translation::physical_device_object(device) }) else {
        return translation::reject(row::vkEnumerateDeviceLayerProperties);
    };
    if count.is_null() {
        return VkResult::VK_INCOMPLETE;
    }
    let active = device.instance().layers().map_or(&[][..], |layers| &layers.active);
    // SAFETY: by this function's contract.
    unsafe { ffi::write_all(count, array, active) }
}

/// `vkEnumerateDeviceExtensionProperties` as the application calls it: the chain answers, one thread at a time (DRV-118).
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
    // SAFETY: passed on to the caller.
    let Some((table, device)) = (unsafe { translation::physical_device(device) }) else {
        return translation::reject(row::vkEnumerateDeviceExtensionProperties);
    };
    // SAFETY: the topmost entity's function with its own handle; the rest is the caller's.
    unsafe { (table.vkEnumerateDeviceExtensionProperties.get())(device, layer_name, count, array) }
}

/// `vkEnumerateDeviceExtensionProperties` at the end of the chain.
///
/// # Safety
/// The parameters are what the lowest layer passed.
pub(super) unsafe fn enumerate(
    device: PhysicalDeviceHandle<Chain>,
    layer_name: *const c_char,
    count: *mut u32,
    array: *mut VkExtensionProperties,
) -> VkResult {
    if count.is_null() {
        return VkResult::VK_INCOMPLETE;
    }
    // SAFETY: the handle came from the lowest layer.
    let object = unsafe { translation::chain_physical_device(device) };
    let instance = object.driver().instance();
    // SAFETY: null or the caller's string.
    if !layer_name.is_null() && unsafe { *layer_name } != 0 {
        // SAFETY: the caller's string, number and array.
        return unsafe { enumerate_of_layer(instance, layer_name, count, array) };
    }
    let layers = instance.layers().map_or(&[][..], |layers| &layers.chain);
    let implicit = layers.iter().filter(|layer| layer.implicit);
    let added = implicit.flat_map(|layer| layer.device_extensions.iter().map(|extension| &extension.properties));
    if !array.is_null() {
        // SAFETY: by this function's contract; neither pointer is null.
        return unsafe { fill(object, added, &mut *count, array) };
    }
    let list = driver::device_extensions(&object.driver().table, object.handle, scratch(instance));
    match list.and_then(|offered| merge(offered, added).map_err(VkResult::from)) {
        // SAFETY: by this function's contract.
        Ok(list) => unsafe { ffi::write_all(count, array, &list) },
        Err(result) => result,
    }
}

/// The list call: the driver writes into the caller's own array, as drivers know it, and what it left free takes the names
/// that layers add. A driver that claims to have written more than there was room for is not believed (DRV-169).
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
        // SAFETY: the driver's function with its own device, no layer name, and the caller's array with its room.
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
        // The caller's number stays as it was, whatever the driver made of it.
        failed => return driver::failure(failed),
    }
    for extension in added {
        // SAFETY: so many elements have been written.
        let listed = unsafe { core::slice::from_raw_parts(array, written as usize) };
        if is_listed(listed, extension) {
            continue;
        }
        if written == room {
            // All of the room is in use, as the caller's number says already.
            return VkResult::VK_INCOMPLETE;
        }
        // SAFETY: fewer elements have been written than there is room for.
        unsafe { array.add(written as usize).write(*extension) };
        written += 1;
    }
    *count = written;
    VkResult::VK_SUCCESS
}

/// Whether a list has an extension of this name.
fn is_listed(list: &[VkExtensionProperties], extension: &VkExtensionProperties) -> bool {
    let name = ffi::fixed_text(&extension.extensionName);
    list.iter().any(|known| ffi::is_fixed_text(&known.extensionName, name))
}

/// The driver's list, followed by what is not in it yet; the first of equal names counts (APP-131).
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

/// The device extensions in the manifest of one layer, active or not (APP-132).
///
/// # Safety
/// `layer_name` is a string of the caller, `count` and `array` are as for [`ffi::TwoCall::new`].
unsafe fn enumerate_of_layer(
    instance: &Instance,
    layer_name: *const c_char,
    count: *mut u32,
    array: *mut VkExtensionProperties,
) -> VkResult {
    // SAFETY: by this function's contract.
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
        // SAFETY: by this function's contract.
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
