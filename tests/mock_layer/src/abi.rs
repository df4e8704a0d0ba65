//! Structures of `vk_layer.h`, through which a loader and a layer exchange functions (LAY-210, LAY-220 to LAY-222, LAY-271).

use std::ffi::{c_char, c_void};

use ash::vk;

/// Type of the layer's look-up function for physical-device commands, `PFN_GetPhysicalDeviceProcAddr`.
pub(crate) type GetPhysicalDeviceProcAddr =
    unsafe extern "system" fn(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction;

/// Structure for the negotiation with a layer, `VkNegotiateLayerInterface`.
#[repr(C)]
pub(crate) struct NegotiateInterface {
    pub(crate) structure_type: i32,
    pub(crate) next: *mut c_void,
    pub(crate) version: u32,
    pub(crate) get_instance_proc_addr: Option<vk::PFN_vkGetInstanceProcAddr>,
    pub(crate) get_device_proc_addr: Option<vk::PFN_vkGetDeviceProcAddr>,
    pub(crate) get_physical_device_proc_addr: Option<GetPhysicalDeviceProcAddr>,
}

/// Value of `VkLayerFunction::VK_LAYER_LINK_INFO`.
pub(crate) const LINK_INFO: i32 = 0;
/// Value of `VkLayerFunction::VK_LOADER_DATA_CALLBACK`.
pub(crate) const DATA_CALLBACK: i32 = 1;
/// Value of `VkLayerFunction::VK_LOADER_LAYER_CREATE_DEVICE_CALLBACK`.
pub(crate) const CREATE_DEVICE_CALLBACK: i32 = 2;
/// Value of `VkLayerFunction::VK_LOADER_FEATURES`.
pub(crate) const FEATURES: i32 = 3;

/// The structure `VkLayerInstanceLink` of a layer. The structure contains the functions of the next layer, or, for the last layer, of the
/// loader.
#[repr(C)]
pub(crate) struct InstanceLink {
    pub(crate) next: *mut InstanceLink,
    pub(crate) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) get_physical_device_proc_addr: Option<GetPhysicalDeviceProcAddr>,
}

/// The two callbacks of `VK_LOADER_LAYER_CREATE_DEVICE_CALLBACK`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct DeviceCallbacks {
    pub(crate) create: Option<LayerCreateDevice>,
    pub(crate) destroy: Option<LayerDestroyDevice>,
}

/// Union in `VkLayerInstanceCreateInfo`.
#[repr(C)]
pub(crate) union InstanceContent {
    pub(crate) link: *mut InstanceLink,
    pub(crate) set_loader_data: Option<SetInstanceLoaderData>,
    pub(crate) device_callbacks: DeviceCallbacks,
    pub(crate) features: u32,
}

/// Structure of the loader in the chain of an instance's create info, `VkLayerInstanceCreateInfo`.
#[repr(C)]
pub(crate) struct InstanceNode {
    pub(crate) structure_type: vk::StructureType,
    pub(crate) next: *const c_void,
    pub(crate) function: i32,
    pub(crate) content: InstanceContent,
}

/// Functions of the next layer for a device, `VkLayerDeviceLink`.
#[repr(C)]
pub(crate) struct DeviceLink {
    pub(crate) next: *mut DeviceLink,
    pub(crate) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) get_device_proc_addr: vk::PFN_vkGetDeviceProcAddr,
}

/// Union in `VkLayerDeviceCreateInfo`.
#[repr(C)]
pub(crate) union DeviceContent {
    pub(crate) link: *mut DeviceLink,
    pub(crate) set_loader_data: Option<SetDeviceLoaderData>,
}

/// Structure of the loader in the chain of a device's create info, `VkLayerDeviceCreateInfo`.
#[repr(C)]
pub(crate) struct DeviceNode {
    pub(crate) structure_type: vk::StructureType,
    pub(crate) next: *const c_void,
    pub(crate) function: i32,
    pub(crate) content: DeviceContent,
}

/// Type of the callback for objects of an instance, `PFN_vkSetInstanceLoaderData`.
pub(crate) type SetInstanceLoaderData =
    unsafe extern "system" fn(instance: vk::Instance, object: *mut c_void) -> vk::Result;
/// Type of the callback for objects of a device, `PFN_vkSetDeviceLoaderData`.
pub(crate) type SetDeviceLoaderData = unsafe extern "system" fn(device: vk::Device, object: *mut c_void) -> vk::Result;
/// Type of the callback that creates a device, `PFN_vkLayerCreateDevice` (LAY-292).
pub(crate) type LayerCreateDevice = unsafe extern "system" fn(
    instance: vk::Instance,
    physical_device: vk::PhysicalDevice,
    create_info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
    layer: vk::PFN_vkGetInstanceProcAddr,
    next: *mut Option<vk::PFN_vkGetDeviceProcAddr>,
) -> vk::Result;
/// Type of the callback that destroys a device, `PFN_vkLayerDestroyDevice` (LAY-293).
pub(crate) type LayerDestroyDevice = unsafe extern "system" fn(
    device: vk::Device,
    allocator: *const vk::AllocationCallbacks<'_>,
    destroy: vk::PFN_vkDestroyDevice,
);

/// Structure of a pre-instance chain, `VkEnumerateInstance...Chain`. `F` is the signature of its function.
#[repr(C)]
pub(crate) struct Chain<F> {
    pub(crate) kind: u32,
    pub(crate) version: u32,
    pub(crate) size: u32,
    pub(crate) next_layer: F,
    pub(crate) next_link: *const Chain<F>,
}

/// Checks the layouts of a 64-bit loader against the numbers in LAY-210, LAY-220, LAY-222 and LAY-271.
#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<NegotiateInterface>() == 48);
    assert!(size_of::<InstanceNode>() == 40);
    assert!(size_of::<DeviceNode>() == 32);
    assert!(size_of::<Chain<usize>>() == 32);
};
