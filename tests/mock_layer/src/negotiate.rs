//! Exported symbols of each layer of the library, and the negotiation (LAY-210 to LAY-217).

use std::ffi::{c_char, c_void};

use ash::vk;

use crate::abi::{GetPhysicalDeviceProcAddr, NegotiateInterface};
use crate::layer::layer;
use crate::lookup::{get_device_proc_addr, get_instance_proc_addr, get_physical_device_proc_addr};

/// The three look-up functions of a layer.
type Pointers = (
    vk::PFN_vkGetInstanceProcAddr,
    vk::PFN_vkGetDeviceProcAddr,
    GetPhysicalDeviceProcAddr,
);

/// Returns the look-up functions of layer `identity`.
fn pointers(identity: usize) -> Pointers {
    match identity {
        1 => (
            get_instance_proc_addr::<1>,
            get_device_proc_addr::<1>,
            get_physical_device_proc_addr::<1>,
        ),
        2 => (
            get_instance_proc_addr::<2>,
            get_device_proc_addr::<2>,
            get_physical_device_proc_addr::<2>,
        ),
        3 => (
            get_instance_proc_addr::<3>,
            get_device_proc_addr::<3>,
            get_physical_device_proc_addr::<3>,
        ),
        _ => (
            get_instance_proc_addr::<0>,
            get_device_proc_addr::<0>,
            get_physical_device_proc_addr::<0>,
        ),
    }
}

/// Answers the interface version that the loader offers, according to the configuration.
fn negotiate(identity: usize, interface: &mut NegotiateInterface) -> vk::Result {
    let layer = layer(identity);
    let empty = interface.get_instance_proc_addr.is_none()
        && interface.get_device_proc_addr.is_none()
        && interface.get_physical_device_proc_addr.is_none();
    layer.journal(&format!(
        "negotiate sType={} pNext={} version={} empty={empty}",
        interface.structure_type,
        if interface.next.is_null() { "null" } else { "set" },
        interface.version,
    ));
    let result = layer.config.number("negotiate-result").unwrap_or(0);
    let source = layer
        .config
        .number("negotiate-identity")
        .map_or(identity, |number| number as usize);
    let (instance, device, physical) = pointers(source);
    let absent = |pointer: &str| layer.config.lists("negotiate-null", pointer);
    interface.version = layer.config.number("negotiate").unwrap_or(2) as u32;
    interface.get_instance_proc_addr = (!absent("gipa")).then_some(instance);
    interface.get_device_proc_addr = (!absent("gdpa")).then_some(device);
    interface.get_physical_device_proc_addr = (!absent("gpdpa")).then_some(physical);
    vk::Result::from_raw(result as i32)
}

/// Defines the exports of a layer: the negotiation and the look-up functions, with the given names.
macro_rules! exports {
    ($identity:literal, $negotiate:ident, $instance:ident, $device:ident, $physical:ident) => {
        /// Implements `vkNegotiateLoaderLayerInterfaceVersion`.
        ///
        /// # Safety
        /// `interface` points to a writable structure.
        #[unsafe(no_mangle)]
        unsafe extern "system" fn $negotiate(interface: *mut NegotiateInterface) -> vk::Result {
            // SAFETY: the caller passes a writable structure.
            negotiate($identity, unsafe { &mut *interface })
        }

        /// Implements `vkGetInstanceProcAddr`.
        ///
        /// # Safety
        /// `name` is a C string.
        #[unsafe(no_mangle)]
        unsafe extern "system" fn $instance(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
            layer($identity).journal("export gipa");
            // SAFETY: the caller passes valid parameters of this command.
            unsafe { get_instance_proc_addr::<$identity>(instance, name) }
        }

        /// Implements `vkGetDeviceProcAddr`.
        ///
        /// # Safety
        /// `device` is live, and `name` is a C string.
        #[unsafe(no_mangle)]
        unsafe extern "system" fn $device(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
            layer($identity).journal("export gdpa");
            // SAFETY: the caller passes valid parameters of this command.
            unsafe { get_device_proc_addr::<$identity>(device, name) }
        }

        /// Implements `vk_layerGetPhysicalDeviceProcAddr` (LAY-303).
        ///
        /// # Safety
        /// `name` is a C string.
        #[unsafe(no_mangle)]
        unsafe extern "system" fn $physical(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
            layer($identity).journal("export gpdpa");
            // SAFETY: the caller passes valid parameters of this command.
            unsafe { get_physical_device_proc_addr::<$identity>(instance, name) }
        }
    };
}

exports!(
    0,
    vkNegotiateLoaderLayerInterfaceVersion,
    vkGetInstanceProcAddr,
    vkGetDeviceProcAddr,
    vk_layerGetPhysicalDeviceProcAddr
);
exports!(
    1,
    layer1Negotiate,
    layer1GetInstanceProcAddr,
    layer1GetDeviceProcAddr,
    layer1GetPhysicalDeviceProcAddr
);
exports!(
    2,
    layer2Negotiate,
    layer2GetInstanceProcAddr,
    layer2GetDeviceProcAddr,
    layer2GetPhysicalDeviceProcAddr
);
exports!(
    3,
    layer3Negotiate,
    layer3GetInstanceProcAddr,
    layer3GetDeviceProcAddr,
    layer3GetPhysicalDeviceProcAddr
);

/// Defines an introspection export of interface 0. Current loaders never call it (LAY-217), so the function only records its call.
macro_rules! introspection {
    ($($name:ident),*) => {$(
        /// Records the call.
        #[unsafe(no_mangle)]
        extern "system" fn $name(_: *const c_void, _: *const c_void, _: *const c_void, _: *const c_void) -> vk::Result {
            layer(0).journal(concat!("introspection ", stringify!($name)));
            vk::Result::SUCCESS
        }
    )*};
}

introspection!(
    vkEnumerateInstanceLayerProperties,
    vkEnumerateInstanceExtensionProperties,
    vkEnumerateDeviceLayerProperties,
    vkEnumerateDeviceExtensionProperties
);
