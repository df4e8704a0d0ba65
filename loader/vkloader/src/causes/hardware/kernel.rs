//! Finds cards without a kernel driver.

use super::machine::Machine;
use super::{boot, dkms, firmware, series};
use crate::paths::file_name;
use crate::report::{Card, Dropped, Report, codes};
use std::collections::BTreeSet;

/// Kernel drivers for the cards of a PCI vendor, with the remedy for a card without a kernel driver.
struct Row {
    vendor: u32,
    /// Returns `true` for the numbers of the devices that the row is about.
    is_for: fn(u32) -> bool,
    modules: &'static [&'static str],
    /// Remedy that loads the module.
    load: &'static str,
    /// Remedy for a module that is loaded but does not use the card, in lower case.
    refused: &'static str,
}

const ROWS: [Row; 4] = [
    Row {
        vendor: 0x1002,
        is_for: |_| true,
        modules: &["amdgpu"],
        load: "Load the kernel module of the card: modprobe amdgpu.",
        refused: "look in dmesg: the firmware may be missing (firmware-amd-graphics in Debian, linux-firmware elsewhere), or the kernel may be older \
                  than the card.",
    },
    Row {
        vendor: 0x8086,
        is_for: is_of_xe,
        modules: &["xe"],
        load: "Load the kernel module of the card: modprobe xe.",
        refused: "look in dmesg: the firmware may be missing (linux-firmware), or the kernel may be older than the card: update it (Lunar Lake and \
                  Battlemage need Linux 6.12 or newer), or start it with xe.force_probe=DEVICE.",
    },
    Row {
        vendor: 0x8086,
        is_for: |_| true,
        modules: &["i915", "xe"],
        load: "Load the kernel module of the card: modprobe i915, or modprobe xe.",
        refused: "look in dmesg: the firmware may be missing (linux-firmware), or the kernel may be older than the card: update the kernel, or start it \
                  with i915.force_probe=DEVICE.",
    },
    Row {
        vendor: super::NVIDIA,
        is_for: |_| true,
        modules: &["nouveau", "nvidia"],
        load: INSTALL_NVIDIAS,
        refused: "",
    },
];

/// Returns `true` for cards of Intel that i915 does not support: Lunar Lake, Battlemage, Panther Lake and Wildcat Lake.
fn is_of_xe(device: u32) -> bool {
    matches!(device, 0x6420 | 0x64A0 | 0x64B0 | 0xE200..=0xE2FF | 0xB080..=0xB0FF | 0xFD80 | 0xFD81)
}

/// Remedy for a card of NVIDIA without NVIDIA's own driver.
const INSTALL_NVIDIAS: &str = "Install NVIDIA's driver: nvidia-driver (Debian), ubuntu-drivers install (Ubuntu), akmod-nvidia (RPM Fusion) or nvidia-open (Arch)";
/// Second part of the remedy for a card of NVIDIA that no kernel driver uses, after [`INSTALL_NVIDIAS`].
const OR_FREE: &str = "; or load the free kernel driver: modprobe nouveau.";

/// Remedy for an NVIDIA card whose libraries are installed.
const NVIDIAS_OWN: &str = "Load the kernel module of the card: modprobe nvidia. If that does not help, build it for this kernel (dkms status), and \
    sign it if Secure Boot is on (mokutil --sb-state).";

/// Kernel drivers that make a render node for each of their cards.
pub(super) const DRAWING: [&str; 3] = ["amdgpu", "i915", "xe"];

/// Returns the finding about a card whose kernel driver made no device node, which means that the driver failed for the card.
pub(super) fn without_node(card: &Card, driver: &str) -> Dropped {
    Dropped {
        findings: [format!("{driver} made no device node for the card")].into(),
        advice: format!(
            "Look in dmesg for messages of {driver}: the firmware of the card may be missing (firmware-amd-graphics or firmware-misc-nonfree in \
             Debian, linux-firmware elsewhere), or the kernel may be older than the card."
        ),
        ..codes::HARDWARE_NO_NODE.about(card.to_string())
    }
}

/// Addition to the remedy for an NVIDIA card whose kernel module a file forbids.
const FORBIDDEN_BY_TOOL: &str = " A tool that switches the card off may have written the line. To switch the card on: prime-select on-demand \
    (Ubuntu), envycontrol -s hybrid, or supergfxctl -m Hybrid.";

/// Folders with files that forbid kernel modules.
const FORBIDDING: [&str; 4] = [
    "etc/modprobe.d",
    "run/modprobe.d",
    "usr/local/lib/modprobe.d",
    "usr/lib/modprobe.d",
];

/// Returns the files with settings of kernel modules. Modprobe ignores files whose names do not end in `.conf`, and files that a file of the same
/// name in an earlier folder replaces.
pub(super) fn settings(machine: &Machine) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut files = Vec::new();
    for folder in FORBIDDING {
        for name in machine.names(folder) {
            if name.ends_with(".conf") && names.insert(name.clone()) {
                files.push(format!("{folder}/{name}"));
            }
        }
    }
    files
}

/// Returns the first file with settings of kernel modules that contains a word.
pub(super) fn file_with(machine: &Machine, word: &str) -> Option<String> {
    settings(machine).into_iter().find(|file| {
        machine
            .text(file)
            .lines()
            .any(|line| !line.starts_with('#') && line.contains(word))
    })
}

/// Returns the finding about a card without a kernel driver. A container has no kernel of its own.
pub(super) fn missing(card: &Card, machine: &Machine, report: &Report) -> Dropped {
    let mut found = of_kernel(card, machine, report);
    if report.runs_in_container() {
        found.advice = format!("On the host of the container: {}", found.advice);
    }
    found
}

/// Returns the finding about a card that the kernel of this system does not use.
fn of_kernel(card: &Card, machine: &Machine, report: &Report) -> Dropped {
    let command_line = machine.text("proc/cmdline");
    let dropped = report.dropped.iter().map(|dropped| &dropped.name);
    let mut libraries = report.drivers.iter().map(|driver| &driver.library).chain(dropped);
    let is_installed = machine.nvidia_library().is_some() || libraries.any(|library| super::is_nvidia(library));
    // If NVIDIA's own driver is installed, the card needs the module `nvidia`, and words that switch off nouveau are correct.
    let is_nvidias = card.vendor == super::NVIDIA && is_installed;
    // The module `nvidia` ignores nomodeset.
    if !is_nvidias && command_line.split_whitespace().any(|word| word == "nomodeset") {
        return by_nomodeset(card, machine);
    }
    let mut found = codes::HARDWARE_NO_KERNEL_DRIVER.about(card.to_string());
    let is_for = |row: &&Row| row.vendor == card.vendor && (row.is_for)(card.device);
    let Some(row) = ROWS.iter().find(is_for) else {
        return found;
    };
    let wanted: &[&str] = if is_nvidias { &["nvidia"] } else { row.modules };
    let all = command_line.split_whitespace();
    let is_off = |word: &&str| switches_off(word, wanted) || excludes(word, wanted, card.device);
    let words: Vec<&str> = all.filter(is_off).collect();
    if !words.is_empty() {
        (found.findings, found.advice) = boot::remove(&words, machine);
        if !is_nvidias && words.iter().any(|word| word.contains("nouveau")) {
            found
                .findings
                .push("NVIDIA's own driver, for which nouveau is switched off, is not installed");
            found.advice = format!("{INSTALL_NVIDIAS}; or use nouveau: {}", found.advice);
        }
        return found;
    }
    if let Some((words, advice)) = series::reason(card, machine).filter(|_| is_nvidias) {
        (found.findings, found.advice) = ([words].into(), advice);
        return found;
    }
    let state = State::of(machine, wanted);
    found.advice = if is_nvidias {
        let load = dkms::with_akmods(machine).unwrap_or(NVIDIAS_OWN);
        format!("{load}{}", series::other_kind(card))
    } else {
        row.remedy(&state).replace("DEVICE", &format!("{:04x}", card.device))
    };
    if row.vendor == super::NVIDIA && !is_nvidias {
        found.advice += OR_FREE;
    }
    if let Some((finding, advice)) = module_of_running_kernel(machine, report, wanted, is_nvidias) {
        found.findings = [finding].into();
        found.advice = advice;
        return found;
    }
    of_system(&mut found, card, machine, wanted);
    if found.findings.is_empty() {
        state.complete(&mut found, card, machine, report);
    }
    found
}

/// Returns the finding for a card that has no kernel driver because the kernel was started with `nomodeset`.
fn by_nomodeset(card: &Card, machine: &Machine) -> Dropped {
    let (findings, advice) = boot::remove(&["nomodeset"], machine);
    Dropped {
        findings,
        advice,
        ..codes::HARDWARE_NOMODESET.about(card.to_string())
    }
}

/// State of the kernel module that a card needs.
enum State {
    Unknown,
    /// The module is loaded, but does not use the card.
    Loaded(&'static str),
    /// The running kernel has the module, but has not loaded it.
    Unloaded(&'static str),
}

impl State {
    /// Returns the state of the modules in `wanted`.
    fn of(machine: &Machine, wanted: &[&'static str]) -> Self {
        let release = machine.text("proc/sys/kernel/osrelease");
        let is_loaded = |module: &&&str| machine.has(&format!("sys/module/{module}"));
        let files = loadable(machine, &release);
        let is_there = |module: &&&str| files.iter().any(|file| is_of(file, module));
        let loaded = wanted.iter().find(is_loaded).map(|module| Self::Loaded(module));
        let unloaded = || wanted.iter().find(is_there).map(|module| Self::Unloaded(module));
        loaded.or_else(unloaded).unwrap_or(Self::Unknown)
    }

    /// Adds the state to the finding about a card, and the missing firmware of a card that a loaded module does not use.
    fn complete(&self, found: &mut Dropped, card: &Card, machine: &Machine, report: &Report) {
        found.findings.extend(self.words());
        if let Self::Loaded(_) = self {
            firmware::complete(found, card.vendor, machine, report);
        }
    }

    /// Returns a sentence about the state; `None` if it is unknown.
    fn words(&self) -> Option<String> {
        match self {
            Self::Unknown => None,
            Self::Loaded(module) => Some(format!(
                "the kernel module {module} is loaded, but does not use the card"
            )),
            Self::Unloaded(module) => Some(format!(
                "the running kernel has the module {module}, but has not loaded it"
            )),
        }
    }
}

impl Row {
    /// Returns the remedy for a card whose kernel module is in this state.
    fn remedy(&self, state: &State) -> String {
        match (state, self.refused) {
            (_, "") => self.load.into(),
            (State::Loaded(_), refused) => {
                let mut rest = refused.chars();
                let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
                format!("{first}{}", rest.as_str())
            }
            (_, refused) => format!("{} If that does not help, {refused}", self.load),
        }
    }
}

/// Adds the setting of the system that keeps the kernel from loading one of the modules in `wanted`: a file that forbids it, or Secure
/// Boot.
fn of_system(found: &mut Dropped, card: &Card, machine: &Machine, wanted: &[&str]) {
    let is_of_nvidia = card.vendor == super::NVIDIA;
    let is_nvidias = wanted == ["nvidia"];
    found.findings = forbidden(machine, wanted).into();
    if found.findings.is_empty() {
        if is_nvidias && machine.has_secure_boot() {
            let words = "Secure Boot is on, so the kernel loads only signed modules";
            found.findings.push(words);
            found.advice = to_sign(machine) + &series::other_kind(card);
        }
        return;
    }
    found.advice = boot::remove_line(if is_of_nvidia { FORBIDDEN_BY_TOOL } else { "" }, machine);
    if is_of_nvidia && !is_nvidias && forbidden(machine, &["nvidia"]).is_empty() {
        found.advice = format!("{INSTALL_NVIDIAS}; or use nouveau: {}", found.advice);
    }
}

/// Returns the finding about a card of NVIDIA that nouveau uses although NVIDIA's driver is installed.
pub(super) fn nouveau_instead(card: &Card, machine: &Machine, report: &Report) -> Dropped {
    const MAKE: &str = "update-initramfs -u (Debian, Ubuntu), dracut -f (Fedora, openSUSE) or mkinitcpio -P (Arch)";
    let mut found = codes::HARDWARE_NOUVEAU.about(card.to_string());
    let wanted = &["nvidia"];
    let reason = series::refusal(card, machine).or_else(|| module_of_running_kernel(machine, report, wanted, true));
    if let Some((finding, advice)) = reason {
        (found.findings, found.advice) = ([finding].into(), advice);
        return found;
    }
    let off = forbidden(machine, wanted);
    if !off.is_empty() {
        found.findings = off.into();
        found.advice = boot::remove_line(FORBIDDEN_BY_TOOL, machine);
        return found;
    }
    let free = forbidden(machine, &["nouveau"]);
    found.advice = if free.is_empty() {
        format!(
            "Keep nouveau from the card as the superuser: echo blacklist nouveau >/etc/modprobe.d/blacklist-nouveau.conf, then {MAKE}, and start the machine \
             again."
        )
    } else {
        format!("Make the image with which the kernel starts again: {MAKE}, and start the machine again.")
    };
    found.findings = free.into();
    if machine.has_secure_boot() {
        found
            .findings
            .push("Secure Boot is on, so the kernel loads only signed modules");
        found.advice = format!("{} If nouveau still uses the card: {}", found.advice, to_sign(machine));
    }
    found
}

/// Certificates with which tools sign the kernel modules that they build: of DKMS in Ubuntu and Debian, and of akmods in Fedora.
const CERTIFICATES: [&str; 3] = [
    "var/lib/shim-signed/mok/MOK.der",
    "var/lib/dkms/mok.pub",
    "etc/pki/akmods/certs/public_key.der",
];

/// Returns the remedy for NVIDIA's kernel module on a system that loads only signed modules.
fn to_sign(machine: &Machine) -> String {
    const FIRST: &str = "Load the kernel module: modprobe nvidia. If it says Key was rejected";
    let file = CERTIFICATES.iter().find(|file| machine.has(file));
    match file {
        Some(file) => format!(
            "{FIRST}, let the firmware trust the key that signs the module: mokutil --import /{file}, then start the machine again and choose Enroll \
             MOK; or switch Secure Boot off in the firmware."
        ),
        None => format!(
            "{FIRST}, sign the module with a key that the firmware trusts (sbctl or sbsigntools in Arch, akmods with kmodgenca in Fedora, mokutil \
             elsewhere), or switch Secure Boot off in the firmware; if it says anything else, look in dmesg."
        ),
    }
}

/// Folder with a subfolder of modules for each installed kernel.
const MODULES: &str = "lib/modules";

/// Returns a finding and a remedy if the running kernel has no modules, or none of the modules in `wanted`. Returns `None` in a container, which
/// does not contain the modules of the kernel.
fn module_of_running_kernel(
    machine: &Machine,
    report: &Report,
    wanted: &[&str],
    is_nvidias: bool,
) -> Option<(String, String)> {
    let release = machine.text("proc/sys/kernel/osrelease");
    let others = machine.names(MODULES);
    let is_elsewhere = !report.runs_on_machine();
    if release.is_empty() || others.is_empty() || is_elsewhere {
        return None;
    }
    if !others.contains(&release) {
        return Some((
            format!(
                "/{MODULES} has no modules for the running kernel {release}, but for {}",
                others.join(", ")
            ),
            "If an update removed the modules of the kernel that still runs, start the machine again; otherwise install the modules of this kernel.".into(),
        ));
    }
    let is_lacking = lacks(machine, &release, wanted) && (is_nvidias || machine.has(&built_in(&release)));
    is_lacking.then(|| {
        (
            format!(
                "the running kernel {release} has no module {}{}",
                wanted.join(" or "),
                if is_nvidias {
                    dkms::state(machine, &release)
                } else {
                    String::new()
                }
            ),
            match wanted {
                _ if is_nvidias => dkms::to_build(machine, &release),
                ["nouveau", ..] => format!("{INSTALL_NVIDIAS}."),
                _ => to_get_module(machine, &release),
            },
        )
    })
}

/// Returns the path of the list of modules that are part of a kernel itself.
fn built_in(release: &str) -> String {
    format!("{MODULES}/{release}/modules.builtin")
}

/// Returns `true` if a kernel lists modules, but none of those in `wanted`.
fn lacks(machine: &Machine, release: &str, wanted: &[&str]) -> bool {
    let files = loadable(machine, release);
    let built_in = machine.text(&built_in(release));
    let all = || files.iter().map(String::as_str).chain(built_in.lines());
    !files.is_empty() && !wanted.iter().any(|module| all().any(|file| is_of(file, module)))
}

/// Returns the files of the modules that a kernel can load.
fn loadable(machine: &Machine, release: &str) -> Vec<String> {
    let list = machine.text(&format!("{MODULES}/{release}/modules.dep"));
    let files = list.lines().filter_map(|line| Some(line.split_once(':')?.0.to_owned()));
    files.collect()
}

/// Returns `true` for the file of a module. Debian names the file after the series of the driver, such as `nvidia-current.ko` or
/// `nvidia-tesla-470.ko`.
fn is_of(file: &str, module: &str) -> bool {
    let name = file_name(file);
    let rest = name.strip_prefix(module);
    rest.is_some_and(|rest| {
        [".ko", "-current", "-tesla", "-legacy"]
            .iter()
            .any(|end| rest.starts_with(end))
    })
}

/// Returns the remedy for a running kernel that was built or installed without the drivers of graphics cards, for example a kernel for
/// virtual machines.
fn to_get_module(machine: &Machine, release: &str) -> String {
    let system = machine.text("etc/os-release");
    let is_ubuntu = system
        .lines()
        .any(|line| line == "ID=ubuntu" || line.starts_with("ID_LIKE=") && line.contains("ubuntu"));
    if let Some((_, processor)) = release.split_once("-cloud-") {
        return format!(
            "Install a kernel with drivers of graphics cards, and start the machine with it: apt install linux-image-{processor}. The cloud kernel leaves them \
             out."
        );
    }
    if is_ubuntu {
        return format!(
            "Install the kernel's further modules: apt install linux-modules-extra-{release}; or, if there is no such package, the kernel of \
             linux-generic. Then start the machine again."
        );
    }
    if release.ends_with("-virt") {
        return "Install a kernel with drivers of graphics cards, and start the machine with it: apk add linux-lts"
            .into();
    }
    "Install the package with this module for the running kernel (kernel-modules in Fedora), or another kernel of the distribution that has the module, \
     and start the machine again."
        .into()
}

/// Returns `true` if a word of the kernel's command line switches off a kernel module in `modules`.
fn switches_off(word: &str, modules: &[&str]) -> bool {
    let Some((name, value)) = word.split_once('=') else {
        return false;
    };
    if ["modprobe.blacklist", "module_blacklist", "rd.driver.blacklist"].contains(&name) {
        return value.split(',').any(|module| modules.contains(&module));
    }
    value == "0" && modules.iter().any(|module| name == format!("{module}.modeset"))
}

/// Returns `true` if a word of the kernel's command line excludes a device of Intel from a kernel module in `modules`, for example
/// `i915.force_probe=!56a0`.
fn excludes(word: &str, modules: &[&str], device: u32) -> bool {
    let Some((name, value)) = word.split_once(".force_probe=") else {
        return false;
    };
    let own = format!("!{device:04x}");
    modules.contains(&name)
        && value
            .split(',')
            .any(|one| one == "!*" || one.eq_ignore_ascii_case(&own))
}

/// Returns a sentence for each line of a configuration file that forbids a kernel module in `modules`.
fn forbidden(machine: &Machine, modules: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for path in settings(machine) {
        let text = machine.text(&path);
        let lines = text
            .lines()
            .filter(|line| modules.iter().any(|module| forbids(line, module)));
        found.extend(lines.map(|line| format!("/{path} forbids its kernel module: {}", line.trim())));
    }
    found
}

/// Returns `true` if a line forbids a module: `blacklist MODULE`, `alias MODULE off` or `install MODULE /bin/false`.
fn forbids(line: &str, module: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["blacklist", name] | ["alias", name, "off"] => name == module,
        ["install", name, command, ..] => name == module && (command.ends_with("/false") || command.ends_with("/true")),
        _ => false,
    }
}
