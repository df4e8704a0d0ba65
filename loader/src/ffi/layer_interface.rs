//! C structures that loader and layers exchange (`vk_layer.h`), LAY-210, LAY-220 to LAY-222, LAY-271.

use crate::generated::types::{
    PFN_vkVoidFunction, VkAllocationCallbacks, VkDevice, VkDeviceCreateInfo, VkExtensionProperties, VkLayerProperties,
    VkResult, VkStructureType,
};
use crate::handle::{Chain, InstanceHandle, PhysicalDeviceHandle};
use core::ffi::{c_char, c_void};
use core::mem::offset_of;

/// Type of `vkGetInstanceProcAddr` and `vk_layerGetPhysicalDeviceProcAddr` in layers.
pub(crate) type GetInstanceProcAddr =
    unsafe extern "system" fn(InstanceHandle<Chain>, *const c_char) -> PFN_vkVoidFunction;

/// Type of `vkGetDeviceProcAddr` in layers.
pub(crate) type GetDeviceProcAddr = unsafe extern "system" fn(VkDevice, *const c_char) -> PFN_vkVoidFunction;

/// Type of a layer's `vkNegotiateLoaderLayerInterfaceVersion`.
pub(crate) type NegotiateLayerInterface = unsafe extern "system" fn(*mut VkNegotiateLayerInterface) -> VkResult;

/// Value of `sType` in [`VkNegotiateLayerInterface`]; `vk_layer.h` uses the same name.
pub(crate) const LAYER_NEGOTIATE_INTERFACE_STRUCT: i32 = 1;

/// Structure that a layer fills in when it negotiates.
#[repr(C)]
pub(crate) struct VkNegotiateLayerInterface {
    /// Type of the structure, always [`LAYER_NEGOTIATE_INTERFACE_STRUCT`].
    pub sType: i32,
    /// Unused, always null.
    pub pNext: *mut c_void,
    /// The loader's version before the call; the layer's version after the call.
    pub loaderLayerInterfaceVersion: u32,
    /// The layer's instance-level lookup.
    pub pfnGetInstanceProcAddr: Option<GetInstanceProcAddr>,
    /// The layer's device-level lookup.
    pub pfnGetDeviceProcAddr: Option<GetDeviceProcAddr>,
    /// The layer's lookup of physical-device functions.
    pub pfnGetPhysicalDeviceProcAddr: Option<GetInstanceProcAddr>,
}

/// `VkLayerFunction_`: kind of a node in the create-info chain.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VkLayerFunction(pub i32);

impl VkLayerFunction {
    /// Kind of a node with a list of links, one for each layer.
    pub(crate) const VK_LAYER_LINK_INFO: Self = Self(0);
    /// Kind of a node with the function that writes the dispatch pointer of an object.
    pub(crate) const VK_LOADER_DATA_CALLBACK: Self = Self(1);
    /// Kind of a node with the functions that let a layer create its own devices.
    pub(crate) const VK_LOADER_LAYER_CREATE_DEVICE_CALLBACK: Self = Self(2);
    /// Kind of a node with the features of the loader.
    pub(crate) const VK_LOADER_FEATURES: Self = Self(3);
}

/// Functions of the entity below one layer.
#[repr(C)]
pub(crate) struct VkLayerInstanceLink {
    /// The link of the next layer.
    pub pNext: *mut VkLayerInstanceLink,
    /// Instance-level lookup of the entity below.
    pub pfnNextGetInstanceProcAddr: Option<GetInstanceProcAddr>,
    /// Lookup of physical-device functions of the entity below.
    pub pfnNextGetPhysicalDeviceProcAddr: Option<GetInstanceProcAddr>,
}

/// The type that `vk_layer.h` calls `PFN_vkSetInstanceLoaderData`.
pub(crate) type SetInstanceLoaderData = unsafe extern "system" fn(InstanceHandle<Chain>, *mut c_void) -> VkResult;
/// The type that `vk_layer.h` calls `PFN_vkSetDeviceLoaderData`.
pub(crate) type SetDeviceLoaderData = unsafe extern "system" fn(VkDevice, *mut c_void) -> VkResult;

/// The type that `vk_layer.h` calls `PFN_vkLayerCreateDevice`.
pub(crate) type LayerCreateDevice = unsafe extern "system" fn(
    InstanceHandle<Chain>,
    PhysicalDeviceHandle<Chain>,
    *const VkDeviceCreateInfo,
    *const VkAllocationCallbacks,
    *mut VkDevice,
    Option<GetInstanceProcAddr>,
    *mut Option<GetDeviceProcAddr>,
) -> VkResult;

/// The type `PFN_vkDestroyDevice` of a function that a layer passes to [`LayerDestroyDevice`].
pub(crate) type DestroyDevice = unsafe extern "system" fn(VkDevice, *const VkAllocationCallbacks);

/// The type that `vk_layer.h` calls `PFN_vkLayerDestroyDevice`.
pub(crate) type LayerDestroyDevice =
    unsafe extern "system" fn(VkDevice, *const VkAllocationCallbacks, Option<DestroyDevice>);

/// The two functions in a node of kind `VK_LOADER_LAYER_CREATE_DEVICE_CALLBACK`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LayerDevice {
    /// Creates a device on the layers below the caller.
    pub pfnLayerCreateDevice: LayerCreateDevice,
    /// Destroys a device that `pfnLayerCreateDevice` created.
    pub pfnLayerDestroyDevice: LayerDestroyDevice,
}

/// Content of a node in the instance chain; the node's `function` selects the member.
#[repr(C)]
pub(crate) union InstanceNode {
    /// Content of a node of kind `VK_LAYER_LINK_INFO`.
    pub pLayerInfo: *mut VkLayerInstanceLink,
    /// Content of a node of kind `VK_LOADER_DATA_CALLBACK`.
    pub pfnSetInstanceLoaderData: SetInstanceLoaderData,
    /// Content of a node of kind `VK_LOADER_LAYER_CREATE_DEVICE_CALLBACK`.
    pub layerDevice: LayerDevice,
    /// Content of a node of kind `VK_LOADER_FEATURES`.
    pub loaderFeatures: u32,
}

/// A node that the loader inserts at the head of the `pNext` chain of `VkInstanceCreateInfo`.
#[repr(C)]
pub(crate) struct VkLayerInstanceCreateInfo {
    /// Type of the structure, always `VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO`.
    pub sType: VkStructureType,
    /// The next structure in the `pNext` chain.
    pub pNext: *const c_void,
    /// Kind of the content.
    pub function: VkLayerFunction,
    /// Content of the node; `function` selects the member.
    pub u: InstanceNode,
}

/// Functions of the entity below one layer, for the device chain.
#[repr(C)]
pub(crate) struct VkLayerDeviceLink {
    /// The link of the next layer.
    pub pNext: *mut VkLayerDeviceLink,
    /// Instance-level lookup of the entity below.
    pub pfnNextGetInstanceProcAddr: Option<GetInstanceProcAddr>,
    /// Device-level lookup of the entity below.
    pub pfnNextGetDeviceProcAddr: Option<GetDeviceProcAddr>,
}

/// Content of a node in the device chain; the node's `function` selects the member.
#[repr(C)]
pub(crate) union DeviceNode {
    /// Content of a node of kind `VK_LAYER_LINK_INFO`.
    pub pLayerInfo: *mut VkLayerDeviceLink,
    /// Content of a node of kind `VK_LOADER_DATA_CALLBACK`.
    pub pfnSetDeviceLoaderData: SetDeviceLoaderData,
}

/// A node that the loader inserts at the head of the `pNext` chain of `VkDeviceCreateInfo`.
#[repr(C)]
pub(crate) struct VkLayerDeviceCreateInfo {
    /// Type of the structure, always `VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO`.
    pub sType: VkStructureType,
    /// The next structure in the `pNext` chain.
    pub pNext: *const c_void,
    /// Kind of the content.
    pub function: VkLayerFunction,
    /// Content of the node; `function` selects the member.
    pub u: DeviceNode,
}

/// The head of every pre-instance chain node.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct VkChainHeader {
    /// Number of the query that the chain answers: 1 for extension properties, 2 for layer properties, 3 for the version.
    pub r#type: u32,
    /// Version of the chain, always 1.
    pub version: u32,
    /// Size of the whole node in bytes.
    pub size: u32,
}

/// A node of a pre-instance chain, for a function of type `F`.
#[repr(C)]
pub(crate) struct PreInstanceNode<F> {
    /// Head of the node.
    pub header: VkChainHeader,
    /// Function of the next entity in the chain.
    pub pfnNextLayer: F,
    /// First argument of `pfnNextLayer`.
    pub pNextLink: *const PreInstanceNode<F>,
}

/// A layer's `vkEnumerateInstanceExtensionProperties`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct ExtensionPropertiesFunction(
    pub  unsafe extern "system" fn(
        *const PreInstanceNode<ExtensionPropertiesFunction>,
        *const c_char,
        *mut u32,
        *mut VkExtensionProperties,
    ) -> VkResult,
);

/// A layer's `vkEnumerateInstanceLayerProperties`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct LayerPropertiesFunction(
    pub  unsafe extern "system" fn(
        *const PreInstanceNode<LayerPropertiesFunction>,
        *mut u32,
        *mut VkLayerProperties,
    ) -> VkResult,
);

/// A layer's `vkEnumerateInstanceVersion`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct VersionFunction(
    pub unsafe extern "system" fn(*const PreInstanceNode<VersionFunction>, *mut u32) -> VkResult,
);

/// Checks the offsets of members and the size of structures, in bytes for 64-bit and for 32-bit programs (LAY-210, LAY-220 to LAY-222,
/// LAY-271).
macro_rules! layout {
    ($($kind:ty { $($member:ident: $wide:literal / $narrow:literal),* } $wide_size:literal / $narrow_size:literal;)*) => {
        const _: () = {
            const fn of(wide: usize, narrow: usize) -> usize {
                if cfg!(target_pointer_width = "64") { wide } else { narrow }
            }
            $(
                $(assert!(offset_of!($kind, $member) == of($wide, $narrow));)*
                assert!(size_of::<$kind>() == of($wide_size, $narrow_size));
            )*
        };
    };
}

layout! {
    VkNegotiateLayerInterface {
        sType: 0 / 0, pNext: 8 / 4, loaderLayerInterfaceVersion: 16 / 8, pfnGetInstanceProcAddr: 24 / 12,
        pfnGetDeviceProcAddr: 32 / 16, pfnGetPhysicalDeviceProcAddr: 40 / 20
    } 48 / 24;
    VkLayerInstanceCreateInfo { sType: 0 / 0, pNext: 8 / 4, function: 16 / 8, u: 24 / 12 } 40 / 20;
    VkLayerInstanceLink {
        pNext: 0 / 0, pfnNextGetInstanceProcAddr: 8 / 4, pfnNextGetPhysicalDeviceProcAddr: 16 / 8
    } 24 / 12;
    VkLayerDeviceCreateInfo { sType: 0 / 0, pNext: 8 / 4, function: 16 / 8, u: 24 / 12 } 32 / 16;
    VkLayerDeviceLink { pNext: 0 / 0, pfnNextGetInstanceProcAddr: 8 / 4, pfnNextGetDeviceProcAddr: 16 / 8 } 24 / 12;
    PreInstanceNode<VersionFunction> { header: 0 / 0, pfnNextLayer: 16 / 12, pNextLink: 24 / 16 } 32 / 20;
}
