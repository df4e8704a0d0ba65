//! Construction of the device chain, and the call of its topmost entity (LAY-280 to LAY-292).

use super::object::Device;
use crate::alloc::HostVec;
use crate::ffi::layer_interface::{
    DeviceNode, GetDeviceProcAddr, GetInstanceProcAddr, VkLayerDeviceCreateInfo, VkLayerDeviceLink, VkLayerFunction,
};
use crate::generated::terminator;
use crate::generated::types::{VkAllocationCallbacks, VkDevice, VkDeviceCreateInfo, VkResult, VkStructureType};
use crate::handle::{Chain, InstanceHandle, PhysicalDeviceHandle};
use crate::instance::Instance;
use crate::layer::{self, ActiveLayer};
use crate::library::RealPath;
use crate::{proc_addr, translation};
use core::ffi::c_void;
use discovery::journal::LogBits;
use discovery::log;
use discovery::trace::Step;
use os::Raw;
use os::memory::OutOfMemory;

type CreateDevice = unsafe extern "system" fn(
    PhysicalDeviceHandle<Chain>,
    *const VkDeviceCreateInfo,
    *const VkAllocationCallbacks,
    *mut VkDevice,
) -> VkResult;

/// The entities through which the creation of a device passes.
pub(super) struct DeviceChain<'a> {
    instance: &'static Instance,
    /// Layers of the chain, nearest to the application first.
    layers: HostVec<&'a ActiveLayer>,
    /// `true` if the instance was created with layers; the create info then gets a link node (LAY-284).
    with_link_node: bool,
}

impl DeviceChain<'_> {
    /// Collects the layers below the layer whose lookup function is `above`, or all layers without `above` (LAY-292).
    pub(super) fn below(instance: &'static Instance, above: Option<GetInstanceProcAddr>) -> Result<Self, OutOfMemory> {
        let all = instance.layers().map_or(&[][..], |layers| &layers.chain);
        let start = above
            .and_then(|above| {
                let is_caller = |layer: &ActiveLayer| layer.functions.get_instance_proc_addr as usize == above as usize;
                all.iter().rposition(is_caller)
            })
            .map_or(0, |caller| caller + 1);
        let mut layers = HostVec::try_with_capacity(all.len() - start, instance.allocator)?;
        for layer in &all[start..] {
            if layer.functions.get_device_proc_addr.is_some() {
                layers.try_push(layer)?;
            } else {
                log::emit(
                    Some(instance),
                    LogBits::INFO | LogBits::LAYER,
                    format_args!(
                        "Failed to find vkGetDeviceProcAddr in layer \"{}\"",
                        RealPath(layer.library_path.bytes())
                    ),
                );
            }
        }
        Ok(Self {
            instance,
            layers,
            with_link_node: instance.layers().is_some_and(|layers| layers.wanted),
        })
    }

    /// Returns the lookup functions of the entity at `index`; after the last layer, returns the loader's own functions.
    fn functions(&self, index: usize) -> (GetInstanceProcAddr, GetDeviceProcAddr) {
        let layer = self.layers.get(index).map(|layer| layer.functions);
        let device = layer.and_then(|functions| functions.get_device_proc_addr);
        (
            layer.map_or(terminator::vkGetInstanceProcAddr, |functions| {
                functions.get_instance_proc_addr
            }),
            device.unwrap_or(terminator::vkGetDeviceProcAddr),
        )
    }

    /// Returns the lookup function of the topmost entity.
    pub(super) fn top(&self) -> GetDeviceProcAddr {
        self.functions(0).1
    }

    /// Returns one link per layer, each with the functions of the entity below (LAY-283).
    fn links(&self) -> Result<HostVec<VkLayerDeviceLink>, OutOfMemory> {
        let mut links = HostVec::try_with_capacity(self.layers.len(), self.instance.allocator)?;
        for index in 0..self.layers.len() {
            let (instance, device) = self.functions(index + 1);
            links.try_push(VkLayerDeviceLink {
                pNext: core::ptr::null_mut(),
                pfnNextGetInstanceProcAddr: Some(instance),
                pfnNextGetDeviceProcAddr: Some(device),
            })?;
        }
        let first = links.as_mut_ptr();
        for index in 1..links.len() {
            // SAFETY: both elements are in the array, which no longer grows.
            unsafe { (*first.add(index - 1)).pNext = first.add(index) };
        }
        // The chain is logged from its lower end upwards (LAY-280).
        for layer in self.layers.iter().rev() {
            log::emit(
                Some(self.instance),
                LogBits::INFO | LogBits::LAYER,
                format_args!(
                    "Inserted device layer \"{}\" ({})",
                    Raw(layer.name.bytes()),
                    RealPath(layer.library_path.bytes())
                ),
            );
        }
        Ok(links)
    }

    /// Calls `vkCreateDevice` of the topmost entity and stores the returned handle.
    ///
    /// # Safety
    /// `info` and `callbacks` are valid for the entities of the chain. `caller` and `physical_device` are handles at the level of the
    /// topmost entity.
    pub(super) unsafe fn create(
        &self,
        device: &'static Device,
        caller: InstanceHandle<Chain>,
        physical_device: PhysicalDeviceHandle<Chain>,
        info: &VkDeviceCreateInfo,
        callbacks: *const VkAllocationCallbacks,
    ) -> Result<VkDevice, VkResult> {
        let mut links = self.links()?;
        let mut link_node = node(
            VkLayerFunction::VK_LAYER_LINK_INFO,
            DeviceNode {
                pLayerInfo: if links.is_empty() {
                    core::ptr::null_mut()
                } else {
                    links.as_mut_ptr()
                },
            },
            info.pNext,
        );
        let after_callback = if self.with_link_node {
            core::ptr::from_mut(&mut link_node).cast_const().cast()
        } else {
            info.pNext
        };
        let mut callback_node = node(
            VkLayerFunction::VK_LOADER_DATA_CALLBACK,
            DeviceNode {
                pfnSetDeviceLoaderData: set_device_loader_data,
            },
            after_callback,
        );
        let mut passed = *info;
        passed.pNext = core::ptr::from_mut(&mut callback_node).cast_const().cast();
        layer::log_device_stack(self.instance, self.layers.iter().copied());

        // SAFETY: the lookup function belongs to the topmost entity, and `caller` is a handle of its level.
        let Some(create) = (unsafe { self.functions(0).0(caller, c"vkCreateDevice".as_ptr()) }) else {
            log::emit(
                Some(self.instance),
                LogBits::ERROR,
                format_args!("loader_create_device_chain: Failed to find 'vkCreateDevice' in layers or ICD"),
            );
            return Err(VkResult::VK_ERROR_INITIALIZATION_FAILED);
        };
        // SAFETY: the function was looked up as `vkCreateDevice`, which has the signature `CreateDevice`.
        let create = unsafe { core::mem::transmute::<unsafe extern "system" fn(), CreateDevice>(create) };
        // The loader's record of the device already exists: the terminator finds the record through this handle (LAY-286).
        let mut handle = VkDevice(core::ptr::from_ref(device).cast_mut().cast());
        let step = Step::Chain.begin(b"vkCreateDevice");
        // SAFETY: nodes and links are writable and live until the call returns (LAY-232).
        let result = unsafe { create(physical_device, &passed, callbacks, &mut handle) };
        step.end(result.0);
        // A positive result is not an error, but the chain has created no device: `handle` still refers to the loader's record.
        if result != VkResult::VK_SUCCESS {
            return Err(result);
        }
        device.set_handle(handle, self.top());
        proc_addr::fill_device_table(device, self.top(), handle);
        Ok(handle)
    }
}

fn node(function: VkLayerFunction, u: DeviceNode, next: *const c_void) -> VkLayerDeviceCreateInfo {
    VkLayerDeviceCreateInfo {
        sType: VkStructureType::VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
        pNext: next,
        function,
        u,
    }
}

/// Writes the dispatch pointer of a device into an object that a layer created (LAY-251).
unsafe extern "system" fn set_device_loader_data(device: VkDevice, object: *mut c_void) -> VkResult {
    // SAFETY: the layer passes the handle that it got from the entity below, which starts with a dispatch pointer.
    let Some(device) = (unsafe { translation::device_by_word(device) }) else {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    };
    if object.is_null() {
        return VkResult::VK_ERROR_INITIALIZATION_FAILED;
    }
    // SAFETY: the object is not null, and the loader may write the first word of a dispatchable object.
    unsafe { *object.cast::<*const c_void>() = core::ptr::from_ref(device.table()).cast() };
    VkResult::VK_SUCCESS
}
