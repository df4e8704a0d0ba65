//! The Vulkan commands that the probe calls. The probe looks up each command by its name, as programs do.

mod types;

pub(crate) use types::*;

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// A command whose type is unknown.
pub(crate) type Unknown = unsafe extern "system" fn();

/// Type of `vkGetInstanceProcAddr` and `vkGetDeviceProcAddr`.
pub(crate) type GetProcAddr = unsafe extern "system" fn(Handle, *const c_char) -> Option<Unknown>;

/// Null pointer to allocation callbacks.
pub(crate) const NO_ALLOCATOR: *const c_void = ptr::null();

/// Defines a table of commands with their names and types.
macro_rules! commands {
    ($(#[$doc:meta])* $table:ident { $($field:ident = $name:literal: fn($($type:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$doc])*
        pub(crate) struct $table {
            $(pub(crate) $field: unsafe extern "system" fn($($type),*) $(-> $result)?,)*
        }

        impl $table {
            /// Looks up the commands. Returns `None` if one of them is missing.
            ///
            /// # Safety
            /// Each command that `get` returns for `owner` must have the type that the table declares for its name.
            pub(crate) unsafe fn find(get: $crate::vulkan::GetProcAddr, owner: $crate::vulkan::Handle) -> Option<Self> {
                Some(Self {
                    // SAFETY: `get` accepts `owner` and a name that ends with a null byte. The caller promises that the command has the
                    // declared type.
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
    /// Commands that need no instance.
    Global {
        create_instance = c"vkCreateInstance": fn(*const InstanceCreateInfo, *const c_void, *mut Handle) -> Code;
        list_extensions = c"vkEnumerateInstanceExtensionProperties": fn(*const c_char, *mut u32, *mut ExtensionProperties) -> Code;
        list_layers = c"vkEnumerateInstanceLayerProperties": fn(*mut u32, *mut LayerProperties) -> Code;
    }
}

commands! {
    /// Commands that need no instance and are newer than Vulkan 1.0.
    Global11 {
        version = c"vkEnumerateInstanceVersion": fn(*mut u32) -> Code;
    }
}

commands! {
    /// Commands for an instance or a physical device.
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
    /// The command that destroys a device.
    OfDevice {
        destroy = c"vkDestroyDevice": fn(Handle, *const c_void);
    }
}

commands! {
    /// Commands for a physical device that are newer than Vulkan 1.0.
    OfInstance11 {
        properties = c"vkGetPhysicalDeviceProperties2": fn(Handle, *mut PhysicalDeviceProperties2);
        features = c"vkGetPhysicalDeviceFeatures2": fn(Handle, *mut Features);
    }
}

/// Returns the list that a command fills. Repeats the query if the list grew between the two calls.
///
/// # Errors
/// Returns the code of the command that failed.
///
/// # Safety
/// `fill` must write at most `*count` elements to a non-null pointer and set `*count` to the number written. For a null pointer, `fill`
/// must only set `*count`.
pub(crate) unsafe fn listed<T: Copy>(fill: impl Fn(*mut u32, *mut T) -> Code) -> Result<Vec<T>, Code> {
    loop {
        let mut count = 0;
        succeeded(fill(&mut count, ptr::null_mut()))?;
        let mut entries = Vec::with_capacity(count as usize);
        match fill(&mut count, entries.as_mut_ptr()) {
            INCOMPLETE => continue,
            code => succeeded(code)?,
        }
        // SAFETY: `fill` initialised `count` elements, and the new length never exceeds the capacity.
        unsafe { entries.set_len((count as usize).min(entries.capacity())) };
        return Ok(entries);
    }
}

/// Returns an error if a code reports a failure.
///
/// # Errors
///
/// Returns the code.
pub(crate) fn succeeded(code: Code) -> Result<(), Code> {
    if code < SUCCESS { Err(code) } else { Ok(()) }
}

/// Returns an error for every code except success. A positive code is also an error, because the command then created no object.
///
/// # Errors
///
/// Returns the code itself.
fn created(code: Code) -> Result<(), Code> {
    if code == SUCCESS { Ok(()) } else { Err(code) }
}

/// The functions of a Vulkan loader that stays open until the process ends.
pub(crate) struct Entry {
    get: GetProcAddr,
    global: Option<Global>,
}

impl Entry {
    /// Looks up the commands that need no instance.
    ///
    /// # Safety
    /// `get` must be `vkGetInstanceProcAddr` of a library that stays open.
    pub(crate) unsafe fn new(get: GetProcAddr) -> Self {
        // SAFETY: `get` returns the commands of `Global` without an instance, and `Global` declares each with its type in the registry.
        let global = unsafe { Global::find(get, ptr::null_mut()) };
        Self { get, global }
    }

    /// Returns the path of the loader's file, if the system reports it.
    pub(crate) fn file(&self) -> Option<String> {
        crate::objects::file_of(self.get as *const c_void)
    }

    /// Returns the Vulkan version that the loader supports.
    pub(crate) fn version(&self) -> u32 {
        // SAFETY: `get` is `vkGetInstanceProcAddr` of a library that stays open. This function returns the command of `Global11` without an
        // instance, and `Global11` declares the command with its type in the registry.
        let newer = unsafe { Global11::find(self.get, ptr::null_mut()) };
        let mut version = VERSION_1_0;
        // SAFETY: `version` is a variable of this function, so the command may write to it.
        let code = newer.map(|newer| unsafe { (newer.version)(&mut version) });
        if code == Some(SUCCESS) { version } else { VERSION_1_0 }
    }

    /// Returns the instance extensions, or an empty list if the command fails. The probe learns the reason for the failure from later
    /// calls.
    pub(crate) fn extensions(&self) -> Vec<ExtensionProperties> {
        let Some(global) = &self.global else { return Vec::new() };
        let list = global.list_extensions;
        // SAFETY: the command fills lists as `listed` requires, and accepts a null layer name.
        unsafe { listed(|count, entries| list(ptr::null(), count, entries)) }.unwrap_or_default()
    }

    /// Returns the layers, or an empty list if the command fails.
    pub(crate) fn layers(&self) -> Vec<LayerProperties> {
        let Some(global) = &self.global else { return Vec::new() };
        // SAFETY: the command fills lists as `listed` requires.
        unsafe { listed(|count, entries| (global.list_layers)(count, entries)) }.unwrap_or_default()
    }

    /// Creates an instance.
    ///
    /// # Errors
    /// Returns the code of `vkCreateInstance`, or `INITIALIZATION_FAILED` if a command is missing.
    pub(crate) fn instance(
        &self,
        api_version: u32,
        flags: u32,
        extensions: &[&CStr],
        layers: &[&CStr],
    ) -> Result<Instance, Code> {
        let global = self.global.as_ref().ok_or(INITIALIZATION_FAILED)?;
        let application = ApplicationInfo {
            head: Head::of(APPLICATION_INFO),
            name: ptr::null(),
            version: 0,
            engine: ptr::null(),
            engine_version: 0,
            api_version,
        };
        let pointers = |names: &[&CStr]| -> Vec<*const c_char> { names.iter().map(|name| name.as_ptr()).collect() };
        let (names, layers) = (pointers(extensions), pointers(layers));
        let info = InstanceCreateInfo {
            head: Head::of(INSTANCE_CREATE_INFO),
            flags,
            application: &application,
            layer_count: count(&layers),
            layers: layers.as_ptr(),
            extension_count: count(&names),
            extensions: names.as_ptr(),
        };
        let mut handle = ptr::null_mut();
        // SAFETY: `info` is valid, and the variable `handle` is writable.
        created(unsafe { (global.create_instance)(&info, NO_ALLOCATOR, &mut handle) })?;
        // SAFETY: `get` returns the commands of `OfInstance` for the live instance, and `OfInstance` declares each with its type in the
        // registry.
        let commands = unsafe { OfInstance::find(self.get, handle) }.ok_or(INITIALIZATION_FAILED)?;
        // SAFETY: `get` returns the commands of `OfInstance11` for the live instance, and `OfInstance11` declares each with its type in the
        // registry.
        let newer = unsafe { OfInstance11::find(self.get, handle) }.filter(|_| api_version >= VERSION_1_1);
        Ok(Instance {
            handle,
            commands,
            newer,
        })
    }
}

/// Returns the length of a list as a 32-bit count.
pub(crate) fn count<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

/// A live instance, which exists until the process ends unless `destroy` is called.
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
    /// Returns the physical devices.
    ///
    /// # Errors
    /// Returns the code of `vkEnumeratePhysicalDevices`.
    pub(crate) fn devices(&self) -> Result<Vec<Physical<'_>>, Code> {
        // SAFETY: the instance is live, and the command fills lists as `listed` requires.
        let handles = unsafe { listed(|count, entries| (self.commands.list_devices)(self.handle, count, entries)) }?;
        let owned = |handle| Physical { handle, instance: self };
        Ok(handles.into_iter().map(owned).collect())
    }

    /// Destroys the instance.
    pub(crate) fn destroy(self) {
        // SAFETY: `Physical` borrows the instance, so no value of this type exists any more, and callers use no device of the instance
        // afterwards.
        unsafe { (self.commands.destroy)(self.handle, NO_ALLOCATOR) };
    }
}

impl Physical<'_> {
    /// Returns `true` if commands that are newer than Vulkan 1.0 can be used.
    pub(crate) fn has_newer_commands(self) -> bool {
        self.instance.newer.is_some()
    }

    pub(crate) fn properties(self) -> PhysicalDeviceProperties {
        let mut properties = PhysicalDeviceProperties::default();
        // SAFETY: the physical device belongs to a live instance, and `properties` is at least as large as the structure in the registry.
        unsafe { (self.instance.commands.properties)(self.handle, &mut properties) };
        properties
    }

    /// Fills the structures of the chain `first`. Leaves them unchanged if the command is missing.
    ///
    /// # Safety
    /// `first` must be null or a chain of valid structures that the device supports.
    pub(crate) unsafe fn fill(self, first: *mut c_void) {
        let mut all = PhysicalDeviceProperties2 {
            head: Head {
                structure_type: PHYSICAL_DEVICE_PROPERTIES_2,
                next: first,
            },
            properties: PhysicalDeviceProperties::default(),
        };
        if let Some(newer) = &self.instance.newer {
            // SAFETY: the physical device belongs to a live instance, and the caller promises that the chain is valid.
            unsafe { (newer.properties)(self.handle, &mut all) };
        }
    }

    /// Returns the words of each structure of features, or an empty list for a device of Vulkan 1.0. The numbers are the types of the
    /// structures, which the device must know.
    pub(crate) fn features(self, structures: &[i32]) -> Vec<Features> {
        let mut all: Vec<Features> = structures.iter().copied().map(Features::of).collect();
        let Some(newer) = &self.instance.newer else {
            return Vec::new();
        };
        for place in 1..all.len() {
            let next = (&raw mut all[place]).cast_const().cast();
            all[place - 1].head.next = next;
        }
        if let Some(first) = all.first_mut() {
            // SAFETY: the physical device belongs to a live instance, and each structure has room for more than its type needs.
            unsafe { (newer.features)(self.handle, first) };
        }
        all
    }

    /// Returns the extensions, or an empty list if the command fails.
    pub(crate) fn extensions(self) -> Vec<ExtensionProperties> {
        let list = self.instance.commands.list_extensions;
        // SAFETY: the physical device belongs to a live instance. The command fills lists as `listed` requires, and accepts a null layer
        // name.
        unsafe { listed(|count, entries| list(self.handle, ptr::null(), count, entries)) }.unwrap_or_default()
    }

    pub(crate) fn queue_families(self) -> Vec<QueueFamilyProperties> {
        let list = self.instance.commands.list_families;
        let fill = |count: *mut u32, entries: *mut QueueFamilyProperties| {
            // SAFETY: the physical device belongs to a live instance, and `listed` passes valid pointers.
            unsafe { list(self.handle, count, entries) };
            SUCCESS
        };
        // SAFETY: the command fills lists as `listed` requires.
        unsafe { listed(fill) }.unwrap_or_default()
    }

    /// Creates a device with one queue. Returns the device and the function that looks up the device's commands. The device exists until
    /// the process ends, unless the caller destroys it.
    ///
    /// # Errors
    /// Returns the code of `vkCreateDevice`.
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
        // SAFETY: the physical device belongs to a live instance, `info` is valid, and the variable `handle` is writable.
        created(unsafe { (commands.create_device)(self.handle, &info, NO_ALLOCATOR, &mut handle) })?;
        Ok((handle, commands.of_device))
    }

    /// Creates a device with one queue of the first family, and destroys it.
    ///
    /// # Errors
    /// Returns the code of `vkCreateDevice`.
    pub(crate) fn try_device(self) -> Result<(), Code> {
        let (device, get) = self.device(0)?;
        // SAFETY: `get` is the look-up function of the live `device`, and `OfDevice` declares its command with its type in the registry.
        if let Some(commands) = unsafe { OfDevice::find(get, device) } {
            // SAFETY: `device` is live, and no objects were created from it.
            unsafe { (commands.destroy)(device, NO_ALLOCATOR) };
        }
        Ok(())
    }
}
