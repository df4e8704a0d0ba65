//! The process that stands for a program: it opens the library and does what every Vulkan program does first.

use ash::vk;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The argument that makes this program the probe; what follows is the library to open.
pub(crate) const ARGUMENT: &str = "probe";

/// What programs open when they are not told which library.
const USUAL_LIBRARY: &str = "libvulkan.so.1";

/// The library to open: the one that was named, or the one that programs open. A name without a folder is first that of a file in the
/// current folder, as in every command; the dynamic linker alone would look for it elsewhere.
pub(crate) fn library(named: Option<&Path>) -> PathBuf {
    let name = named.unwrap_or(Path::new(USUAL_LIBRARY));
    match named.is_some_and(Path::is_file) {
        true => std::path::absolute(name).unwrap_or_else(|_| name.into()),
        false => name.into(),
    }
}

/// What the probe saw.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Seen {
    /// The file that was opened.
    pub(crate) library: Option<String>,
    /// Why it did not open, in the system's words.
    pub(crate) not_opened: Option<String>,
    /// What `vkCreateInstance` gave.
    pub(crate) instance: Option<i32>,
    /// The devices, in the order in which a program gets them.
    pub(crate) devices: Vec<Device>,
}

/// What tells one device from another.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Device {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    /// Thirty-two hexadecimal digits.
    pub(crate) uuid: Option<String>,
    /// Domain, bus, device and function.
    pub(crate) pci: Option<String>,
    /// `VkDriverId`.
    pub(crate) driver_id: Option<i32>,
}

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What every program asks for first.
    Program,
    /// One driver, whatever it is.
    Driver,
    /// The instance extensions of one driver, and no instance.
    Extensions,
}

/// Where the answer goes: what this process got as its output. What drivers print goes nowhere from here on, so that it is not taken
/// for one.
///
/// # Errors
/// The system's.
pub(crate) fn answers() -> io::Result<File> {
    let own = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
    if let Ok(nothing) = File::options().write(true).open("/dev/null") {
        rustix::stdio::dup2_stdout(&nothing)?;
    }
    Ok(own.into())
}

/// Lets this process end with the one that started it, and be the first to go where memory is short: what a driver does in it is
/// nobody's work.
pub(crate) fn be_expendable() {
    // Where the system does not let it be so, it is a process as any other.
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    }
}

/// Does it, and tells what it saw.
pub(crate) fn run(library: &OsString, extent: Extent) -> Seen {
    match open(library) {
        Ok(entry) => ask(&entry, extent),
        Err(words) => Seen {
            library: mapped(),
            not_opened: Some(words),
            ..Seen::default()
        },
    }
}

/// The functions of a Vulkan loader, which stays open until the process ends.
///
/// # Errors
/// Why it cannot be asked, for people.
pub(crate) fn open(library: &OsString) -> Result<ash::Entry, String> {
    let name = library.to_str().ok_or("its path is no UTF-8")?;
    // SAFETY: this is what the process is for: whatever the initialisers of the library do concerns it alone.
    let opened = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| words(&error))?;
    // SAFETY: a Vulkan loader exports this function with this signature.
    let get = unsafe { opened.get::<vk::PFN_vkGetInstanceProcAddr>(b"vkGetInstanceProcAddr\0") };
    let get = *get.map_err(|_| "it exports no vkGetInstanceProcAddr")?;
    std::mem::forget(opened);
    // SAFETY: the library stays open until the process ends.
    Ok(unsafe {
        ash::Entry::from_static_fn(ash::StaticFn {
            get_instance_proc_addr: get,
        })
    })
}

/// An error with what is behind it: the system's words stand there.
fn words(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", words(cause)),
        None => error.to_string(),
    }
}

/// What every program does first, in the order in which most do it.
fn ask(entry: &ash::Entry, extent: Extent) -> Seen {
    let mut seen = Seen {
        library: mapped(),
        ..Seen::default()
    };
    if extent == Extent::Extensions {
        // SAFETY: no parameters that could be wrong; the trace has what the driver lists.
        let _ = unsafe { entry.enumerate_instance_extension_properties(None) };
        return seen;
    }
    match instance(entry, extent) {
        Err(error) => seen.instance = Some(error.as_raw()),
        Ok(instance) => {
            seen.instance = Some(0);
            // SAFETY: a live instance.
            let devices = unsafe { instance.enumerate_physical_devices() }.unwrap_or_default();
            seen.devices = devices.iter().map(|&device| describe(&instance, device)).collect();
            // SAFETY: nothing made of it is left.
            unsafe { instance.destroy_instance(None) };
        }
    }
    seen
}

/// An instance, after the questions that come before one.
///
/// # Errors
/// What `vkCreateInstance` gave.
pub(crate) fn instance(entry: &ash::Entry, extent: Extent) -> Result<ash::Instance, vk::Result> {
    // SAFETY: no parameters that could be wrong; what fails is seen by what follows.
    let version = unsafe { entry.try_enumerate_instance_version() };
    // SAFETY: as above.
    let _ = unsafe { entry.enumerate_instance_extension_properties(None) };
    if extent == Extent::Program {
        // SAFETY: as above.
        let _ = unsafe { entry.enumerate_instance_layer_properties() };
    }
    let version = version.ok().flatten().unwrap_or(vk::API_VERSION_1_0);
    let application = vk::ApplicationInfo::default().api_version(version);
    let mut info = vk::InstanceCreateInfo::default().application_info(&application);
    // A driver that does not keep all rules is one too; the loader offers this extension itself.
    let portability = [ash::khr::portability_enumeration::NAME.as_ptr()];
    if extent == Extent::Driver {
        info = info
            .flags(vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR)
            .enabled_extension_names(&portability);
    }
    // SAFETY: a valid create info.
    unsafe { entry.create_instance(&info, None) }
}

fn describe(instance: &ash::Instance, device: vk::PhysicalDevice) -> Device {
    // SAFETY: a device of a live instance.
    let properties = unsafe { instance.get_physical_device_properties(device) };
    let mut described = Device {
        name: text(&properties.device_name),
        kind: kind(properties.device_type).into(),
        vendor: properties.vendor_id,
        device: properties.device_id,
        ..Device::default()
    };
    if vk::api_version_minor(properties.api_version) < 1 && vk::api_version_major(properties.api_version) == 1 {
        return described;
    }
    // SAFETY: as above.
    let extensions = unsafe { instance.enumerate_device_extension_properties(device) }.unwrap_or_default();
    let has = |name: &CStr| {
        extensions
            .iter()
            .any(|extension| extension.extension_name_as_c_str() == Ok(name))
    };
    let mut identity = vk::PhysicalDeviceIDProperties::default();
    let mut pci = vk::PhysicalDevicePCIBusInfoPropertiesEXT::default();
    let mut of_driver = vk::PhysicalDeviceDriverProperties::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut identity);
    let has_driver = vk::api_version_minor(properties.api_version) >= 2 || has(ash::khr::driver_properties::NAME);
    if has_driver {
        all = all.push_next(&mut of_driver);
    }
    let has_pci = has(ash::ext::pci_bus_info::NAME);
    if has_pci {
        all = all.push_next(&mut pci);
    }
    // SAFETY: a device of version 1.1 or newer, and structures that it knows.
    unsafe { instance.get_physical_device_properties2(device, &mut all) };
    described.driver_id = has_driver.then(|| of_driver.driver_id.as_raw());
    described.uuid = Some(identity.device_uuid.iter().map(|byte| format!("{byte:02x}")).collect());
    described.pci = has_pci.then(|| {
        let [domain, bus, device, function] = [pci.pci_domain, pci.pci_bus, pci.pci_device, pci.pci_function];
        format!("{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
    });
    described
}

fn kind(kind: vk::PhysicalDeviceType) -> &'static str {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
        vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
        vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
        vk::PhysicalDeviceType::CPU => "cpu",
        _ => "other",
    }
}

/// A text of fixed length, up to its terminator.
pub(crate) fn text(characters: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = characters.iter().map(|&one| one.cast_unsigned()).collect();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// The file of the Vulkan loader that this process has mapped.
fn mapped() -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .find(|path| {
            path.rsplit('/')
                .next()
                .is_some_and(|name| name.starts_with("libvulkan.so"))
        })
        .map(String::from)
}
