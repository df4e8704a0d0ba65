//! Fuzzes `pNext` chains of every call that reads a chain. The call must succeed with any structures in the chain, in any order and number.
//! The links of the chain must not change, and structures that the loader does not know must remain unchanged.
//!
//! Structures are as small as their type, and unknown structures have only the members `sType` and `pNext`. AddressSanitizer therefore
//! detects an access with the wrong type. The driver is part of the target and offers Vulkan 1.0, so the loader itself answers newer
//! queries.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use super::chain::Chain;
use super::input::Input;
use crate::generated::trampoline as vk;
use crate::generated::types::*;
use crate::handle::{App, InstanceHandle, PhysicalDeviceHandle, SurfaceHandle};

const EXTENSIONS: [&CStr; 6] = [
    c"VK_LUNARG_direct_driver_loading",
    c"VK_EXT_debug_utils",
    c"VK_EXT_debug_report",
    c"VK_KHR_surface",
    c"VK_EXT_headless_surface",
    c"VK_KHR_get_surface_capabilities2",
];

/// Returns a structure that is zero except for its type and its chain.
///
/// # Safety
/// `T` begins with a type and a chain, and zeros are a valid value of `T`.
unsafe fn head<T>(of_type: VkStructureType, chain: *mut c_void) -> T {
    // SAFETY: the caller promises a structure that begins with a type and a chain, and for which zeros are valid.
    unsafe {
        let mut structure: T = std::mem::zeroed();
        let base = std::ptr::from_mut(&mut structure).cast::<VkBaseOutStructure>();
        (*base).sType = of_type;
        (*base).pNext = chain.cast();
        structure
    }
}

/// Creates an instance with the chain. Returns `None` if the chain has no usable driver.
fn create_instance(chain: &mut Chain) -> Option<VkInstance<App>> {
    let names = EXTENSIONS.map(CStr::as_ptr);
    // SAFETY: the structure begins with a type and a chain, and zeros are a valid value.
    let mut info: VkInstanceCreateInfo = unsafe { head(VkInstanceCreateInfo::STRUCTURE_TYPE, chain.head()) };
    info.enabledExtensionCount = names.len() as u32;
    info.ppEnabledExtensionNames = names.as_ptr();
    let mut instance = InstanceHandle::NULL;
    // SAFETY: the create info and its chain are valid during the call, and the place for the handle is writable.
    let result = unsafe { vk::vkCreateInstance(&info, null(), &mut instance) };
    chain.check(false);
    if chain.gives_driver() {
        assert_eq!(result, VkResult::VK_SUCCESS);
        return Some(instance);
    }
    assert_eq!(result, VkResult::VK_ERROR_INCOMPATIBLE_DRIVER);
    None
}

fn devices(instance: VkInstance<App>) -> [VkPhysicalDevice<App>; 2] {
    let mut devices = [PhysicalDeviceHandle::NULL; 2];
    let mut count = 2;
    // SAFETY: the instance is valid, and `count` is the number of elements of the array.
    let result = unsafe { vk::vkEnumeratePhysicalDevices(instance, &mut count, devices.as_mut_ptr()) };
    assert_eq!(count, 2);
    // The chain may contain several lists of drivers. The query still returns two devices, because the loader uses only the first list.
    assert_eq!(result, VkResult::VK_SUCCESS);
    devices
}

/// Calls a query with a structure whose chain the input describes.
fn query<T>(of_type: VkStructureType, input: &mut Input<'_>, call: impl FnOnce(*mut T)) {
    let mut chain = Chain::read(input, &[]);
    // SAFETY: these structures consist of numbers after the type and the chain.
    let mut structure: T = unsafe { head(of_type, chain.head()) };
    call(&mut structure);
    chain.check(true);
}

fn queries(device: VkPhysicalDevice<App>, input: &mut Input<'_>) {
    // SAFETY: the physical device belongs to a live instance, and each structure has the type that its command requires.
    unsafe {
        query(VkPhysicalDeviceFeatures2::STRUCTURE_TYPE, input, |out| {
            vk::vkGetPhysicalDeviceFeatures2(device, out);
        });
        query(VkPhysicalDeviceProperties2::STRUCTURE_TYPE, input, |out| {
            vk::vkGetPhysicalDeviceProperties2(device, out);
        });
        query(VkPhysicalDeviceMemoryProperties2::STRUCTURE_TYPE, input, |out| {
            vk::vkGetPhysicalDeviceMemoryProperties2(device, out);
        });
        query(VkFormatProperties2::STRUCTURE_TYPE, input, |out| {
            vk::vkGetPhysicalDeviceFormatProperties2(device, VkFormat(0), out);
        });
        query(VkQueueFamilyProperties2::STRUCTURE_TYPE, input, |out| {
            let mut count = 1;
            vk::vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, out);
            assert_eq!(count, 1);
        });
    }
    image_formats(device, input);
}

fn image_formats(device: VkPhysicalDevice<App>, input: &mut Input<'_>) {
    let (mut asked, mut answered) = (Chain::read(input, &[]), Chain::read(input, &[]));
    // SAFETY: the physical device belongs to a live instance, and the structures consist of numbers.
    let result = unsafe {
        let info: VkPhysicalDeviceImageFormatInfo2 =
            head(VkPhysicalDeviceImageFormatInfo2::STRUCTURE_TYPE, asked.head());
        let mut out: VkImageFormatProperties2 = head(VkImageFormatProperties2::STRUCTURE_TYPE, answered.head());
        vk::vkGetPhysicalDeviceImageFormatProperties2(device, &info, &mut out)
    };
    asked.check(false);
    answered.check(true);
    let expected = if asked.is_empty() && answered.is_empty() {
        VkResult::VK_SUCCESS
    } else {
        VkResult::VK_ERROR_FORMAT_NOT_SUPPORTED
    };
    assert_eq!(result, expected);
}

fn groups(instance: VkInstance<App>, input: &mut Input<'_>) {
    let mut chains = [Chain::read(input, &[]), Chain::read(input, &[])];
    let room = usize::from(input.byte() % 3);
    let mut count = room as u32;
    // SAFETY: the instance is live. The structures consist of numbers and handles, for which zeros are valid.
    unsafe {
        let of_type = VkPhysicalDeviceGroupProperties::<App>::STRUCTURE_TYPE;
        let heads = [chains[0].head(), chains[1].head()];
        let mut groups: [VkPhysicalDeviceGroupProperties<App>; 2] = heads.map(|chain| head(of_type, chain));
        let result = vk::vkEnumeratePhysicalDeviceGroups(instance, &mut count, groups.as_mut_ptr());
        assert_eq!(count as usize, room);
        let complete = result == VkResult::VK_SUCCESS && room == 2;
        assert!(complete || result == VkResult::VK_INCOMPLETE);
        for (group, head) in groups.iter().zip(heads) {
            assert_eq!(group.pNext, head);
        }
    }
    chains.iter().for_each(|chain| chain.check(true));
}

fn create_device(devices: &[VkPhysicalDevice<App>; 2], input: &mut Input<'_>) {
    let named = usize::from(input.byte()) % 3;
    let mut chain = Chain::read(input, &devices[..named]);
    // SAFETY: the physical device belongs to a live instance, and all structures are valid during the calls.
    unsafe {
        let info: VkDeviceCreateInfo = head(VkDeviceCreateInfo::STRUCTURE_TYPE, chain.head());
        let mut device = VkDevice(null_mut());
        let result = vk::vkCreateDevice(devices[0], &info, null(), &mut device);
        chain.check(false);
        if result == VkResult::VK_SUCCESS {
            vk::vkDestroyDevice(device, null());
        } else {
            assert_eq!(result, VkResult::VK_ERROR_INITIALIZATION_FAILED);
        }
    }
}

fn surface(instance: VkInstance<App>, device: VkPhysicalDevice<App>, input: &mut Input<'_>) {
    let mut chain = Chain::read(input, &[]);
    // SAFETY: the instance is live, the physical device belongs to it, and all structures are valid during the calls.
    unsafe {
        let info: VkHeadlessSurfaceCreateInfoEXT = head(VkHeadlessSurfaceCreateInfoEXT::STRUCTURE_TYPE, chain.head());
        let mut surface = SurfaceHandle::NULL;
        let result = vk::vkCreateHeadlessSurfaceEXT(instance, &info, null(), &mut surface);
        chain.check(false);
        if !chain.is_empty() {
            assert_eq!(result, VkResult::VK_ERROR_EXTENSION_NOT_PRESENT);
            return;
        }
        assert_eq!(result, VkResult::VK_SUCCESS);
        capabilities(device, surface, input);
        vk::vkDestroySurfaceKHR(instance, surface, null());
    }
}

/// Queries the capabilities of a surface, with chains of the input.
///
/// # Safety
/// Both handles are live.
unsafe fn capabilities(device: VkPhysicalDevice<App>, surface: VkSurfaceKHR<App>, input: &mut Input<'_>) {
    let (mut asked, mut answered) = (Chain::read(input, &[]), Chain::read(input, &[]));
    // SAFETY: all structures and chains are valid during the calls, and the handles are live.
    unsafe {
        let mut info: VkPhysicalDeviceSurfaceInfo2KHR<App> =
            head(VkPhysicalDeviceSurfaceInfo2KHR::<App>::STRUCTURE_TYPE, asked.head());
        info.surface = surface;
        let mut out: VkSurfaceCapabilities2KHR = head(VkSurfaceCapabilities2KHR::STRUCTURE_TYPE, answered.head());
        let result = vk::vkGetPhysicalDeviceSurfaceCapabilities2KHR(device, &info, &mut out);
        assert_eq!(result, VkResult::VK_SUCCESS);
    }
    asked.check(false);
    answered.check(true);
}

/// Creates an instance with a chain of the input, and calls every function that reads chains.
pub fn chains(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut chain = Chain::read(&mut input, &[]);
    let Some(instance) = create_instance(&mut chain) else {
        return;
    };
    let devices = devices(instance);
    queries(devices[0], &mut input);
    groups(instance, &mut input);
    create_device(&devices, &mut input);
    surface(instance, devices[1], &mut input);
    // SAFETY: the instance is valid, and the callbacks of its chain are valid too.
    unsafe { vk::vkDestroyInstance(instance, null()) };
    chain.check(false);
}
