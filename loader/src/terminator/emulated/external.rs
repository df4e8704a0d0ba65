//! Queries about sharing memory, semaphores and fences. If a driver lacks a query, the answer is that nothing can be shared (DRV-159).

use crate::generated::types::{
    VkExternalBufferProperties, VkExternalFenceFeatureFlags, VkExternalFenceHandleTypeFlags, VkExternalFenceProperties,
    VkExternalImageFormatPropertiesNV, VkExternalMemoryFeatureFlags, VkExternalMemoryFeatureFlagsNV,
    VkExternalMemoryHandleTypeFlags, VkExternalMemoryHandleTypeFlagsNV, VkExternalMemoryProperties,
    VkExternalSemaphoreFeatureFlags, VkExternalSemaphoreHandleTypeFlags, VkExternalSemaphoreProperties, VkFormat,
    VkImageCreateFlags, VkImageTiling, VkImageType, VkImageUsageFlags, VkPhysicalDevice,
    VkPhysicalDeviceExternalBufferInfo, VkPhysicalDeviceExternalFenceInfo, VkPhysicalDeviceExternalSemaphoreInfo,
    VkResult,
};
use crate::handle::Chain;
use crate::target::{Target, none};
use crate::translation;
use discovery::extension::InstanceExtension;

/// Implements `vkGetPhysicalDeviceExternalBufferProperties` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_external_buffer_properties(
    physical_device: VkPhysicalDevice<Chain>,
    info: *const VkPhysicalDeviceExternalBufferInfo,
    properties: *mut VkExternalBufferProperties,
) {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceExternalBufferProperties") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceExternalBufferProperties,
        table.vkGetPhysicalDeviceExternalBufferPropertiesKHR,
        InstanceExtension::VK_KHR_external_memory_capabilities,
    );
    if let Some(newer) = newer {
        // SAFETY: function and device belong to the same driver; Vulkan requires valid structures.
        return unsafe { newer(target.handle, info, properties) };
    }
    target.announce(None);
    // SAFETY: Vulkan requires valid structures with valid chains.
    unsafe {
        target.ignore_chain((*info).pNext, "pExternalBufferInfo->", none);
        (*properties).externalMemoryProperties = VkExternalMemoryProperties {
            externalMemoryFeatures: VkExternalMemoryFeatureFlags(0),
            exportFromImportedHandleTypes: VkExternalMemoryHandleTypeFlags(0),
            compatibleHandleTypes: VkExternalMemoryHandleTypeFlags(0),
        };
        target.ignore_chain((*properties).pNext, "pExternalBufferProperties->", none);
    }
}

/// Implements `vkGetPhysicalDeviceExternalSemaphoreProperties` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_external_semaphore_properties(
    physical_device: VkPhysicalDevice<Chain>,
    info: *const VkPhysicalDeviceExternalSemaphoreInfo,
    properties: *mut VkExternalSemaphoreProperties,
) {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceExternalSemaphoreProperties") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceExternalSemaphoreProperties,
        table.vkGetPhysicalDeviceExternalSemaphorePropertiesKHR,
        InstanceExtension::VK_KHR_external_semaphore_capabilities,
    );
    if let Some(newer) = newer {
        // SAFETY: function and device belong to the same driver; Vulkan requires valid structures.
        return unsafe { newer(target.handle, info, properties) };
    }
    target.announce(None);
    // SAFETY: Vulkan requires valid structures with valid chains.
    unsafe {
        target.ignore_chain((*info).pNext, "pExternalSemaphoreInfo->", none);
        (*properties).exportFromImportedHandleTypes = VkExternalSemaphoreHandleTypeFlags(0);
        (*properties).compatibleHandleTypes = VkExternalSemaphoreHandleTypeFlags(0);
        (*properties).externalSemaphoreFeatures = VkExternalSemaphoreFeatureFlags(0);
        target.ignore_chain((*properties).pNext, "pExternalSemaphoreProperties->", none);
    }
}

/// Implements `vkGetPhysicalDeviceExternalFenceProperties` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_external_fence_properties(
    physical_device: VkPhysicalDevice<Chain>,
    info: *const VkPhysicalDeviceExternalFenceInfo,
    properties: *mut VkExternalFenceProperties,
) {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceExternalFenceProperties") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceExternalFenceProperties,
        table.vkGetPhysicalDeviceExternalFencePropertiesKHR,
        InstanceExtension::VK_KHR_external_fence_capabilities,
    );
    if let Some(newer) = newer {
        // SAFETY: function and device belong to the same driver; Vulkan requires valid structures.
        return unsafe { newer(target.handle, info, properties) };
    }
    target.announce(None);
    // SAFETY: Vulkan requires valid structures with valid chains.
    unsafe {
        target.ignore_chain((*info).pNext, "pExternalFenceInfo->", none);
        (*properties).exportFromImportedHandleTypes = VkExternalFenceHandleTypeFlags(0);
        (*properties).compatibleHandleTypes = VkExternalFenceHandleTypeFlags(0);
        (*properties).externalFenceFeatures = VkExternalFenceFeatureFlags(0);
        target.ignore_chain((*properties).pNext, "pExternalFenceProperties->", none);
    }
}

/// Implements `vkGetPhysicalDeviceExternalImageFormatPropertiesNV` at the end of the chain. The extension has no core form. A driver
/// without the extension supports no external handle type. A query without a handle type is the same as the query of Vulkan 1.0 (DRV-161).
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
#[allow(clippy::too_many_arguments, reason = "the parameters of the command")]
pub(crate) unsafe fn get_physical_device_external_image_format_properties_nv(
    physical_device: VkPhysicalDevice<Chain>,
    format: VkFormat,
    kind: VkImageType,
    tiling: VkImageTiling,
    usage: VkImageUsageFlags,
    flags: VkImageCreateFlags,
    handle_type: VkExternalMemoryHandleTypeFlagsNV,
    properties: *mut VkExternalImageFormatPropertiesNV,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let (driver, physical_device) = unsafe { translation::driver_of(physical_device) };
    let table = &driver.table;
    if let Some(newer) = table.vkGetPhysicalDeviceExternalImageFormatPropertiesNV {
        // SAFETY: function and device belong to the same driver; Vulkan requires valid parameters.
        return unsafe {
            newer(
                physical_device,
                format,
                kind,
                tiling,
                usage,
                flags,
                handle_type,
                properties,
            )
        };
    }
    if handle_type.0 != 0 {
        return VkResult::VK_ERROR_FORMAT_NOT_SUPPORTED;
    }
    let Some(older) = table.vkGetPhysicalDeviceImageFormatProperties else {
        translation::unsupported("GetPhysicalDeviceImageFormatProperties")
    };
    // SAFETY: Vulkan requires a writable structure.
    let properties = unsafe { &mut *properties };
    properties.externalMemoryFeatures = VkExternalMemoryFeatureFlagsNV(0);
    properties.exportFromImportedHandleTypes = VkExternalMemoryHandleTypeFlagsNV(0);
    properties.compatibleHandleTypes = VkExternalMemoryHandleTypeFlagsNV(0);
    // SAFETY: function and device belong to the same driver; Vulkan requires valid parameters.
    unsafe {
        older(
            physical_device,
            format,
            kind,
            tiling,
            usage,
            flags,
            &mut properties.imageFormatProperties,
        )
    }
}
