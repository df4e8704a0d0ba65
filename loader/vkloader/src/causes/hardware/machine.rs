//! Graphics hardware in the kernel's lists. This module never opens a device node, so it wakes no device.

use crate::causes::elf;
use crate::inside::Inside;
use crate::mounts::Mounts;
use crate::regular;
use crate::report::Card;
use rustix::fs::{Access, access};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Beginning of the PCI class of displays, in the form that the kernel writes.
const DISPLAY: &str = "0x03";
/// Kernel driver through which Windows provides its graphics card to WSL.
pub(super) const WINDOWS_DRIVER: &str = "dxgkrnl";
/// Device node of [`WINDOWS_DRIVER`].
pub(super) const WINDOWS_NODE: &str = "/dev/dxg";
/// Device nodes of drivers that have no node in `/dev/dri`.
const OTHER_NODES: [&str; 9] = [
    "dev/nvidiactl",
    "dev/nvidia0",
    "dev/dxg",
    "dev/kgsl-3d0",
    "dev/mali0",
    "dev/pvr_sync",
    "dev/nvmap",
    "dev/nvhost-ctrl-gpu",
    "dev/nvgpu/igpu0/ctrl",
];

/// Device nodes of GPUs whose kernel driver does not belong to the DRM subsystem, each with the name of the kernel driver.
const NODES: [(&str, &str); 5] = [
    ("/dev/mali0", "mali"),
    ("/dev/kgsl-3d0", "kgsl"),
    ("/dev/pvr_sync", "pvrsrvkm"),
    ("/dev/nvhost-ctrl-gpu", "nvgpu"),
    ("/dev/nvgpu/igpu0/ctrl", "nvgpu"),
];

/// Variable of the firmware with the state of Secure Boot.
const SECURE_BOOT: &str = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

/// Files that exist in containers of systemd-nspawn and LXC, and of Kubernetes.
const OF_CONTAINER: [&str; 2] = ["run/systemd/container", "run/secrets/kubernetes.io"];

/// Kernel drivers of the card in NVIDIA's chips (Tegra, Jetson).
pub(super) const ON_CHIP: [&str; 2] = ["nvgpu", "gk20a"];

/// Folders in which NVIDIA's libraries are installed.
const NVIDIA_FOLDERS: [&str; 7] = [
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "usr/lib/x86_64-linux-gnu/nvidia/current",
    "usr/local/nvidia/lib64",
    "run/opengl-driver/lib",
];

/// The system whose root folder is `root`.
pub(super) struct Machine {
    root: PathBuf,
    /// The files of the program, if it runs in a sandbox. The content of files is read outside, where all of them are.
    inside: Option<Arc<Inside>>,
}

impl Machine {
    #[cfg(test)]
    pub(super) fn at(root: &Path) -> Self {
        Self {
            root: root.into(),
            inside: None,
        }
    }

    /// Returns the system as a program in a sandbox sees it.
    pub(super) fn seen_from(root: &Path, inside: Option<&Arc<Inside>>) -> Self {
        Self {
            root: root.into(),
            inside: inside.cloned(),
        }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Returns `true` if the program sees a file at the path.
    pub(super) fn has(&self, path: &str) -> bool {
        match &self.inside {
            Some(inside) => inside.has(Path::new(path)),
            None => self.path(path).exists(),
        }
    }

    /// Returns `true` if a file exists outside of the program's sandbox, and is missing or covered in it.
    pub(super) fn is_kept_out(&self, path: &str) -> bool {
        let inside = self.inside.as_ref();
        inside.is_some_and(|inside| inside.lacks(&Path::new("/").join(path)))
    }

    /// Returns the path by which this process reads a file of the program's sandbox.
    pub(super) fn real(&self, path: &Path) -> PathBuf {
        let below = path.strip_prefix("/").unwrap_or(path);
        self.inside
            .as_ref()
            .map_or_else(|| path.into(), |inside| inside.root().join(below))
    }

    /// Returns the mount point of the file system that contains a file.
    pub(super) fn mount_point(&self, file: &Path) -> String {
        let inside = self.inside.as_ref().and_then(|inside| inside.mounts().holding(file));
        inside.map_or_else(|| elf::mount_point(file), |mount| mount.point.display().to_string())
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

    /// Returns the graphics hardware: display devices on the PCI bus, and GPUs on the platform bus that have a render node.
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
        cards.extend(self.of_windows().filter(|_| cards.is_empty()));
        cards.extend(self.of_nodes().filter(|_| cards.is_empty()));
        cards
    }

    /// Returns the GPU of a chip whose kernel driver does not belong to the DRM subsystem, such as the driver of a phone.
    fn of_nodes(&self) -> Option<Card> {
        let (node, driver) = NODES.iter().find(|(node, _)| self.has(node))?;
        Some(Card {
            place: (*node).into(),
            vendor: 0,
            device: 0,
            kernel_driver: Some((*driver).into()),
            node: Some((*node).into()),
        })
    }

    /// Returns the card that Windows provides to WSL, even if the PCI bus does not list this card.
    fn of_windows(&self) -> Option<Card> {
        self.has(WINDOWS_NODE).then(|| Card {
            place: WINDOWS_NODE.into(),
            vendor: 0,
            device: 0,
            kernel_driver: Some(WINDOWS_DRIVER.into()),
            node: Some(WINDOWS_NODE.into()),
        })
    }

    fn on_pci(&self, place: &str) -> Option<Card> {
        let folder = self.path("sys/bus/pci/devices").join(place);
        let number = |file: &str| {
            let text = text(&folder.join(file));
            u32::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_default()
        };
        let is_card = text(&folder.join("class")).starts_with(DISPLAY) && !self.is_second_head(place);
        is_card.then(|| Card {
            place: place.into(),
            vendor: number("vendor"),
            device: number("device"),
            node: match driver_of(&folder).as_deref() {
                Some(WINDOWS_DRIVER) => Some(WINDOWS_NODE.into()),
                _ => render_node(&folder),
            },
            kernel_driver: driver_of(&folder),
        })
    }

    /// Returns `true` for a further function of a card that no kernel driver uses. Older cards have one for a second display.
    fn is_second_head(&self, place: &str) -> bool {
        let devices = self.path("sys/bus/pci/devices");
        let Some((slot, function)) = place.rsplit_once('.') else {
            return false;
        };
        let first = devices.join(format!("{slot}.0"));
        function != "0" && driver_of(&devices.join(place)).is_none() && text(&first.join("class")).starts_with(DISPLAY)
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
            .filter(|name| name.starts_with("renderD") && self.has(&format!("dev/dri/{name}")));
        let render = render.map(|name| self.path("dev/dri").join(name));
        let others = OTHER_NODES
            .iter()
            .filter(|node| self.has(node))
            .map(|node| self.path(node));
        render.chain(others).collect()
    }

    /// Returns the version of NVIDIA's kernel module, if the module is loaded.
    pub(super) fn nvidia_module(&self) -> Option<String> {
        let text = self.text("proc/driver/nvidia/version");
        let line = text.lines().find(|line| line.starts_with("NVRM version:"));
        let version = line.and_then(|line| line.split_whitespace().find(|word| is_version(word)).map(String::from));
        let of_sys = || Some(self.text("sys/module/nvidia/version").trim().to_owned()).filter(|text| is_version(text));
        version.or_else(of_sys)
    }

    /// Returns the version of NVIDIA's installed libraries. The name of one of them contains the version.
    pub(super) fn nvidia_library(&self) -> Option<String> {
        let mut folders: Vec<String> = NVIDIA_FOLDERS.map(String::from).into();
        // Flatpak has a separate folder for each version of the driver.
        for folder in ["usr/lib/x86_64-linux-gnu/GL", "usr/lib/aarch64-linux-gnu/GL"] {
            let names = self
                .names(folder)
                .into_iter()
                .filter(|name| name.starts_with("nvidia-"));
            folders.extend(names.map(|name| format!("{folder}/{name}/lib")));
        }
        folders.iter().find_map(|folder| self.nvidia_library_in(folder))
    }

    /// Returns the version of NVIDIA's libraries in a folder.
    pub(super) fn nvidia_library_in(&self, folder: &str) -> Option<String> {
        let names = self.names(folder);
        let version = |name: &String| name.strip_prefix("libnvidia-glcore.so.").map(String::from);
        // An update may leave libraries of another version, so the link determines which libraries are used. A link to nothing is a fault
        // of its own.
        let path = self.path(folder).join("libGLX_nvidia.so.0");
        let link = fs::read_link(&path).ok();
        if link.is_some() && !path.exists() {
            return None;
        }
        let of_driver = |file: &Path| {
            let name = file.file_name()?.to_str()?;
            let version = name.strip_prefix("libGLX_nvidia.so.")?.to_owned();
            Some(version).filter(|version| is_version(version))
        };
        // The alternatives of Debian lead to the library over several links.
        let real = || of_driver(&fs::canonicalize(&path).ok()?);
        let linked = link.as_deref().and_then(of_driver).or_else(real);
        let mut versions = linked.into_iter().chain(names.iter().filter_map(version));
        versions.find(|version| is_version(version))
    }

    /// Returns `true` if the link to NVIDIA's driver leads to no file. The tools that make a container create this link, for the files of the
    /// host's driver.
    pub(super) fn has_dangling_nvidia(&self) -> bool {
        let links = NVIDIA_FOLDERS.map(|folder| self.path(folder).join("libGLX_nvidia.so.0"));
        let mut links = links.iter().filter(|link| link.is_symlink());
        links.next().is_some_and(|link| !link.exists()) && links.all(|link| !link.exists())
    }

    /// Returns the path of an installed library: `name`, followed by `.so.0` or `.so`. Prefers `.so.0`, because the other link belongs to
    /// packages for developers.
    pub(super) fn library(&self, name: &str) -> Option<PathBuf> {
        let path = self.named(name)?;
        Some(elf::named_path(&path).unwrap_or(path))
    }

    fn named(&self, name: &str) -> Option<PathBuf> {
        let names = [format!("{name}.so.0"), format!("{name}.so")];
        if self.root == Path::new("/") {
            let own = elf::Identity::of_this_process();
            return names.iter().find_map(|name| elf::locate(name, own));
        }
        let folders = elf::usual_folders().map(|folder| self.path(folder));
        let mut paths = folders.flat_map(|folder| names.clone().map(|name| folder.join(name)));
        paths.find(|path| path.exists())
    }

    /// Returns the environments around the program, for example a container or virtual machine. Several can apply. `is_snap` is `true` in
    /// the sandbox of a snap.
    pub(super) fn surroundings(&self, is_snap: bool) -> Vec<&'static str> {
        let known: [(&str, bool); 9] = [
            ("flatpak", self.has(".flatpak-info")),
            ("snap", is_snap),
            (
                "steam",
                // Flatpak writes its own name to the second file.
                self.has("run/pressure-vessel") || self.text("run/host/container-manager").contains("pressure-vessel"),
            ),
            ("podman", self.has("run/.containerenv")),
            ("docker", self.has(".dockerenv")),
            ("apptainer", self.has(".singularity.d")),
            (
                "container",
                !self.has("run/.containerenv")
                    && !self.has(".dockerenv")
                    && OF_CONTAINER.iter().any(|path| self.has(path)),
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

    /// Returns `true` if a node of one of NVIDIA's cards exists, for example `/dev/nvidia0`.
    pub(super) fn has_node_of_nvidia(&self) -> bool {
        self.nodes_of_nvidia() > 0
    }

    /// Returns `true` on a machine with a chip of NVIDIA, such as a Jetson. The card of such a chip is not on the PCI bus.
    pub(super) fn is_tegra(&self) -> bool {
        let chips = self.text("sys/firmware/devicetree/base/compatible");
        chips.split('\0').any(|chip| chip.starts_with("nvidia,tegra"))
            || self.text("proc/sys/kernel/osrelease").ends_with("-tegra")
            || ON_CHIP
                .iter()
                .any(|driver| self.has(&format!("sys/bus/platform/drivers/{driver}")))
    }

    /// Returns the number of nodes of NVIDIA's cards.
    pub(super) fn nodes_of_nvidia(&self) -> usize {
        let is_card = |name: &String| {
            let number = name.strip_prefix("nvidia");
            number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let is_seen = |name: &String| self.has(&format!("dev/{name}"));
        let names = self.names("dev");
        names.iter().filter(|name| is_card(name) && is_seen(name)).count()
    }

    /// Returns `true` if the firmware only starts signed kernels, which then load only signed modules.
    pub(super) fn has_secure_boot(&self) -> bool {
        let bytes = regular::read(self.path(SECURE_BOOT)).unwrap_or_default();
        // Four bytes with the attributes of the variable precede its value.
        bytes.len() == 5 && bytes[4] == 1
    }

    /// Returns `true` if the root folder was changed, for example by `chroot`. Compares this process's root folder with the root folder of
    /// the first process. If the root folder of the first process cannot be read, returns `true` if no file system is mounted on this
    /// process's root folder.
    pub(super) fn is_changed_root(&self) -> bool {
        if let Some(inside) = &self.inside {
            return !inside.has_own_mounts;
        }
        let identity = |path: &Path| fs::metadata(path).ok().map(|state| (state.dev(), state.ino()));
        if let Some(first) = identity(&self.path("proc/1/root/.")) {
            return Some(first) != identity(&self.root);
        }
        let mounts = Mounts::below(&self.root);
        !mounts.is_empty() && mounts.at("/").is_none()
    }

    /// Returns the folders of the kernel that are not mounted, among `/proc`, `/sys` and `/dev`.
    pub(super) fn unmounted(&self) -> Vec<&'static str> {
        let device = |path: &Path| fs::metadata(path).ok().map(|state| state.dev());
        let is_plain = device(&self.path("dev")).is_none_or(|own| Some(own) == device(&self.root));
        let known = [
            ("/proc", !self.has("proc/self") && !self.has("proc/cpuinfo")),
            ("/sys", !self.has("sys/bus") && !self.has("sys/class")),
            ("/dev", is_plain && !self.has("dev/dri")),
        ];
        let missing = known.into_iter().filter(|(_, is_missing)| *is_missing);
        missing.map(|(folder, _)| folder).collect()
    }

    fn is_virtual(&self) -> bool {
        let text = regular::text(self.path("proc/cpuinfo")).unwrap_or_default();
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
    let text = is_file.then(|| regular::text(path).ok()).flatten();
    text.unwrap_or_default().trim().to_owned()
}

/// Returns the render node of a PCI device, whose folder is `folder`. Before Linux 6.2, the node of a virtio card belongs to the virtio device
/// below the PCI device.
fn render_node(folder: &Path) -> Option<String> {
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
    };
    let below = names(folder).filter(|name| name.starts_with("virtio"));
    let mut places = std::iter::once(folder.to_path_buf()).chain(below.map(|name| folder.join(name)));
    let name = places.find_map(|place| names(&place.join("drm")).find(|name| name.starts_with("renderD")))?;
    Some(format!("/dev/dri/{name}"))
}

fn driver_of(folder: &Path) -> Option<String> {
    let link = fs::read_link(folder.join("driver")).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

/// Returns `true` if this user may read and write a device node.
pub(super) fn is_open_to_us(node: &Path) -> bool {
    access(node, Access::READ_OK | Access::WRITE_OK).is_ok()
}

/// Returns `true` for a card of NVIDIA with NVIDIA's own kernel driver.
pub(super) fn is_of_nvidia(card: &Card) -> bool {
    card.vendor == super::NVIDIA && card.kernel_driver.as_deref() == Some("nvidia")
}
