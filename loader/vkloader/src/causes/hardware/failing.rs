//! Completes findings about drivers that failed with facts about the hardware: the host of a container, the kernel driver of the card, and
//! cards that the system does not list.

use super::drivers::{is_meant_for, known, row_of, to_install};
use super::machine::Machine;
use super::{NVIDIA, is_absent, is_nvidia};
use crate::report::{Card, Dropped, PRINTED, Report, codes, rank};

/// End of the assignments to variables with which Mesa's drivers accept cards that the drivers do not fully support.
const EXPERIMENTAL: &str = "_I_WANT_A_BROKEN_VULKAN_DRIVER=1";

/// Codes of findings about drivers that were opened and failed.
const FAILED: [&str; 3] = [
    "device.enumeration-failed",
    "driver.creation-failed",
    "driver.no-global-function",
];

/// Remedy for NVIDIA's driver on a system without a card of NVIDIA.
const NO_NVIDIA: &str = "Plug the card in, or switch it on: laptops switch it off by prime-select on-demand (Ubuntu), envycontrol -s hybrid, or supergfxctl \
    -m Hybrid.";
/// Remedy for a driver of any other vendor on a system without that vendor's cards.
const NO_CARD: &str = "Plug the card in, or switch it on in the firmware (BIOS).";

/// Completes the findings about drivers. `is_replaced` is `true` if a variable replaces the search for drivers.
pub(super) fn complete(report: &mut Report, machine: &Machine, is_replaced: bool) {
    from_host(report, machine);
    failed_to_list(report);
    experimental(report);
    without_card(report, is_replaced);
}

/// Replaces the remedy for NVIDIA's driver in a container or sandbox that lacks the driver's library. The library comes from the host.
fn from_host(report: &mut Report, machine: &Machine) {
    let is_nvidias = |card: &Card| card.vendor == NVIDIA && card.kernel_driver.as_deref() == Some("nvidia");
    let usual = row_of("nvidia").map_or("", |row| row.install);
    let advice = to_install("nvidia", &[], machine, report);
    if advice == usual || machine.has("etc/NIXOS") || !report.hardware.iter().any(is_nvidias) {
        return;
    }
    let is_absent = |one: &&mut Dropped| is_nvidia(&one.name) && is_absent(one);
    for one in report.dropped.iter_mut().filter(is_absent) {
        one.findings
            .push("in a container, this library comes from the host".into());
        one.advice.clone_from(&advice);
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
        .filter(|one| one.code == "device.enumeration-failed" && !one.names_file)
    {
        let Some(library) = library(one) else { continue };
        let mut drivers = hardware.iter().filter_map(|card| card.kernel_driver.as_deref());
        if let Some(driver) = drivers.find(|driver| is_meant_for(library, driver)) {
            one.advice = match row_of(driver).map_or("", |row| row.unused) {
                "" => format!(
                    "Look in dmesg for messages of the kernel driver {driver}. If the card worked before, start the machine again; if it is new, \
                     update the kernel and Mesa, which may be older than the card."
                ),
                special => special.into(),
            };
        }
    }
}

/// Makes a driver that refuses a card the first cause if the driver names a variable with which it accepts the card.
fn experimental(report: &mut Report) {
    let variable = |finding: &String| {
        let mut words = finding.strip_prefix(PRINTED)?.split_whitespace();
        words.find(|word| word.ends_with(EXPERIMENTAL)).map(String::from)
    };
    for one in &mut report.dropped {
        if let Some(variable) = one.findings.iter().find_map(variable) {
            one.reason =
                "The driver is not complete for this card, so it does not use the card unless a variable is set."
                    .into();
            one.advice = format!("Let the driver use the card, at your own risk: {variable} PROGRAM");
            one.rank = rank::HARDWARE - 1;
        }
    }
}

/// Returns the PCI vendor of the cards of a driver.
fn vendor(library: &str) -> Option<u32> {
    match library {
        "libGLX_nvidia" | "libEGL_nvidia" => Some(NVIDIA),
        "libvulkan_radeon" | "amdvlk64" | "amdvlk32" => Some(0x1002),
        "libvulkan_intel" | "libvulkan_intel_hasvk" => Some(0x8086),
        _ => None,
    }
}

/// Explains a driver that failed on a system that lists no card of the driver's vendor. If a variable selects the driver, the variable
/// explains more than the missing card.
fn without_card(report: &mut Report, is_replaced: bool) {
    let Report { hardware, dropped, .. } = report;
    let has_card = |vendor: u32| hardware.iter().any(|card| card.vendor == vendor || card.vendor == 0);
    for one in dropped
        .iter_mut()
        .filter(|one| FAILED.contains(&one.code.as_str()) && !one.names_file)
    {
        let Some(vendor) = library(one).and_then(vendor).filter(|vendor| !has_card(*vendor)) else {
            continue;
        };
        one.findings
            .insert(0, "the system lists no card for this driver".into());
        one.advice = if vendor == NVIDIA { NO_NVIDIA } else { NO_CARD }.into();
        if is_replaced {
            one.rank = rank::CONSEQUENCE;
        }
    }
    // Copies the advice of the driver's finding to the finding that the system lists no card, because both findings have one cause.
    if let Some(first) = dropped
        .iter()
        .find(|one| one.advice == NO_NVIDIA || one.advice == NO_CARD)
    {
        let advice = first.advice.clone();
        for one in dropped.iter_mut().filter(|one| one.code == codes::HARDWARE_NONE.name) {
            one.advice.clone_from(&advice);
        }
    }
}
