//! Creates the instances through which the recording process queries a driver, one for each version of Vulkan and set of extensions.

use super::LookUp;
use crate::vulkan::{self, Code, ExtensionProperties, Handle, Unknown, commands, listed};
use libloading::os::unix::Library;
use record::VERSIONS;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;

/// The newest interface version that the library offers.
const INTERFACE: u32 = promises::DRIVER_INTERFACE;

/// Functions of a driver for which no instance is needed.
pub(super) struct Driver {
    look_up: LookUp,
    /// The negotiated interface version.
    pub(super) interface: u32,
    /// The Vulkan version that the driver reports.
    pub(super) version: u32,
    /// `true` if the driver has a look-up function for physical-device commands.
    pub(super) has_physical_device_look_up: bool,
}

impl Driver {
    /// Returns the address of a function in the driver's library.
    pub(super) fn address(&self) -> usize {
        self.look_up as *const () as usize
    }

    /// Negotiates the interface version in the same way as the library. Returns `None` for a driver that the library does not record.
    pub(super) fn negotiate(library: &Library) -> Option<Self> {
        // SAFETY: the type is the signature with which drivers export this function.
        let look_up = *unsafe { library.get::<LookUp>(b"vk_icdGetInstanceProcAddr\0") }.ok()?;
        let of_null = |name: &CStr| {
            // SAFETY: the driver's look-up function accepts a null instance, and the name ends with a null byte.
            unsafe { look_up(ptr::null_mut(), name.as_ptr()) }
        };
        const NEGOTIATE: &CStr = c"vk_icdNegotiateLoaderICDInterfaceVersion";
        // SAFETY: the type is the signature with which drivers export this function.
        let exported =
            unsafe { library.get::<unsafe extern "system" fn(*mut u32) -> Code>(NEGOTIATE.to_bytes_with_nul()) };
        // SAFETY: the type is the signature of `vk_icdNegotiateLoaderICDInterfaceVersion`.
        let queried = of_null(NEGOTIATE)
            .map(|found| unsafe { std::mem::transmute::<Unknown, unsafe extern "system" fn(*mut u32) -> Code>(found) });
        let mut interface = INTERFACE;
        let negotiate = exported.ok().map(|found| *found).or(queried)?;
        // SAFETY: the function belongs to the open driver, and the variable `interface` is writable.
        if unsafe { negotiate(&mut interface) } != vulkan::SUCCESS {
            return None;
        }
        let interface = interface.min(INTERFACE);
        let mut version = vulkan::VERSION_1_0;
        if let Some(found) = of_null(c"vkEnumerateInstanceVersion") {
            // SAFETY: the type is the signature of `vkEnumerateInstanceVersion`.
            let ask = unsafe { std::mem::transmute::<Unknown, unsafe extern "system" fn(*mut u32) -> Code>(found) };
            // SAFETY: the function belongs to the open driver, and the variable `version` is writable.
            let code = unsafe { ask(&mut version) };
            version = if code == vulkan::SUCCESS {
                version
            } else {
                vulkan::VERSION_1_0
            };
        }
        const PHYSICAL_DEVICE: &CStr = c"vk_icdGetPhysicalDeviceProcAddr";
        // SAFETY: the symbol is only used to check that it exists, so its type does not matter.
        let is_exported = || unsafe { library.get::<Unknown>(PHYSICAL_DEVICE.to_bytes_with_nul()) }.is_ok();
        Some(Self {
            look_up,
            interface,
            version,
            has_physical_device_look_up: interface >= 7 && of_null(PHYSICAL_DEVICE).is_some()
                || interface >= 4 && is_exported(),
        })
    }
}

commands! {
    /// Commands of a driver for which no instance is needed.
    OfDriver {
        create = c"vkCreateInstance": fn(*const vulkan::InstanceCreateInfo, *const c_void, *mut Handle) -> Code;
        list_extensions = c"vkEnumerateInstanceExtensionProperties": fn(*const c_char, *mut u32, *mut ExtensionProperties) -> Code;
    }
}

/// An instance of the driver with one version and one set of extensions. The instance exists until the process ends.
pub(super) struct Way {
    look_up: LookUp,
    instance: Handle,
    /// Minor version of Vulkan that the instance requests.
    pub(super) minor: u32,
    /// `true` if the instance enables all extensions of the driver.
    pub(super) with_extensions: bool,
    /// The physical devices of the instance.
    pub(super) devices: Vec<Handle>,
}

impl Way {
    /// Returns the function for a command; `None` if the instance does not provide the command.
    pub(super) fn find(&self, name: &CStr) -> Option<Unknown> {
        // SAFETY: the look-up function belongs to the driver of the live instance, and the name ends with a null byte.
        unsafe { (self.look_up)(self.instance, name.as_ptr()) }
    }

    /// Returns `true` if the instance provides a command.
    pub(super) fn has(&self, name: &str) -> bool {
        CString::new(name).is_ok_and(|name| self.find(&name).is_some())
    }

    /// Returns the instance, for commands that need it as a parameter.
    pub(super) fn instance(&self) -> Handle {
        self.instance
    }
}

/// Creates the instances: for each version, one without extensions and one with all extensions.
///
/// # Errors
/// Returns the code of a command that failed.
pub(super) fn all(driver: &Driver) -> Result<Vec<Way>, Code> {
    // SAFETY: the driver's look-up function returns the commands of `OfDriver` without an instance, and `OfDriver` declares each with its
    // type in the registry.
    let found = unsafe { OfDriver::find(driver.look_up, ptr::null_mut()) }.ok_or(vulkan::INITIALIZATION_FAILED)?;
    // SAFETY: the command fills lists as `listed` requires, and accepts a null layer name.
    let offered = unsafe { listed(|count, entries| (found.list_extensions)(ptr::null(), count, entries)) }?;
    let names: Vec<*const c_char> = offered.iter().map(|one| one.name.as_ptr().cast()).collect();
    let mut ways = Vec::new();
    for minor in 0..VERSIONS {
        for with_extensions in [false, true] {
            let enabled = if with_extensions { &names[..] } else { &[] };
            let instance = create(driver, &found, minor, enabled)?;
            let mut way = Way {
                look_up: driver.look_up,
                instance,
                minor,
                with_extensions,
                devices: Vec::new(),
            };
            way.devices = way.list()?;
            ways.push(way);
        }
    }
    Ok(ways)
}

fn create(driver: &Driver, found: &OfDriver, minor: u32, names: &[*const c_char]) -> Result<Handle, Code> {
    // Requests version 1.0 from a driver of version 1.0, as the library does.
    let is_old = driver.version < vulkan::VERSION_1_1;
    let minor = if is_old { 0 } else { minor };
    let application = vulkan::ApplicationInfo {
        head: vulkan::Head::of(vulkan::APPLICATION_INFO),
        name: ptr::null(),
        version: 0,
        engine: ptr::null(),
        engine_version: 0,
        api_version: vulkan::VERSION_1_0 | minor << 12,
    };
    let info = vulkan::InstanceCreateInfo {
        head: vulkan::Head::of(vulkan::INSTANCE_CREATE_INFO),
        flags: 0,
        application: &application,
        layer_count: 0,
        layers: ptr::null(),
        extension_count: vulkan::count(names),
        extensions: names.as_ptr(),
    };
    let mut handle = ptr::null_mut();
    // SAFETY: the create info is valid, and the handle is writable.
    vulkan::succeeded(unsafe { (found.create)(&info, vulkan::NO_ALLOCATOR, &mut handle) })?;
    Ok(handle)
}

commands! {
    /// The command that lists physical devices.
    OfInstance {
        list = c"vkEnumeratePhysicalDevices": fn(Handle, *mut u32, *mut Handle) -> Code;
    }
}

impl Way {
    /// Returns the devices without duplicates and null handles, as the library does.
    fn list(&self) -> Result<Vec<Handle>, Code> {
        // SAFETY: the look-up function belongs to the driver of the live instance, and `OfInstance` declares the command with its type in
        // the registry.
        let found = unsafe { OfInstance::find(self.look_up, self.instance) }.ok_or(vulkan::INITIALIZATION_FAILED)?;
        // SAFETY: the command fills lists as `listed` requires.
        let listed = unsafe { listed(|count, entries| (found.list)(self.instance, count, entries)) }?;
        let mut devices: Vec<Handle> = Vec::new();
        for device in listed {
            if !device.is_null() && !devices.contains(&device) {
                devices.push(device);
            }
        }
        Ok(devices)
    }
}

/// Returns the number of devices, if all instances have the same number.
pub(super) fn devices(ways: &[Way]) -> Option<usize> {
    let count = ways.first()?.devices.len();
    ways.iter().all(|way| way.devices.len() == count).then_some(count)
}
