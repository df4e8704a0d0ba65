//! Graphics cards of virtual machines and servers that only show pictures, by their PCI IDs. No Vulkan driver exists for them, whatever
//! kernel driver uses them.

use crate::report::{Card, Dropped, codes};

/// Cards: the PCI vendor, the device or `None` for all devices of the vendor, and the name.
const ROWS: [(u32, Option<u32>, &str); 14] = [
    (0x1234, Some(0x1111), "the standard card of QEMU"),
    (0x1013, None, "a card of Cirrus Logic"),
    (0x15AD, None, "the card of VMware"),
    (0x80EE, None, "the card of VirtualBox"),
    (0x1B36, Some(0x0100), "the card QXL of QEMU"),
    (0x1414, Some(0x5353), "the card of Hyper-V"),
    (0x1D0F, Some(0x1111), "the display of an instance of Amazon EC2"),
    (0x1AB8, None, "the card of Parallels"),
    (0x5853, None, "the card of Xen"),
    (0x1A03, None, "the display of a server's management (ASPEED)"),
    (0x102B, None, "a card of Matrox"),
    (0x126F, None, "a card of Silicon Motion"),
    (0x19E5, Some(0x1711), "the display of a server's management (Hibmc)"),
    (0x18CA, None, "a card of XGI"),
];

/// Returns the name of a card that only shows pictures; `None` for other cards.
fn name(card: &Card) -> Option<&'static str> {
    let is_it =
        |row: &&(u32, Option<u32>, &str)| row.0 == card.vendor && row.1.is_none_or(|device| device == card.device);
    ROWS.iter().find(is_it).map(|row| row.2)
}

/// Returns the finding about a card without a kernel driver that no kernel driver would make usable.
pub(super) fn without_vulkan(card: &Card) -> Option<Dropped> {
    let name = name(card).filter(|_| card.kernel_driver.is_none())?;
    Some(Dropped {
        reason: "The graphics card only shows pictures: no Vulkan driver exists for it.".into(),
        findings: [format!("it is {name}")].into(),
        ..codes::HARDWARE_WITHOUT_VULKAN.about(card.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_that_only_show_pictures_are_known_without_a_kernel_driver() {
        for (vendor, device, driver, is_known) in [
            (0x1D0F, 0x1111, None, true),
            (0x15AD, 0x0405, None, true),
            (0x1234, 0x1111, Some("bochs-drm"), false),
            (0x1B36, 0x0001, None, false),
            (0x1002, 0x7448, None, false),
        ] {
            let card = Card {
                place: "0000:00:03.0".into(),
                vendor,
                device,
                kernel_driver: driver.map(String::from),
                node: None,
            };
            assert_eq!(without_vulkan(&card).is_some(), is_known, "{card}");
        }
    }
}
