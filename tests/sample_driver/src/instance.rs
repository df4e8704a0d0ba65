//! Instance of the driver, and its only physical device, with the properties that every driver must report.

use std::ffi::c_char;

use ash::vk;
use ash::vk::Handle;

/// Value at the beginning of each dispatchable object that a driver returns. The loader replaces this value in devices, queues and command
/// buffers.
pub(crate) const LOADER_MAGIC: usize = 0x01CD_C0DE;

/// Physical device of the driver.
#[repr(C)]
struct PhysicalDevice {
    /// Machine word with the value [`LOADER_MAGIC`].
    loader: usize,
}

/// Instance, which owns its physical device.
#[repr(C)]
struct Instance {
    /// Machine word with the value [`LOADER_MAGIC`].
    loader: usize,
    device: PhysicalDevice,
}

/// Version of the API that the driver implements, which is also in the manifest.
const API: u32 = vk::API_VERSION_1_0;
/// Name of the device.
const NAME: &std::ffi::CStr = c"Sample device";
/// Size of the device's memory, in bytes.
const MEMORY: u64 = 1 << 20;

/// Answers a query for an empty list with a count of zero.
///
/// # Safety
/// `count` is valid for writes.
pub(crate) unsafe fn none(count: *mut u32) -> vk::Result {
    // SAFETY: the caller promises a writable `count`.
    unsafe { *count = 0 };
    vk::Result::SUCCESS
}

/// Answers a query for a list with one element. Returns the count if `out` is null, and otherwise the element if there is space.
///
/// # Safety
/// `count` is valid for reads and writes. `out` is null, or has space for `*count` elements.
unsafe fn one<T>(element: T, count: *mut u32, out: *mut T) -> vk::Result {
    // SAFETY: the caller promises a writable `count`.
    let room = unsafe { *count };
    if !out.is_null() && room == 0 {
        return vk::Result::INCOMPLETE;
    }
    if !out.is_null() {
        // SAFETY: `out` has space for an element.
        unsafe { out.write(element) };
    }
    // SAFETY: the caller promises a writable `count`.
    unsafe { *count = 1 };
    vk::Result::SUCCESS
}

/// Implements `vkEnumerateInstanceExtensionProperties`. The driver has no instance extension.
pub(crate) unsafe extern "system" fn extensions(
    _: *const c_char,
    count: *mut u32,
    _: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: the caller of the command passes a valid count.
    unsafe { none(count) }
}

/// Implements `vkCreateInstance`.
pub(crate) unsafe extern "system" fn create(
    info: *const vk::InstanceCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    out: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: the caller of the command passes a valid structure.
    if unsafe { (*info).enabled_extension_count } > 0 {
        return vk::Result::ERROR_EXTENSION_NOT_PRESENT;
    }
    let instance = Box::new(Instance {
        loader: LOADER_MAGIC,
        device: PhysicalDevice { loader: LOADER_MAGIC },
    });
    // SAFETY: the caller of the command passes a place for the handle.
    unsafe { *out = vk::Instance::from_raw(Box::into_raw(instance) as u64) };
    vk::Result::SUCCESS
}

/// Implements `vkDestroyInstance`.
pub(crate) unsafe extern "system" fn destroy(instance: vk::Instance, _: *const vk::AllocationCallbacks<'_>) {
    let instance = instance.as_raw() as *mut Instance;
    if !instance.is_null() {
        // SAFETY: the handle came from `create`, and the caller does not use it after this call.
        drop(unsafe { Box::from_raw(instance) });
    }
}

/// Implements `vkEnumeratePhysicalDevices`.
pub(crate) unsafe extern "system" fn devices(
    instance: vk::Instance,
    count: *mut u32,
    out: *mut vk::PhysicalDevice,
) -> vk::Result {
    let instance = instance.as_raw() as *mut Instance;
    // SAFETY: the handle came from `create`, and the object is not destroyed.
    let device = unsafe { &raw mut (*instance).device };
    // SAFETY: the caller of the command passes a count and an array of that length.
    unsafe { one(vk::PhysicalDevice::from_raw(device as u64), count, out) }
}

/// Implements `vkGetPhysicalDeviceProperties`.
pub(crate) unsafe extern "system" fn properties(_: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceProperties) {
    let mut properties = vk::PhysicalDeviceProperties::default()
        .api_version(API)
        .driver_version(1)
        .device_type(vk::PhysicalDeviceType::OTHER);
    for (place, byte) in properties.device_name.iter_mut().zip(NAME.to_bytes()) {
        *place = byte.cast_signed() as c_char;
    }
    // SAFETY: the caller of the command passes a place for the structure.
    unsafe { out.write(properties) };
}

/// Implements `vkGetPhysicalDeviceFeatures`. The device has no optional feature.
pub(crate) unsafe extern "system" fn features(_: vk::PhysicalDevice, out: *mut vk::PhysicalDeviceFeatures) {
    // SAFETY: the caller of the command passes a place for the structure.
    unsafe { out.write(vk::PhysicalDeviceFeatures::default()) };
}

/// Implements `vkGetPhysicalDeviceFormatProperties`. The device supports no format.
pub(crate) unsafe extern "system" fn format_properties(
    _: vk::PhysicalDevice,
    _: vk::Format,
    out: *mut vk::FormatProperties,
) {
    // SAFETY: the caller of the command passes a place for the structure.
    unsafe { out.write(vk::FormatProperties::default()) };
}

/// Implements `vkGetPhysicalDeviceImageFormatProperties`. The device supports no format.
pub(crate) unsafe extern "system" fn image_format_properties(
    _: vk::PhysicalDevice,
    _: vk::Format,
    _: vk::ImageType,
    _: vk::ImageTiling,
    _: vk::ImageUsageFlags,
    _: vk::ImageCreateFlags,
    _: *mut vk::ImageFormatProperties,
) -> vk::Result {
    vk::Result::ERROR_FORMAT_NOT_SUPPORTED
}

/// Implements `vkGetPhysicalDeviceSparseImageFormatProperties`. The device supports no format.
pub(crate) unsafe extern "system" fn sparse_properties(
    _: vk::PhysicalDevice,
    _: vk::Format,
    _: vk::ImageType,
    _: vk::SampleCountFlags,
    _: vk::ImageUsageFlags,
    _: vk::ImageTiling,
    count: *mut u32,
    _: *mut vk::SparseImageFormatProperties,
) {
    // SAFETY: the caller of the command passes a valid count.
    unsafe { *count = 0 };
}

/// Implements `vkGetPhysicalDeviceQueueFamilyProperties`. The device has one family with one queue.
pub(crate) unsafe extern "system" fn queue_families(
    _: vk::PhysicalDevice,
    count: *mut u32,
    out: *mut vk::QueueFamilyProperties,
) {
    let family = vk::QueueFamilyProperties::default()
        .queue_flags(vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER)
        .queue_count(1);
    // SAFETY: the caller of the command passes a count and an array of that length.
    let _no_result = unsafe { one(family, count, out) };
}

/// Implements `vkGetPhysicalDeviceMemoryProperties`. The device has one heap with one type of memory.
pub(crate) unsafe extern "system" fn memory_properties(
    _: vk::PhysicalDevice,
    out: *mut vk::PhysicalDeviceMemoryProperties,
) {
    let mut memory = vk::PhysicalDeviceMemoryProperties {
        memory_type_count: 1,
        memory_heap_count: 1,
        ..Default::default()
    };
    memory.memory_heaps[0] = vk::MemoryHeap::default()
        .size(MEMORY)
        .flags(vk::MemoryHeapFlags::DEVICE_LOCAL);
    memory.memory_types[0].property_flags =
        vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    // SAFETY: the caller of the command passes a place for the structure.
    unsafe { out.write(memory) };
}
