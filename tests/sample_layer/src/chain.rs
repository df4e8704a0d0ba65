//! Defines the data that loader and layer exchange, and the data that the layer stores about each instance and device.
//!
//! The structures are those of `vk_layer.h`. A layer never stores anything in an object itself. The first word of every dispatchable object
//! points to data of the loader, which is the same for a device and for the queues and command buffers of this device. This word is the key
//! of the layer's maps.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Mutex, PoisonError};

use ash::vk;
use ash::vk::Handle;

/// Type of a look-up function for physical-device commands, `PFN_GetPhysicalDeviceProcAddr`.
pub(crate) type GetPhysicalDeviceProcAddr =
    unsafe extern "system" fn(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction;

/// Structure for the negotiation between loader and layer, `VkNegotiateLayerInterface`.
#[repr(C)]
pub(crate) struct NegotiateInterface {
    structure_type: i32,
    next: *mut c_void,
    pub(crate) version: u32,
    pub(crate) get_instance_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
    pub(crate) get_device_proc_addr: Option<vk::PFN_vkGetDeviceProcAddr>,
    pub(crate) get_physical_device_proc_addr: Option<GetPhysicalDeviceProcAddr>,
}

/// Value of `VK_LAYER_LINK_INFO`: the kind of the structure that contains the functions of the next layer.
const LINK_INFO: i32 = 0;

/// Link to the next layer for the creation of an instance, `VkLayerInstanceLink`.
#[repr(C)]
pub(crate) struct InstanceLink {
    pub(crate) next: *mut InstanceLink,
    pub(crate) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) get_physical_device_proc_addr: Option<GetPhysicalDeviceProcAddr>,
}

/// Link to the next layer for the creation of a device, `VkLayerDeviceLink`.
#[repr(C)]
pub(crate) struct DeviceLink {
    pub(crate) next: *mut DeviceLink,
    pub(crate) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr,
}

/// The structures `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`, if their function is `VK_LAYER_LINK_INFO`.
#[repr(C)]
pub(crate) struct LinkNode<L> {
    structure_type: vk::StructureType,
    next: *const c_void,
    function: i32,
    pub(crate) link: *mut L,
}

/// Returns the loader's link structure in a `pNext` chain. All layers share the structure, so a layer advances the link in this structure
/// before it calls the next function.
///
/// # Safety
/// `next` is a valid chain, and the links in structures of type `kind` have the type `L`.
pub(crate) unsafe fn link_node<'n, L>(mut next: *const c_void, kind: vk::StructureType) -> Option<&'n mut LinkNode<L>> {
    while !next.is_null() {
        let node = next.cast_mut().cast::<LinkNode<L>>();
        // SAFETY: every structure of a chain starts with its type and its successor. In structures of this type, the member `function`
        // follows.
        unsafe {
            if (*node).structure_type == kind && (*node).function == LINK_INFO {
                return Some(&mut *node);
            }
            next = (*node).next;
        }
    }
    None
}

/// Data of the layer about an instance.
#[derive(Clone, Copy)]
pub(crate) struct Instance {
    pub(crate) handle: vk::Instance,
    pub(crate) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) destroy: vk::PFN_vkDestroyInstance,
    /// Next function for a command of physical devices. The layer looks up this function when the instance is created, because a later
    /// look-up can return the function of a layer that is closer to the application.
    pub(crate) device_extension_properties: vk::PFN_vkEnumerateDeviceExtensionProperties,
}

/// Data of the layer about a device: the next function of each command that the layer intercepts.
#[derive(Clone, Copy)]
pub(crate) struct Device {
    pub(crate) get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr,
    pub(crate) destroy: vk::PFN_vkDestroyDevice,
    pub(crate) free_command_buffers: vk::PFN_vkFreeCommandBuffers,
    pub(crate) begin_command_buffer: vk::PFN_vkBeginCommandBuffer,
    pub(crate) end_command_buffer: vk::PFN_vkEndCommandBuffer,
    pub(crate) cmd_draw: vk::PFN_vkCmdDraw,
    pub(crate) cmd_draw_indexed: vk::PFN_vkCmdDrawIndexed,
}

static INSTANCES: Mutex<BTreeMap<usize, Instance>> = Mutex::new(BTreeMap::new());
static DEVICES: Mutex<BTreeMap<usize, Device>> = Mutex::new(BTreeMap::new());

/// Returns the first word of an object, which is its key, or `None` for a null handle.
fn key(object: impl Handle) -> Option<usize> {
    let object = object.as_raw() as *const usize;
    // SAFETY: a dispatchable handle that is not null points to an object that begins with a pointer to data of the loader.
    (!object.is_null()).then(|| unsafe { *object })
}

/// Returns the data for an object of an instance: the instance or one of its physical devices.
pub(crate) fn instance(object: impl Handle) -> Option<Instance> {
    INSTANCES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&key(object)?)
        .copied()
}

/// Returns the data for an object of a device: the device, a queue or a command buffer.
pub(crate) fn device(object: impl Handle) -> Option<Device> {
    DEVICES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&key(object)?)
        .copied()
}

/// Stores the data about an instance.
pub(crate) fn keep_instance(handle: vk::Instance, instance: Instance) {
    if let Some(key) = key(handle) {
        INSTANCES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, instance);
    }
}

/// Stores the data about a device.
pub(crate) fn keep_device(handle: vk::Device, device: Device) {
    if let Some(key) = key(handle) {
        DEVICES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, device);
    }
}

/// Removes and returns the data about an instance.
pub(crate) fn take_instance(handle: vk::Instance) -> Option<Instance> {
    INSTANCES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&key(handle)?)
}

/// Removes and returns the data about a device.
pub(crate) fn take_device(handle: vk::Device) -> Option<Device> {
    DEVICES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&key(handle)?)
}

/// Returns the result of a look-up as a function of type `F`.
///
/// # Safety
/// `F` is the function pointer type of the command that was looked up.
pub(crate) unsafe fn typed<F: Copy>(found: vk::PFN_vkVoidFunction) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    // SAFETY: both types are function pointers of the same size, and the caller promises that `F` is the type of the command.
    found.map(|function| unsafe { std::mem::transmute_copy(&function) })
}

/// Returns the next function for a device command.
///
/// # Safety
/// `next` belongs to `device`, and `F` is the type of the command `name`.
pub(crate) unsafe fn device_command<F: Copy>(
    next: vk::PFN_vkGetDeviceProcAddr,
    device: vk::Device,
    name: &CStr,
) -> Option<F> {
    // SAFETY: the caller promises a device, a terminated name and the function's type.
    unsafe { typed(next(device, name.as_ptr())) }
}
