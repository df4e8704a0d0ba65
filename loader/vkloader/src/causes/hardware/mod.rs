//! Finds the reason why a driver could not use its hardware: cards, kernel drivers, device nodes, permissions, and limits of a container.

mod absent;
mod boot;
mod displays;
mod dkms;
mod drivers;
mod failing;
mod firmware;
mod generations;
mod groups;
mod guests;
mod handed;
mod idle;
mod install;
mod kernel;
mod machine;
mod manifest;
mod newer;
mod node;
mod other_size;
mod packaged;
mod permissions;
mod places;
mod removed;
mod rules;
mod series;
mod service;
mod several;
mod slices;
mod software;
mod survey;
mod unknown;
mod unlisted;
mod wsl;

pub(super) use drivers::{known, libraries_for};
pub(super) use failing::{is_for_no_card, is_without_card, vendor};
pub(super) use guests::is_for_guests;
pub(crate) use idle::is_used;
pub(super) use survey::survey;

use super::{elf, linker, multiarch, sandbox::Sandbox};
use crate::report::{Card, Device, Dropped, Report, codes, rank};
use absent::{in_sandbox, no_card, surrounding};
pub(crate) use drivers::for_cards;
use machine::{Machine, WINDOWS_DRIVER, is_of_nvidia};
use permissions::{closed_nodes, in_closed_folder, permissions};
use places::Place;
use service::Service;
use several::{is_explained, is_of_minor_card};
use std::fs;
use std::path::{Path, PathBuf};

/// PCI vendor ID of NVIDIA.
const NVIDIA: u32 = 0x10DE;
/// Variable that selects the kinds of NVIDIA's libraries in a container.
const CAPABILITIES: &str = "NVIDIA_DRIVER_CAPABILITIES";
/// Remedy for missing device nodes of NVIDIA's driver in all other environments.
const NVIDIA_NODES: &str = "In a container, make the card available: docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all IMAGE, or podman run \
    --device nvidia.com/gpu=all IMAGE; elsewhere, install NVIDIA's libraries with nvidia-modprobe, which makes the nodes.";
/// Remedy for a changed root folder whose `/dev` lacks the device nodes of the system.
const IN_CHANGED_ROOT: &str = "The root folder was changed (chroot): make the device nodes available there, from outside: mount --rbind /dev ROOT/dev";
/// Variable that selects NVIDIA's cards in a container; [`NO_CARD`] lists the values that select no card.
const VISIBLE: &str = "NVIDIA_VISIBLE_DEVICES";
const NO_CARD: [&str; 2] = ["none", "void"];
/// Adds the graphics hardware to a report. If no hardware device is usable, also adds the obstacles between drivers and hardware.
/// `is_replaced` is `true` if a variable replaces the search for drivers; the program then does not see all installed drivers.
pub(super) fn find(report: &mut Report, is_replaced: bool) {
    let wanted = report.variables.get(CAPABILITIES);
    find_in(
        &survey::system(report, Path::new("/")),
        report,
        wanted.as_deref(),
        is_replaced,
    );
}

/// Adds the graphics hardware and the obstacles of the system whose root folder is `root`.
#[cfg(test)]
fn find_below(report: &mut Report, root: &Path, wanted: Option<&str>, is_replaced: bool) {
    survey::below(report, root);
    find_in(&survey::system(report, root), report, wanted, is_replaced);
}

/// Adds the obstacles of a system. `wanted` is the value of [`CAPABILITIES`].
fn find_in(machine: &Machine, report: &mut Report, wanted: Option<&str>, is_replaced: bool) {
    if report.loader.is_none() || asked_no_driver(report) {
        return;
    }
    failing::experimental(report);
    let mut found = match report.devices.iter().any(is_hardware) {
        true if is_replaced => return,
        true => idle::find(machine, report),
        false => obstacles(machine, report, wanted, is_replaced),
    };
    found.extend(removed::find(machine, report));
    explain_drivers(report, machine);
    if report.devices.iter().any(is_hardware) {
        idle::before_driver(&mut found, report);
    }
    report.dropped.append(&mut found);
    failing::complete(report, machine, is_replaced);
}

/// Returns `true` if the program failed before the library searched for drivers.
fn asked_no_driver(report: &Report) -> bool {
    let is_of_driver = |dropped: &Dropped| dropped.subject.starts_with("driver");
    report.searched.is_empty() && report.kept.is_empty() && !report.dropped.iter().any(is_of_driver)
}

pub(super) fn is_hardware(device: &Device) -> bool {
    device.is_usable && !device.is_software()
}

/// Returns the obstacles between drivers and hardware, on a machine where no hardware device is usable.
fn obstacles(machine: &Machine, report: &Report, wanted: Option<&str>, is_replaced: bool) -> Vec<Dropped> {
    let closed = closed_nodes(machine);
    let mut found: Vec<Dropped> = permissions(machine, &closed).into_iter().collect();
    let mut reachable = Vec::new();
    let hidden_list = unlisted::kept_out(machine, report);
    for card in &report.hardware {
        match of_card(card, machine, report) {
            Some(one) => found.push(install::with_driver(one, card, machine, report)),
            // Without the kernel's list of devices, drivers find no card.
            None if hidden_list.is_some() => {}
            None => reachable.push(card),
        }
    }
    found.extend(hidden_list);
    if found.is_empty() && report.hardware.is_empty() {
        found.extend(unlisted::find(machine, report).or_else(|| wsl::missing(machine, report)));
    }
    let may_be_cause = |dropped: &Dropped| {
        dropped.is_noise() || lacks_node(dropped, machine, &closed) || drivers::is_of_windows(dropped)
    };
    let is_minor = |dropped: &Dropped| is_of_minor_card(dropped, &report.hardware, &reachable);
    let may_be_first = report.dropped.iter().any(may_be_cause);
    // The repair of a driver whose card has no obstacle makes this card usable.
    let is_broken =
        |one: &Dropped| failing::is_broken_for(one, reachable.iter().copied()) && !lacks_node(one, machine, &closed);
    let is_repaired_first = report.dropped.iter().any(is_broken);
    for dropped in &mut found {
        // If no driver was opened, missing hardware cannot be the first cause.
        if !may_be_first || is_minor(dropped) {
            dropped.rank = dropped.rank.max(rank::CONSEQUENCE);
        } else if is_repaired_first || several::is_not_handed_over(dropped, &reachable, report) {
            dropped.rank = dropped.rank.max(rank::BROKEN + 1);
        }
    }
    found.extend(capabilities(machine, wanted));
    found.extend(versions(machine, report));
    let unexplained = reachable
        .iter()
        .filter(|card| !is_explained(card, &found, &closed, machine));
    let unused: Vec<Dropped> = unexplained
        .filter_map(|card| drivers::unused(card, machine, report))
        .collect();
    found.extend(unused);
    let missing = reachable
        .iter()
        .filter_map(|card| install::missing(card, &closed, machine, report));
    // A variable that replaces the search leaves out installed drivers, but no variable leaves out drivers that do not exist.
    found.extend(missing.filter(|one| !is_replaced || one.code == codes::HARDWARE_WITHOUT_VULKAN.name));
    if found.is_empty() {
        found.extend(no_card(report, machine));
    }
    found
}

/// Returns a finding if NVIDIA's libraries and NVIDIA's kernel module have different versions.
fn versions(machine: &Machine, report: &Report) -> Option<Dropped> {
    // The library that the program opened counts, which may be in a folder of its own.
    let own = || {
        let dropped = report.dropped.iter().map(|one| one.name.as_str());
        let mut all = dropped.chain(report.drivers.iter().map(|driver| driver.library.as_str()));
        let folder = all
            .find(|path| path.starts_with('/') && is_nvidia(path))?
            .rsplit_once('/')?
            .0;
        machine.nvidia_library_in(folder.trim_start_matches('/'))
    };
    let (module, library) = (machine.nvidia_module()?, own().or_else(|| machine.nvidia_library())?);
    let row = codes::HARDWARE_NVIDIA_VERSIONS;
    (module != library).then(|| Dropped {
        advice: match surrounding(report) {
            Some(("flatpak", _)) => places::for_flatpak(&module),
            Some(("docker" | "podman", _)) => format!(
                "Remove NVIDIA's libraries from the image, because NVIDIA's container tools add those of the host (docker run --gpus all -e \
                 NVIDIA_DRIVER_CAPABILITIES=all IMAGE); or install them in the image in the version {module}."
            ),
            _ => row.remedy.into(),
        },
        findings: [format!("kernel module {module}, user libraries {library}")].into(),
        ..row.about("NVIDIA")
    })
}

/// Returns `true` if NVIDIA's driver is there with a library that a container gets only with the capability for graphics.
fn has_libraries_for_graphics(machine: &Machine) -> bool {
    let driver = machine.library("libGLX_nvidia");
    let entries = driver.and_then(|driver| fs::read_dir(driver.parent()?).ok());
    let mut names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.any(|name| name.to_string_lossy().starts_with("libnvidia-glvkspirv.so."))
}

/// Returns a finding for a container that has NVIDIA's card but not NVIDIA's graphics libraries.
fn capabilities(machine: &Machine, value: Option<&str>) -> Option<Dropped> {
    let value = value?;
    let row = codes::HARDWARE_NVIDIA_CAPABILITIES;
    (!handed::has_graphics(value) && machine.has("dev/nvidiactl")).then(|| Dropped {
        findings: [format!("{CAPABILITIES} is {value}")].into(),
        // The container may have the libraries in spite of the variable, for example from a CDI file. Then a fault of the driver explains more.
        rank: if has_libraries_for_graphics(machine) {
            rank::BROKEN + 1
        } else {
            row.rank()
        },
        ..row.about(CAPABILITIES)
    })
}

/// Returns `true` if a driver was opened but returned no functions or devices, because its device nodes are missing or closed.
fn lacks_node(dropped: &Dropped, machine: &Machine, closed: &[PathBuf]) -> bool {
    let row = catalogue::hardware::of(dropped.name.as_bytes());
    // No node explains a library without the functions of a driver.
    let is_driver = dropped.code != "driver.no-entry-point";
    let has_failed = linker::was_opened(dropped) && is_driver || dropped.code == "device.enumeration-failed";
    row.filter(|_| has_failed).is_some_and(|row| {
        let has_nodes = machine.has("dev/nvidiactl") && machine.has_node_of_nvidia();
        let is_nvidias = row.on_demand_vendor == 0x10DE && !has_nodes;
        let is_gone = !row.nodes.is_empty() && row.nodes.iter().all(|node| !machine.has(node));
        let is_closed = |node: &str| closed.contains(&machine.path(node));
        let is_of_row = |card: &&Card| {
            let driver = card.kernel_driver.as_deref();
            // NVIDIA's driver does not need the render node.
            row.on_demand_vendor == 0 && driver.is_some_and(|driver| row.kernel_drivers.contains(&driver))
        };
        let cards = machine.cards();
        let mut nodes = cards.iter().filter(is_of_row).filter_map(|card| card.node.as_deref());
        is_gone || is_nvidias || row.nodes.iter().any(|node| is_closed(node)) || nodes.any(is_closed)
    })
}

/// Returns a finding about the obstacle between drivers and a card.
fn of_card(card: &Card, machine: &Machine, report: &Report) -> Option<Dropped> {
    if let Some(found) = generations::too_old(card).or_else(|| displays::without_vulkan(card)) {
        return Some(found);
    }
    let Some(driver) = card.kernel_driver.as_deref() else {
        return Some(kernel::missing(card, machine, report));
    };
    if is_for_guests(driver) {
        return Some(guests::reserved(card, machine));
    }
    let has_nvidia = report
        .dropped
        .iter()
        .any(|dropped| is_nvidia(&dropped.name) && !is_absent(dropped));
    if driver == "nouveau" && card.vendor == NVIDIA && has_nvidia {
        return Some(kernel::nouveau_instead(card, machine, report));
    }
    if card.node.is_none() && kernel::DRAWING.contains(&driver) {
        return Some(kernel::without_node(card, driver));
    }
    if card.node.is_none() && card.vendor != NVIDIA {
        return Some(codes::HARDWARE_DISPLAY_ONLY.about(card.to_string()));
    }
    if driver == WINDOWS_DRIVER {
        return wsl::of_card(card.to_string(), machine, report);
    }
    let row = codes::HARDWARE_NO_NODE;
    let sandbox = in_sandbox(report);
    let is_nvidias = is_of_nvidia(card);
    let kept_out = |node: &str| machine.is_kept_out(node).then(|| Sandbox::of(report).nodes(is_nvidias));
    let around = || Sandbox::around(report, &machine.path("")).filter(|around| around.is_made_by_users());
    if is_nvidias && machine.has("dev/nvidiactl") && !machine.has_node_of_nvidia() {
        let advice = kept_out("/dev/nvidia0").unwrap_or_else(|| nvidia_nodes(machine, report));
        return Some(Dropped {
            findings: ["/dev/nvidiactl exists, but no node of a card, such as /dev/nvidia0"].into(),
            advice: advice.into(),
            ..row.about(card.to_string())
        });
    }
    let (node, advice) = match (is_nvidias, sandbox) {
        (true, _) if kept_out("/dev/nvidiactl").is_some() => ("/dev/nvidiactl", kept_out("/dev/nvidiactl")?),
        (false, _) if card.node.as_deref().and_then(kept_out).is_some() => {
            let node = card.node.as_deref()?;
            (node, kept_out(node)?)
        }
        (true, Some(("flatpak" | "snap", advice))) => ("/dev/nvidiactl", advice),
        (true, None) if let Some(around) = around() => ("/dev/nvidiactl", around.nodes(true)),
        (true, _) => ("/dev/nvidiactl", nvidia_nodes(machine, report)),
        (false, Some((_, advice))) => (card.node.as_deref()?, advice),
        (false, None) if let Some(around) = around() => (card.node.as_deref()?, around.nodes(false)),
        (false, None) if machine.is_changed_root() => (card.node.as_deref()?, IN_CHANGED_ROOT),
        (false, None) => (card.node.as_deref()?, row.remedy),
    };
    if let Some(folder) = elf::closed_folder(&machine.path(node)) {
        return Some(in_closed_folder(folder, machine));
    }
    (!machine.has(node)).then(|| without_node(card, (node, advice), machine, report))
}

/// Returns the finding about a card whose device node is missing. `advice` is the general remedy.
fn without_node(card: &Card, (node, advice): (&str, &str), machine: &Machine, report: &Report) -> Dropped {
    let sandbox = in_sandbox(report);
    let is_kept_out = machine.is_kept_out(node);
    let service = Service::without_devices(machine).filter(|_| sandbox.is_none() && !is_kept_out);
    if let Some(service) = service {
        return service.hides(card, node);
    }
    let value = report
        .variables
        .get(VISIBLE)
        .filter(|value| NO_CARD.contains(&value.as_str()));
    let hidden = value.filter(|_| card.vendor == NVIDIA);
    let of_kind = sandbox.filter(|(word, _)| *word == "container" && card.vendor != NVIDIA && !is_kept_out);
    let of_kind = of_kind.and_then(|_| rules::for_container(machine));
    Dropped {
        findings: [if is_kept_out {
            format!("{node} exists outside of the sandbox of the program, and not in it")
        } else {
            format!("{node} is not there")
        }]
        .into_iter()
        .chain(hidden.map(|value| format!("{VISIBLE} is {value}, so the container gets no card")))
        .collect(),
        advice: of_kind.unwrap_or_else(|| advice.into()),
        ..codes::HARDWARE_NO_NODE.about(card.to_string())
    }
}

/// Returns the remedy for missing device nodes of NVIDIA's driver.
fn nvidia_nodes(machine: &Machine, report: &Report) -> &'static str {
    Place::of(machine, report).map_or(NVIDIA_NODES, |place| place.nodes)
}

/// Adds the state of the hardware to the finding about each driver without a device.
fn explain_drivers(report: &mut Report, machine: &Machine) {
    let cards = &report.hardware;
    for dropped in report
        .dropped
        .iter_mut()
        .filter(|dropped| dropped.code == "driver.no-devices")
    {
        let Some(row) = catalogue::hardware::of(dropped.name.as_bytes()) else {
            continue;
        };
        let serves = |card: &&Card| multiarch::drives(row, card);
        let is_meant = |card: &&Card| {
            let driver = card.kernel_driver.as_deref();
            serves(card) && driver.is_some_and(|driver| drivers::is_meant_for(row.library, driver))
        };
        let card = cards.iter().find(is_meant).or_else(|| cards.iter().find(serves));
        let words = match card.filter(|_| !unlisted::is_without_list(machine)) {
            Some(card) if is_meant(&card) => format!("{card} is present for it, but the driver does not use this card"),
            Some(card) => format!("{card} is for another driver, unless the host hands its own card to the guest"),
            None if row.nodes.iter().any(|node| machine.has(node)) => {
                "a node for it exists, but the driver does not use this node".into()
            }
            None if unlisted::is_without_list(machine) => {
                "without the kernel's list of devices (/sys), it finds no device".into()
            }
            None if row.kernel_drivers.is_empty() => "the system lists no device for it".into(),
            None => format!(
                "no device here has its kernel driver ({})",
                row.kernel_drivers.join(", ")
            ),
        };
        dropped.findings.insert(0, words);
    }
}

/// Returns `true` for a driver whose library is missing although its manifest exists.
fn is_absent(driver: &Dropped) -> bool {
    driver.code == "driver.not-opened" && elf::locate(&driver.name, elf::Identity::of_this_process()).is_none()
}

fn is_nvidia(library: &str) -> bool {
    let row = catalogue::hardware::of(library.as_bytes());
    row.is_some_and(|row| row.on_demand_vendor != 0)
}

#[cfg(test)]
mod tests;
