//! Remedies for cards whose Vulkan driver is not installed.

use super::NVIDIA;
use super::drivers;
use super::generations::HASVK;
use super::machine::{Machine, ON_CHIP};
use super::packaged::row_of;
use super::permissions::permissions;
use super::places::{Place, is_of_home};
use crate::causes::overriding::REPLACING;
use crate::causes::{packages, unsearched};
use crate::report::{Card, Dropped, Report, codes};
use std::path::PathBuf;

/// Remedy for a container on a Jetson, whose chip has NVIDIA's card, but without NVIDIA's libraries.
const NVIDIA_OF_TEGRA: &str = "Let NVIDIA's container runtime add the driver of the Jetson: docker run --runtime nvidia -e \
    NVIDIA_DRIVER_CAPABILITIES=all IMAGE, which needs NVIDIA's container toolkit on the host; or podman run --device nvidia.com/gpu=all IMAGE, which \
    needs a CDI file of the host.";

/// Returns the remedy for NVIDIA's driver in a container on a machine with a chip of NVIDIA. Returns `None` elsewhere.
pub(super) fn on_tegra(machine: &Machine, report: &Report) -> Option<&'static str> {
    let is_inside = report.runs_in_container();
    (is_inside && machine.is_tegra()).then_some(NVIDIA_OF_TEGRA)
}

/// First series of NVIDIA's driver with Vulkan.
const FIRST_OF_NVIDIA: u32 = 364;
/// Remedy for a kernel module of NVIDIA that is older than [`FIRST_OF_NVIDIA`].
const OLD_NVIDIA: &str = "Install a newer series of NVIDIA's driver if there is one for the card, because the loaded series has no Vulkan; otherwise use a software \
    driver, such as Mesa's lavapipe. Kepler (GTX 600 and 700) needs the series 470.";

/// Remedy for a card of Intel whose only driver is not installed.
const INSTALL_HASVK: &str = "Install Mesa's driver for Intel's cards of 2012 to 2015, libvulkan_intel_hasvk.so: mesa-vulkan-drivers (Debian, Ubuntu, Fedora), \
    vulkan-intel (Arch) or mesa-vulkan-intel (Alpine), of Mesa 22.3 or newer.";

/// Remedy for a Gentoo system without the driver of the card.
const ON_GENTOO: &str = "Build the driver: emerge media-libs/mesa with USE=vulkan and the card in VIDEO_CARDS (radeonsi for AMD, intel for Intel, nouveau); \
    for NVIDIA's own driver: emerge x11-drivers/nvidia-drivers";

/// Word in the column `install` of the table of drivers that stands for the series of NVIDIA's driver.
const VERSION: &str = "VERSION";
/// Places in which to install a driver. Each row has an environment around the program, and a sentence for the remedy.
const INSTALL_IN: [(&str, &str); 6] = [
    (
        "steam",
        "Do so on the system itself, for 64 and 32 bits, because Steam's container takes its drivers from there. Then quit Steam and start it again.",
    ),
    ("docker", IN_IMAGE),
    ("podman", IN_IMAGE),
    ("apptainer", IN_IMAGE),
    ("container", IN_CONTAINER),
    (
        "snap",
        "Do so on the system itself, because a snap takes this driver from there.",
    ),
];
const IN_IMAGE: &str = "Do so in the image of the container, which does not use the drivers of its host.";
const IN_CONTAINER: &str = "Do so in the container, which does not use the drivers of its host.";

/// Adds to the finding about a missing device node that the driver of the card is not installed either, because the node alone does not help
/// then. A variable that replaces the search leaves out the installed drivers, so that they are unknown.
pub(super) fn with_driver(mut node: Dropped, card: &Card, machine: &Machine, report: &Report) -> Dropped {
    let is_replaced = REPLACING.iter().any(|name| report.variables.get(name).is_some());
    // NVIDIA's container tools bring the libraries with the node.
    let is_of_host = card.node.is_some() && card.vendor != NVIDIA;
    if node.code != codes::HARDWARE_NO_NODE.name || is_replaced || !is_of_host {
        return node;
    }
    let missing = drivers::missing(card, machine, report);
    if let Some(missing) = missing.filter(|one| one.code == codes::HARDWARE_NO_DRIVER.name) {
        node.findings
            .push("no Vulkan driver for the card is installed either".to_owned());
        node.advice = format!("{}. {}", node.advice.trim_end_matches('.'), missing.advice);
    }
    node
}

/// Returns the finding about a card without an installed driver. The driver alone does not help if the node of the card is one of `closed`, the nodes
/// that this user may not open.
pub(super) fn missing(card: &Card, closed: &[PathBuf], machine: &Machine, report: &Report) -> Option<Dropped> {
    let mut found = drivers::missing(card, machine, report)?;
    let own = card.node.as_deref().map(|node| machine.path(node));
    let own: Vec<PathBuf> = closed
        .iter()
        .filter(|node| Some(*node) == own.as_ref())
        .cloned()
        .collect();
    let is_missing = found.code == codes::HARDWARE_NO_DRIVER.name;
    if let Some(node) = permissions(machine, &own).filter(|_| is_missing) {
        found.findings.extend(node.findings.first().cloned());
        found.advice = format!("{}. Also: {}", found.advice.trim_end_matches('.'), node.advice);
    }
    Some(found)
}

/// Returns `true` for a kernel driver of NVIDIA.
pub(super) fn is_nvidias(kernel_driver: &str) -> bool {
    kernel_driver.starts_with("nvidia") || ON_CHIP.contains(&kernel_driver)
}

/// Returns the remedy for a card whose Vulkan driver is not installed.
pub(super) fn to_install(kernel_driver: &str, libraries: &[&str], machine: &Machine, report: &Report) -> String {
    let is_in = |known: &[&str]| report.runs_in(known);
    // A sandbox has its own copies of the drivers, except for those of NVIDIA.
    let of_sandbox = unsearched::in_sandbox_of(|sandbox| is_in(&[sandbox]), &machine.path(""));
    if let Some(advice) = of_sandbox.filter(|_| !is_nvidias(kernel_driver)) {
        return advice;
    }
    if is_nvidias(kernel_driver)
        && let Some(advice) = nvidias_inside(kernel_driver, machine, report)
    {
        return advice;
    }
    if let Some(advice) = packages::reinstall(&machine.path(""), libraries) {
        return advice;
    }
    let series = machine
        .nvidia_module()
        .and_then(|version| version.split('.').next()?.parse().ok());
    if kernel_driver.starts_with("nvidia") && series.is_some_and(|series: u32| series < FIRST_OF_NVIDIA) {
        return OLD_NVIDIA.into();
    }
    if libraries == [HASVK] {
        return INSTALL_HASVK.into();
    }
    let system = machine.text("etc/os-release");
    if system.lines().any(|line| line == "ID=gentoo") && row_of(kernel_driver).is_some() {
        return ON_GENTOO.into();
    }
    if machine.has("etc/NIXOS") {
        return unsearched::ON_NIXOS.into();
    }
    let install = match (row_of(kernel_driver), series) {
        (Some(row), Some(series)) if row.install.contains(VERSION) => format!(
            "{} All parts of the driver must have the same full version as its kernel module; a server has packages that end with -server.",
            row.install.replace(VERSION, &series.to_string())
        ),
        (Some(row), Some(_)) => row.install.into(),
        (Some(row), None) => row.install.into(),
        (None, _) => format!(
            "Install Mesa's Vulkan driver for the card, such as mesa-vulkan-drivers in a version that has {}.so.",
            libraries.first().unwrap_or(&"it")
        ),
    };
    if is_of_home(machine, report) {
        return format!("{install} {IN_CONTAINER}");
    }
    let place = INSTALL_IN.iter().find(|(known, _)| is_in(&[known]));
    place.map_or(install.clone(), |(_, place)| format!("{install} {place}"))
}

/// Returns the remedy for NVIDIA's driver in a sandbox or container, which gets the driver from its host.
fn nvidias_inside(kernel_driver: &str, machine: &Machine, report: &Report) -> Option<String> {
    if ON_CHIP.contains(&kernel_driver) {
        return on_tegra(machine, report).map(String::from);
    }
    let place = Place::of(machine, report)?;
    Some(place.libraries(machine.nvidia_module().as_deref()))
}
