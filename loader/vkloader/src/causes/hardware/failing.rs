//! Completes findings about drivers that failed with facts about the hardware: the host of a container, the kernel driver of the card, and
//! cards that the system does not list.

use super::drivers::{is_meant_for, known};
use super::install::{on_tegra, to_install};
use super::machine::{Machine, is_of_nvidia};
use super::packaged::row_of;
use super::places::{self, is_of_home};
use super::{NVIDIA, idle, is_absent, is_hardware, is_nvidia, surrounding};
use super::{generations, handed};
use crate::causes::{elf, packages};
use crate::installed;
use crate::paths::file_name;
use crate::report::{self, Absent, Card, Dropped, Fact, Kind, Report, codes, rank};
use crate::shell::word;
use catalogue::hardware::TABLE;

/// End of the assignments to variables with which Mesa's drivers accept cards that the drivers do not fully support.
const EXPERIMENTAL: &str = "_I_WANT_A_BROKEN_VULKAN_DRIVER=1";

/// Codes of findings about drivers that were opened and failed.
pub(super) const FAILED: [&str; 3] = [
    "device.enumeration-failed",
    "driver.creation-failed",
    "driver.no-global-function",
];

/// Remedy for NVIDIA's driver on a system without a card of NVIDIA.
pub(super) const NO_NVIDIA: &str = "If the machine has such a card: a laptop may have switched it off, so switch it on with prime-select on-demand (Ubuntu), envycontrol \
    -s hybrid, or supergfxctl -m Hybrid; otherwise look in the firmware (BIOS) and at the plug. If it has none any more, remove the packages of this \
    driver.";
/// Remedy for a driver of any other vendor on a system without that vendor's cards.
const NO_CARD: &str = "If the machine has such a card, plug it in, or switch it on in the firmware (BIOS).";
/// Remedy for a driver without its card in WSL.
const NO_CARD_IN_WSL: &str = "WSL gets its card through Windows, so the packages of this driver have no use there: remove them, and install a version of Mesa \
    with the driver dzn (libvulkan_dzn.so).";
/// Files in `/dev` of NVIDIA's chips for cars, robots and tablets (Tegra, Jetson), which are not on the PCI bus.
const TEGRA: [&str; 3] = ["dev/nvhost-ctrl", "dev/nvhost-ctrl-gpu", "dev/nvmap"];
/// Remedy for a container with a link to NVIDIA's driver that leads to no file.
const STALE_CONTAINER: &str = "The host's driver was probably updated after the files of the container were made: make a new container from the image. If it is made \
    from a CDI file, first make that file again on the host: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml";
/// Files that exist in containers whose NVIDIA libraries come from the host, in addition to those of [`Report::gets_files_of_host`].
const OTHER_CONTAINERS: [&str; 4] = ["run/.toolboxenv", "run/.distroboxenv", "etc/distrobox", ".flatpak-info"];

/// Completes the findings about drivers and hardware. `is_replaced` is `true` if a variable replaces the search for drivers.
pub(super) fn complete(report: &mut Report, machine: &Machine, is_replaced: bool) {
    from_host(report, machine);
    handed::explain(report, machine);
    keep_files(report, machine);
    from_runtime(report);
    failed_to_list(report);
    without_windows(report, machine);
    in_container_without_list(report, machine);
    without_node(report, machine);
    without_card(report, machine, is_replaced);
    without_device(report, machine);
    left_over(report, machine);
    too_old(report);
}

/// Recommends removing a manifest whose library is missing, if the machine has no card for the driver. Such a manifest is left from a removed driver,
/// and only costs a message of the loader.
fn left_over(report: &mut Report, machine: &Machine) {
    let has_hardware = report.devices.iter().any(is_hardware);
    let is_usable = report.is_usable();
    let mut is_alone = false;
    let Report { hardware, dropped, .. } = report;
    let is_gone = |one: &&mut Dropped| one.code == "driver.not-opened" && one.absent == Some(Absent::Everywhere);
    for one in dropped.iter_mut().filter(is_gone) {
        let is_unlisted = library(one)
            .and_then(vendor)
            .is_none_or(|vendor| may_have_unlisted_card(vendor, machine));
        let is_spare = hardware.is_empty() || is_for_no_card(one, hardware);
        let manifest = one.file.clone().filter(|_| !is_unlisted && is_spare);
        let Some(manifest) = manifest.filter(|manifest| manifest.ends_with(".json")) else {
            continue;
        };
        one.findings.push("the system lists no card for this driver");
        one.advice = match installed::owner(&manifest) {
            // The package may also bring the drivers that are in use.
            Some(owner) => format!(
                "If the machine has no such card, nothing is to be done: the {owner} brings {manifest}, and its driver is for other cards."
            ),
            None => format!(
                "Remove the manifest, which is for cards that this machine does not have: rm {}",
                word(&manifest)
            ),
        };
        is_alone |= hardware.is_empty() && !is_usable;
        // On a machine that lists no card at all, that is the cause.
        one.rank = if has_hardware || hardware.is_empty() {
            rank::ASIDE
        } else {
            rank::CONSEQUENCE
        };
    }
    let none = dropped.iter_mut().filter(|one| one.code == codes::HARDWARE_NONE.name);
    none.filter(|_| is_alone)
        .for_each(|one| one.rank = one.rank.min(rank::BROKEN + 1));
}

/// Replaces the remedy for NVIDIA's driver in a container or sandbox that lacks the driver's library. The library comes from the host.
fn from_host(report: &mut Report, machine: &Machine) {
    let is_inside = report.gets_files_of_host() || OTHER_CONTAINERS.iter().any(|file| machine.has(file));
    let of_tegra = on_tegra(machine, report);
    if !is_inside || of_tegra.is_none() && !report.hardware.iter().any(is_of_nvidia) {
        return;
    }
    let advice = if of_tegra.is_none() && report.gets_files_of_host() && machine.has_dangling_nvidia() {
        STALE_CONTAINER.into()
    } else {
        of_tegra.map_or_else(|| to_install("nvidia", &[], machine, report), String::from)
    };
    // A library that the system has in another folder, or that the dynamic linker's cache lacks, has a remedy of its own.
    let is_absent =
        |one: &&mut Dropped| one.absent == Some(Absent::Everywhere) && is_nvidia(&one.name) && is_absent(one);
    for one in report.dropped.iter_mut().filter(is_absent) {
        one.findings.push("in a container, this library comes from the host");
        one.advice.clone_from(&advice);
    }
}

/// Removes the advice to remove a manifest of the system from the findings in a container, whose system belongs to its image or its host.
fn keep_files(report: &mut Report, machine: &Machine) {
    if !report.gets_files_of_host() || is_of_home(machine, report) {
        return;
    }
    for one in &mut report.dropped {
        let Some((first, manifest)) = one.advice.split_once(elf::IF_REMOVED) else {
            continue;
        };
        if ["/etc/", "/usr/"].iter().any(|folder| manifest.starts_with(folder)) {
            one.advice = format!("{first}, in the image of the container.");
        }
    }
}

/// Replaces the remedy for missing libraries in a sandbox, which does not use the packages of the system.
fn from_runtime(report: &mut Report) {
    const UPDATES: [(&str, &str); 2] = [
        (
            "flatpak",
            "Update the runtime of the program with its drivers, because the sandbox does not use the libraries of the system: flatpak update",
        ),
        (
            "snap",
            "Update the snaps of the program and of its drivers, because a snap does not use the libraries of the system: snap refresh",
        ),
    ];
    let mut words = report.surroundings.iter();
    let row = words.find_map(|word| UPDATES.iter().find(|(known, _)| known == word));
    let lacks_library =
        |one: &&mut Dropped| one.code == "driver.not-opened" && one.advice.starts_with(packages::INSTALL);
    if let Some((_, advice)) = row {
        let found = report.dropped.iter_mut().filter(lacks_library);
        found.for_each(|one| one.advice = (*advice).into());
    }
}

/// Returns the known driver library that the name or the file of a finding denotes.
fn library(one: &Dropped) -> Option<&'static str> {
    known(&one.name).or_else(|| known(one.file.as_deref()?))
}

/// Replaces the remedy for a driver that failed to list its devices although its card has a kernel driver.
fn failed_to_list(report: &mut Report) {
    let Report { hardware, dropped, .. } = report;
    for one in dropped
        .iter_mut()
        .filter(|one| one.code == "device.enumeration-failed" && !one.names_file && !names_closed_file(one))
    {
        // A remedy for the result of the call is more exact.
        if one.set.is_some() || report::is_of_state(&one.advice) {
            continue;
        }
        let Some(library) = library(one) else { continue };
        let mut drivers = hardware.iter().filter_map(|card| card.kernel_driver.as_deref());
        if let Some(driver) = drivers.find(|driver| is_meant_for(library, driver)) {
            // A driver whose words name KGSL is built for it.
            let is_build_for = |fact: &Fact| *fact.kind() == Kind::Printed && fact.contains("kgsl");
            let is_right_build = driver == "kgsl" && one.findings.iter().any(is_build_for);
            let special = row_of(driver).map_or("", |row| row.unused);
            one.advice = match if is_right_build { "" } else { special } {
                "" => format!(
                    "Look in dmesg for messages of the kernel driver {driver}. If the card worked before, start the machine again; if it is new, \
                     update the kernel and Mesa, which may be older than the card."
                ),
                special => special.into(),
            };
        }
    }
}

/// Makes a card that is too old for each driver the cause if the driver of its vendor failed, and no other card can be used. The finding comes
/// after broken drivers, because a software driver may be among them.
fn too_old(report: &mut Report) {
    let old: Vec<u32> = report
        .hardware
        .iter()
        .filter(|card| generations::too_old(card).is_some())
        .map(|card| card.vendor)
        .collect();
    let is_alone = !old.is_empty() && old.len() == report.hardware.len();
    let is_of_old = |one: &Dropped| {
        library(one)
            .and_then(vendor)
            .is_some_and(|vendor| old.contains(&vendor))
    };
    let mut has_failed = false;
    for one in report
        .dropped
        .iter_mut()
        .filter(|one| is_alone && FAILED.contains(&one.code.as_str()))
    {
        if !one.names_file && is_of_old(one) {
            one.rank = rank::CONSEQUENCE;
        }
        has_failed |= one.rank == rank::CONSEQUENCE;
    }
    let is_old = |one: &&mut Dropped| has_failed && one.code == codes::HARDWARE_WITHOUT_VULKAN.name;
    report
        .dropped
        .iter_mut()
        .filter(is_old)
        .for_each(|one| one.rank = rank::BROKEN + 1);
}

/// Mesa's driver dzn, which uses the cards of Windows.
const OF_WSL: &str = "libvulkan_dzn";
/// Library through which Mesa's driver dzn calls Windows, in the folder that WSL mounts.
const OF_WINDOWS: &str = "usr/lib/wsl/lib/libdxcore.so";

/// Explains a failure of Mesa's driver dzn in WSL by the library of Windows, if the dynamic linker does not find it. Windows adds the
/// library's folder to the linker's configuration, but some distributions replace that configuration.
fn without_windows(report: &mut Report, machine: &Machine) {
    let name = file_name(OF_WINDOWS);
    // A driver that listed a device has called Windows.
    let has_device = |driver: &str| known(driver) == Some(OF_WSL);
    if report.devices.iter().any(|device| has_device(&device.driver)) {
        return;
    }
    if !machine.has("dev/dxg") || elf::locate(name, elf::Identity::of_this_process()).is_some() {
        return;
    }
    // The library of Windows explains nothing about a driver that was not loaded.
    let has_failed = |one: &&mut Dropped| {
        let was_loaded = one.subject != "driver manifest" && one.code != "driver.not-opened";
        library(one) == Some(OF_WSL) && !one.names_file && was_loaded
    };
    for one in report.dropped.iter_mut().filter(has_failed) {
        let (finding, advice) = if machine.has(OF_WINDOWS) {
            (
                "exists, but the dynamic linker does not search its folder",
                "Let the dynamic linker search the folder: echo /usr/lib/wsl/lib >/etc/ld.so.conf.d/ld.wsl.conf && ldconfig; or for one program: \
                 LD_LIBRARY_PATH=/usr/lib/wsl/lib PROGRAM",
            )
        } else {
            (
                "is not there, and the driver calls Windows through it",
                "In Windows: wsl --update, then wsl --shutdown. In a container, make the folder available: -v /usr/lib/wsl:/usr/lib/wsl.",
            )
        };
        one.findings.insert(0, format!("/{OF_WINDOWS} {finding}"));
        one.advice = advice.into();
        one.names_file = true;
    }
}

/// Device nodes of further kernel modules of NVIDIA, each with the module. The driver needs them only to create a device.
const FOR_DEVICES: [(&str, &str); 2] = [
    ("dev/nvidia-uvm", "nvidia_uvm"),
    ("dev/nvidia-modeset", "nvidia_modeset"),
];

/// Adds missing nodes of NVIDIA's driver to the finding about a device that cannot be created.
fn without_node(report: &mut Report, machine: &Machine) {
    let missing: Vec<(&str, &str)> = FOR_DEVICES.into_iter().filter(|(node, _)| !machine.has(node)).collect();
    let is_it = |one: &&mut Dropped| {
        let library = one
            .file
            .as_deref()
            .filter(|_| one.code == codes::DEVICE_NOT_CREATED.name);
        library.is_some_and(is_nvidia) && !one.names_file
    };
    if missing.is_empty() {
        return;
    }
    let modules: Vec<&str> = missing.iter().map(|(_, module)| *module).collect();
    for one in report.dropped.iter_mut().filter(is_it) {
        one.findings.extend(
            missing
                .iter()
                .map(|(node, _)| format!("/{node} is not there, which the driver may need")),
        );
        // A result with a remedy of its own, such as too little memory, explains more than the nodes.
        if one.advice != codes::DEVICE_NOT_CREATED.remedy {
            continue;
        }
        one.advice = format!(
            "Load the modules of NVIDIA's driver that are probably missing: modprobe -a {}, and nvidia-modprobe -u -m for the nodes; in a container: \
             NVIDIA_DRIVER_CAPABILITIES=all. If that does not help, look in dmesg for lines of NVRM.",
            modules.join(" ")
        );
    }
}

/// Replaces the remedy for NVIDIA's driver that failed in a container with a node of NVIDIA's card, but without the system's list of cards.
/// Such a container most often lacks libraries.
fn in_container_without_list(report: &mut Report, machine: &Machine) {
    let is_inside = report.gets_files_of_host() && machine.has_node_of_nvidia() && report.hardware.is_empty();
    let has_failed =
        |one: &&mut Dropped| FAILED.contains(&one.code.as_str()) && !one.names_file && is_nvidia(&one.name);
    let advice = row_of("nvidia").map_or("", |row| row.unused);
    for one in report.dropped.iter_mut().filter(|one| is_inside && has_failed(one)) {
        one.advice = advice.into();
    }
}

/// Returns `true` if the findings name a file that the driver could not open, so that the remedy is about this file.
fn names_closed_file(one: &Dropped) -> bool {
    one.findings.iter().any(|fact| *fact.kind() == Kind::NotOpened)
}

/// Returns `true` for a finding about a broken driver that is meant for one of the cards.
pub(super) fn is_broken_for<'a>(one: &Dropped, cards: impl Iterator<Item = &'a Card>) -> bool {
    let library = library(one).filter(|_| one.rank == rank::BROKEN);
    let mut drivers = cards.filter_map(|card| card.kernel_driver.as_deref());
    library.is_some_and(|library| drivers.any(|driver| is_meant_for(library, driver)))
}

/// Returns `true` for a driver whose maker made none of the machine's cards.
pub(in crate::causes) fn is_for_no_card(one: &Dropped, cards: &[Card]) -> bool {
    let vendor = library(one).and_then(vendor).filter(|_| !cards.is_empty());
    vendor.is_some_and(|vendor| cards.iter().all(|card| ![vendor, 0].contains(&card.vendor)))
}

/// Returns `true` for the finding about a driver for graphics cards that has none of the machine's cards.
pub(in crate::causes) fn is_without_card(one: &Dropped, cards: &[Card]) -> bool {
    let row = library(one).and_then(|library| TABLE.iter().find(|row| row.library == library));
    let mut drivers = cards.iter().filter_map(|card| card.kernel_driver.as_deref());
    one.subject.starts_with("driver")
        && row.is_some_and(|row| !row.is_software && !drivers.any(|driver| row.kernel_drivers.contains(&driver)))
}

/// Explains a driver that refuses a card and names a variable with which it accepts the card. The driver is a cause only if no hardware
/// device is usable.
pub(super) fn experimental(report: &mut Report) {
    let is_name = |word: &str| {
        let name = word.strip_suffix("=1").unwrap_or_default();
        name.bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let variable = |fact: &Fact| {
        let mut words = fact.words(&Kind::Printed)?.split_whitespace();
        words
            .find(|word| word.ends_with(EXPERIMENTAL) && is_name(word))
            .map(String::from)
    };
    // A broken driver of another card explains more, because a repair makes that card usable without a risk.
    let is_broken = report
        .dropped
        .iter()
        .any(|one| is_broken_for(one, report.hardware.iter()));
    let rank = match report.devices.iter().any(is_hardware) {
        true => rank::ASIDE,
        false if is_broken => rank::BROKEN + 1,
        false => rank::HARDWARE + 1,
    };
    for one in &mut report.dropped {
        if let Some(variable) = one.findings.iter().find_map(variable) {
            one.reason =
                "The driver is not complete for this card, so it does not use the card unless a variable is set."
                    .into();
            one.advice = format!(
                "Update Mesa and the kernel, because newer versions may be complete for the card. Until then, let the driver use the card at your \
                 own risk: {variable} PROGRAM"
            );
            one.names_file = true;
            one.rank = rank;
        }
    }
}

/// Returns the PCI vendor of the cards of a driver.
pub(in crate::causes) fn vendor(library: &str) -> Option<u32> {
    match library {
        "libGLX_nvidia" | "libEGL_nvidia" => Some(NVIDIA),
        "libvulkan_radeon" | "amdvlk64" | "amdvlk32" => Some(0x1002),
        "libvulkan_intel" | "libvulkan_intel_hasvk" => Some(0x8086),
        _ => None,
    }
}

/// Returns `true` if the system may have a card that its list of PCI devices lacks. Some sandboxes have no such list, and the GPUs of
/// NVIDIA's Tegra chips are on another bus.
pub(super) fn may_have_unlisted_card(vendor: u32, machine: &Machine) -> bool {
    let has_node = || machine.has_node_of_nvidia() || TEGRA.iter().any(|file| machine.has(file));
    machine.names("sys/bus/pci/devices").is_empty() || vendor == NVIDIA && has_node()
}

/// Returns the remedy for a driver on a system without cards of the vendor `vendor`.
fn to_get_card(vendor: u32, machine: &Machine, report: &Report) -> String {
    let usual = if vendor == NVIDIA { NO_NVIDIA } else { NO_CARD };
    let advice = match surrounding(report) {
        Some(("wsl", _)) => NO_CARD_IN_WSL,
        Some(("virtual-machine", advice)) => advice,
        Some(_) if report.runs_in_container() => places::without_card(machine),
        _ => usual,
    };
    advice.into()
}

/// Ranks a driver that failed, and for which the system lists no device, after the causes for the devices of this machine. Some drivers for
/// virtual machines and chips fail on every other machine.
fn without_device(report: &mut Report, machine: &Machine) {
    let has_hardware = report.devices.iter().any(is_hardware);
    let Report { hardware, dropped, .. } = report;
    let is_listed = !hardware.is_empty() || !machine.names("sys/bus/pci/devices").is_empty();
    let has_failed =
        |one: &&mut Dropped| FAILED.contains(&one.code.as_str()) && !one.names_file && !names_closed_file(one);
    for one in dropped.iter_mut().filter(has_failed) {
        let known = library(one).filter(|library| vendor(library).is_none());
        let Some(row) = known.and_then(|library| TABLE.iter().find(|row| row.library == library)) else {
            continue;
        };
        let mut drivers = hardware.iter().filter_map(|card| card.kernel_driver.as_deref());
        let is_there = drivers.any(|driver| row.kernel_drivers.contains(&driver))
            || row.nodes.iter().any(|node| machine.has(node));
        // Without the kernel's list, only the nodes of a driver show its devices.
        let is_known = is_listed || row.kernel_drivers.is_empty();
        if !is_there && is_known && !row.is_software {
            one.findings.insert(0, "the system lists no device for this driver");
            if row.library == OF_WSL {
                one.advice = "This driver is only for WSL, so its failure does no harm here.".into();
            }
            one.rank = if has_hardware || hardware.is_empty() {
                rank::ASIDE
            } else {
                rank::CONSEQUENCE + 2
            };
        }
    }
}

/// Explains a driver that failed on a system that lists no card of the driver's vendor. The missing card is not the first cause if a variable
/// selects the driver, or if the system has a card of another vendor.
fn without_card(report: &mut Report, machine: &Machine, is_replaced: bool) {
    let has_card = |vendor: u32| {
        let mut cards = report.hardware.iter();
        cards.any(|card| card.vendor == vendor || card.vendor == 0)
    };
    let has_other = report.hardware.iter().any(|card| idle::DRAWING.contains(&card.vendor));
    let mut first = None;
    for place in 0..report.dropped.len() {
        let one = &report.dropped[place];
        let has_failed = FAILED.contains(&one.code.as_str()) && !one.names_file && !names_closed_file(one);
        let vendor = library(one).and_then(vendor).filter(|_| has_failed);
        let Some(vendor) = vendor.filter(|vendor| !has_card(*vendor) && !may_have_unlisted_card(*vendor, machine))
        else {
            continue;
        };
        let advice = to_get_card(vendor, machine, report);
        first.get_or_insert_with(|| advice.clone());
        let one = &mut report.dropped[place];
        let fact = Fact::new(Kind::WithoutCard, "the system lists no card for this driver");
        one.findings.insert(0, fact);
        one.advice = advice;
        if is_replaced || has_other {
            one.rank = one.rank.max(rank::CONSEQUENCE);
        }
    }
    // Copies the advice of the driver's finding to the finding that the system lists no card, because both findings have one cause.
    if let Some(advice) = first {
        let is_it = |one: &&mut Dropped| one.code == codes::HARDWARE_NONE.name;
        report
            .dropped
            .iter_mut()
            .filter(is_it)
            .for_each(|one| one.advice.clone_from(&advice));
    }
}
