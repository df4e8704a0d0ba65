//! A program that uses fake drivers through the public entry points.
//!
//! The loader gets these drivers through `VK_LUNARG_direct_driver_loading`, so the tests use nothing outside the process.

mod fake_driver;

pub(crate) use fake_driver::{DRIVERS, FAMILIES, driver, instance_of_driver, physical_device_of_driver};

use crate::alloc::HostAllocator;
use crate::generated::trampoline as vk;
use crate::generated::types::*;
use crate::handle::{App, Driver, InstanceHandle, MessengerHandle, PhysicalDeviceHandle};
use core::cell::RefCell;
use core::ffi::CStr;
use core::ptr::{from_mut, from_ref, null, null_mut};
use fake_driver::gipa;

thread_local! {
    static HEARD: RefCell<Vec<(u32, String)>> = const { RefCell::new(Vec::new()) };
}

/// Removes and returns the severity and text of the messages received so far.
pub(crate) fn heard() -> Vec<(u32, String)> {
    HEARD.take()
}

unsafe extern "system" fn listen(
    severity: VkDebugUtilsMessageSeverityFlagBitsEXT,
    _: VkDebugUtilsMessageTypeFlagsEXT,
    data: *const VkDebugUtilsMessengerCallbackDataEXT,
    _: *mut c_void,
) -> VkBool32 {
    // SAFETY: the loader passes valid pointers, as Vulkan requires.
    let text = unsafe { crate::ffi::c_text((*data).pMessage) };
    HEARD.with_borrow_mut(|heard| heard.push((severity.0, String::from_utf8_lossy(text).into_owned())));
    VK_FALSE
}

/// Returns the create info of a messenger whose messages [`heard`] returns.
pub(crate) fn messenger_info() -> VkDebugUtilsMessengerCreateInfoEXT {
    VkDebugUtilsMessengerCreateInfoEXT {
        sType: VkDebugUtilsMessengerCreateInfoEXT::STRUCTURE_TYPE,
        pNext: null(),
        flags: VkDebugUtilsMessengerCreateFlagsEXT(0),
        messageSeverity: VkDebugUtilsMessageSeverityFlagsEXT(0x1111),
        messageType: VkDebugUtilsMessageTypeFlagsEXT(7),
        pfnUserCallback: Some(listen),
        pUserData: null_mut(),
    }
}

/// An instance with both drivers.
pub(crate) struct Program(pub(crate) VkInstance<App>, HostAllocator);

impl Program {
    /// Creates an instance for this minor version of Vulkan 1, with the debug extensions and `more`.
    pub(crate) fn new(minor: u32, more: &[&CStr], allocator: HostAllocator) -> Self {
        let lookup = |gpa: crate::driver_interface::GetProcAddr| VkDirectDriverLoadingInfoLUNARG::<Driver> {
            sType: VkDirectDriverLoadingInfoLUNARG::<Driver>::STRUCTURE_TYPE,
            pNext: null_mut(),
            flags: VkDirectDriverLoadingFlagsLUNARG(0),
            pfnGetInstanceProcAddr: Some(gpa),
        };
        let drivers = [lookup(gipa::<0>), lookup(gipa::<1>)];
        let list = VkDirectDriverLoadingListLUNARG {
            sType: VkDirectDriverLoadingListLUNARG::<Driver>::STRUCTURE_TYPE,
            pNext: null(),
            mode: VkDirectDriverLoadingModeLUNARG::VK_DIRECT_DRIVER_LOADING_MODE_EXCLUSIVE_LUNARG,
            driverCount: DRIVERS as u32,
            pDrivers: drivers.as_ptr(),
        };
        let application = VkApplicationInfo {
            sType: VkApplicationInfo::STRUCTURE_TYPE,
            pNext: null(),
            pApplicationName: null(),
            applicationVersion: 0,
            pEngineName: null(),
            engineVersion: 0,
            apiVersion: discovery::version::ApiVersion::new(1, minor).0,
        };
        let always = [
            c"VK_LUNARG_direct_driver_loading",
            c"VK_EXT_debug_utils",
            c"VK_EXT_debug_report",
        ];
        let names: Vec<_> = always.iter().chain(more).map(|name| name.as_ptr()).collect();
        let info = VkInstanceCreateInfo {
            sType: VkInstanceCreateInfo::STRUCTURE_TYPE,
            pNext: from_ref(&list).cast(),
            flags: VkInstanceCreateFlags(0),
            pApplicationInfo: &application,
            enabledLayerCount: 0,
            ppEnabledLayerNames: null(),
            enabledExtensionCount: names.len() as u32,
            ppEnabledExtensionNames: names.as_ptr(),
        };
        let mut instance = InstanceHandle::NULL;
        // SAFETY: all structures live until the call returns.
        let result = unsafe { vk::vkCreateInstance(&info, allocator.as_ptr(), &mut instance) };
        assert_eq!(result, VkResult::VK_SUCCESS);
        Self(instance, allocator)
    }

    /// Creates a messenger whose messages [`heard`] returns.
    pub(crate) fn listen(&self) -> Result<MessengerHandle<crate::handle::Chain>, VkResult> {
        let mut made = MessengerHandle::NULL;
        let info = messenger_info();
        // SAFETY: the instance is live and the structure valid.
        let result = unsafe { vk::vkCreateDebugUtilsMessengerEXT(self.0, &info, null(), &mut made) };
        if result == VkResult::VK_SUCCESS {
            Ok(made)
        } else {
            Err(result)
        }
    }

    /// Destroys a messenger.
    pub(crate) fn stop(&self, messenger: MessengerHandle<crate::handle::Chain>) {
        // SAFETY: the instance and the messenger are live.
        unsafe { vk::vkDestroyDebugUtilsMessengerEXT(self.0, messenger, null()) };
    }

    /// Returns the physical device of driver 0.
    pub(crate) fn physical_device(&self) -> VkPhysicalDevice<App> {
        let mut devices = [PhysicalDeviceHandle::NULL; DRIVERS];
        let mut count = DRIVERS as u32;
        // SAFETY: the instance is live, and the array has as many elements as the count says.
        let result = unsafe { vk::vkEnumeratePhysicalDevices(self.0, &mut count, devices.as_mut_ptr()) };
        assert_eq!((result, count), (VkResult::VK_SUCCESS, DRIVERS as u32));
        let owner = |handle: VkPhysicalDevice<App>| {
            // SAFETY: the handle is the loader's, and there are no layers.
            let object = unsafe { crate::translation::physical_device_object(handle) }.expect("a valid handle");
            // SAFETY: the chain handle came from a live object of the loader.
            unsafe { crate::translation::chain_physical_device(object.chain) }
                .handle
                .raw() as usize as u64
        };
        devices
            .into_iter()
            .find(|&device| owner(device) == physical_device_of_driver(0))
            .expect("both drivers' devices")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: the instance is live, and no other thread uses it.
        unsafe { vk::vkDestroyInstance(self.0, self.1.as_ptr()) };
    }
}

/// Returns the address of a structure in the untyped form that `pNext` has.
pub(crate) fn link<T>(structure: &mut T) -> *mut c_void {
    from_mut(structure).cast()
}
