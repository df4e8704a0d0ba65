//! Slices of NVIDIA's cards (MIG). Most cards have no Vulkan in their slices.

use super::VISIBLE;
use super::machine::{Machine, is_of_nvidia};
use crate::report::{Card, Dropped, Report, codes};

/// Folder of NVIDIA's kernel module with a subfolder for each card. The folder of a card lists its slices.
const CARDS: &str = "proc/driver/nvidia/capabilities";
/// Beginning of the names of slices in the variable [`VISIBLE`].
const SLICE: &str = "MIG-";

/// Remedy for a program that gets only a slice of a card.
const WHOLE: &str = "Use a whole card: choose one without slices (nvidia-smi -L lists the cards; docker run --gpus device=UUID), or end the slices of this card \
    on the host: nvidia-smi -mig 0, as the superuser. Only cards that offer slices with the suffix +gfx have graphics in them.";

/// Returns a finding for a card of NVIDIA that is divided into slices, and whose driver lists no device.
pub(super) fn only(card: &Card, machine: &Machine, report: &Report) -> Option<Dropped> {
    let fact = fact(machine, report).filter(|_| is_of_nvidia(card))?;
    Some(Dropped {
        reason: "The program gets a slice of the graphics card (MIG), and slices of most cards have no Vulkan.".into(),
        findings: [fact].into(),
        advice: WHOLE.into(),
        ..codes::HARDWARE_NOT_USED.about(card.to_string())
    })
}

/// Returns the fact that shows that a card is divided into slices.
fn fact(machine: &Machine, report: &Report) -> Option<String> {
    let visible = report.variables.get(VISIBLE).filter(|value| value.starts_with(SLICE));
    let of_variable = visible.map(|value| format!("{VISIBLE} is {value}"));
    let folders = machine
        .names(CARDS)
        .into_iter()
        .map(|card| format!("{CARDS}/{card}/mig"));
    let is_slice = |name: &String| name.starts_with("gi");
    let mut divided = folders.filter(|folder| machine.names(folder).iter().any(is_slice));
    of_variable.or_else(|| divided.next().map(|folder| format!("/{folder} lists slices")))
}
