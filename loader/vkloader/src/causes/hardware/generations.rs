//! Generations of cards, by their PCI device IDs. Some generations need a separate Vulkan driver, and older ones have none.

use crate::report::{Card, Dropped, codes};
use std::ops::RangeInclusive;

/// Vulkan drivers for a generation of cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Support {
    /// No Vulkan driver exists.
    Nothing,
    /// Library of the only driver, up to `.so`.
    Only(&'static str),
}

/// PCI vendor ID of AMD.
const AMD: u32 = 0x1002;
/// PCI vendor ID of Intel.
const INTEL: u32 = 0x8086;
/// Library of Mesa's driver for Intel's cards of 2012 to 2015, up to `.so`.
pub(super) const HASVK: &str = "libvulkan_intel_hasvk";

/// Generations: the vendor, the device IDs, and the drivers. Generations without a row have the usual driver of their vendor.
const ROWS: [(u32, RangeInclusive<u32>, Support); 25] = [
    // AMD's cards before GCN.
    (AMD, 0x3150..=0x5FFF, Support::Nothing),
    (AMD, 0x6700..=0x677F, Support::Nothing),
    (AMD, 0x6840..=0x68FF, Support::Nothing),
    (AMD, 0x7100..=0x72FF, Support::Nothing),
    (AMD, 0x791E..=0x796F, Support::Nothing),
    (AMD, 0x9400..=0x980F, Support::Nothing),
    (AMD, 0x9900..=0x99FF, Support::Nothing),
    // Ironlake and Sandy Bridge.
    (INTEL, 0x0042..=0x0046, Support::Nothing),
    (INTEL, 0x0102..=0x0126, Support::Nothing),
    // Ivy Bridge and Bay Trail.
    (INTEL, 0x0152..=0x016A, Support::Only(HASVK)),
    (INTEL, 0x0F30..=0x0F33, Support::Only(HASVK)),
    // Haswell.
    (INTEL, 0x0402..=0x042E, Support::Only(HASVK)),
    (INTEL, 0x0A02..=0x0A2E, Support::Only(HASVK)),
    (INTEL, 0x0C02..=0x0C2E, Support::Only(HASVK)),
    (INTEL, 0x0D02..=0x0D2E, Support::Only(HASVK)),
    // Broadwell and Cherry View.
    (INTEL, 0x1602..=0x163E, Support::Only(HASVK)),
    (INTEL, 0x22B0..=0x22B3, Support::Only(HASVK)),
    // The chipsets before Ironlake.
    (INTEL, 0x2562..=0x2592, Support::Nothing),
    (INTEL, 0x2772..=0x27AE, Support::Nothing),
    (INTEL, 0x2972..=0x2A42, Support::Nothing),
    (INTEL, 0x2E02..=0x2E92, Support::Nothing),
    (INTEL, 0xA001..=0xA012, Support::Nothing),
    // NVIDIA's cards up to Fermi. The IDs of Kepler lie between those of Fermi.
    (super::NVIDIA, 0x0000..=0x0FBF, Support::Nothing),
    (super::NVIDIA, 0x1040..=0x117F, Support::Nothing),
    (super::NVIDIA, 0x1200..=0x127F, Support::Nothing),
];

fn support(card: &Card) -> Option<Support> {
    let is_it = |row: &&(u32, RangeInclusive<u32>, Support)| row.0 == card.vendor && row.1.contains(&card.device);
    ROWS.iter().find(is_it).map(|row| row.2)
}

/// Returns the only Vulkan driver for a card, if the card is from a generation that the usual driver leaves out.
pub(super) fn only_library(card: &Card) -> Option<&'static str> {
    match support(card)? {
        Support::Only(library) => Some(library),
        Support::Nothing => None,
    }
}

/// Returns a finding for a card that is too old for each Vulkan driver.
pub(super) fn too_old(card: &Card) -> Option<Dropped> {
    (support(card) == Some(Support::Nothing)).then(|| Dropped {
        reason: "The graphics card is too old: no Vulkan driver exists for its generation.".into(),
        advice: "Use a software driver, such as Mesa's lavapipe: mesa-vulkan-drivers (Debian, Ubuntu, Fedora) or vulkan-swrast (Arch); or use \
                 programs with OpenGL."
            .into(),
        ..codes::HARDWARE_WITHOUT_VULKAN.about(card.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_are_told_by_their_ids() {
        let card = |vendor, device| Card {
            place: String::new(),
            vendor,
            device,
            kernel_driver: None,
            node: None,
        };
        for (vendor, device, old, only) in [
            // Sandy Bridge, Haswell, Skylake and Alder Lake.
            (INTEL, 0x0116, true, None),
            (INTEL, 0x0416, false, Some(HASVK)),
            (INTEL, 0x1912, false, None),
            (INTEL, 0x46A6, false, None),
            // Fermi, Kepler, Fermi again, Maxwell and Ada.
            (super::super::NVIDIA, 0x0DE1, true, None),
            (super::super::NVIDIA, 0x0FC6, false, None),
            (super::super::NVIDIA, 0x1201, true, None),
            (super::super::NVIDIA, 0x1380, false, None),
            (super::super::NVIDIA, 0x2684, false, None),
            // Cypress, Pitcairn, Kaveri, Hawaii, Polaris and Navi.
            (AMD, 0x68B8, true, None),
            (AMD, 0x6810, false, None),
            (AMD, 0x130F, false, None),
            (AMD, 0x67B1, false, None),
            (AMD, 0x67DF, false, None),
            (AMD, 0x73DF, false, None),
            (0x1234, 0x0116, false, None),
        ] {
            let card = card(vendor, device);
            assert_eq!((too_old(&card).is_some(), only_library(&card)), (old, only), "{card}");
        }
    }
}
