//! A driver for `VK_LUNARG_direct_driver_loading`, whose functions are in this file. The driver supports Vulkan 1.0 and no extending
//! structures, so the loader itself answers all newer queries.

use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::{from_ref, null};

use crate::ffi::{c_text, set_fixed_text, write_all};
use crate::generated::types::*;
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};

/// Dispatchable object, with the loader's magic number in its first word.
#[repr(C)]
struct Object([usize; 2]);

static INSTANCE: Object = Object([0x01CD_C0DE, 0]);
static DEVICES: [Object; 2] = [Object([0x01CD_C0DE, 1]), Object([0x01CD_C0DE, 2])];

/// Instance extensions that the driver offers. The driver has no function of these extensions.
const OFFERED: [&CStr; 4] = [
    c"VK_KHR_surface",
    c"VK_EXT_headless_surface",
    c"VK_KHR_get_surface_capabilities2",
    c"VK_KHR_external_memory_capabilities",
];

type Callbacks = *const VkAllocationCallbacks;
type Device = VkPhysicalDevice<Driver>;

unsafe extern "system" fn negotiate(_: *mut u32) -> VkResult {
    VkResult::VK_SUCCESS
}

unsafe extern "system" fn extensions(_: *const c_char, count: *mut u32, out: *mut VkExtensionProperties) -> VkResult {
    let offered = OFFERED.map(|name| {
        let mut extension = VkExtensionProperties {
            extensionName: [0; 256],
            specVersion: 1,
        };
        set_fixed_text(&mut extension.extensionName, name.to_bytes());
        extension
    });
    // SAFETY: the loader passes valid pointers, as the specification of this command requires.
    unsafe { write_all(count, out, &offered) }
}

unsafe extern "system" fn no_extensions(
    _: Device,
    _: *const c_char,
    count: *mut u32,
    out: *mut VkExtensionProperties,
) -> VkResult {
    // SAFETY: the loader passes valid pointers, as the specification of this command requires.
    unsafe { write_all(count, out, &[]) }
}

unsafe extern "system" fn create_instance(
    _: *const VkInstanceCreateInfo,
    _: Callbacks,
    out: *mut VkInstance<Driver>,
) -> VkResult {
    // SAFETY: the loader passes valid pointers, as the specification of this command requires.
    unsafe { *out = InstanceHandle::from_raw(from_ref(&INSTANCE).cast_mut().cast()) };
    VkResult::VK_SUCCESS
}

unsafe extern "system" fn destroy_instance(_: VkInstance<Driver>, _: Callbacks) {}

unsafe extern "system" fn enumerate(_: VkInstance<Driver>, count: *mut u32, out: *mut Device) -> VkResult {
    let devices =
        [0, 1].map(|index: usize| PhysicalDeviceHandle::from_raw(from_ref(&DEVICES[index]).cast_mut().cast()));
    // SAFETY: the loader passes valid pointers, as the specification of this command requires.
    unsafe { write_all(count, out, &devices) }
}

/// Sets all bytes of a structure to 1.
///
/// # Safety
/// `out` is writable, and all bytes are valid for its type.
unsafe fn fill<T>(out: *mut T) {
    // SAFETY: the caller promises a writable structure for which any bytes are valid.
    unsafe { out.cast::<u8>().write_bytes(1, size_of::<T>()) };
}

unsafe extern "system" fn features(_: Device, out: *mut VkPhysicalDeviceFeatures) {
    // SAFETY: the loader passes a writable structure, which consists of numbers.
    unsafe { fill(out) };
}

unsafe extern "system" fn properties(_: Device, out: *mut VkPhysicalDeviceProperties) {
    // SAFETY: the loader passes a writable structure, which consists of numbers, so zeros are valid.
    unsafe {
        out.write_bytes(0, 1);
        (*out).apiVersion = 1 << 22;
    }
}

unsafe extern "system" fn format(_: Device, _: VkFormat, out: *mut VkFormatProperties) {
    // SAFETY: the loader passes a writable structure, which consists of numbers.
    unsafe { fill(out) };
}

unsafe extern "system" fn image_format(
    _: Device,
    _: VkFormat,
    _: VkImageType,
    _: VkImageTiling,
    _: VkImageUsageFlags,
    _: VkImageCreateFlags,
    out: *mut VkImageFormatProperties,
) -> VkResult {
    // SAFETY: the loader passes a writable structure, which consists of numbers.
    unsafe { fill(out) };
    VkResult::VK_SUCCESS
}

/// Returns a larger count than the array has space for, like a faulty driver (DRV-169).
unsafe extern "system" fn families(_: Device, count: *mut u32, out: *mut VkQueueFamilyProperties) {
    // SAFETY: the loader passes a writable count, and null or an array of that length, whose elements consist of numbers.
    unsafe {
        if !out.is_null() {
            (0..(*count).min(3)).for_each(|index| fill(out.add(index as usize)));
        }
        *count = 3;
    }
}

unsafe extern "system" fn memory(_: Device, out: *mut VkPhysicalDeviceMemoryProperties) {
    // SAFETY: the loader passes a writable structure, which consists of numbers.
    unsafe { fill(out) };
}

unsafe extern "system" fn sparse(
    _: Device,
    _: VkFormat,
    _: VkImageType,
    _: VkSampleCountFlagBits,
    _: VkImageUsageFlags,
    _: VkImageTiling,
    count: *mut u32,
    _: *mut VkSparseImageFormatProperties,
) {
    // SAFETY: the loader passes valid pointers, as the specification of this command requires.
    unsafe { *count = 0 };
}

unsafe extern "system" fn create_device(
    _: Device,
    _: *const VkDeviceCreateInfo,
    _: Callbacks,
    out: *mut VkDevice,
) -> VkResult {
    // SAFETY: the loader passes a writable place for the handle. `destroy_device` frees the object.
    unsafe { *out = VkDevice(Box::into_raw(Box::new(Object([0x01CD_C0DE, 3]))).cast()) };
    VkResult::VK_SUCCESS
}

unsafe extern "system" fn destroy_device(device: VkDevice, _: Callbacks) {
    // SAFETY: the object came from `create_device`.
    drop(unsafe { Box::from_raw(device.0.cast::<Object>()) });
}

unsafe extern "system" fn device_lookup(_: VkDevice, name: *const c_char) -> PFN_vkVoidFunction {
    // SAFETY: the loader passes a terminated name.
    let function = match unsafe { c_text(name) } {
        b"vkDestroyDevice" => destroy_device as *const c_void,
        _ => null(),
    };
    // SAFETY: `function` is null, or the address of a function with the signature that belongs to the name.
    unsafe { transmute::<*const c_void, PFN_vkVoidFunction>(function) }
}

/// Look-up function of the driver.
///
/// # Safety
/// `name` is a terminated text.
pub unsafe extern "system" fn lookup(_: VkInstance<Driver>, name: *const c_char) -> PFN_vkVoidFunction {
    // SAFETY: the loader passes a terminated name.
    let function = match unsafe { c_text(name) } {
        b"vk_icdNegotiateLoaderICDInterfaceVersion" => negotiate as *const c_void,
        b"vkEnumerateInstanceExtensionProperties" => extensions as *const c_void,
        b"vkEnumerateDeviceExtensionProperties" => no_extensions as *const c_void,
        b"vkCreateInstance" => create_instance as *const c_void,
        b"vkDestroyInstance" => destroy_instance as *const c_void,
        b"vkEnumeratePhysicalDevices" => enumerate as *const c_void,
        b"vkGetPhysicalDeviceFeatures" => features as *const c_void,
        b"vkGetPhysicalDeviceProperties" => properties as *const c_void,
        b"vkGetPhysicalDeviceFormatProperties" => format as *const c_void,
        b"vkGetPhysicalDeviceImageFormatProperties" => image_format as *const c_void,
        b"vkGetPhysicalDeviceQueueFamilyProperties" => families as *const c_void,
        b"vkGetPhysicalDeviceMemoryProperties" => memory as *const c_void,
        b"vkGetPhysicalDeviceSparseImageFormatProperties" => sparse as *const c_void,
        b"vkCreateDevice" => create_device as *const c_void,
        b"vkGetDeviceProcAddr" => device_lookup as *const c_void,
        _ => null(),
    };
    // SAFETY: `function` is null, or the address of a function with the signature that belongs to the name.
    unsafe { transmute::<*const c_void, PFN_vkVoidFunction>(function) }
}
