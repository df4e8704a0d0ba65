//! Finds cards without a usable device on a machine where another card works, for example the second card of a laptop.

use super::machine::Machine;
use super::{closed_nodes, drivers, is_hardware, is_nvidia, of_card, permissions, rules, versions};
use crate::report::{Card, Device, Dropped, Report, codes, rank};
use std::path::PathBuf;

/// PCI vendors whose cards can render. Cards of other vendors, for example in servers, often only drive a display.
pub(super) const DRAWING: [u32; 3] = [0x1002, 0x10DE, 0x8086];

/// Codes of findings about an unused card whose driver is installed, so that the user probably wants to use the card.
const WANTED: [&codes::Row; 2] = [codes::HARDWARE_NO_MANIFEST, codes::HARDWARE_NVIDIA_VERSIONS];

/// Returns one finding for each unused card. The finding does not explain a failure, because another card works.
pub(super) fn find(machine: &Machine, report: &Report) -> Vec<Dropped> {
    let cards = report.hardware.iter().filter(|card| DRAWING.contains(&card.vendor));
    let idle = cards.filter(|card| !is_used(card, &report.devices));
    let ranked = |card| {
        let one = of_idle(card, machine, report)?;
        let least = if is_wanted(card, &one, machine, report) {
            rank::ASKED_FOR
        } else {
            rank::ASIDE
        };
        Some(Dropped {
            rank: one.rank.max(least),
            ..one
        })
    };
    idle.filter_map(ranked).collect()
}

/// Returns `true` if the user probably wants to use a card that `one` is about: the driver is installed, and no container or service keeps the
/// card from the program.
fn is_wanted(card: &Card, one: &Dropped, machine: &Machine, report: &Report) -> bool {
    if one.code == codes::HARDWARE_NO_PERMISSION.name {
        let node = card.node.as_deref().map(|node| machine.path(node));
        let is_by_user = node.is_some_and(|node| rules::refusing(&node, machine).is_none());
        return is_by_user && !drivers::for_cards(report, std::slice::from_ref(card)).is_empty();
    }
    WANTED.iter().any(|row| row.name == one.code)
}

/// Ranks the finding about an unused or removed card of NVIDIA before the finding about NVIDIA's driver, which fails because of the card's obstacle.
pub(super) fn before_driver(found: &mut [Dropped], report: &mut Report) {
    let is_of_nvidia = |card: &&Card| card.vendor == super::NVIDIA;
    let cards: Vec<String> = report
        .hardware
        .iter()
        .filter(is_of_nvidia)
        .map(ToString::to_string)
        .collect();
    let general = [codes::HARDWARE_NVIDIA_VERSIONS, codes::HARDWARE_REMOVED];
    let is_of_card = |one: &Dropped| general.iter().any(|row| row.name == one.code) || cards.contains(&one.name);
    let Some(first) = found.iter_mut().find(|one| is_of_card(one)) else {
        return;
    };
    let has_failed = |one: &&mut Dropped| super::failing::FAILED.contains(&one.code.as_str()) && !one.names_file;
    let is_nvidias = |one: &&mut Dropped| is_nvidia(&one.name) || one.file.as_deref().is_some_and(is_nvidia);
    for driver in report.dropped.iter_mut().filter(has_failed).filter(is_nvidias) {
        first.rank = rank::CONSEQUENCE;
        driver.rank = rank::ASIDE;
        driver
            .findings
            .insert(0, format!("this follows from the finding about {}", first.name));
    }
}

/// Returns `true` if a device in `devices` belongs to a card. Compares the PCI IDs if the driver does not report the PCI address.
pub(crate) fn is_used(card: &Card, devices: &[Device]) -> bool {
    let mut devices = devices.iter().filter(|device| is_hardware(device));
    devices.any(|device| match &device.pci {
        Some(place) => *place == card.place,
        None => (device.vendor, device.device) == (card.vendor, card.device),
    })
}

fn of_idle(card: &Card, machine: &Machine, report: &Report) -> Option<Dropped> {
    let is_of_card = |node: &PathBuf| card.node.as_ref().is_some_and(|own| machine.path(own) == *node);
    let mut closed = closed_nodes(machine);
    closed.retain(is_of_card);
    let of_nvidia = || versions(machine, report).filter(|_| card.vendor == super::NVIDIA);
    permissions(machine, &closed)
        .or_else(|| of_card(card, machine, report))
        .or_else(of_nvidia)
        .or_else(|| drivers::unused(card, machine, report))
        .or_else(|| drivers::missing(card, machine, report))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_card_that_its_user_may_not_open_is_missed_if_its_driver_is_installed() {
        let root = tempfile::tempdir().expect("a folder");
        let card = Card {
            node: Some("/dev/dri/renderD129".into()),
            ..Card::of_amd()
        };
        let closed = codes::HARDWARE_NO_PERMISSION.about("/dev/dri/renderD129");
        for (driver, is_missed) in [("libvulkan_radeon.so", true), ("libvulkan_intel.so", false)] {
            let report = Report {
                kept: vec![driver.into()],
                ..Report::default()
            };
            let machine = super::super::survey::system(&report, Path::new(root.path()));
            assert_eq!(is_wanted(&card, &closed, &machine, &report), is_missed, "{driver}");
        }
    }
}
