//! Instances, and queries about their physical devices.

use std::{ptr, slice};

use ash::vk;

use super::{Commands, Device, DeviceSpec, Messages, Reports, Vk, fill_some, text, two_call};
use crate::call;

/// A created instance. Dropping this value destroys the instance.
pub struct Instance<'v> {
    /// Library that created the instance.
    pub vk: &'v Vk,
    /// Handle of the instance.
    pub raw: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'static>,
}

impl<'v> Instance<'v> {
    pub(super) fn new(vk: &'v Vk, raw: vk::Instance, allocator: *const vk::AllocationCallbacks<'static>) -> Self {
        Instance { vk, raw, allocator }
    }

    /// Returns the instance with a handle that `vkCreateInstance` returned without allocation callbacks.
    pub fn of_handle(vk: &'v Vk, raw: vk::Instance) -> Self {
        Instance::new(vk, raw, ptr::null())
    }

    /// Destroys the instance now.
    pub fn destroy(self) {}

    /// Calls `vkEnumeratePhysicalDevices` for the count alone.
    pub fn device_count(&self) -> Result<u32, vk::Result> {
        let mut count = 0;
        let result = call!(
            self,
            PFN_vkEnumeratePhysicalDevices(self.raw, &mut count, ptr::null_mut())
        );
        result.result_with_success(count)
    }

    /// Returns all physical devices. The first call returns the number of devices, and the second call returns the list.
    pub fn devices(&self) -> Result<Vec<vk::PhysicalDevice>, vk::Result> {
        two_call(|count, out| call!(self, PFN_vkEnumeratePhysicalDevices(self.raw, count, out)))
    }

    /// Returns the physical devices that a query writes to an array of `room` elements, and the result of the query.
    pub fn some_devices(&self, room: u32) -> (vk::Result, Vec<vk::PhysicalDevice>) {
        fill_some(room, |count, out| {
            call!(self, PFN_vkEnumeratePhysicalDevices(self.raw, count, out))
        })
    }

    /// Returns the first physical device.
    #[track_caller]
    pub fn first(&self) -> vk::PhysicalDevice {
        self.devices().expect("vkEnumeratePhysicalDevices")[0]
    }

    /// Returns the physical device with this name.
    #[track_caller]
    pub fn named(&self, name: &str) -> vk::PhysicalDevice {
        let devices = self.devices().expect("vkEnumeratePhysicalDevices");
        let hit = devices.into_iter().find(|device| self.name_of(*device) == name);
        hit.unwrap_or_else(|| panic!("no physical device {name}"))
    }

    /// Returns the properties from `vkGetPhysicalDeviceProperties`.
    pub fn properties(&self, device: vk::PhysicalDevice) -> vk::PhysicalDeviceProperties {
        let mut properties = vk::PhysicalDeviceProperties::default();
        call!(self, PFN_vkGetPhysicalDeviceProperties(device, &mut properties));
        properties
    }

    /// Returns the name of a physical device.
    pub fn name_of(&self, device: vk::PhysicalDevice) -> String {
        text(&self.properties(device).device_name)
    }

    /// Returns the names of all physical devices, in their order.
    #[track_caller]
    pub fn device_names(&self) -> Vec<String> {
        let devices = self.devices().expect("vkEnumeratePhysicalDevices");
        devices.into_iter().map(|device| self.name_of(device)).collect()
    }

    /// Returns the device groups, each as the handles of its members.
    pub fn groups(&self) -> Result<Vec<Vec<vk::PhysicalDevice>>, vk::Result> {
        let list = two_call(|count, out| call!(self, PFN_vkEnumeratePhysicalDeviceGroups(self.raw, count, out)))?;
        Ok(list.iter().map(members).collect())
    }

    /// Returns the device groups, each as the names of its members.
    #[track_caller]
    pub fn group_names(&self) -> Vec<Vec<String>> {
        let groups = self.groups().expect("vkEnumeratePhysicalDeviceGroups");
        groups
            .iter()
            .map(|group| group.iter().map(|device| self.name_of(*device)).collect())
            .collect()
    }

    /// Returns the extensions of a physical device.
    pub fn device_extensions(&self, device: vk::PhysicalDevice) -> Result<Vec<String>, vk::Result> {
        let null = ptr::null();
        let query =
            |count: &mut u32, out| call!(self, PFN_vkEnumerateDeviceExtensionProperties(device, null, count, out));
        let list: Vec<vk::ExtensionProperties> = two_call(query)?;
        Ok(list.iter().map(|one| text(&one.extension_name)).collect())
    }

    /// Returns a description of a device, to which the caller adds extensions and other options.
    pub fn device_spec(&self, physical: vk::PhysicalDevice) -> DeviceSpec<'_> {
        DeviceSpec::new(self, physical)
    }

    /// Creates a device with the given extensions and one queue.
    #[track_caller]
    pub fn device(&self, physical: vk::PhysicalDevice, extensions: &[&str]) -> Device<'_> {
        self.device_spec(physical)
            .extensions(extensions)
            .create()
            .expect("vkCreateDevice")
    }

    /// Creates a debug-utils messenger that records every message.
    #[track_caller]
    pub fn messenger(&self, messages: &Messages) -> vk::DebugUtilsMessengerEXT {
        let mut handle = vk::DebugUtilsMessengerEXT::null();
        let info = messages.create_info();
        let result = call!(
            self,
            PFN_vkCreateDebugUtilsMessengerEXT(self.raw, &info, ptr::null(), &mut handle)
        );
        assert_eq!(result, vk::Result::SUCCESS);
        handle
    }

    /// Destroys a messenger.
    pub fn destroy_messenger(&self, handle: vk::DebugUtilsMessengerEXT) {
        call!(self, PFN_vkDestroyDebugUtilsMessengerEXT(self.raw, handle, ptr::null()));
    }

    /// Creates a report callback that records every message.
    #[track_caller]
    pub fn report_callback(&self, reports: &Reports) -> vk::DebugReportCallbackEXT {
        let mut handle = vk::DebugReportCallbackEXT::null();
        let info = reports.create_info();
        let result = call!(
            self,
            PFN_vkCreateDebugReportCallbackEXT(self.raw, &info, ptr::null(), &mut handle)
        );
        assert_eq!(result, vk::Result::SUCCESS);
        handle
    }

    /// Destroys a report callback.
    pub fn destroy_report_callback(&self, handle: vk::DebugReportCallbackEXT) {
        call!(self, PFN_vkDestroyDebugReportCallbackEXT(self.raw, handle, ptr::null()));
    }

    /// Creates a headless surface.
    #[track_caller]
    pub fn headless_surface(&self) -> vk::SurfaceKHR {
        let mut surface = vk::SurfaceKHR::null();
        let info = vk::HeadlessSurfaceCreateInfoEXT::default();
        let result = call!(
            self,
            PFN_vkCreateHeadlessSurfaceEXT(self.raw, &info, ptr::null(), &mut surface)
        );
        assert_eq!(result, vk::Result::SUCCESS);
        surface
    }

    /// Creates a surface of an invented window, in the window system of [`WINDOW_SURFACE`](crate::vk::WINDOW_SURFACE).
    #[track_caller]
    pub fn window_surface(&self, connection: usize, window: u32) -> vk::SurfaceKHR {
        let mut surface = vk::SurfaceKHR::null();
        let result = super::window::create(self, connection, window, &mut surface);
        assert_eq!(result, vk::Result::SUCCESS);
        surface
    }

    /// Destroys a surface.
    pub fn destroy_surface(&self, surface: vk::SurfaceKHR) {
        call!(self, PFN_vkDestroySurfaceKHR(self.raw, surface, ptr::null()));
    }

    /// Calls `vkGetPhysicalDeviceSurfaceSupportKHR` for queue family 0.
    pub fn surface_support(&self, device: vk::PhysicalDevice, surface: vk::SurfaceKHR) -> Result<bool, vk::Result> {
        let mut supported = 77;
        let result = call!(
            self,
            PFN_vkGetPhysicalDeviceSurfaceSupportKHR(device, 0, surface, &mut supported)
        );
        result.result_with_success(supported == vk::TRUE)
    }

    /// Returns the first words of a dispatchable handle's object, for tests that examine the pointers in it.
    pub fn words(handle: u64, count: usize) -> Vec<u64> {
        // SAFETY: the test guarantees that the handle is the address of an existing object of at least `count` words.
        let words = unsafe { slice::from_raw_parts(handle as *const usize, count) };
        words.iter().map(|word| *word as u64).collect()
    }

    /// Returns the loader's magic number in a dispatchable object: a 64-bit number after `words` words.
    pub fn mark(handle: u64, words: usize) -> u64 {
        let place = (words * size_of::<usize>()).next_multiple_of(align_of::<u64>());
        // SAFETY: the test guarantees that the handle is the address of an existing object, which has a 64-bit number at this offset.
        unsafe { *((handle as usize + place) as *const u64) }
    }
}

/// Returns the handles in a group.
pub fn members(group: &vk::PhysicalDeviceGroupProperties<'_>) -> Vec<vk::PhysicalDevice> {
    group.physical_devices[..group.physical_device_count as usize].to_vec()
}

impl Commands for Instance<'_> {
    /// Returns the result of `vkGetInstanceProcAddr` for this instance.
    fn address(&self, name: &str) -> usize {
        self.vk.get(self.raw, name)
    }
}

impl Drop for Instance<'_> {
    fn drop(&mut self) {
        // If the test has failed, the objects remain, because another failure would hide the first failure.
        if !std::thread::panicking() {
            let this: &Self = self;
            call!(this, PFN_vkDestroyInstance(self.raw, self.allocator));
        }
    }
}
