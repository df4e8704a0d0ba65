//! A checksum of the devices that the kernel lists.

use crate::written::is_hexadecimal;
use crate::{Catalogue, Json};
use core::fmt;

/// View of the machine. Paths are absolute; a method does nothing for a path that does not exist.
pub trait Look {
    /// Passes each name in a folder to `take`, in any order. Returns `false` if some names could not be read.
    fn names(&self, folder: &[u8], take: &mut dyn FnMut(&[u8])) -> bool;
    /// Passes the target of a symbolic link to `take`.
    fn link(&self, path: &[u8], take: &mut dyn FnMut(&[u8]));
    /// Passes the start of a short file to `take`.
    fn text(&self, path: &[u8], take: &mut dyn FnMut(&[u8]));
    /// Returns the number of the device to which a device node belongs, 0 for another kind of file, or `None` if the path does not exist.
    fn device_number(&self, path: &[u8]) -> Option<u64>;
    /// Returns `true` if the path exists.
    fn exists(&self, path: &[u8]) -> bool {
        self.device_number(path).is_some()
    }
}

/// Device nodes of drivers outside of `/dev/dri`. The paths are one text, because the dynamic linker relocates each address in a list in
/// every process.
const NODES: &[u8] = b"/dev/nvidiactl /dev/nvidia0 /dev/nvidia1 /dev/dxg /dev/kgsl-3d0 /dev/mali0 /dev/pvr_sync";
/// Device node that exists if NVIDIA's kernel driver is in use.
const NVIDIA: &[u8] = b"/dev/nvidiactl";
/// Folder of DRM device nodes.
const DRI: &[u8] = b"/dev/dri";
/// Folder with the addresses of PCI devices.
const PCI: &[u8] = b"/sys/bus/pci/devices";

/// File with a random text that the kernel chooses when the machine boots.
const BOOT: &[u8] = b"/proc/sys/kernel/random/boot_id";
/// File with the kernel's version.
const KERNEL: &[u8] = b"/proc/sys/kernel/osrelease";
/// File with the model and the features of the processor, on which the answers of software drivers depend.
const PROCESSOR: &[u8] = b"/sys/devices/system/cpu/modalias";

/// Upper bound on the number of bytes of a short file that are compared, from the beginning of the file. The kernel's files in `/sys` have at
/// most one page.
pub const MOST_OF_TEXT: usize = 4096;

/// Returns `true` if the PCI device at the address `place` is suspended. Reading the state does not wake the device.
pub(crate) fn sleeps(look: &impl Look, place: &[u8]) -> bool {
    let is_place = place
        .iter()
        .all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'));
    let mut sleeps = false;
    if let Some(path) = <Path>::of(&[PCI, b"/", place, b"/power/runtime_status"]).filter(|_| is_place) {
        look.text(path.bytes(), &mut |state| sleeps = state.trim_ascii() == b"suspended");
    }
    sleeps
}

/// Passes the text that the kernel chose when the machine booted to `take`, without the end of the line.
pub fn boot_text(look: &impl Look, take: &mut dyn FnMut(&[u8])) {
    look.text(BOOT, &mut |text| take(text.trim_ascii()));
}

/// Checksum of the kernel and the devices of a machine. The checksum does not depend on the order of the devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Computes the checksum from the kernel's version, the processor, the device nodes with their numbers, kernel drivers and chips, and the
    /// PCI addresses in use. Includes the kernel drivers of the graphics cards at the addresses `cards`. Does not open files that could wake a
    /// device.
    pub fn of<'c>(look: &impl Look, cards: impl Iterator<Item = &'c [u8]>) -> Self {
        Self::of_devices(look, cards).with_system(look)
    }

    /// Returns the checksum without the kernel's version and the processor.
    pub fn of_devices<'c>(look: &impl Look, cards: impl Iterator<Item = &'c [u8]>) -> Self {
        let mut found = Self(0);
        look.names(DRI, &mut |name| found.node(look, name));
        for node in NODES.split(|&byte| byte == b' ') {
            if let Some(number) = look.device_number(node) {
                found.add(b"node", node);
                found.number(node, number);
            }
        }
        if look.exists(NVIDIA) {
            look.names(b"/dev", &mut |name| found.nvidia_node(look, name));
        }
        look.names(PCI, &mut |name| found.add(b"pci", name));
        for card in cards {
            found.add(b"card", card);
            found.device(look, PCI, card, b"");
        }
        found
    }

    /// Adds the kernel's version and the processor.
    pub(crate) fn with_system(mut self, look: &impl Look) -> Self {
        look.text(KERNEL, &mut |text| self.add(b"kernel", text));
        look.text(PROCESSOR, &mut |text| self.add(b"processor", text));
        self
    }

    fn node(&mut self, look: &impl Look, name: &[u8]) {
        if name.starts_with(b"card") || name.starts_with(b"renderD") {
            self.add(b"node", name);
            let path = <Path>::of(&[DRI, b"/", name]);
            let number = path.and_then(|path| look.device_number(path.bytes()));
            self.number(name, number.unwrap_or_default());
            self.device(look, b"/sys/class/drm", name, b"/device");
        }
    }

    /// Adds a node of NVIDIA's cards, such as `nvidia3`.
    fn nvidia_node(&mut self, look: &impl Look, name: &[u8]) {
        let path = <Path>::of(&[b"/dev/", name]);
        let number = name
            .strip_prefix(b"nvidia")
            .filter(|rest| rest.iter().all(u8::is_ascii_digit));
        if let (Some([_, ..]), Some(path)) = (number, path) {
            self.add(b"node", name);
            self.number(name, look.device_number(path.bytes()).unwrap_or_default());
        }
    }

    /// Adds the number of the device to which a node belongs. In a container, the name of a node may lead to another device of the host after
    /// the container was started again.
    fn number(&mut self, node: &[u8], number: u64) {
        let about = <Path>::of(&[node, b" ", &number.to_be_bytes()]);
        if let Some(about) = about.filter(|_| number != 0) {
            self.add(about.bytes(), b"number");
        }
    }

    /// Adds the kernel driver and the chip of a device.
    fn device(&mut self, look: &impl Look, folder: &[u8], name: &[u8], within: &[u8]) {
        let path = |file| <Path>::of(&[folder, b"/", name, within, file]);
        let mut add = |found: &[u8]| {
            let last = found.rsplit(|&byte| byte == b'/').next().unwrap_or(found);
            self.add(name, last);
        };
        if let Some(path) = path(b"/driver") {
            look.link(path.bytes(), &mut add);
        }
        for file in [&b"/vendor"[..], b"/device"] {
            if let Some(path) = path(file) {
                look.text(path.bytes(), &mut add);
            }
        }
    }

    /// Adds a fact. Hashes of facts are summed, so the order of the facts is irrelevant.
    fn add(&mut self, about: &[u8], fact: &[u8]) {
        let mut hash = Hash::new();
        hash.take(about);
        hash.take(&[0]);
        hash.take(fact.get(..MOST_OF_TEXT).unwrap_or(fact).trim_ascii());
        self.0 = self.0.wrapping_add(hash.mixed());
    }

    /// Returns `true` if `text` is the written form of this checksum.
    pub fn is_written(self, text: &[u8]) -> bool {
        is_hexadecimal(text, &self.0.to_be_bytes())
    }
}

/// Writes the fingerprint as sixteen hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// State of the machine, compared with the machine of the update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineState {
    /// The devices, the kernel's version or the processor are not the recorded ones.
    Changed,
    /// The [`Fingerprint`] is the recorded one, but the machine may have booted since the update.
    Similar,
    /// The devices are the recorded ones, and the machine has not booted since the update.
    SameBoot,
}

impl<'a, J: Json<'a>> Catalogue<'a, J> {
    /// Compares the machine with the recorded one. Until the next boot, the kernel's version and the processor stay the same. They are not
    /// read, because the kernel takes long to list the features of a processor.
    pub fn state_of_machine(self, look: &impl Look) -> MachineState {
        let mut is_same_boot = false;
        boot_text(look, &mut |text| {
            is_same_boot = !text.is_empty() && text == self.of_machine("boot")
        });
        let devices = Fingerprint::of_devices(look, self.cards());
        match is_same_boot {
            true if devices.is_written(self.of_machine("devices")) => MachineState::SameBoot,
            false if devices.with_system(look).is_written(self.of_machine("fingerprint")) => MachineState::Similar,
            _ => MachineState::Changed,
        }
    }
}

/// The FNV-1a hash with 64 bits, with an additional step that mixes all bits. The step is needed because hashes are summed.
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    pub(crate) fn mixed(self) -> u64 {
        let spread = (self.0 ^ (self.0 >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        spread ^ (spread >> 32)
    }
}

/// A short path in a fixed buffer, without an allocation.
pub(crate) struct Path<const ROOM: usize = 160> {
    room: [u8; ROOM],
    pub(crate) length: usize,
}

impl<const ROOM: usize> Path<ROOM> {
    /// Joins parts into a path. Returns `None` if the path is longer than `ROOM` bytes. The default `ROOM` suffices for paths below `/sys`.
    pub(crate) fn of(parts: &[&[u8]]) -> Option<Self> {
        let mut path = Self {
            room: [0; ROOM],
            length: 0,
        };
        parts.iter().try_for_each(|part| path.add(part))?;
        Some(path)
    }

    /// Appends a part; `None` if the part does not fit.
    pub(crate) fn add(&mut self, part: &[u8]) -> Option<()> {
        let end = self.length.checked_add(part.len())?;
        self.room.get_mut(self.length..end)?.copy_from_slice(part);
        self.length = end;
        Some(())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.room.get(..self.length).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{read, with};
    use serde_json::json;
    use std::collections::BTreeMap;

    /// An imitated machine: the content of each path. Folders exist implicitly.
    #[derive(Clone, Default)]
    struct Machine(BTreeMap<String, String>);

    impl Machine {
        fn with(&self, path: &str, content: &str) -> Self {
            let mut more = self.clone();
            more.0.insert(path.into(), content.into());
            more
        }

        fn fingerprint(&self) -> Fingerprint {
            Fingerprint::of(self, [&b"0000:01:00.0"[..]].into_iter())
        }
    }

    impl Look for Machine {
        fn names(&self, folder: &[u8], take: &mut dyn FnMut(&[u8])) -> bool {
            let folder = format!("{}/", str::from_utf8(folder).unwrap());
            let mut seen = Vec::new();
            for path in self.0.keys().rev() {
                let name = path.strip_prefix(&folder).and_then(|rest| rest.split('/').next());
                if let Some(name) = name.filter(|name| !seen.contains(name)) {
                    seen.push(name);
                    take(name.as_bytes());
                }
            }
            true
        }

        fn link(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
            self.text(path, take);
        }

        fn text(&self, path: &[u8], take: &mut dyn FnMut(&[u8])) {
            if let Some(text) = self.0.get(str::from_utf8(path).unwrap()) {
                take(text.as_bytes());
            }
        }

        fn device_number(&self, path: &[u8]) -> Option<u64> {
            let content = self.0.get(str::from_utf8(path).unwrap())?;
            Some(content.parse().unwrap_or_default())
        }
    }

    #[test]
    fn every_change_of_devices_shows() {
        let machine = Machine::default()
            .with("/proc/sys/kernel/osrelease", "6.1.0\n")
            .with("/dev/dri/renderD128", "57984")
            .with("/dev/dri/card0", "")
            .with("/dev/dri/by-path", "")
            .with(
                "/sys/class/drm/renderD128/device/driver",
                "../../bus/pci/drivers/amdgpu",
            )
            .with("/sys/class/drm/renderD128/device/vendor", "0x1002\n")
            .with("/sys/bus/pci/devices/0000:01:00.0/driver", "../drivers/nouveau")
            .with("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
        let before = machine.fingerprint();
        assert_eq!(before, machine.clone().fingerprint());
        assert!(before.is_written(format!("{before}").as_bytes()));
        let changes = [
            ("/proc/sys/kernel/osrelease", "6.2.0\n"),
            (
                "/sys/devices/system/cpu/modalias",
                "cpu:type:x86,ven0000fam0006mod008F:feature:,0000\n",
            ),
            ("/dev/dri/renderD129", ""),
            ("/dev/dri/renderD128", "57985"),
            ("/dev/dri/renderD128", "57993"),
            ("/dev/nvidiactl", ""),
            ("/dev/dxg", ""),
            (
                "/sys/class/drm/renderD128/device/driver",
                "../../bus/pci/drivers/radeon",
            ),
            ("/sys/class/drm/renderD128/device/device", "0x7480"),
            ("/sys/class/drm/card0/device/driver", "../../bus/pci/drivers/amdgpu"),
            ("/sys/bus/pci/devices/0000:01:00.0/driver", "../drivers/nvidia"),
            ("/sys/bus/pci/devices/0000:01:00.0/device", "0x2684"),
            ("/sys/bus/pci/devices/0000:02:00.0/vendor", "0x1af4"),
        ];
        for (path, content) in changes {
            assert_ne!(machine.with(path, content).fingerprint(), before, "{path}");
        }
        for (path, content) in [
            ("/dev/dri/by-id", ""),
            ("/dev/sda", ""),
            ("/sys/class/drm/version", "1"),
        ] {
            assert_eq!(machine.with(path, content).fingerprint(), before, "{path}");
        }
        let with_nvidia = machine.with("/dev/nvidiactl", "").with("/dev/nvidia3", "");
        let other = machine.with("/dev/nvidiactl", "").with("/dev/nvidia5", "");
        assert_ne!(with_nvidia.fingerprint(), other.fingerprint());
        assert_eq!(
            with_nvidia.with("/dev/nvidia-caps", "").fingerprint(),
            with_nvidia.fingerprint()
        );
        let mut less = machine.clone();
        less.0.remove("/dev/dri/renderD128");
        assert_ne!(less.fingerprint(), before);
    }

    /// A catalogue contains the written form, so each build must compute the same fingerprint.
    #[test]
    fn fingerprints_are_the_same_in_each_build() {
        let machine = Machine::default().with("/proc/sys/kernel/osrelease", "6.1.0\n");
        assert_eq!(format!("{}", machine.fingerprint()), "1886a90cde0ec834");
        let machine = machine.with(
            str::from_utf8(PROCESSOR).unwrap(),
            "cpu:type:x86,ven0000fam0006mod008F:feature:,0000,0001\n",
        );
        assert_eq!(format!("{}", machine.fingerprint()), "8b0472702d3d45c6");
    }

    /// The kernel lists the newest features of a processor last. Hypervisors mask these features.
    #[test]
    fn every_feature_of_a_processor_counts() {
        let with = |last: u16| {
            let features: String = (0..500).chain([last]).map(|number| format!(",{number:04X}")).collect();
            let text = format!("cpu:type:x86,ven0000fam0006mod008F:feature:{features}\n");
            Machine::default().with(str::from_utf8(PROCESSOR).unwrap(), &text)
        };
        assert_ne!(with(0x250).fingerprint(), with(0x251).fingerprint());
    }

    #[test]
    fn kernel_and_processor_are_compared_after_a_boot() {
        let [boot, kernel, processor] = [BOOT, KERNEL, PROCESSOR].map(|path| str::from_utf8(path).unwrap());
        let machine = Machine::default()
            .with(boot, "one\n")
            .with(kernel, "6.1.0\n")
            .with(processor, "a\n");
        let devices = Fingerprint::of_devices(&machine, core::iter::empty()).to_string();
        let fingerprint = Fingerprint::of(&machine, core::iter::empty()).to_string();
        let known = json!({"boot": "one", "devices": devices, "fingerprint": fingerprint, "cards": []});
        let known = with("/machine", known);
        let state = |machine: &Machine| read(&known).unwrap().state_of_machine(machine);
        let is_same = |machine: &Machine| state(machine) != MachineState::Changed;
        assert_eq!(state(&machine), MachineState::SameBoot);
        assert_eq!(state(&machine.with(boot, "two\n")), MachineState::Similar);
        for (path, content) in [(kernel, "6.2.0\n"), (processor, "b\n")] {
            let other = machine.with(path, content);
            assert!(is_same(&other), "{path} is not read before the next boot");
            assert!(
                !is_same(&other.with(boot, "two\n")) && !is_same(&other.with(boot, "")),
                "{path}"
            );
        }
        let more = machine.with("/dev/nvidiactl", "");
        assert!(!is_same(&more) && !is_same(&more.with(boot, "two\n")));
        // A catalogue of devices that changed during the update has none of the texts.
        let known = with(
            "/machine",
            json!({"boot": "", "devices": devices, "fingerprint": "", "cards": []}),
        );
        let state = read(&known).unwrap().state_of_machine(&machine.with(boot, ""));
        assert_eq!(state, MachineState::Changed);
    }

    #[test]
    fn other_texts_are_no_fingerprint() {
        let before = Machine::default().fingerprint();
        for text in [&b""[..], b"0", b"+000000000000000", b"\xff", b"zzzzzzzzzzzzzzzz"] {
            assert!(!before.is_written(text));
        }
    }

    #[test]
    fn a_name_that_is_too_long_is_no_path() {
        assert!(<Path>::of(&[&[b'x'; 160]]).is_some());
        assert!(<Path>::of(&[&[b'x'; 100], &[b'x'; 61]]).is_none());
    }
}
