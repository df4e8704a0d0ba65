//! Creates and destroys instances and devices. Each creating function finds the next layer or driver, advances the shared link, calls the
//! next function, and stores the layer's data.

use ash::vk;

use crate::chain::{self, Device, DeviceLink, Instance, InstanceLink, device_command, link_node, typed};

/// Implements `vkCreateInstance`.
///
/// # Safety
/// The parameters are valid for this Vulkan command, and the chain contains the link structures of the loader.
pub(crate) unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: the caller passes a valid create info, whose chain contains the loader's link structures.
    let node = unsafe { link_node::<InstanceLink>((*info).p_next, vk::StructureType::LOADER_INSTANCE_CREATE_INFO) };
    let Some(node) = node else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: during the creation of an instance, the structure points to a valid link.
    let (next, below) = unsafe { ((*node.link).get_instance_proc_addr, (*node.link).next) };
    node.link = below;
    // SAFETY: the look-up function comes from the link, and returns a function of the type that belongs to the command.
    let create = unsafe { typed::<vk::PFN_vkCreateInstance>(next(vk::Instance::null(), c"vkCreateInstance".as_ptr())) };
    let Some(create) = create else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes valid parameters of this command.
    let result = unsafe { create(info, allocator, instance) };
    if result != vk::Result::SUCCESS {
        return result;
    }
    // SAFETY: the next function wrote the handle.
    let handle = unsafe { *instance };
    // SAFETY: the look-up function belongs to the instance, and returns a function of the type that belongs to the command.
    let destroy = unsafe { typed::<vk::PFN_vkDestroyInstance>(next(handle, c"vkDestroyInstance".as_ptr())) };
    let name = c"vkEnumerateDeviceExtensionProperties";
    // SAFETY: the name is nul-terminated, and the look-up function returns a function of this command's type.
    let device_extension_properties =
        unsafe { typed::<vk::PFN_vkEnumerateDeviceExtensionProperties>(next(handle, name.as_ptr())) };
    let (Some(destroy), Some(device_extension_properties)) = (destroy, device_extension_properties) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    chain::keep_instance(
        handle,
        Instance {
            handle,
            get_instance_proc_addr: next,
            destroy,
            device_extension_properties,
        },
    );
    result
}

/// Implements `vkDestroyInstance`.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn destroy_instance(
    instance: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    if let Some(kept) = chain::take_instance(instance) {
        // SAFETY: the caller passes valid arguments, and the function was looked up for this instance.
        unsafe { (kept.destroy)(instance, allocator) };
    }
}

/// Implements `vkCreateDevice`.
///
/// # Safety
/// The parameters are valid for this Vulkan command, and the chain contains the link structures of the loader.
pub(crate) unsafe extern "system" fn create_device(
    physical_device: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> vk::Result {
    // SAFETY: the caller passes a valid create info, whose chain contains the loader's link structures.
    let node = unsafe { link_node::<DeviceLink>((*info).p_next, vk::StructureType::LOADER_DEVICE_CREATE_INFO) };
    let (Some(node), Some(instance)) = (node, chain::instance(physical_device)) else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: during the creation of a device, the structure points to a valid link.
    let link = unsafe { &*node.link };
    let (find, next) = (link.get_instance_proc_addr, link.get_device_proc_addr);
    node.link = link.next;
    // SAFETY: the look-up function comes from the link, and the instance is the instance of the physical device. The look-up returns a
    // function of the type that belongs to the command.
    let create = unsafe { typed::<vk::PFN_vkCreateDevice>(find(instance.handle, c"vkCreateDevice".as_ptr())) };
    let Some(create) = create else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the caller passes valid parameters of this command.
    let result = unsafe { create(physical_device, info, allocator, device) };
    if result != vk::Result::SUCCESS {
        return result;
    }
    // SAFETY: the next function wrote the handle, and the look-up function belongs to this device.
    let kept = unsafe { functions_below(next, *device) };
    let Some(kept) = kept else {
        return vk::Result::ERROR_INITIALIZATION_FAILED;
    };
    // SAFETY: the next function succeeded, so it wrote the handle into the caller's variable.
    chain::keep_device(unsafe { *device }, kept);
    result
}

/// Returns the next function of each command that the layer intercepts. These commands are part of Vulkan 1.0, so all functions exist.
///
/// # Safety
/// `next` belongs to `device`.
unsafe fn functions_below(next: vk::PFN_vkGetDeviceProcAddr, device: vk::Device) -> Option<Device> {
    // SAFETY: the look-up function belongs to the device, and each field has the type of its command.
    unsafe {
        Some(Device {
            get_device_proc_addr: next,
            destroy: device_command(next, device, c"vkDestroyDevice")?,
            free_command_buffers: device_command(next, device, c"vkFreeCommandBuffers")?,
            begin_command_buffer: device_command(next, device, c"vkBeginCommandBuffer")?,
            end_command_buffer: device_command(next, device, c"vkEndCommandBuffer")?,
            cmd_draw: device_command(next, device, c"vkCmdDraw")?,
            cmd_draw_indexed: device_command(next, device, c"vkCmdDrawIndexed")?,
        })
    }
}

/// Implements `vkDestroyDevice`.
///
/// # Safety
/// The parameters are valid for this Vulkan command.
pub(crate) unsafe extern "system" fn destroy_device(device: vk::Device, allocator: *const vk::AllocationCallbacks<'_>) {
    if let Some(kept) = chain::take_device(device) {
        // SAFETY: the caller passes valid arguments, and the function was looked up for this device.
        unsafe { (kept.destroy)(device, allocator) };
    }
}
