//! Graphics devices in the kernel's lists. Only [`Machine::is_open_to`] opens device nodes, because opening a node could wake the device.

use super::file::{self, Card, Node};
use super::identify;
use catalogue::{Fingerprint, Hardware, Look};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Beginning of the PCI class of displays, in the form that the kernel writes.
const DISPLAY: &str = "0x03";

/// Device nodes of graphics drivers outside `/dev/dri`.
const NODES: [&str; 9] = [
    "dev/nvidiactl",
    "dev/nvidia-modeset",
    "dev/nvidia0",
    "dev/nvidia1",
    "dev/dxg",
    "dev/kgsl-3d0",
    "dev/mali0",
    "dev/pvr_sync",
    "dev/kfd",
];

/// The graphics devices of a machine.
pub(super) struct Machine {
    root: PathBuf,
    /// The facts about the machine that a catalogue records.
    pub(super) record: file::Machine,
}

impl file::Machine {
    /// Returns `true` if the kernel, the processor and the devices are the same. The machine may have booted in between.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let has_same_lists = (&self.nodes, &self.cards) == (&other.nodes, &other.cards);
        has_same_lists && (&self.fingerprint, &self.kernel) == (&other.fingerprint, &other.kernel)
    }
}

impl file::Driver {
    /// Returns `true` if the driver has no device although its hardware is present. A change that the kernel's lists do not show may then
    /// bring a device, for example new firmware of a card, or another setting of a virtual machine.
    pub(super) fn lacks_device(&self) -> bool {
        self.hardware == Hardware::Present.name() && self.devices.as_ref().is_some_and(Vec::is_empty)
    }
}

impl Machine {
    /// Reads the kernel's lists below the folder `root`.
    pub(super) fn observe(root: &Path) -> Self {
        let cards = cards(root);
        let addresses = || cards.iter().map(|card| card.address.as_bytes());
        let mut boot = String::new();
        catalogue::boot_text(&Root(root), &mut |text| boot = String::from_utf8_lossy(text).into());
        let record = file::Machine {
            fingerprint: Fingerprint::of(&Root(root), addresses()).to_string(),
            boot,
            devices: Fingerprint::of_devices(&Root(root), addresses()).to_string(),
            kernel: text(&root.join("proc/sys/kernel/osrelease")),
            nodes: nodes(root),
            cards,
        };
        Self {
            root: root.into(),
            record,
        }
    }

    /// Returns `true` if at least one card is suspended.
    pub(super) fn sleeps(&self) -> bool {
        self.record.cards.iter().any(|card| card.sleeps)
    }

    /// Returns the state of the hardware for the driver whose library is `library`.
    pub(super) fn hardware(&self, library: &str) -> Hardware {
        let drivers = || {
            let of_nodes = self.record.nodes.iter().filter_map(|node| node.driver.as_deref());
            of_nodes.chain(self.record.cards.iter().filter_map(|card| card.driver.as_deref()))
        };
        Hardware::of(
            library.as_bytes(),
            |wanted| drivers().any(|driver| driver == wanted),
            |node| Root(&self.root).exists(node.as_bytes()),
            |vendor, known| {
                let waits = |card: &Card| card.driver.as_deref().is_none_or(|driver| known.contains(&driver));
                self.record
                    .cards
                    .iter()
                    .any(|card| card.vendor == vendor && waits(card))
            },
        )
    }

    /// Returns `true` if this process may open the device nodes of a driver. Without this permission, a driver lists no device although the
    /// device exists. Must be called only if no card is suspended, because opening a node wakes the card.
    pub(super) fn is_open_to(&self, library: &str) -> bool {
        let Some(row) = catalogue::hardware::of(library.as_bytes()) else {
            return true;
        };
        let serves = |node: &&Node| match &node.driver {
            // A driver renders through the render nodes of its kernel drivers.
            Some(driver) => node.path.contains("/renderD") && row.kernel_drivers.contains(&driver.as_str()),
            None => row.nodes.contains(&node.path.as_str()),
        };
        let mut nodes = self.record.nodes.iter().filter(serves);
        nodes.all(|node| {
            let path = Root(&self.root).path(node.path.as_bytes());
            fs::File::options().read(true).write(true).open(path).is_ok()
        })
    }
}

/// Returns the first line of a file without surrounding blanks; empty if the file cannot be read.
fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

/// Calls `take` for each name in a folder. Returns `false` if some names could not be read.
pub(super) fn each_name(folder: &Path, take: &mut dyn FnMut(&[u8])) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    let mut is_whole = true;
    for entry in entries {
        match entry {
            Ok(entry) => take(entry.file_name().as_bytes()),
            Err(_) => is_whole = false,
        }
    }
    is_whole
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Returns the name of a device's kernel driver.
fn driver(device: &Path) -> Option<String> {
    let link = fs::read_link(device.join("driver")).ok()?;
    link.file_name()?.to_str().map(String::from)
}

fn nodes(root: &Path) -> Vec<Node> {
    let is_node = |name: &String| name.starts_with("card") || name.starts_with("renderD");
    let dri = names(&root.join("dev/dri"))
        .into_iter()
        .filter(is_node)
        .map(|name| Node {
            driver: driver(&root.join("sys/class/drm").join(&name).join("device")),
            path: format!("/dev/dri/{name}"),
        });
    let others = NODES.iter().filter(|node| root.join(node).exists()).map(|node| Node {
        path: format!("/{node}"),
        driver: None,
    });
    dri.chain(others).collect()
}

fn cards(root: &Path) -> Vec<Card> {
    let bus = root.join("sys/bus/pci/devices");
    let number = |path: PathBuf| u16::from_str_radix(text(&path).trim_start_matches("0x"), 16).unwrap_or_default();
    let card = |address: String| {
        let device = bus.join(&address);
        text(&device.join("class")).starts_with(DISPLAY).then(|| Card {
            address,
            vendor: number(device.join("vendor")),
            device: number(device.join("device")),
            driver: driver(&device),
            sleeps: text(&device.join("power/runtime_status")) == "suspended",
        })
    };
    let all = names(&bus).into_iter().filter_map(card);
    all.take(catalogue::MOST_CARDS).collect()
}

/// A folder that replaces the root folder in paths.
struct Root<'a>(&'a Path);

impl Root<'_> {
    fn path(&self, absolute: &[u8]) -> PathBuf {
        self.0.join(OsStr::from_bytes(
            absolute.trim_ascii_start().strip_prefix(b"/").unwrap_or(absolute),
        ))
    }
}

impl Look for Root<'_> {
    fn names(&self, folder: &[u8], take: &mut dyn FnMut(&[u8])) -> bool {
        each_name(&self.path(folder), take)
    }

    fn link(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
        if let Ok(target) = fs::read_link(self.path(path)) {
            take(target.as_os_str().as_bytes());
        }
    }

    fn text(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
        if let Ok(text) = fs::read(self.path(path)) {
            take(&text);
        }
    }

    fn device_number(&self, path: &[u8]) -> Option<u64> {
        identify::device_number(&self.path(path))
    }
}
