//! Decides which card matters on a machine with several cards.

use super::machine::Machine;
use super::{NVIDIA, idle};
use crate::report::{Card, Dropped, Report, codes};
use std::path::PathBuf;

/// Returns `true` for a finding about a card that matters less than another one. A card for a virtual machine matters less than a card in
/// `reachable`, and a card that only drives a display matters less than a card that can render.
pub(super) fn is_of_minor_card(found: &Dropped, cards: &[Card], reachable: &[&Card]) -> bool {
    let can_render = |card: &&Card| idle::DRAWING.contains(&card.vendor);
    if found.code == codes::HARDWARE_FOR_GUESTS.name {
        return reachable.iter().copied().any(|card| can_render(&card));
    }
    let own = cards.iter().find(|card| card.to_string() == found.name);
    own.is_some_and(|card| !can_render(&card)) && cards.iter().any(|card| can_render(&card))
}

/// Returns `true` for a finding about the missing node of a card in a container that got the node of another card. The user chose the card then, so
/// its own obstacles matter more.
pub(super) fn is_not_handed_over(found: &Dropped, reachable: &[&Card], report: &Report) -> bool {
    let mut others = reachable.iter().filter(|card| idle::DRAWING.contains(&card.vendor));
    found.code == codes::HARDWARE_NO_NODE.name && report.gets_files_of_host() && others.next().is_some()
}

/// Returns `true` if a finding explains why the driver of a card lists no device: a node that this user may not open, or NVIDIA's libraries.
pub(super) fn is_explained(card: &Card, found: &[Dropped], closed: &[PathBuf], machine: &Machine) -> bool {
    const OF_NVIDIA: [&codes::Row; 2] = [codes::HARDWARE_NVIDIA_VERSIONS, codes::HARDWARE_NVIDIA_CAPABILITIES];
    let is_nvidias = card.vendor == NVIDIA;
    let is_closed = |node: &PathBuf| {
        let own = card.node.as_ref().is_some_and(|own| machine.path(own) == *node);
        own || is_nvidias && node.to_string_lossy().contains("/dev/nvidia")
    };
    let is_about = |one: &Dropped| OF_NVIDIA.iter().any(|row| row.name == one.code);
    closed.iter().any(is_closed) || is_nvidias && found.iter().any(is_about)
}
