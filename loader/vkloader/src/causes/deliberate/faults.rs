//! Faults of drivers and cards, which explain a missing device better than a variable that chooses drivers.

use super::{OF_EMULATOR, is_left_out, serves};
use crate::causes::hardware::{known, vendor};
use crate::report::{Card, Dropped, Fact, Kind, Report, codes, rank};
use reasons::Code;
use reasons::rank::OTHER;

/// Codes of findings about obstacles between a driver and its card.
const OBSTACLES: [&codes::Row; 5] = [
    codes::HARDWARE_NO_PERMISSION,
    codes::HARDWARE_NO_NODE,
    codes::HARDWARE_FOR_GUESTS,
    codes::HARDWARE_NO_KERNEL_DRIVER,
    codes::HARDWARE_NOMODESET,
];

/// Returns `true` if a finding is about an obstacle between drivers and a card.
pub(super) fn is_obstacle(one: &Dropped, card: &Card) -> bool {
    let names_node = |node: &str| {
        let mut facts = one.findings.iter();
        let is_closed = |fact: &Fact| matches!(fact.kind(), Kind::ClosedNode(closed) if closed == node);
        node.starts_with(&one.name) || facts.any(is_closed)
    };
    let is_nvidias = vendor("libGLX_nvidia") == Some(card.vendor) && one.name.contains("/dev/nvidia");
    let is_about = one.name == card.to_string() || is_nvidias || card.node.as_deref().is_some_and(names_node);
    OBSTACLES.iter().any(|row| row.name == one.code) && is_about
}

/// Returns `true` for a finding that explains why a driver in `kept` has no device. The finding is about an obstacle before its card, or about a
/// broken library or manifest.
pub(super) fn is_fault(one: &Dropped, cards: &[Card], kept: &[&str]) -> bool {
    let is_kept = |card: &&Card| kept.iter().any(|library| serves(library, card));
    let mut own = cards.iter().filter(is_kept);
    let is_unused = |card: &Card| one.code == codes::HARDWARE_NOT_USED.name && one.name == card.to_string();
    if own.any(|card| is_obstacle(one, card) || is_unused(card)) {
        return one.rank < rank::CONSEQUENCE;
    }
    let names = [Some(one.name.as_str()), one.file.as_deref()];
    let library = names.into_iter().flatten().find_map(known);
    let is_for_card = match library {
        Some(library) => cards.iter().any(|card| serves(library, card)),
        None => !cards.is_empty() && !one.name.ends_with(OF_EMULATOR),
    };
    let is_broken = (rank::BROKEN..OTHER).contains(&one.rank) && one.code != Code::FileNotFound.name();
    one.subject.starts_with("driver") && !is_left_out(one) && is_broken && is_for_card
}

/// Ranks the finding about a card that is reserved for virtual machines before the failure of its driver. Does so if the system has no other card
/// for the driver, and no other driver failed.
pub(super) fn guests_first(report: &mut Report) {
    let Report { dropped, hardware, .. } = report;
    let is_reserved = |card: &Card| {
        let mut all = dropped.iter();
        all.any(|one| one.code == codes::HARDWARE_FOR_GUESTS.name && is_obstacle(one, card))
    };
    let broken = || {
        let is_broken = |one: &&Dropped| one.subject == "driver" && one.rank == rank::BROKEN;
        dropped.iter().filter(is_broken).map(|one| known(&one.name))
    };
    // The failure of another driver explains more, because its repair needs no change to the virtual machines.
    let of_reserved = |library: Option<&str>| {
        let mut own = hardware
            .iter()
            .filter(|card| library.and_then(vendor) == Some(card.vendor))
            .peekable();
        own.peek().is_some() && own.all(is_reserved)
    };
    if broken().next().is_none() || !broken().all(of_reserved) {
        return;
    }
    let vendors: Vec<u32> = broken().flatten().filter_map(vendor).collect();
    let names: Vec<String> = hardware
        .iter()
        .filter(|card| vendors.contains(&card.vendor))
        .map(ToString::to_string)
        .collect();
    let reserved = dropped
        .iter_mut()
        .filter(|one| one.code == codes::HARDWARE_FOR_GUESTS.name && names.contains(&one.name));
    reserved.for_each(|one| one.rank = one.rank.min(rank::BROKEN - 1));
}
