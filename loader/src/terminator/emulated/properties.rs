//! Physical-device queries that fill one structure and whose names end in `2` (DRV-159).

use crate::generated::types::{
    VK_FALSE, VkFormat, VkFormatProperties2, VkImageFormatProperties2, VkPhysicalDevice, VkPhysicalDeviceFeatures2,
    VkPhysicalDeviceIDProperties, VkPhysicalDeviceImageFormatInfo2, VkPhysicalDeviceMemoryProperties2,
    VkPhysicalDeviceMultiviewFeatures, VkPhysicalDeviceProperties2, VkResult,
};
use crate::handle::Chain;
use crate::target::{Target, none};
use crate::translation;
use discovery::extension::InstanceExtension;
use discovery::journal::LogBits;

/// Extension that provides the commands of this module before Vulkan 1.1 (DRV-160).
const EXTENSION: InstanceExtension = InstanceExtension::VK_KHR_get_physical_device_properties2;

/// Implements `vkGetPhysicalDeviceFeatures2` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_features2(
    physical_device: VkPhysicalDevice<Chain>,
    features: *mut VkPhysicalDeviceFeatures2,
) {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceFeatures2") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceFeatures2,
        table.vkGetPhysicalDeviceFeatures2KHR,
        EXTENSION,
    );
    if let Some(newer) = newer {
        // SAFETY: function and device belong to the same driver; Vulkan requires a valid structure.
        return unsafe { newer(target.handle, features) };
    }
    target.announce(Some("vkGetPhysicalDeviceFeatures"));
    let Some(older) = table.vkGetPhysicalDeviceFeatures else {
        translation::unsupported("GetPhysicalDeviceFeatures")
    };
    // SAFETY: function and device belong to the same driver; Vulkan requires a valid structure.
    unsafe { older(target.handle, &raw mut (*features).features) };
    // SAFETY: Vulkan requires a valid structure with a valid chain.
    unsafe {
        target.ignore_chain((*features).pNext, "pFeatures->", |kind, at| {
            let multiview = kind == VkPhysicalDeviceMultiviewFeatures::STRUCTURE_TYPE;
            if multiview {
                let at = &mut *at.cast::<VkPhysicalDeviceMultiviewFeatures>();
                at.multiview = VK_FALSE;
                at.multiviewGeometryShader = VK_FALSE;
                at.multiviewTessellationShader = VK_FALSE;
            }
            multiview
        });
    }
}

/// Implements `vkGetPhysicalDeviceProperties2` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_properties2(
    physical_device: VkPhysicalDevice<Chain>,
    properties: *mut VkPhysicalDeviceProperties2,
) {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceProperties2") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceProperties2,
        table.vkGetPhysicalDeviceProperties2KHR,
        EXTENSION,
    );
    if let Some(newer) = newer {
        // SAFETY: function and device belong to the same driver; Vulkan requires a valid structure.
        return unsafe { newer(target.handle, properties) };
    }
    target.announce(Some("vkGetPhysicalDeviceProperties"));
    let Some(older) = table.vkGetPhysicalDeviceProperties else {
        translation::unsupported("GetPhysicalDeviceProperties")
    };
    // SAFETY: function and device belong to the same driver; Vulkan requires a valid structure.
    unsafe { older(target.handle, &raw mut (*properties).properties) };
    let identified = target.enabled(InstanceExtension::VK_KHR_external_memory_capabilities);
    // SAFETY: Vulkan requires a valid structure with a valid chain.
    unsafe {
        target.ignore_chain((*properties).pNext, "pProperties->", |kind, at| {
            let ids = identified && kind == VkPhysicalDeviceIDProperties::STRUCTURE_TYPE;
            if ids {
                zero_ids(&target, &mut *at.cast::<VkPhysicalDeviceIDProperties>());
            }
            ids
        });
    }
}

fn zero_ids(target: &Target, ids: &mut VkPhysicalDeviceIDProperties) {
    target.log(
        LogBits::WARN,
        format_args!(
            "Emulation cannot generate unique IDs for struct VkPhysicalDeviceIDProperties - setting IDs to zero instead"
        ),
    );
    ids.deviceUUID.fill(0);
    ids.driverUUID.fill(0);
    ids.deviceLUIDValid = VK_FALSE;
}

/// Implements `vkGetPhysicalDeviceFormatProperties2` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_format_properties2(
    physical_device: VkPhysicalDevice<Chain>,
    format: VkFormat,
    properties: *mut VkFormatProperties2,
) {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceFormatProperties2") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceFormatProperties2,
        table.vkGetPhysicalDeviceFormatProperties2KHR,
        EXTENSION,
    );
    if let Some(newer) = newer {
        // SAFETY: function and device belong to the same driver; Vulkan requires a valid structure.
        return unsafe { newer(target.handle, format, properties) };
    }
    target.announce(Some("vkGetPhysicalDeviceFormatProperties"));
    let Some(older) = table.vkGetPhysicalDeviceFormatProperties else {
        translation::unsupported("GetPhysicalDeviceFormatProperties")
    };
    // SAFETY: function and device belong to the same driver; Vulkan requires a valid structure with a valid chain.
    unsafe {
        older(target.handle, format, &raw mut (*properties).formatProperties);
        target.ignore_chain((*properties).pNext, "pFormatProperties->", none);
    }
}

/// Implements `vkGetPhysicalDeviceImageFormatProperties2` at the end of the chain. The older command cannot answer queries with a chain, so
/// the format in such a query is reported as unsupported.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_image_format_properties2(
    physical_device: VkPhysicalDevice<Chain>,
    info: *const VkPhysicalDeviceImageFormatInfo2,
    properties: *mut VkImageFormatProperties2,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceImageFormatProperties2") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceImageFormatProperties2,
        table.vkGetPhysicalDeviceImageFormatProperties2KHR,
        EXTENSION,
    );
    if let Some(newer) = newer {
        // SAFETY: function and device belong to the same driver; Vulkan requires valid structures.
        return unsafe { newer(target.handle, info, properties) };
    }
    target.announce(Some("vkGetPhysicalDeviceImageFormatProperties"));
    // SAFETY: Vulkan requires two valid structures.
    let (asked, properties) = unsafe { (&*info, &mut *properties) };
    if !asked.pNext.is_null() || !properties.pNext.is_null() {
        return VkResult::VK_ERROR_FORMAT_NOT_SUPPORTED;
    }
    let Some(older) = table.vkGetPhysicalDeviceImageFormatProperties else {
        translation::unsupported("GetPhysicalDeviceImageFormatProperties")
    };
    // SAFETY: function and device belong to the same driver; the structure is writable.
    unsafe {
        older(
            target.handle,
            asked.format,
            asked.r#type,
            asked.tiling,
            asked.usage,
            asked.flags,
            &mut properties.imageFormatProperties,
        )
    }
}

/// Implements `vkGetPhysicalDeviceMemoryProperties2` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn get_physical_device_memory_properties2(
    physical_device: VkPhysicalDevice<Chain>,
    properties: *mut VkPhysicalDeviceMemoryProperties2,
) {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(physical_device, "vkGetPhysicalDeviceMemoryProperties2") };
    let table = &target.driver.table;
    let newer = target.choose(
        table.vkGetPhysicalDeviceMemoryProperties2,
        table.vkGetPhysicalDeviceMemoryProperties2KHR,
        EXTENSION,
    );
    if let Some(newer) = newer {
        // SAFETY: function and device belong to the same driver; Vulkan requires a valid structure.
        return unsafe { newer(target.handle, properties) };
    }
    target.announce(Some("vkGetPhysicalDeviceMemoryProperties"));
    let Some(older) = table.vkGetPhysicalDeviceMemoryProperties else {
        translation::unsupported("GetPhysicalDeviceMemoryProperties")
    };
    // SAFETY: function and device belong to the same driver; Vulkan requires a valid structure with a valid chain.
    unsafe {
        older(target.handle, &raw mut (*properties).memoryProperties);
        target.ignore_chain((*properties).pNext, "pMemoryProperties->", none);
    }
}
