//! Construction of the instance chain, and the call of its topmost entity (LAY-230 to LAY-243).

use super::Instance;
use crate::alloc::HostVec;
use crate::device;
use crate::ffi::layer_interface::{
    GetInstanceProcAddr, InstanceNode, LayerDevice, VkLayerFunction, VkLayerInstanceCreateInfo, VkLayerInstanceLink,
};
use crate::generated::terminator;
use crate::generated::types::{VkAllocationCallbacks, VkInstanceCreateInfo, VkResult, VkStructureType};
use crate::handle::{Chain, InstanceHandle};
use crate::layer::{self, InstanceLayers};
use crate::proc_addr;
use core::ffi::c_void;
use discovery::journal::LogBits;
use discovery::log;
use discovery::trace::Step;
use os::memory::OutOfMemory;

/// Feature bit that tells layers that the loader sorts physical devices by the adapters of the system (LAY-223, APP-93).
const VK_LOADER_FEATURE_PHYSICAL_DEVICE_SORTING: u32 = 1;

type CreateInstance = unsafe extern "system" fn(
    *const VkInstanceCreateInfo,
    *const VkAllocationCallbacks,
    *mut InstanceHandle<Chain>,
) -> VkResult;

/// Calls `vkCreateInstance` of the topmost layer, or of the terminator, and stores the returned handle.
///
/// # Safety
/// `create_info` and `callbacks` come from the application; the layers' functions are valid.
pub(super) unsafe fn create(
    create_info: &VkInstanceCreateInfo,
    callbacks: *const VkAllocationCallbacks,
    instance: &'static Instance,
    layers: &InstanceLayers,
) -> Result<(), VkResult> {
    let mut links = links(instance, layers)?;
    let top_gipa = layers
        .chain
        .first()
        .map_or(terminator::vkGetInstanceProcAddr as GetInstanceProcAddr, |layer| {
            layer.functions.get_instance_proc_addr
        });
    let mut nodes = nodes(&mut links);
    let used = if layers.wanted { 4 } else { 3 };
    chain_up(&mut nodes[..used], create_info.pNext);
    let mut info = *create_info;
    info.pNext = core::ptr::from_mut(&mut nodes[0]).cast::<c_void>();
    layer::log_instance_stack(instance, &layers.chain);

    let mut handle = instance.own_handle();
    // The handle is not NULL, because existing layers expect a handle (LAY-234).
    // SAFETY: the lookup function belongs to the topmost entity and gets the loader's own handle.
    let create = unsafe { top_gipa(handle, c"vkCreateInstance".as_ptr()) };
    let Some(create) = create else {
        log::emit(
            Some(instance),
            LogBits::ERROR,
            format_args!("loader_create_instance_chain: Failed to find 'vkCreateInstance'"),
        );
        return Err(VkResult::VK_ERROR_INITIALIZATION_FAILED);
    };
    // SAFETY: the function was looked up as `vkCreateInstance`, which has the signature `CreateInstance`.
    let create = unsafe { core::mem::transmute::<unsafe extern "system" fn(), CreateInstance>(create) };
    let step = Step::Chain.begin(b"vkCreateInstance");
    // SAFETY: the nodes and links are writable and live until the call returns (LAY-232).
    let result = unsafe { create(&info, callbacks, &mut handle) };
    step.end(result.0);
    if result != VkResult::VK_SUCCESS {
        // The loader refuses unavailable extensions before it calls the chain, and drops drivers that refuse one, so this refusal came from
        // a layer.
        if result == VkResult::VK_ERROR_EXTENSION_NOT_PRESENT {
            log::emit(
                Some(instance),
                LogBits::WARN,
                format_args!(
                    "vkCreateInstance: Layer returning invalid extension error not triggered by ICD/Loader (Policy \
                     #LLP_LAYER_17)."
                ),
            );
        }
        return Err(result);
    }
    instance.set_chain_handle(handle);
    proc_addr::fill_instance_table(instance, top_gipa, handle);
    Ok(())
}

/// Returns one link per layer, each with the functions of the entity below. The last link belongs to the layer nearest to the drivers.
fn links(instance: &Instance, layers: &InstanceLayers) -> Result<HostVec<VkLayerInstanceLink>, OutOfMemory> {
    let mut links = HostVec::try_with_capacity(layers.chain.len(), instance.allocator)?;
    for index in 0..layers.chain.len() {
        let below = &layers.chain[index + 1..];
        let next_gipa = below
            .first()
            .map_or(terminator::vkGetInstanceProcAddr as GetInstanceProcAddr, |next| {
                next.functions.get_instance_proc_addr
            });
        let next_gpdpa = below
            .iter()
            .find_map(|next| next.functions.get_physical_device_proc_addr)
            .unwrap_or(proc_addr::terminator_get_physical_device_proc_addr);
        links.try_push(VkLayerInstanceLink {
            pNext: core::ptr::null_mut(),
            pfnNextGetInstanceProcAddr: Some(next_gipa),
            pfnNextGetPhysicalDeviceProcAddr: Some(next_gpdpa),
        })?;
    }
    let first = links.as_mut_ptr();
    for index in 1..links.len() {
        // SAFETY: both elements are in the array, which no longer grows.
        unsafe { (*first.add(index - 1)).pNext = first.add(index) };
    }
    Ok(links)
}

/// Returns the loader's nodes for the head of the application's chain, outermost first (LAY-231). The last node, which has the links, is
/// omitted if no layer was requested.
fn nodes(links: &mut [VkLayerInstanceLink]) -> [VkLayerInstanceCreateInfo; 4] {
    let node = |function, u| VkLayerInstanceCreateInfo {
        sType: VkStructureType::VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
        pNext: core::ptr::null(),
        function,
        u,
    };
    let layer_device = LayerDevice {
        pfnLayerCreateDevice: device::layer_create_device,
        pfnLayerDestroyDevice: device::layer_destroy_device,
    };
    [
        node(
            VkLayerFunction::VK_LOADER_FEATURES,
            InstanceNode {
                loaderFeatures: u32::from(os::has_adapter_order()) * VK_LOADER_FEATURE_PHYSICAL_DEVICE_SORTING,
            },
        ),
        node(
            VkLayerFunction::VK_LOADER_LAYER_CREATE_DEVICE_CALLBACK,
            InstanceNode {
                layerDevice: layer_device,
            },
        ),
        node(
            VkLayerFunction::VK_LOADER_DATA_CALLBACK,
            InstanceNode {
                pfnSetInstanceLoaderData: set_instance_loader_data,
            },
        ),
        node(
            VkLayerFunction::VK_LAYER_LINK_INFO,
            InstanceNode {
                pLayerInfo: links.first_mut().map_or(core::ptr::null_mut(), core::ptr::from_mut),
            },
        ),
    ]
}

/// Links the nodes in order; the last node points to `next`.
fn chain_up(nodes: &mut [VkLayerInstanceCreateInfo], next: *const c_void) {
    let mut next = next;
    for node in nodes.iter_mut().rev() {
        node.pNext = next;
        next = core::ptr::from_mut(node).cast_const().cast();
    }
}

/// Writes the dispatch pointer of an instance into an object that a layer created (LAY-251).
unsafe extern "system" fn set_instance_loader_data(instance: InstanceHandle<Chain>, object: *mut c_void) -> VkResult {
    // SAFETY: the layer passes the handle that it got from the entity below, which starts with a dispatch pointer.
    let Some(instance) = (unsafe { crate::translation::chain_instance(instance) }) else {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    };
    if object.is_null() {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    }
    // SAFETY: the object is not null, and the loader may write the first word of a dispatchable object.
    unsafe { *object.cast::<*const c_void>() = core::ptr::from_ref(instance.table()).cast() };
    VkResult::VK_SUCCESS
}
