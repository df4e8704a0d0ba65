//! Graphics hardware as the operating system lists it. No device node is opened, so no device is woken.

use crate::report::Card;
use rustix::fs::{Access, access};
use std::fs;
use std::path::{Path, PathBuf};

/// PCI class of displays, as the kernel writes it.
const DISPLAY: &str = "0x03";
/// Device nodes of drivers that have none in `/dev/dri`.
const OTHER_NODES: [&str; 6] = [
    "dev/nvidiactl",
    "dev/nvidia0",
    "dev/dxg",
    "dev/kgsl-3d0",
    "dev/mali0",
    "dev/pvr_sync",
];

/// The system whose files are below a root folder.
pub(super) struct Machine {
    root: PathBuf,
}

impl Machine {
    pub(super) fn at(root: &Path) -> Self {
        Self { root: root.into() }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Returns the text of a short file, without surrounding blanks; empty if the file cannot be read.
    pub(super) fn text(&self, path: &str) -> String {
        text(&self.path(path))
    }

    /// Returns the names in a folder, sorted.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Returns the graphics hardware: display devices of the PCI bus, and GPUs of the platform that have a render node.
    pub(super) fn cards(&self) -> Vec<Card> {
        let mut cards: Vec<Card> = self
            .names("sys/bus/pci/devices")
            .iter()
            .filter_map(|place| self.on_pci(place))
            .collect();
        cards.extend(
            self.names("sys/class/drm")
                .iter()
                .filter_map(|node| self.on_platform(node)),
        );
        cards
    }

    fn on_pci(&self, place: &str) -> Option<Card> {
        let folder = self.path("sys/bus/pci/devices").join(place);
        let number = |file: &str| {
            let text = text(&folder.join(file));
            u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_default()
        };
        text(&folder.join("class")).starts_with(DISPLAY).then(|| Card {
            place: place.into(),
            vendor: number("vendor"),
            device: number("device"),
            kernel_driver: driver_of(&folder),
            node: fs::read_dir(folder.join("drm"))
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.file_name().to_string_lossy().into_owned())
                .find(|name| name.starts_with("renderD"))
                .map(|name| format!("/dev/dri/{name}")),
        })
    }

    fn on_platform(&self, node: &str) -> Option<Card> {
        let folder = self.path("sys/class/drm").join(node).join("device");
        let bus = fs::read_link(folder.join("subsystem")).ok()?;
        (node.starts_with("renderD") && bus.file_name()? == "platform").then(|| Card {
            place: fs::read_link(&folder)
                .ok()
                .and_then(|link| Some(link.file_name()?.to_string_lossy().into_owned()))
                .unwrap_or_else(|| node.into()),
            vendor: 0,
            device: 0,
            kernel_driver: driver_of(&folder),
            node: Some(format!("/dev/dri/{node}")),
        })
    }

    /// Returns the device nodes that drivers open.
    pub(super) fn nodes(&self) -> Vec<PathBuf> {
        let render = self
            .names("dev/dri")
            .into_iter()
            .filter(|name| name.starts_with("renderD"));
        let render = render.map(|name| self.path("dev/dri").join(name));
        let others = OTHER_NODES
            .iter()
            .map(|node| self.path(node))
            .filter(|node| node.exists());
        render.chain(others).collect()
    }

    /// Returns the version of NVIDIA's kernel module, if it is loaded.
    pub(super) fn nvidia_module(&self) -> Option<String> {
        let text = self.text("proc/driver/nvidia/version");
        let line = text.lines().find(|line| line.starts_with("NVRM version:"))?;
        line.split_whitespace().find(|word| is_version(word)).map(String::from)
    }

    /// Returns the version of NVIDIA's installed libraries, from the name of one.
    pub(super) fn nvidia_library(&self) -> Option<String> {
        let folders = [
            "usr/lib/x86_64-linux-gnu",
            "usr/lib/aarch64-linux-gnu",
            "usr/lib64",
            "usr/lib",
            "usr/lib/x86_64-linux-gnu/nvidia/current",
            "usr/local/nvidia/lib64",
        ];
        folders.iter().find_map(|folder| {
            let names = self.names(folder);
            let version = |name: &String| name.strip_prefix("libnvidia-glcore.so.").map(String::from);
            names.iter().filter_map(version).find(|version| is_version(version))
        })
    }

    /// Returns the surroundings of the program, such as a container or virtual machine. There may be several.
    pub(super) fn surroundings(&self) -> Vec<&'static str> {
        let known: [(&str, bool); 8] = [
            ("flatpak", self.has(".flatpak-info")),
            (
                "snap",
                std::env::var_os("SNAP").is_some() && self.root == Path::new("/"),
            ),
            (
                "steam",
                self.has("run/pressure-vessel") || self.has("run/host/container-manager"),
            ),
            ("podman", self.has("run/.containerenv")),
            ("docker", self.has(".dockerenv")),
            (
                "container",
                !self.has("run/.containerenv") && !self.has(".dockerenv") && self.has("run/systemd/container"),
            ),
            (
                "wsl",
                self.text("proc/sys/kernel/osrelease")
                    .to_lowercase()
                    .contains("microsoft"),
            ),
            ("virtual-machine", self.is_virtual()),
        ];
        known
            .into_iter()
            .filter(|(_, is_so)| *is_so)
            .map(|(word, _)| word)
            .collect()
    }

    fn is_virtual(&self) -> bool {
        let text = fs::read_to_string(self.path("proc/cpuinfo")).unwrap_or_default();
        let flags = text
            .lines()
            .find(|line| line.starts_with("flags") || line.starts_with("Features"));
        flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
    }
}

fn is_version(word: &str) -> bool {
    let mut parts = word.split('.');
    word.contains('.') && parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn text(path: &Path) -> String {
    let is_file = fs::metadata(path).is_ok_and(|status| status.is_file());
    let text = is_file.then(|| fs::read_to_string(path).ok()).flatten();
    text.unwrap_or_default().trim().to_owned()
}

fn driver_of(folder: &Path) -> Option<String> {
    let link = fs::read_link(folder.join("driver")).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

/// Returns `true` if this user may read and write a device node.
pub(super) fn is_open_to_us(node: &Path) -> bool {
    access(node, Access::READ_OK | Access::WRITE_OK).is_ok()
}
