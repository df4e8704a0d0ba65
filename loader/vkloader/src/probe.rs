//! The process that stands for a program: it opens the library and does what every Vulkan program does first.

use crate::objects;
use crate::vulkan::{
    self, Code, Entry, ExtensionProperties, GetProcAddr, Head, Instance, Physical, PhysicalDeviceDriverProperties,
    PhysicalDeviceIdProperties, PhysicalDevicePciBusInfoProperties,
};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, CString, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The argument that makes this program the probe; what follows is the library to open.
pub(crate) const ARGUMENT: &str = "probe";

/// What programs open when they are not told which library.
const USUAL_LIBRARY: &str = "libvulkan.so.1";

/// Returns the library to open: the named library, or the usual one. A name without a folder first means a file in the current
/// folder, as in every command. The dynamic linker alone would search for it elsewhere.
pub(crate) fn library(named: Option<&Path>) -> PathBuf {
    let name = named.unwrap_or(Path::new(USUAL_LIBRARY));
    match named.is_some_and(Path::is_file) {
        true => std::path::absolute(name).unwrap_or_else(|_| name.into()),
        false => name.into(),
    }
}

/// What the probe received, above all layers.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Seen {
    /// The file that was opened.
    pub(crate) library: Option<String>,
    /// The paths of the libraries that were loaded before a driver was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) before: Vec<String>,
    /// The paths of those that were loaded meanwhile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) objects: Vec<String>,
    /// Why it did not open, in the system's words.
    pub(crate) not_opened: Option<String>,
    /// The version that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// The instance extensions that it lists, each with its version after a blank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<String>,
    /// The layers that it lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) layers: Vec<String>,
    /// What `vkCreateInstance` gave.
    pub(crate) instance: Option<Code>,
    /// What `vkEnumeratePhysicalDevices` gave.
    pub(crate) enumeration: Option<Code>,
    /// The devices, in the order in which a program gets them.
    pub(crate) devices: Vec<Device>,
}

impl Seen {
    /// Returns what a probe told last. A probe that ended early told less.
    pub(crate) fn last(output: &[u8]) -> Option<Self> {
        let lines = output.split(|&byte| byte == b'\n').rev();
        lines
            .filter(|line| !line.is_empty())
            .find_map(|line| serde_json::from_slice(line).ok())
    }

    /// Adds what is loaded now.
    fn note_objects(&mut self) {
        for path in objects::loaded() {
            if !self.before.contains(&path) && !self.objects.contains(&path) {
                self.objects.push(path);
            }
        }
    }
}

/// What tells one device from another.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Device {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    pub(crate) api_version: String,
    /// Thirty-two hexadecimal digits.
    pub(crate) uuid: Option<String>,
    /// Thirty-two hexadecimal digits, which are the same for all devices of a driver.
    pub(crate) driver_uuid: Option<String>,
    /// Domain, bus, device and function.
    pub(crate) pci: Option<String>,
    /// `VkDriverId`.
    pub(crate) driver_id: Option<i32>,
    /// What the driver calls itself.
    pub(crate) driver_name: Option<String>,
    /// What `vkCreateDevice` gave, where it was called and returned.
    pub(crate) created: Option<Code>,
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
    /// The library alone, which is opened and asked nothing.
    Nothing,
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

/// Does what is asked for, and tells what it received: at the end, and as a program also before each step in which a driver may end
/// the process.
///
/// # Errors
/// Returns the error of `tell`.
pub(crate) fn run(
    library: &OsString,
    extent: Extent,
    layers: &[String],
    tell: &mut dyn FnMut(&Seen) -> io::Result<()>,
) -> io::Result<()> {
    let mut seen = Seen::default();
    let opened = open(library);
    seen.library = mapped();
    match opened {
        Ok(_) if extent == Extent::Nothing => {}
        Ok(entry) if extent == Extent::Program => ask(&entry, layers, &mut seen, tell)?,
        Ok(entry) => ask_driver(&entry, extent, &mut seen),
        Err(words) => seen.not_opened = Some(words),
    }
    tell(&seen)
}

/// The functions of a Vulkan loader, which stays open until the process ends.
///
/// # Errors
/// Why it cannot be asked, for people.
pub(crate) fn open(library: &OsString) -> Result<Entry, String> {
    let name = library.to_str().ok_or("its path is no UTF-8")?;
    // SAFETY: this is what the process is for: whatever the initialisers of the library do concerns it alone.
    let opened = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| words(&error))?;
    // SAFETY: a Vulkan loader exports this function with this signature.
    let get = unsafe { opened.get::<GetProcAddr>(b"vkGetInstanceProcAddr\0") };
    let get = *get.map_err(|_| "it exports no vkGetInstanceProcAddr")?;
    std::mem::forget(opened);
    // SAFETY: the library stays open until the process ends.
    Ok(unsafe { Entry::new(get) })
}

/// An error with what is behind it: the system's words stand there.
fn words(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", words(cause)),
        None => error.to_string(),
    }
}

/// What every program does first, in the order in which most do it, and a device of each physical device.
fn ask(
    entry: &Entry,
    layers: &[String],
    seen: &mut Seen,
    tell: &mut dyn FnMut(&Seen) -> io::Result<()>,
) -> io::Result<()> {
    seen.before = objects::loaded();
    let instance = match create(entry, Extent::Program, layers, seen) {
        Ok(instance) => instance,
        Err(code) => {
            seen.instance = Some(code);
            return Ok(());
        }
    };
    seen.instance = Some(vulkan::SUCCESS);
    seen.note_objects();
    tell(seen)?;
    let devices = instance.devices();
    seen.enumeration = Some(devices.as_ref().err().copied().unwrap_or(vulkan::SUCCESS));
    let devices = devices.unwrap_or_default();
    seen.devices = devices.iter().copied().map(describe).collect();
    seen.note_objects();
    for (place, device) in devices.into_iter().enumerate() {
        tell(seen)?;
        seen.devices[place].created = Some(device.try_device().err().unwrap_or(vulkan::SUCCESS));
    }
    tell(seen)?;
    instance.destroy();
    Ok(())
}

/// What the driver catalogue is about.
fn ask_driver(entry: &Entry, extent: Extent, seen: &mut Seen) {
    seen.before = objects::loaded();
    if extent == Extent::Extensions {
        // The trace has the extensions that the driver lists.
        entry.extensions();
        return seen.note_objects();
    }
    let made = instance(entry, extent, &[]);
    // A driver without devices is closed when devices are listed.
    seen.note_objects();
    match made {
        Err(code) => seen.instance = Some(code),
        Ok(instance) => {
            seen.instance = Some(vulkan::SUCCESS);
            let devices = instance.devices();
            seen.enumeration = Some(devices.as_ref().err().copied().unwrap_or(vulkan::SUCCESS));
            seen.devices = devices.unwrap_or_default().into_iter().map(describe).collect();
            seen.note_objects();
            instance.destroy();
        }
    }
}

/// An instance, after the questions that come before one.
///
/// # Errors
/// What `vkCreateInstance` gave.
pub(crate) fn instance(entry: &Entry, extent: Extent, layers: &[String]) -> Result<Instance, Code> {
    create(entry, extent, layers, &mut Seen::default())
}

/// The same; notes the answers to the questions.
fn create(entry: &Entry, extent: Extent, layers: &[String], seen: &mut Seen) -> Result<Instance, Code> {
    let number = entry.version();
    let extensions = entry.extensions();
    seen.version = Some(version(number));
    if extent == Extent::Driver {
        // Portability drivers, which do not conform fully, are included. The loader itself offers this extension.
        let wanted = [c"VK_KHR_portability_enumeration"];
        return entry.instance(number, vulkan::ENUMERATE_PORTABILITY, &wanted, &[]);
    }
    let line = |one: &ExtensionProperties| format!("{} {}", text(&one.name), one.version);
    seen.extensions = extensions.iter().map(line).collect();
    seen.layers = entry.layers().iter().map(|layer| text(&layer.name)).collect();
    let layers: Vec<CString> = layers
        .iter()
        .filter_map(|name| CString::new(name.as_str()).ok())
        .collect();
    let layers: Vec<&CStr> = layers.iter().map(CString::as_c_str).collect();
    entry.instance(number, 0, &[], &layers)
}

fn describe(device: Physical<'_>) -> Device {
    let properties = device.properties();
    let mut described = Device {
        name: text(&properties.name),
        kind: kind(properties.kind).into(),
        vendor: properties.vendor,
        device: properties.device,
        api_version: version(properties.api_version),
        ..Device::default()
    };
    if properties.api_version < vulkan::VERSION_1_1 {
        return described;
    }
    let extensions = device.extensions();
    let has = |name: &str| extensions.iter().any(|extension| text(&extension.name) == name);
    let mut identity = PhysicalDeviceIdProperties {
        head: Head::of(vulkan::PHYSICAL_DEVICE_ID_PROPERTIES),
        device_uuid: [0; 16],
        driver_uuid: [0; 16],
        device_luid: [0; 8],
        node_mask: 0,
        is_luid_valid: 0,
    };
    let mut pci = PhysicalDevicePciBusInfoProperties {
        head: Head::of(vulkan::PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT),
        domain: 0,
        bus: 0,
        device: 0,
        function: 0,
    };
    let mut of_driver = PhysicalDeviceDriverProperties::default();
    let has_driver = properties.api_version >= vulkan::VERSION_1_2 || has("VK_KHR_driver_properties");
    if has_driver {
        identity.head.next = (&raw mut of_driver).cast();
    }
    let has_pci = has("VK_EXT_pci_bus_info");
    if has_pci {
        pci.head.next = identity.head.next;
        identity.head.next = (&raw mut pci).cast();
    }
    // SAFETY: a device of version 1.1 or newer, and structures that it knows.
    unsafe { device.fill((&raw mut identity).cast()) };
    described.driver_id = has_driver.then_some(of_driver.driver_id);
    described.driver_name = has_driver.then(|| text(&of_driver.driver_name));
    described.uuid = Some(digits(&identity.device_uuid));
    described.driver_uuid = Some(digits(&identity.driver_uuid));
    described.pci = has_pci.then(|| {
        let [domain, bus, device, function] = [pci.domain, pci.bus, pci.device, pci.function];
        format!("{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
    });
    described
}

/// Bytes as hexadecimal digits.
fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A version as people write it.
fn version(number: u32) -> String {
    format!("{}.{}.{}", number >> 22 & 0x7F, number >> 12 & 0x3FF, number & 0xFFF)
}

/// Returns the word of `VK_LOADER_DEVICE_SELECT` for a `VkPhysicalDeviceType`.
fn kind(kind: i32) -> &'static str {
    match kind {
        1 => "integrated",
        2 => "discrete",
        3 => "virtual",
        4 => "cpu",
        _ => "other",
    }
}

/// A text of fixed length, up to its terminator.
pub(crate) fn text(characters: &[u8]) -> String {
    let end = characters
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(characters.len());
    String::from_utf8_lossy(&characters[..end]).into_owned()
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
