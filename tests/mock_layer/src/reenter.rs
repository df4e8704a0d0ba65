//! Calls from inside a layer into the loader's own exported functions (LAY-245).

use std::sync::atomic::Ordering;

use ash::vk;

use crate::layer::{Layer, typed};
use crate::system::loader_symbol;

/// Queries the loader's extensions, layers and version, and records the results.
pub(crate) fn enumerate(layer: &Layer) {
    let (mut extensions, mut layers, mut version) = (0, 0, 0);
    // SAFETY: each symbol has the signature of the command with its name, and the count queries pass no array.
    let results = unsafe {
        [
            typed::<vk::PFN_vkEnumerateInstanceExtensionProperties>(loader_symbol(
                c"vkEnumerateInstanceExtensionProperties",
            ))
            .map(|call| call(std::ptr::null(), &mut extensions, std::ptr::null_mut())),
            typed::<vk::PFN_vkEnumerateInstanceLayerProperties>(loader_symbol(c"vkEnumerateInstanceLayerProperties"))
                .map(|call| call(&mut layers, std::ptr::null_mut())),
            typed::<vk::PFN_vkEnumerateInstanceVersion>(loader_symbol(c"vkEnumerateInstanceVersion"))
                .map(|call| call(&mut version)),
        ]
    };
    let good = results.iter().all(|result| *result == Some(vk::Result::SUCCESS));
    layer.journal(&format!(
        "reenter good={good} extensions={extensions} layers={layers} version={version}"
    ));
}

/// Creates an instance through the loader's `vkCreateInstance`, like an application. Returns null after a failure, or if the layer is
/// already creating an instance in this way.
pub(crate) fn own_instance(layer: &Layer) -> vk::Instance {
    let mut instance = vk::Instance::null();
    if layer.inside_own.swap(true, Ordering::Relaxed) {
        return instance;
    }
    // SAFETY: the symbol has the signature of the command with its name.
    let create = unsafe { typed::<vk::PFN_vkCreateInstance>(loader_symbol(c"vkCreateInstance")) };
    let info = vk::InstanceCreateInfo::default();
    // SAFETY: the create info is valid, there is no allocator, and the handle is writable.
    let result = create.map(|create| unsafe { create(&info, std::ptr::null(), &mut instance) });
    layer.inside_own.store(false, Ordering::Relaxed);
    let devices = count_devices(instance);
    layer.journal(&format!(
        "own-instance result={} devices={devices}",
        result.map_or(i32::MIN, vk::Result::as_raw)
    ));
    instance
}

/// Returns the number of physical devices that the loader reports for an instance of the layer.
fn count_devices(instance: vk::Instance) -> u32 {
    let mut count = 0;
    if instance != vk::Instance::null() {
        // SAFETY: the symbol has the signature of the command with its name.
        let enumerate =
            unsafe { typed::<vk::PFN_vkEnumeratePhysicalDevices>(loader_symbol(c"vkEnumeratePhysicalDevices")) };
        if let Some(enumerate) = enumerate {
            // SAFETY: the instance is valid, and this counting call passes no array.
            let _ = unsafe { enumerate(instance, &mut count, std::ptr::null_mut()) };
        }
    }
    count
}

/// Destroys an instance that [`own_instance`] created.
pub(crate) fn destroy_own(instance: vk::Instance) {
    if instance == vk::Instance::null() {
        return;
    }
    // SAFETY: the symbol has the signature of the command with its name.
    if let Some(destroy) = unsafe { typed::<vk::PFN_vkDestroyInstance>(loader_symbol(c"vkDestroyInstance")) } {
        // SAFETY: the instance is valid, and none of its objects is in use.
        unsafe { destroy(instance, std::ptr::null()) };
    }
}
