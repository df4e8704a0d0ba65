//! Logical devices, and the description of a device to create.

use std::ffi::{CString, c_char, c_void};
use std::ptr;

use ash::vk;

use super::{Allocator, Commands, Instance};
use crate::call;

/// Content of `VkDeviceCreateInfo`.
pub struct DeviceSpec<'i> {
    instance: &'i Instance<'i>,
    physical: vk::PhysicalDevice,
    extensions: Vec<CString>,
    layers: Vec<CString>,
    next: *const c_void,
    features: Option<&'i vk::PhysicalDeviceFeatures>,
    allocator: *const vk::AllocationCallbacks<'static>,
}

impl<'i> DeviceSpec<'i> {
    pub(super) fn new(instance: &'i Instance<'i>, physical: vk::PhysicalDevice) -> Self {
        DeviceSpec {
            instance,
            physical,
            extensions: Vec::new(),
            layers: Vec::new(),
            next: ptr::null(),
            features: None,
            allocator: ptr::null(),
        }
    }

    /// Adds extensions.
    pub fn extensions(mut self, names: &[&str]) -> Self {
        let text = |name: &&str| CString::new(*name).expect("an extension name holds no zero byte");
        self.extensions.extend(names.iter().map(text));
        self
    }

    /// Adds a layer to the deprecated list of device layers.
    pub fn layer(mut self, name: &str) -> Self {
        self.layers
            .push(CString::new(name).expect("a layer name holds no zero byte"));
        self
    }

    /// Sets the `pNext` chain. The structure must live until [`create`](Self::create) returns.
    pub fn next<T>(mut self, structure: &'i T) -> Self {
        self.next = ptr::from_ref(structure).cast();
        self
    }

    /// Sets the value of `pEnabledFeatures`.
    pub fn features(mut self, features: &'i vk::PhysicalDeviceFeatures) -> Self {
        self.features = Some(features);
        self
    }

    /// Sets the allocation callbacks for the creation and the destruction of the device.
    pub fn allocator(mut self, allocator: &'i Allocator) -> Self {
        self.allocator = allocator.callbacks();
        self
    }

    /// Calls `vkCreateDevice`.
    pub fn create(self) -> Result<Device<'i>, vk::Result> {
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let pointers = |names: &[CString]| -> Vec<*const c_char> { names.iter().map(|name| name.as_ptr()).collect() };
        let (extensions, layers) = (pointers(&self.extensions), pointers(&self.layers));
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions);
        #[allow(deprecated, reason = "the list is ignored, which is what a case shows")]
        if !layers.is_empty() {
            info = info.enabled_layer_names(&layers);
        }
        if let Some(features) = self.features {
            info = info.enabled_features(features);
        }
        info.p_next = self.next;
        let mut raw = vk::Device::null();
        let result = call!(
            self.instance,
            PFN_vkCreateDevice(self.physical, &info, self.allocator, &mut raw)
        );
        result.result()?;
        assert!(raw != vk::Device::null(), "vkCreateDevice succeeded without a handle");
        Ok(Device {
            instance: self.instance,
            raw,
            allocator: self.allocator,
        })
    }
}

/// A created device. Dropping this value destroys the device.
pub struct Device<'i> {
    /// Instance that created the device.
    pub instance: &'i Instance<'i>,
    /// Handle of the device.
    pub raw: vk::Device,
    allocator: *const vk::AllocationCallbacks<'static>,
}

impl Device<'_> {
    /// Destroys the device now.
    pub fn destroy(self) {}

    /// Returns a queue.
    pub fn queue(&self, family: u32, index: u32) -> vk::Queue {
        let mut queue = vk::Queue::null();
        call!(self, PFN_vkGetDeviceQueue(self.raw, family, index, &mut queue));
        queue
    }

    /// Creates a command pool.
    #[track_caller]
    pub fn pool(&self) -> vk::CommandPool {
        let mut pool = vk::CommandPool::null();
        let info = vk::CommandPoolCreateInfo::default();
        let result = call!(self, PFN_vkCreateCommandPool(self.raw, &info, ptr::null(), &mut pool));
        assert_eq!(result, vk::Result::SUCCESS);
        pool
    }

    /// Destroys a command pool.
    pub fn destroy_pool(&self, pool: vk::CommandPool) {
        call!(self, PFN_vkDestroyCommandPool(self.raw, pool, ptr::null()));
    }

    /// Allocates command buffers.
    pub fn command_buffers(&self, pool: vk::CommandPool, count: u32) -> Result<Vec<vk::CommandBuffer>, vk::Result> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .command_buffer_count(count);
        let mut buffers = vec![vk::CommandBuffer::null(); count as usize];
        let result = call!(
            self,
            PFN_vkAllocateCommandBuffers(self.raw, &info, buffers.as_mut_ptr())
        );
        result.result_with_success(buffers)
    }

    /// Frees command buffers.
    pub fn free_command_buffers(&self, pool: vk::CommandPool, buffers: &[vk::CommandBuffer]) {
        let count = buffers.len() as u32;
        call!(self, PFN_vkFreeCommandBuffers(self.raw, pool, count, buffers.as_ptr()));
    }

    /// Returns the address of the loader's trampoline, from `vkGetInstanceProcAddr`.
    pub fn trampoline(&self, name: &str) -> usize {
        self.instance.address(name)
    }
}

impl Commands for Device<'_> {
    /// Returns the result of `vkGetDeviceProcAddr` for this device.
    fn address(&self, name: &str) -> usize {
        let name = CString::new(name).expect("a command name holds no zero byte");
        let found = call!(self.instance, PFN_vkGetDeviceProcAddr(self.raw, name.as_ptr()));
        found.map_or(0, |function| function as usize)
    }
}

impl Drop for Device<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            call!(self.instance, PFN_vkDestroyDevice(self.raw, self.allocator));
        }
    }
}
