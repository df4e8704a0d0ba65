//! The part of Vulkan that the probe calls, each command looked up by its name as a program does.

mod types;

pub(crate) use types::*;

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// A command whose type is not known yet.
pub(crate) type Unknown = unsafe extern "system" fn();

/// `vkGetInstanceProcAddr` and `vkGetDeviceProcAddr`.
pub(crate) type GetProcAddr = unsafe extern "system" fn(Handle, *const c_char) -> Option<Unknown>;

/// What allocates: nothing of the program's own.
pub(crate) const NO_ALLOCATOR: *const c_void = ptr::null();

/// A table of commands with their names and types.
macro_rules! commands {
    ($(#[$doc:meta])* $table:ident { $($field:ident = $name:literal: fn($($type:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$doc])*
        pub(crate) struct $table {
            $(pub(crate) $field: unsafe extern "system" fn($($type),*) $(-> $result)?,)*
        }

        impl $table {
            /// Looks the commands up; `None` if one is missing.
            ///
            /// # Safety
            /// `get` and `owner` are such that the command of each name has the type that the table gives it.
            pub(crate) unsafe fn find(get: $crate::vulkan::GetProcAddr, owner: $crate::vulkan::Handle) -> Option<Self> {
                Some(Self {
                    // SAFETY: `get` may be called with `owner` and a name that ends with zero. The caller vouches for the types.
                    $($field: unsafe {
                        std::mem::transmute::<$crate::vulkan::Unknown, unsafe extern "system" fn($($type),*) $(-> $result)?>(
                            get(owner, $name.as_ptr())?
                        )
                    },)*
                })
            }
        }
    };
}
pub(crate) use commands;

commands! {
    /// What needs no instance.
    Global {
        create_instance = c"vkCreateInstance": fn(*const InstanceCreateInfo, *const c_void, *mut Handle) -> Code;
        list_extensions = c"vkEnumerateInstanceExtensionProperties": fn(*const c_char, *mut u32, *mut ExtensionProperties) -> Code;
        list_layers = c"vkEnumerateInstanceLayerProperties": fn(*mut u32, *mut LayerProperties) -> Code;
    }
}

commands! {
    /// What is newer than Vulkan 1.0 and needs no instance.
    Global11 {
        version = c"vkEnumerateInstanceVersion": fn(*mut u32) -> Code;
    }
}

commands! {
    /// What takes an instance or a physical device.
    OfInstance {
        destroy = c"vkDestroyInstance": fn(Handle, *const c_void);
        list_devices = c"vkEnumeratePhysicalDevices": fn(Handle, *mut u32, *mut Handle) -> Code;
        properties = c"vkGetPhysicalDeviceProperties": fn(Handle, *mut PhysicalDeviceProperties);
        list_extensions = c"vkEnumerateDeviceExtensionProperties": fn(Handle, *const c_char, *mut u32, *mut ExtensionProperties) -> Code;
        list_families = c"vkGetPhysicalDeviceQueueFamilyProperties": fn(Handle, *mut u32, *mut QueueFamilyProperties);
        create_device = c"vkCreateDevice": fn(Handle, *const DeviceCreateInfo, *const c_void, *mut Handle) -> Code;
        of_device = c"vkGetDeviceProcAddr": fn(Handle, *const c_char) -> Option<Unknown>;
    }
}

commands! {
    /// What is newer than Vulkan 1.0 and takes a physical device.
    OfInstance11 {
        properties = c"vkGetPhysicalDeviceProperties2": fn(Handle, *mut PhysicalDeviceProperties2);
    }
}

/// A list that a command fills, asked for again where it grew in between.
///
/// # Errors
/// What the command gave.
///
/// # Safety
/// `fill` writes as many entries to the pointer as the number says, and then how many these are; for a null pointer only their number.
unsafe fn listed<T: Copy>(fill: impl Fn(*mut u32, *mut T) -> Code) -> Result<Vec<T>, Code> {
    loop {
        let mut count = 0;
        succeeded(fill(&mut count, ptr::null_mut()))?;
        let mut entries = Vec::with_capacity(count as usize);
        match fill(&mut count, entries.as_mut_ptr()) {
            INCOMPLETE => continue,
            code => succeeded(code)?,
        }
        // SAFETY: the caller vouches that so many were written, and no more than there is room for.
        unsafe { entries.set_len((count as usize).min(entries.capacity())) };
        return Ok(entries);
    }
}

/// # Errors
/// The code, if it means a failure.
pub(crate) fn succeeded(code: Code) -> Result<(), Code> {
    if code < SUCCESS { Err(code) } else { Ok(()) }
}

/// The functions of a Vulkan loader, which stays open until the process ends.
pub(crate) struct Entry {
    get: GetProcAddr,
    global: Option<Global>,
}

impl Entry {
    /// The functions that `get` finds.
    ///
    /// # Safety
    /// `get` is the function `vkGetInstanceProcAddr` of a library that stays open.
    pub(crate) unsafe fn new(get: GetProcAddr) -> Self {
        // SAFETY: these commands have these types, and are found without an instance.
        let global = unsafe { Global::find(get, ptr::null_mut()) };
        Self { get, global }
    }

    /// The version of Vulkan that the loader knows.
    pub(crate) fn version(&self) -> u32 {
        // SAFETY: as in `new`.
        let newer = unsafe { Global11::find(self.get, ptr::null_mut()) };
        let mut version = VERSION_1_0;
        // SAFETY: a valid place for the version.
        let code = newer.map(|newer| unsafe { (newer.version)(&mut version) });
        if code == Some(SUCCESS) { version } else { VERSION_1_0 }
    }

    /// Asks for the instance extensions, as every program does.
    pub(crate) fn list_extensions(&self) {
        let Some(global) = &self.global else { return };
        // SAFETY: the command fills lists as `listed` wants it; the null name is allowed. What fails is seen by what follows.
        let _ = unsafe { listed(|count, entries| (global.list_extensions)(ptr::null(), count, entries)) };
    }

    /// Asks for the layers, as every program does.
    pub(crate) fn list_layers(&self) {
        let Some(global) = &self.global else { return };
        // SAFETY: as above.
        let _ = unsafe { listed(|count, entries| (global.list_layers)(count, entries)) };
    }

    /// Makes an instance.
    ///
    /// # Errors
    /// What `vkCreateInstance` gave.
    pub(crate) fn instance(&self, api_version: u32, flags: u32, extensions: &[&CStr]) -> Result<Instance, Code> {
        let global = self.global.as_ref().ok_or(INITIALIZATION_FAILED)?;
        let application = ApplicationInfo {
            head: Head::of(APPLICATION_INFO),
            name: ptr::null(),
            version: 0,
            engine: ptr::null(),
            engine_version: 0,
            api_version,
        };
        let names: Vec<*const c_char> = extensions.iter().map(|name| name.as_ptr()).collect();
        let info = InstanceCreateInfo {
            head: Head::of(INSTANCE_CREATE_INFO),
            flags,
            application: &application,
            layer_count: 0,
            layers: ptr::null(),
            extension_count: count(&names),
            extensions: names.as_ptr(),
        };
        let mut handle = ptr::null_mut();
        // SAFETY: a valid create info, and a place for the handle.
        succeeded(unsafe { (global.create_instance)(&info, NO_ALLOCATOR, &mut handle) })?;
        // SAFETY: these commands have these types, and are found with a live instance.
        let commands = unsafe { OfInstance::find(self.get, handle) }.ok_or(INITIALIZATION_FAILED)?;
        // SAFETY: as above.
        let newer = unsafe { OfInstance11::find(self.get, handle) };
        Ok(Instance {
            handle,
            commands,
            newer,
        })
    }
}

/// The length of a list as C counts it.
pub(crate) fn count<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

/// A live instance; it is left to the process unless `destroy` ends it.
pub(crate) struct Instance {
    handle: Handle,
    commands: OfInstance,
    newer: Option<OfInstance11>,
}

/// A physical device of an instance.
#[derive(Clone, Copy)]
pub(crate) struct Physical<'a> {
    handle: Handle,
    instance: &'a Instance,
}

impl Instance {
    /// The physical devices; none where the command fails.
    pub(crate) fn devices(&self) -> Vec<Physical<'_>> {
        // SAFETY: a live instance, whose command fills lists as `listed` wants it.
        let listed = unsafe { listed(|count, entries| (self.commands.list_devices)(self.handle, count, entries)) };
        let handles = listed.unwrap_or_default().into_iter();
        handles.map(|handle| Physical { handle, instance: self }).collect()
    }

    /// Ends the instance.
    pub(crate) fn destroy(self) {
        // SAFETY: physical devices borrow the instance, and devices that were made of it have no name here.
        unsafe { (self.commands.destroy)(self.handle, NO_ALLOCATOR) };
    }
}

impl Physical<'_> {
    pub(crate) fn properties(self) -> PhysicalDeviceProperties {
        let mut properties = PhysicalDeviceProperties::default();
        // SAFETY: a device of a live instance, and a place that is no smaller than what is written.
        unsafe { (self.instance.commands.properties)(self.handle, &mut properties) };
        properties
    }

    /// Fills the structures of a chain, which begins with `first`; leaves them as they are where there is no such command.
    ///
    /// # Safety
    /// `first` is null or a chain of valid structures which the device knows.
    pub(crate) unsafe fn fill(self, first: *mut c_void) {
        let mut all = PhysicalDeviceProperties2 {
            head: Head {
                structure_type: PHYSICAL_DEVICE_PROPERTIES_2,
                next: first,
            },
            properties: PhysicalDeviceProperties::default(),
        };
        if let Some(newer) = &self.instance.newer {
            // SAFETY: a device of a live instance, and a chain that the caller vouches for.
            unsafe { (newer.properties)(self.handle, &mut all) };
        }
    }

    /// The extensions; none where the command fails.
    pub(crate) fn extensions(self) -> Vec<ExtensionProperties> {
        let list = self.instance.commands.list_extensions;
        // SAFETY: a device of a live instance, whose command fills lists as `listed` wants it; the null name is allowed.
        unsafe { listed(|count, entries| list(self.handle, ptr::null(), count, entries)) }.unwrap_or_default()
    }

    pub(crate) fn queue_families(self) -> Vec<QueueFamilyProperties> {
        let list = self.instance.commands.list_families;
        let fill = |count: *mut u32, entries: *mut QueueFamilyProperties| {
            // SAFETY: a device of a live instance, and what `listed` gives.
            unsafe { list(self.handle, count, entries) };
            SUCCESS
        };
        // SAFETY: the command fills lists as `listed` wants it.
        unsafe { listed(fill) }.unwrap_or_default()
    }

    /// Makes a device with one queue. The device is left to the process unless somebody destroys it; `GetProcAddr` finds its commands.
    ///
    /// # Errors
    /// What `vkCreateDevice` gave.
    pub(crate) fn device(self, family: u32) -> Result<(Handle, GetProcAddr), Code> {
        let priority = 1.0;
        let queue = DeviceQueueCreateInfo {
            head: Head::of(DEVICE_QUEUE_CREATE_INFO),
            flags: 0,
            family,
            count: 1,
            priorities: &priority,
        };
        let info = DeviceCreateInfo {
            head: Head::of(DEVICE_CREATE_INFO),
            flags: 0,
            queue_count: 1,
            queues: &queue,
            layer_count: 0,
            layers: ptr::null(),
            extension_count: 0,
            extensions: ptr::null(),
            features: ptr::null(),
        };
        let commands = &self.instance.commands;
        let mut handle = ptr::null_mut();
        // SAFETY: a device of a live instance, a valid create info, and a place for the handle.
        succeeded(unsafe { (commands.create_device)(self.handle, &info, NO_ALLOCATOR, &mut handle) })?;
        Ok((handle, commands.of_device))
    }
}
