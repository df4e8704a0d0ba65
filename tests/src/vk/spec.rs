//! Description of an instance to create.

use std::ffi::{CString, c_char, c_void};
use std::ptr;

use ash::vk;

use super::{Allocator, Instance, Vk};
use crate::call;

/// Content of `VkInstanceCreateInfo`.
pub struct InstanceSpec<'a> {
    vk: &'a Vk,
    api: Option<u32>,
    name: CString,
    layers: Vec<CString>,
    extensions: Vec<CString>,
    flags: u32,
    next: *const c_void,
    allocator: *const vk::AllocationCallbacks<'static>,
}

impl<'a> InstanceSpec<'a> {
    pub(super) fn new(vk: &'a Vk) -> Self {
        InstanceSpec {
            vk,
            api: Some(vk::API_VERSION_1_0),
            name: c"case".into(),
            layers: Vec::new(),
            extensions: Vec::new(),
            flags: 0,
            next: ptr::null(),
            allocator: ptr::null(),
        }
    }

    /// Sets the API version, as `major.minor` or `major.minor.patch`.
    pub fn api(self, version: &str) -> Self {
        let mut parts = version
            .split('.')
            .map(|part| part.parse::<u32>().expect("a version is made of numbers"));
        let mut next = || parts.next().unwrap_or(0);
        let packed = vk::make_api_version(0, next(), next(), next());
        self.api_raw(packed)
    }

    /// Sets the API version to a number that need not be valid.
    pub fn api_raw(mut self, version: u32) -> Self {
        self.api = Some(version);
        self
    }

    /// Omits the structure `VkApplicationInfo`.
    pub fn no_application(mut self) -> Self {
        self.api = None;
        self
    }

    /// Adds a layer.
    pub fn layer(mut self, name: &str) -> Self {
        self.layers
            .push(CString::new(name).expect("a layer name holds no zero byte"));
        self
    }

    /// Adds extensions.
    pub fn extensions(mut self, names: &[&str]) -> Self {
        let text = |name: &&str| CString::new(*name).expect("an extension name holds no zero byte");
        self.extensions.extend(names.iter().map(text));
        self
    }

    /// Adds an extension whose name consists of any bytes.
    pub fn extension_bytes(mut self, name: &[u8]) -> Self {
        self.extensions
            .push(CString::new(name).expect("an extension name holds no zero byte"));
        self
    }

    /// Sets the create flags.
    pub fn flags(mut self, flags: u32) -> Self {
        self.flags = flags;
        self
    }

    /// Sets the `pNext` chain. The structure must live until [`create`](Self::create) returns.
    pub fn next<T>(mut self, structure: &'a T) -> Self {
        self.next = ptr::from_ref(structure).cast();
        self
    }

    /// Sets the allocation callbacks for the creation and the destruction of the instance.
    pub fn allocator(mut self, allocator: &'a Allocator) -> Self {
        self.allocator = allocator.callbacks();
        self
    }

    /// Calls `vkCreateInstance`.
    pub fn create(self) -> Result<Instance<'a>, vk::Result> {
        let mut raw = vk::Instance::null();
        let result = self.create_into(&mut raw);
        result.result()?;
        assert!(
            raw != vk::Instance::null(),
            "vkCreateInstance succeeded without a handle"
        );
        Ok(Instance::new(self.vk, raw, self.allocator))
    }

    /// Calls `vkCreateInstance` with a variable for the handle, which can have any value before the call.
    pub fn create_into(&self, raw: &mut vk::Instance) -> vk::Result {
        let application = vk::ApplicationInfo::default()
            .application_name(&self.name)
            .api_version(self.api.unwrap_or_default());
        let pointers = |names: &[CString]| -> Vec<*const c_char> { names.iter().map(|name| name.as_ptr()).collect() };
        let (layers, extensions) = (pointers(&self.layers), pointers(&self.extensions));
        let mut info = vk::InstanceCreateInfo::default()
            .flags(vk::InstanceCreateFlags::from_raw(self.flags))
            .enabled_layer_names(&layers)
            .enabled_extension_names(&extensions);
        if self.api.is_some() {
            info = info.application_info(&application);
        }
        info.p_next = self.next;
        call!(self.vk, PFN_vkCreateInstance(&info, self.allocator, raw))
    }
}
