//! Drivers that consist of the functions in this file. Each test thread has its own records.

use crate::generated::types::*;
use crate::handle::{Driver, InstanceHandle, MessengerHandle, PhysicalDeviceHandle, ReportCallbackHandle};
use core::cell::RefCell;
use core::ffi::CStr;
use core::mem::transmute;
use core::ptr::{from_ref, null};

/// Number of drivers.
pub(crate) const DRIVERS: usize = 2;
/// Number of queue families of a driver.
pub(crate) const FAMILIES: u32 = 3;

/// Behaviour of a driver, and a record of its calls.
#[derive(Default)]
pub(crate) struct FakeDriver {
    /// Result of creating a messenger.
    pub(crate) result: VkResult,
    /// `true` if the driver has no messengers.
    pub(crate) no_messengers: bool,
    /// `true` if the driver has the functions of Vulkan 1.1 and its device reports a newer version.
    pub(crate) newer: bool,
    /// Messengers and callbacks that exist.
    pub(crate) live: Vec<u64>,
    /// Number of messengers and callbacks ever created.
    pub(crate) made: u64,
    /// Commands that the driver received, for the tests that check them.
    pub(crate) calls: Vec<&'static str>,
    /// Handles for which the driver received a name.
    pub(crate) named: Vec<u64>,
}

thread_local! {
    static STATE: RefCell<[FakeDriver; DRIVERS]> = RefCell::default();
}

/// Reads or changes a driver.
pub(crate) fn driver<T>(index: usize, look: impl FnOnce(&mut FakeDriver) -> T) -> T {
    STATE.with_borrow_mut(|drivers| look(&mut drivers[index]))
}

/// A dispatchable object of a driver.
#[repr(C)]
struct Object([usize; 2]);

static INSTANCES: [Object; DRIVERS] = [const { Object([0x01CD_C0DE, 0]) }; DRIVERS];
static PHYSICAL_DEVICES: [Object; DRIVERS] = [const { Object([0x01CD_C0DE, 1]) }; DRIVERS];

/// Returns the driver's handle of its instance.
pub(crate) fn instance_of_driver(index: usize) -> u64 {
    from_ref(&INSTANCES[index]) as usize as u64
}

/// Returns the driver's handle of its physical device.
pub(crate) fn physical_device_of_driver(index: usize) -> u64 {
    from_ref(&PHYSICAL_DEVICES[index]) as usize as u64
}

const OFFERED: [&CStr; 4] = [
    c"VK_EXT_debug_utils",
    c"VK_EXT_debug_report",
    c"VK_KHR_external_memory_capabilities",
    c"VK_KHR_get_physical_device_properties2",
];

type D = Driver;

unsafe extern "system" fn negotiate(_: *mut u32) -> VkResult {
    VkResult::VK_SUCCESS
}

unsafe extern "system" fn extensions(_: *const c_char, count: *mut u32, out: *mut VkExtensionProperties) -> VkResult {
    let offered = OFFERED.map(|name| {
        let mut extension = VkExtensionProperties {
            extensionName: [0; 256],
            specVersion: 1,
        };
        crate::ffi::set_fixed_text(&mut extension.extensionName, name.to_bytes());
        extension
    });
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    unsafe { crate::ffi::write_all(count, out, &offered) }
}

unsafe extern "system" fn device_extensions(
    _: VkPhysicalDevice<D>,
    _: *const c_char,
    count: *mut u32,
    out: *mut VkExtensionProperties,
) -> VkResult {
    let mut tooling = VkExtensionProperties {
        extensionName: [0; 256],
        specVersion: 1,
    };
    crate::ffi::set_fixed_text(&mut tooling.extensionName, b"VK_EXT_tooling_info");
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    unsafe { crate::ffi::write_all(count, out, &[tooling]) }
}

unsafe extern "system" fn create_instance<const N: usize>(
    _: *const VkInstanceCreateInfo,
    _: *const VkAllocationCallbacks,
    out: *mut VkInstance<D>,
) -> VkResult {
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    unsafe { *out = InstanceHandle::from_raw(from_ref(&INSTANCES[N]).cast_mut().cast()) };
    VkResult::VK_SUCCESS
}

unsafe extern "system" fn destroy_instance<const N: usize>(_: VkInstance<D>, _: *const VkAllocationCallbacks) {
    driver(N, |driver| driver.calls.push("vkDestroyInstance"));
}

unsafe extern "system" fn enumerate<const N: usize>(
    _: VkInstance<D>,
    count: *mut u32,
    out: *mut VkPhysicalDevice<D>,
) -> VkResult {
    let device = PhysicalDeviceHandle::from_raw(from_ref(&PHYSICAL_DEVICES[N]).cast_mut().cast());
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    unsafe { crate::ffi::write_all(count, out, &[device]) }
}

unsafe extern "system" fn features(_: VkPhysicalDevice<D>, out: *mut VkPhysicalDeviceFeatures) {
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    unsafe { (*out).logicOp = VK_TRUE };
}

unsafe extern "system" fn features2<const N: usize>(_: VkPhysicalDevice<D>, _: *mut VkPhysicalDeviceFeatures2) {
    driver(N, |driver| driver.calls.push("vkGetPhysicalDeviceFeatures2"));
}

unsafe extern "system" fn features2_khr<const N: usize>(_: VkPhysicalDevice<D>, _: *mut VkPhysicalDeviceFeatures2) {
    driver(N, |driver| driver.calls.push("vkGetPhysicalDeviceFeatures2KHR"));
}

unsafe extern "system" fn properties<const N: usize>(_: VkPhysicalDevice<D>, out: *mut VkPhysicalDeviceProperties) {
    let minor = if driver(N, |driver| driver.newer) { 3 } else { 0 };
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    unsafe { (*out).apiVersion = discovery::version::ApiVersion::new(1, minor).0 };
}

unsafe extern "system" fn tools<const N: usize>(
    _: VkPhysicalDevice<D>,
    _: *mut u32,
    _: *mut VkPhysicalDeviceToolProperties,
) -> VkResult {
    driver(N, |driver| driver.calls.push("vkGetPhysicalDeviceToolProperties"));
    VkResult::VK_INCOMPLETE
}

unsafe extern "system" fn format(_: VkPhysicalDevice<D>, _: VkFormat, out: *mut VkFormatProperties) {
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    unsafe { (*out).bufferFeatures.0 = 7 };
}

unsafe extern "system" fn image_format(
    _: VkPhysicalDevice<D>,
    _: VkFormat,
    _: VkImageType,
    _: VkImageTiling,
    _: VkImageUsageFlags,
    _: VkImageCreateFlags,
    out: *mut VkImageFormatProperties,
) -> VkResult {
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    unsafe { (*out).maxMipLevels = 5 };
    VkResult::VK_SUCCESS
}

/// Reports more elements than there is room for, as a faulty driver might (DRV-169).
unsafe extern "system" fn families(_: VkPhysicalDevice<D>, count: *mut u32, out: *mut VkQueueFamilyProperties) {
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    unsafe {
        if !out.is_null() {
            for index in 0..(*count).min(FAMILIES) {
                (*out.add(index as usize)).queueCount = 10 + index;
            }
        }
        *count = FAMILIES;
    }
}

unsafe extern "system" fn memory(_: VkPhysicalDevice<D>, out: *mut VkPhysicalDeviceMemoryProperties) {
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    unsafe { (*out).memoryHeapCount = 4 };
}

unsafe extern "system" fn sparse(
    _: VkPhysicalDevice<D>,
    _: VkFormat,
    _: VkImageType,
    _: VkSampleCountFlagBits,
    _: VkImageUsageFlags,
    _: VkImageTiling,
    count: *mut u32,
    _: *mut VkSparseImageFormatProperties,
) {
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    unsafe { *count = 0 };
}

unsafe extern "system" fn create_messenger<const N: usize>(
    _: VkInstance<D>,
    _: *const VkDebugUtilsMessengerCreateInfoEXT,
    _: *const VkAllocationCallbacks,
    out: *mut MessengerHandle<D>,
) -> VkResult {
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    driver(N, |driver| unsafe { create(driver, out.cast()) })
}

unsafe extern "system" fn create_report<const N: usize>(
    _: VkInstance<D>,
    _: *const VkDebugReportCallbackCreateInfoEXT,
    _: *const VkAllocationCallbacks,
    out: *mut ReportCallbackHandle<D>,
) -> VkResult {
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    driver(N, |driver| unsafe { create(driver, out.cast()) })
}

/// Creates a messenger or callback, and writes its handle to `out`.
///
/// # Safety
/// `out` is writable.
unsafe fn create(driver: &mut FakeDriver, out: *mut u64) -> VkResult {
    if driver.result == VkResult::VK_SUCCESS {
        driver.made += 1;
        driver.live.push(driver.made);
        // SAFETY: the caller promises that `out` is writable.
        unsafe { *out = driver.made };
    }
    driver.result
}

unsafe extern "system" fn destroy_messenger<const N: usize>(
    _: VkInstance<D>,
    handle: MessengerHandle<D>,
    _: *const VkAllocationCallbacks,
) {
    driver(N, |driver| {
        driver.calls.push("vkDestroyDebugUtilsMessengerEXT");
        assert!(
            driver.live.contains(&handle.raw()),
            "the handle is a live messenger of the driver"
        );
        driver.live.retain(|&live| live != handle.raw());
    });
}

unsafe extern "system" fn destroy_report<const N: usize>(
    _: VkInstance<D>,
    handle: ReportCallbackHandle<D>,
    _: *const VkAllocationCallbacks,
) {
    driver(N, |driver| driver.live.retain(|&live| live != handle.raw()));
}

unsafe extern "system" fn submit<const N: usize>(
    _: VkInstance<D>,
    _: VkDebugUtilsMessageSeverityFlagBitsEXT,
    _: VkDebugUtilsMessageTypeFlagsEXT,
    _: *const VkDebugUtilsMessengerCallbackDataEXT,
) {
    driver(N, |driver| driver.calls.push("vkSubmitDebugUtilsMessageEXT"));
}

unsafe extern "system" fn report_message<const N: usize>(
    _: VkInstance<D>,
    _: VkDebugReportFlagsEXT,
    _: VkDebugReportObjectTypeEXT,
    _: u64,
    _: usize,
    _: i32,
    _: *const c_char,
    _: *const c_char,
) {
    driver(N, |driver| driver.calls.push("vkDebugReportMessageEXT"));
}

unsafe extern "system" fn create_device(
    _: VkPhysicalDevice<D>,
    _: *const VkDeviceCreateInfo,
    _: *const VkAllocationCallbacks,
    out: *mut VkDevice,
) -> VkResult {
    // SAFETY: the loader passes a writable pointer; `destroy_device` frees the object.
    unsafe { *out = VkDevice(Box::into_raw(Box::new(Object([0x01CD_C0DE, 2]))).cast()) };
    VkResult::VK_SUCCESS
}

unsafe extern "system" fn destroy_device(device: VkDevice, _: *const VkAllocationCallbacks) {
    // SAFETY: the object came from `create_device`.
    drop(unsafe { Box::from_raw(device.0.cast::<Object>()) });
}

unsafe extern "system" fn set_name<const N: usize>(
    _: VkDevice,
    info: *const VkDebugUtilsObjectNameInfoEXT,
) -> VkResult {
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    let handle = unsafe { (*info).objectHandle };
    driver(N, |driver| driver.named.push(handle));
    VkResult::VK_SUCCESS
}

unsafe extern "system" fn gdpa<const N: usize>(_: VkDevice, name: *const c_char) -> PFN_vkVoidFunction {
    // SAFETY: the loader passes a terminated name.
    let function = match unsafe { crate::ffi::c_text(name) } {
        b"vkDestroyDevice" => destroy_device as *const (),
        b"vkSetDebugUtilsObjectNameEXT" => set_name::<N> as *const (),
        _ => null(),
    };
    // SAFETY: the function is null or has the signature that belongs to the name.
    unsafe { transmute::<*const (), PFN_vkVoidFunction>(function) }
}

/// Looks up a function of a driver.
pub(super) unsafe extern "system" fn gipa<const N: usize>(_: VkInstance<D>, name: *const c_char) -> PFN_vkVoidFunction {
    let (newer, messengers) = driver(N, |driver| (driver.newer, !driver.no_messengers));
    // SAFETY: the loader passes a terminated name.
    let function = match unsafe { crate::ffi::c_text(name) } {
        b"vk_icdNegotiateLoaderICDInterfaceVersion" => negotiate as *const (),
        b"vkEnumerateInstanceExtensionProperties" => extensions as *const (),
        b"vkEnumerateDeviceExtensionProperties" => device_extensions as *const (),
        b"vkCreateInstance" => create_instance::<N> as *const (),
        b"vkDestroyInstance" => destroy_instance::<N> as *const (),
        b"vkEnumeratePhysicalDevices" => enumerate::<N> as *const (),
        b"vkGetPhysicalDeviceFeatures" => features as *const (),
        b"vkGetPhysicalDeviceProperties" => properties::<N> as *const (),
        b"vkGetPhysicalDeviceFormatProperties" => format as *const (),
        b"vkGetPhysicalDeviceImageFormatProperties" => image_format as *const (),
        b"vkGetPhysicalDeviceQueueFamilyProperties" => families as *const (),
        b"vkGetPhysicalDeviceMemoryProperties" => memory as *const (),
        b"vkGetPhysicalDeviceSparseImageFormatProperties" => sparse as *const (),
        b"vkCreateDevice" => create_device as *const (),
        b"vkGetDeviceProcAddr" => gdpa::<N> as *const (),
        b"vkGetPhysicalDeviceFeatures2" if newer => features2::<N> as *const (),
        b"vkGetPhysicalDeviceFeatures2KHR" if newer => features2_khr::<N> as *const (),
        b"vkGetPhysicalDeviceToolProperties" => tools::<N> as *const (),
        b"vkCreateDebugUtilsMessengerEXT" if messengers => create_messenger::<N> as *const (),
        b"vkDestroyDebugUtilsMessengerEXT" if messengers => destroy_messenger::<N> as *const (),
        b"vkSubmitDebugUtilsMessageEXT" if messengers => submit::<N> as *const (),
        b"vkCreateDebugReportCallbackEXT" if messengers => create_report::<N> as *const (),
        b"vkDestroyDebugReportCallbackEXT" if messengers => destroy_report::<N> as *const (),
        b"vkDebugReportMessageEXT" if messengers => report_message::<N> as *const (),
        _ => null(),
    };
    // SAFETY: the function is null or has the signature that belongs to the name.
    unsafe { transmute::<*const (), PFN_vkVoidFunction>(function) }
}
