//! The probe: a process that opens the library and makes the same first calls as every Vulkan program.

use crate::paths::file_name;
use crate::vulkan::{
    self, Code, Entry, ExtensionProperties, GetProcAddr, Head, Instance, Physical, PhysicalDeviceDriverProperties,
    PhysicalDeviceIdProperties, PhysicalDevicePciBusInfoProperties,
};
use crate::{features, objects};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, CString, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Hidden command of `vkloader`. The next argument is the path of the loader.
pub(crate) const ARGUMENT: &str = "probe";

/// Name that programs use to open their loader.
const USUAL_LIBRARY: &str = "libvulkan.so.1";

/// Returns the library to open: the named library, or else the usual one. For an existing file, returns the absolute path, because the
/// dynamic linker would search other folders for a name without a path.
pub(crate) fn library(named: Option<&Path>) -> PathBuf {
    let name = named.unwrap_or(Path::new(USUAL_LIBRARY));
    if named.is_some_and(Path::is_file) {
        std::path::absolute(name).unwrap_or_else(|_| name.into())
    } else {
        name.into()
    }
}

/// Results that the probe received at the top of the layer chain.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Seen {
    /// Path of the library that the probe opened.
    pub(crate) library: Option<String>,
    /// Paths of the libraries that were loaded before the probe asked a driver.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) before: Vec<String>,
    /// Paths of the libraries that were loaded after the first query of a driver.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) objects: Vec<String>,
    /// Message of the system, if it could not open the library.
    pub(crate) not_opened: Option<String>,
    /// Version of Vulkan that the library supports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    /// Instance extensions of the library, each with its version after a blank.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<String>,
    /// Layers that the library lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) layers: Vec<String>,
    /// Result of `vkCreateInstance`.
    pub(crate) instance: Option<Code>,
    /// Result of `vkEnumeratePhysicalDevices`.
    pub(crate) enumeration: Option<Code>,
    /// Devices, in the order in which a program receives them.
    pub(crate) devices: Vec<Device>,
}

impl Seen {
    /// Returns the usable devices. A device is usable if `vkCreateDevice` succeeded.
    pub(crate) fn usable(&self) -> impl Iterator<Item = &Device> {
        self.devices
            .iter()
            .filter(|device| device.created == Some(vulkan::SUCCESS))
    }

    /// Returns `true` if the probe made all its calls up to the first failed call or the end.
    pub(crate) fn is_complete(&self) -> bool {
        let has_devices = || self.devices.iter().all(|device| device.created.is_some());
        match (self.instance, self.enumeration) {
            (Some(vulkan::SUCCESS), Some(vulkan::SUCCESS)) => has_devices(),
            (Some(vulkan::SUCCESS), enumeration) => enumeration.is_some(),
            (instance, _) => instance.is_some(),
        }
    }

    /// Returns the first call that failed, and its result.
    pub(crate) fn failed_call(&self) -> Option<(&'static str, Code)> {
        let created = self.devices.iter().filter_map(|device| device.created);
        let calls = [self.instance, self.enumeration];
        ["vkCreateInstance", "vkEnumeratePhysicalDevices"]
            .into_iter()
            .zip(calls)
            .filter_map(|(name, code)| Some((name, code?)))
            .chain(created.map(|code| ("vkCreateDevice", code)))
            .find(|(_, code)| *code != vulkan::SUCCESS)
    }

    /// Arranges the devices as in `other`, and takes over the calls of `other`. The devices keep what only this probe knows.
    pub(crate) fn arranged_as(mut self, other: Self) -> Self {
        let known = &mut self.devices;
        let devices = other.devices.into_iter().map(|device| {
            let is_same =
                |one: &Device| (&one.name, one.vendor, one.device) == (&device.name, device.vendor, device.device);
            match known.iter().position(is_same) {
                Some(place) => Device {
                    created: device.created,
                    ..known.remove(place)
                },
                None => device,
            }
        });
        let devices = devices.collect();
        Self {
            instance: other.instance,
            enumeration: other.enumeration,
            devices,
            ..self
        }
    }

    /// Returns the last line of results in the output of a probe. The results are incomplete if the probe ended early.
    pub(crate) fn last(output: &[u8]) -> Option<Self> {
        let lines = output.split(|&byte| byte == b'\n').rev();
        lines
            .filter(|line| !line.is_empty())
            .find_map(|line| serde_json::from_slice(line).ok())
    }

    /// Adds libraries that have been loaded since the last call.
    fn note_objects(&mut self) {
        for path in objects::loaded() {
            if !self.before.contains(&path) && !self.objects.contains(&path) {
                self.objects.push(path);
            }
        }
    }
}

/// A device with the properties that identify it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Device {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    pub(crate) api_version: String,
    /// UUID in 32 hexadecimal digits.
    pub(crate) uuid: Option<String>,
    /// Driver UUID in 32 hexadecimal digits, which is the same for all devices of a driver.
    pub(crate) driver_uuid: Option<String>,
    /// PCI domain, bus, device and function.
    pub(crate) pci: Option<String>,
    /// Value of `VkDriverId`.
    pub(crate) driver_id: Option<i32>,
    /// Name that the driver reports.
    pub(crate) driver_name: Option<String>,
    /// Result of `vkCreateDevice`, if the command was called and returned.
    pub(crate) created: Option<Code>,
    /// Names of the device's extensions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) extensions: Vec<String>,
    /// Names of the features that the device has, among those of Vulkan's versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) features: Vec<String>,
}

/// Commands that the probe calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The first commands that every program calls.
    Program,
    /// The first commands of a program that was made for Vulkan 1.0.
    OldProgram,
    /// Commands that query the instance extensions and devices of one driver.
    Driver,
    /// The command that queries the instance extensions of one driver, without an instance.
    Extensions,
    /// Commands that query the version, the layers and the instance extensions of a loader, without an instance.
    Lists,
    /// No commands: the probe only opens the library.
    Nothing,
}

/// Returns a copy of this process's standard output, for the results. After the call, lines that drivers print are discarded, so that they
/// cannot be mistaken for results.
///
/// # Errors
///
/// A descriptor cannot be duplicated.
pub(crate) fn answers() -> io::Result<File> {
    let own = rustix::io::fcntl_dupfd_cloexec(io::stdout(), 3)?;
    if let Ok(nothing) = File::options().write(true).open("/dev/null") {
        rustix::stdio::dup2_stdout(&nothing)?;
    }
    Ok(own.into())
}

/// Makes this process end with its parent. Also makes the system kill this process first when memory is short, because the user loses no
/// work when this process ends.
pub(crate) fn be_expendable() {
    // If the system does not support a request, the process runs without it.
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    }
}

/// Calls the commands of `extent`, and calls `tell` with the results at the end. In the role of a program, also calls `tell` before each
/// step in which a driver may crash the process.
///
/// # Errors
///
/// Returns the error of `tell`.
pub(crate) fn run(
    library: &OsString,
    extent: Extent,
    layers: &[String],
    tell: &mut dyn FnMut(&Seen) -> io::Result<()>,
) -> io::Result<()> {
    let mut seen = Seen::default();
    let opened = open(library);
    // The file of an opened Vulkan loader is known even on systems without `/proc`. For other libraries, only `/proc` contains the file.
    seen.library = opened.as_ref().ok().and_then(Entry::file).or_else(mapped);
    match opened {
        Ok(_) if extent == Extent::Nothing => {}
        Ok(entry) if extent == Extent::Lists => lists(&entry, &mut seen),
        Ok(entry) if matches!(extent, Extent::Program | Extent::OldProgram) => {
            ask(&entry, extent, layers, &mut seen, tell)?;
        }
        Ok(entry) => ask_driver(&entry, extent, &mut seen),
        Err(words) => seen.not_opened = Some(words),
    }
    tell(&seen)
}

/// Opens a Vulkan loader and returns its functions. The loader stays open until the process ends.
///
/// # Errors
/// Returns a message with the reason why the library cannot be used.
pub(crate) fn open(library: &OsString) -> Result<Entry, String> {
    let name = library.to_str().ok_or("its path is not UTF-8")?;
    // SAFETY: the initialisers of a library may run any code. This process exists only to run the library, so a crash ends no other work.
    let opened = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| words(&error))?;
    // SAFETY: the type is the signature with which Vulkan loaders export this function.
    let get = unsafe { opened.get::<GetProcAddr>(b"vkGetInstanceProcAddr\0") };
    let get = *get.map_err(|_| "it exports no vkGetInstanceProcAddr")?;
    std::mem::forget(opened);
    // SAFETY: `get` is the look-up function of a library that stays open until the process ends.
    Ok(unsafe { Entry::new(get) })
}

/// Returns the messages of an error and its sources, one of which is the message of the system.
fn words(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", words(cause)),
        None => error.to_string(),
    }
}

/// Calls the first commands of a usual program in their usual order, and creates a logical device on each physical device.
fn ask(
    entry: &Entry,
    extent: Extent,
    layers: &[String],
    seen: &mut Seen,
    tell: &mut dyn FnMut(&Seen) -> io::Result<()>,
) -> io::Result<()> {
    seen.before = objects::loaded();
    seen.version = Some(version(entry.version()));
    // From this point on, a manifest, driver or layer may crash the process.
    tell(seen)?;
    let instance = match create(entry, extent, layers, seen) {
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
    for (described, device) in seen.devices.iter_mut().zip(&devices) {
        described.features = features(*device);
    }
    seen.note_objects();
    for (place, device) in devices.into_iter().enumerate() {
        tell(seen)?;
        seen.devices[place].created = Some(device.try_device().err().unwrap_or(vulkan::SUCCESS));
    }
    tell(seen)?;
    instance.destroy();
    Ok(())
}

/// Asks a driver for the facts that a catalogue entry contains.
fn ask_driver(entry: &Entry, extent: Extent, seen: &mut Seen) {
    seen.before = objects::loaded();
    if extent == Extent::Extensions {
        // The result is ignored, because the loader writes the driver's extensions to the trace.
        entry.extensions();
        return seen.note_objects();
    }
    let made = instance(entry, extent, &[]);
    // When the loader lists devices, it closes a driver without devices, so the libraries are recorded first.
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

/// Makes the queries that programs usually make, and then creates an instance.
///
/// # Errors
///
/// Returns the result of `vkCreateInstance`.
pub(crate) fn instance(entry: &Entry, extent: Extent, layers: &[String]) -> Result<Instance, Code> {
    create(entry, extent, layers, &mut Seen::default())
}

/// Makes some queries and then creates an instance. Records the answers to the queries in `seen`.
fn create(entry: &Entry, extent: Extent, layers: &[String], seen: &mut Seen) -> Result<Instance, Code> {
    let number = entry.version();
    if extent == Extent::Driver {
        entry.extensions();
        seen.version = Some(version(number));
        // With this extension, the loader also uses portability drivers, which do not fully conform to Vulkan. The loader implements the
        // extension, not the driver.
        let wanted = [c"VK_KHR_portability_enumeration"];
        return entry.instance(number, vulkan::ENUMERATE_PORTABILITY, &wanted, &[]);
    }
    lists(entry, seen);
    let layers: Vec<CString> = layers
        .iter()
        .filter_map(|name| CString::new(name.as_str()).ok())
        .collect();
    let layers: Vec<&CStr> = layers.iter().map(CString::as_c_str).collect();
    let number = if extent == Extent::OldProgram {
        vulkan::VERSION_1_0
    } else {
        number
    };
    entry.instance(number, 0, &[], &layers)
}

/// Records the version, the instance extensions and the layers of a loader in `seen`.
fn lists(entry: &Entry, seen: &mut Seen) {
    let line = |one: &ExtensionProperties| format!("{} {}", text(&one.name), one.version);
    seen.version = Some(version(entry.version()));
    seen.extensions = entry.extensions().iter().map(line).collect();
    seen.layers = entry.layers().iter().map(|layer| text(&layer.name)).collect();
}

/// Structures of features of Vulkan's versions. Each row has the first version that has the structure, and its type.
const FEATURES: [(u32, i32); 5] = [
    (vulkan::VERSION_1_1, features::CORE),
    (vulkan::VERSION_1_2, 49),
    (vulkan::VERSION_1_2, 51),
    (vulkan::VERSION_1_3, 53),
    (vulkan::VERSION_1_4, 55),
];

/// Returns the names of the features that a device has.
fn features(device: Physical<'_>) -> Vec<String> {
    let version = device.properties().api_version;
    let rows = FEATURES.iter().filter(|(first, _)| version >= *first);
    let structures: Vec<i32> = rows.map(|(_, structure)| *structure).collect();
    let all = device.features(&structures);
    let names = all.iter().flat_map(|one| {
        let named = features::of(one.head.structure_type).zip(one.words);
        named.filter(|(_, word)| *word != 0).map(|(name, _)| name.into())
    });
    names.collect()
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
    if properties.api_version < vulkan::VERSION_1_1 || !device.has_newer_commands() {
        return described;
    }
    let extensions = device.extensions();
    described.extensions = extensions.iter().map(|extension| text(&extension.name)).collect();
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
    // SAFETY: the chain consists of valid structures, and the device's version supports these structures.
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

/// Returns bytes as hexadecimal digits.
fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a packed version as text.
fn version(number: u32) -> String {
    format!("{}.{}.{}", number >> 22 & 0x7F, number >> 12 & 0x3FF, number & 0xFFF)
}

/// Returns the word for a `VkPhysicalDeviceType` in `VK_LOADER_DEVICE_SELECT`.
fn kind(kind: i32) -> &'static str {
    match kind {
        1 => "integrated",
        2 => "discrete",
        3 => "virtual",
        4 => "cpu",
        _ => "other",
    }
}

/// Returns the text in an array, up to its null byte.
pub(crate) fn text(characters: &[u8]) -> String {
    let end = characters
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(characters.len());
    String::from_utf8_lossy(&characters[..end]).into_owned()
}

/// Returns the first file that this process has mapped and that has the name of a Vulkan loader.
fn mapped() -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .find(|path| file_name(path).starts_with("libvulkan.so"))
        .map(String::from)
}
