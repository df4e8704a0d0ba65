//! Functions of a driver that is not open yet: the table that the rest of the loader calls through.

use super::{answer, callbacks, destroy, list, lost};
use crate::generated::dispatch::DriverTable;
use crate::generated::dispatch::driver::LATE;

/// Functions of a driver that is not open yet. The named commands answer from the record if it has the answer, or store the callback until
/// the driver is opened. All other commands open the driver.
pub(super) static TABLE: DriverTable = DriverTable {
    vkDestroyInstance: Some(destroy),
    vkCreateDebugReportCallbackEXT: Some(callbacks::vkCreateDebugReportCallbackEXT),
    vkCreateDebugUtilsMessengerEXT: Some(callbacks::vkCreateDebugUtilsMessengerEXT),
    vkEnumeratePhysicalDevices: Some(list::vkEnumeratePhysicalDevices),
    vkEnumeratePhysicalDeviceGroups: Some(list::vkEnumeratePhysicalDeviceGroups),
    vkEnumeratePhysicalDeviceGroupsKHR: Some(list::vkEnumeratePhysicalDeviceGroupsKHR),
    vkEnumerateDeviceExtensionProperties: Some(list::vkEnumerateDeviceExtensionProperties),
    vkGetPhysicalDeviceProperties: Some(answer::vkGetPhysicalDeviceProperties),
    vkGetPhysicalDeviceProperties2: Some(answer::vkGetPhysicalDeviceProperties2),
    vkGetPhysicalDeviceProperties2KHR: Some(answer::vkGetPhysicalDeviceProperties2KHR),
    vkGetPhysicalDeviceFeatures: Some(answer::vkGetPhysicalDeviceFeatures),
    vkGetPhysicalDeviceFeatures2: Some(answer::vkGetPhysicalDeviceFeatures2),
    vkGetPhysicalDeviceFeatures2KHR: Some(answer::vkGetPhysicalDeviceFeatures2KHR),
    vkGetPhysicalDeviceMemoryProperties: Some(answer::vkGetPhysicalDeviceMemoryProperties),
    vkGetPhysicalDeviceMemoryProperties2: Some(answer::vkGetPhysicalDeviceMemoryProperties2),
    vkGetPhysicalDeviceMemoryProperties2KHR: Some(answer::vkGetPhysicalDeviceMemoryProperties2KHR),
    vkGetPhysicalDeviceFormatProperties: Some(answer::vkGetPhysicalDeviceFormatProperties),
    vkGetPhysicalDeviceFormatProperties2: Some(answer::vkGetPhysicalDeviceFormatProperties2),
    vkGetPhysicalDeviceFormatProperties2KHR: Some(answer::vkGetPhysicalDeviceFormatProperties2KHR),
    vkGetPhysicalDeviceQueueFamilyProperties: Some(list::vkGetPhysicalDeviceQueueFamilyProperties),
    vkGetPhysicalDeviceQueueFamilyProperties2: Some(list::vkGetPhysicalDeviceQueueFamilyProperties2),
    vkGetPhysicalDeviceQueueFamilyProperties2KHR: Some(list::vkGetPhysicalDeviceQueueFamilyProperties2KHR),
    vkGetPhysicalDeviceToolProperties: Some(list::vkGetPhysicalDeviceToolProperties),
    vkGetPhysicalDeviceToolPropertiesEXT: Some(list::vkGetPhysicalDeviceToolPropertiesEXT),
    vkGetPhysicalDeviceExternalBufferProperties: Some(lost::vkGetPhysicalDeviceExternalBufferProperties),
    vkGetPhysicalDeviceExternalBufferPropertiesKHR: Some(lost::vkGetPhysicalDeviceExternalBufferPropertiesKHR),
    vkGetPhysicalDeviceExternalFenceProperties: Some(lost::vkGetPhysicalDeviceExternalFenceProperties),
    vkGetPhysicalDeviceExternalFencePropertiesKHR: Some(lost::vkGetPhysicalDeviceExternalFencePropertiesKHR),
    vkGetPhysicalDeviceExternalSemaphoreProperties: Some(lost::vkGetPhysicalDeviceExternalSemaphoreProperties),
    vkGetPhysicalDeviceExternalSemaphorePropertiesKHR: Some(lost::vkGetPhysicalDeviceExternalSemaphorePropertiesKHR),
    vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR: Some(
        lost::vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR,
    ),
    vkGetPhysicalDeviceSparseImageFormatProperties: Some(lost::vkGetPhysicalDeviceSparseImageFormatProperties),
    vkGetPhysicalDeviceSparseImageFormatProperties2: Some(lost::vkGetPhysicalDeviceSparseImageFormatProperties2),
    vkGetPhysicalDeviceSparseImageFormatProperties2KHR: Some(lost::vkGetPhysicalDeviceSparseImageFormatProperties2KHR),
    ..LATE
};
