//! `DRI_PRIME`, the variable of Mesa that names the device to list first (DRV-143b).

use super::device_select::Wanted;
use super::numbers::hexadecimal;

/// The device that `DRI_PRIME` selects.
#[derive(Debug, PartialEq, Eq)]
pub struct DriPrime {
    /// Identification of the device.
    pub wanted: Prime,
    /// `true` if all other devices are to be hidden.
    pub only: bool,
}

/// A device in the notation of `DRI_PRIME`.
#[derive(Debug, PartialEq, Eq)]
pub enum Prime {
    /// The n-th device, counted from 1, among the devices that are neither the default device nor of the type `cpu`.
    Other(usize),
    /// `pci-0000_65_00_0` or `vendor:device`.
    Device(Wanted),
}

impl DriPrime {
    /// Reads the value of `DRI_PRIME`. Returns `None` if the value asks for the default device or is invalid.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (word, only) = match value {
            [word @ .., b'!'] => (word, true),
            word => (word, false),
        };
        let wanted = match word.strip_prefix(b"pci-") {
            Some(place) => Prime::Device(Wanted::Pci(pci_tag(place)?)),
            None if !word.is_empty() && word.iter().all(u8::is_ascii_digit) => {
                let number = usize::try_from(super::numbers::decimal(word)).ok()?;
                Prime::Other(number.checked_sub(1)?)
            }
            None => Prime::Device(Wanted::numbers(word)?),
        };
        Some(Self { wanted, only })
    }
}

/// Reads `0000_65_00_0`: domain, bus, device and function.
fn pci_tag(text: &[u8]) -> Option<[u32; 4]> {
    let mut found = [0; 4];
    let mut parts = text.split(|&byte| byte == b'_');
    for number in &mut found {
        let (value, rest) = hexadecimal(parts.next()?)?;
        *number = rest.is_empty().then_some(value)?;
    }
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drv_143b_words_of_mesa() {
        let device = |wanted| Some(Prime::Device(wanted));
        for (value, expected) in [
            ("1", Some(Prime::Other(0))),
            ("2", Some(Prime::Other(1))),
            ("pci-0000_65_00_1", device(Wanted::Pci([0, 0x65, 0, 1]))),
            ("10de:2335", device(Wanted::Numbers(0x10DE, 0x2335))),
            ("0x10de:0x2335", device(Wanted::Numbers(0x10DE, 0x2335))),
            ("0", None),
            ("", None),
            ("pci-0000_65_00", None),
            ("pci-0000_65_00_1_2", None),
            ("pci-0000:65:00.1", None),
            ("card1", None),
        ] {
            for (end, only) in [("", false), ("!", true)] {
                let found = DriPrime::parse(format!("{value}{end}").as_bytes());
                let expected = expected.as_ref().map(|wanted| (wanted, only));
                let found = found.as_ref().map(|found| (&found.wanted, found.only));
                assert_eq!(found, expected, "{value}{end}");
            }
        }
    }
}
