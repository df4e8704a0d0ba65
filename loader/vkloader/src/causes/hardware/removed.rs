//! Finds a card of NVIDIA that is not on the PCI bus although its driver is installed.

use super::failing::{NO_NVIDIA, may_have_unlisted_card};
use super::machine::Machine;
use super::{NVIDIA, is_hardware, is_nvidia};
use crate::report::{Dropped, Report, codes, rank};

/// Folders with rules of udev.
const RULES: [&str; 4] = [
    "etc/udev/rules.d",
    "run/udev/rules.d",
    "usr/lib/udev/rules.d",
    "lib/udev/rules.d",
];
/// Assignment with which a rule removes a device from the bus.
const REMOVES: &str = "ATTR{remove}=\"1\"";
/// Comparison of a rule with the class of a device, and the beginning of the classes of graphics cards.
const CLASS: &str = "ATTR{class}==\"";
const OF_CARDS: &str = "0x03";
/// Variable that asks for NVIDIA's card on a machine with another card.
const OFFLOAD: &str = "__NV_PRIME_RENDER_OFFLOAD";

/// Returns the finding about a missing card of NVIDIA, if a rule of udev removes it or if the program asks for it. Returns `None` in a container,
/// whose rules have no effect.
pub(super) fn find(machine: &Machine, report: &Report) -> Option<Dropped> {
    let mut drivers = report.drivers.iter().map(|driver| &driver.library);
    let mut dropped = report.dropped.iter().map(|one| &one.name);
    let is_installed = machine.nvidia_library().is_some()
        || drivers.any(|library| is_nvidia(library))
        || dropped.any(|library| is_nvidia(library));
    let is_listed = report.hardware.iter().any(|card| [NVIDIA, 0].contains(&card.vendor));
    if !is_installed || is_listed || report.runs_in_container() || may_have_unlisted_card(NVIDIA, machine) {
        return None;
    }
    let is_asked = report.variables.get(OFFLOAD).is_some_and(|value| value == "1");
    let rule = rule(machine);
    if rule.is_none() && !is_asked {
        return None;
    }
    let mut found = codes::HARDWARE_REMOVED.about_any("NVIDIA's card");
    if let Some((file, line)) = &rule {
        found
            .findings
            .push(format!("/{file}, line {line}, removes the card from the PCI bus"));
        found.advice = format!(
            "Switch the card on with the tool that wrote the rule: envycontrol -s hybrid, prime-select on-demand (Ubuntu) or supergfxctl -m Hybrid; or \
             remove line {line} of /{file}. Then start the machine again."
        );
    } else {
        found.advice = NO_NVIDIA.into();
    }
    if is_asked {
        found.findings.push(format!("{OFFLOAD}=1 asks for the card"));
    } else {
        found.rank = rank::ASIDE;
    }
    if rule.is_some() && !report.devices.iter().any(is_hardware) {
        found.rank = rank::HARDWARE;
    }
    Some(found)
}

/// Returns the file and the line of a rule that removes NVIDIA's cards. A rule may also remove only other functions of a card, such as sound.
fn rule(machine: &Machine) -> Option<(String, usize)> {
    let is_it = |line: &str| {
        let of_cards = line
            .split_once(CLASS)
            .is_none_or(|(_, class)| class.starts_with(OF_CARDS));
        !line.trim_start().starts_with('#') && line.contains(REMOVES) && line.contains("0x10de") && of_cards
    };
    let files = RULES.iter().flat_map(|folder| {
        let names = machine.names(folder).into_iter();
        names.map(move |name| format!("{folder}/{name}"))
    });
    files.filter(|file| file.ends_with(".rules")).find_map(|file| {
        let line = machine.text(&file).lines().position(is_it)?;
        Some((file, line + 1))
    })
}
