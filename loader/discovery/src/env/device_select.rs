//! Which device `VK_LOADER_DEVICE_SELECT` asks to list first (DRV-140), in any of several words.

use super::environment::split;
use super::glob::Globs;
use super::numbers::hexadecimal;
use alloc::vec::Vec;
use os::memory::{Grow, copy_or_note};
use promises::variable::Separator;

/// Items that are read; later ones are dropped with a warning.
pub const MOST: usize = 16;

/// One thing that a device may be asked for by.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted {
    /// `vendor:device`: the numbers of its vendor and of itself, both hexadecimal.
    Numbers(u32, u32),
    /// `pci:`: domain, bus, device and function.
    Pci([u32; 4]),
    /// `uuid:`: its UUID.
    Uuid([u8; 16]),
    /// `type:`: the word for its type.
    Type(&'static str),
    /// `driver:`: a part of the file name of its driver, in small letters.
    Driver(Vec<u8>),
    /// `name:`: a pattern of its name.
    Name(Globs),
}

/// The words for types of devices, as the trace has them too.
pub const TYPES: [&str; 4] = ["discrete", "integrated", "virtual", "cpu"];

/// What is asked for, the most wanted first.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DeviceSelect {
    /// In order of preference.
    pub wanted: Vec<Wanted>,
    /// Items that mean nothing.
    pub unknown: Vec<Vec<u8>>,
    /// More than [`MOST`] were given; the rest was dropped and deserves a warning.
    pub truncated: bool,
}

impl DeviceSelect {
    /// Reads a list of items. In `vendor:device`, text behind the second number is ignored.
    pub fn parse(value: &[u8]) -> Self {
        let mut select = Self::default();
        let mut items = split(value, Separator::Comma);
        for item in items.by_ref().take(MOST) {
            match Wanted::parse(item) {
                Some(wanted) => drop(select.wanted.push_or_note(wanted)),
                None => drop(select.unknown.push_or_note(copy_or_note(item))),
            }
        }
        select.truncated = items.next().is_some();
        select
    }

    /// Whether a UUID is asked for, which costs a question to each driver.
    pub fn asks_for_uuid(&self) -> bool {
        self.wanted.iter().any(|wanted| matches!(wanted, Wanted::Uuid(_)))
    }
}

impl Wanted {
    fn parse(item: &[u8]) -> Option<Self> {
        let colon = item.iter().position(|&byte| byte == b':')?;
        let (word, value) = (&item[..colon], &item[colon + 1..]);
        match word {
            b"pci" => pci(value).map(Self::Pci),
            b"uuid" => uuid(value).map(Self::Uuid),
            b"type" => TYPES.into_iter().find(|kind| kind.as_bytes() == value).map(Self::Type),
            b"driver" if !value.is_empty() => Some(Self::Driver(lower_case(value))),
            b"name" if !value.is_empty() => Some(Self::Name(Globs::parse(value))),
            _ => {
                let (vendor, rest) = hexadecimal(item)?;
                let (device, _) = hexadecimal(rest.strip_prefix(b":")?)?;
                Some(Self::Numbers(vendor, device))
            }
        }
    }
}

/// A copy in small letters, as far as those of English go.
pub fn lower_case(text: &[u8]) -> Vec<u8> {
    let mut copy = copy_or_note(text);
    copy.make_ascii_lowercase();
    copy
}

/// `0000:65:00.0`, or without the domain.
fn pci(text: &[u8]) -> Option<[u32; 4]> {
    let (first, rest) = hexadecimal(text)?;
    let (second, rest) = hexadecimal(rest.strip_prefix(b":")?)?;
    let (domain, bus, (device, rest)) = match rest.strip_prefix(b":") {
        Some(rest) => (first, second, hexadecimal(rest)?),
        None => (0, first, (second, rest)),
    };
    let (function, rest) = hexadecimal(rest.strip_prefix(b".")?)?;
    rest.is_empty().then_some([domain, bus, device, function])
}

/// Thirty-two hexadecimal digits, with or without hyphens between them.
fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    let mut digits = text.iter().filter(|&&byte| byte != b'-');
    let mut found = [0; 16];
    for byte in &mut found {
        let digit = |one: &u8| char::from(*one).to_digit(16);
        let (high, low) = (digit(digits.next()?)?, digit(digits.next()?)?);
        *byte = (high * 16 + low) as u8;
    }
    digits.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drv_140_vendor_and_device() {
        let cases = [
            ("0x10de:0x1f91", Some((0x10de, 0x1f91))),
            ("10DE:1f91", Some((0x10de, 0x1f91))),
            ("0X10DE:0X1f91", Some((0x10de, 0x1f91))),
            (" 10de:\t1f91", Some((0x10de, 0x1f91))),
            ("1:2junk", Some((1, 2))),
            ("", None),
            (":", None),
            ("10de", None),
            ("10de:", None),
            ("10de-1f91", None),
            ("x:y", None),
            ("123456789:1", None),
        ];
        for (value, expected) in cases {
            let found = DeviceSelect::parse(value.as_bytes());
            let expected = expected.map(|(vendor, device)| Wanted::Numbers(vendor, device));
            assert_eq!(found.wanted, Vec::from_iter(expected), "{value}");
        }
    }

    #[test]
    fn words_and_their_values() {
        let found = |value: &str| DeviceSelect::parse(value.as_bytes());
        let bytes = [
            0x12, 0xc2, 0x78, 0x6d, 0xc6, 0x13, 0x62, 0xbe, 0x0b, 0x2b, 0xc7, 0xef, 0x26, 0x74, 0xe1, 0x44,
        ];
        for (value, expected) in [
            ("pci:0000:65:00.0", Wanted::Pci([0, 0x65, 0, 0])),
            ("pci:1:aF.7", Wanted::Pci([0, 1, 0xaf, 7])),
            ("uuid:12c2786dc61362be0b2bc7ef2674e144", Wanted::Uuid(bytes)),
            ("uuid:12c2786d-c613-62be-0b2b-c7ef2674e144", Wanted::Uuid(bytes)),
            ("type:virtual", Wanted::Type("virtual")),
            ("driver:RADV", Wanted::Driver(b"radv".into())),
            ("name:*H200", Wanted::Name(Globs::parse(b"*H200"))),
        ] {
            let select = found(value);
            assert_eq!(
                (select.wanted, select.unknown.len()),
                (Vec::from([expected]), 0),
                "{value}"
            );
        }
        for value in [
            "pci:65",
            "pci:0:65:0.0x",
            "uuid:12",
            "type:fast",
            "driver:",
            "name:",
            "kind:cpu",
            "type: cpu",
        ] {
            assert_eq!(found(value).unknown, [value.as_bytes()], "{value}");
        }
    }

    #[test]
    fn a_list_is_in_order_of_preference_and_bounded() {
        let select = DeviceSelect::parse(b"type:discrete,,nonsense,1:2");
        assert_eq!(select.wanted, [Wanted::Type("discrete"), Wanted::Numbers(1, 2)]);
        assert_eq!(select.unknown, [b"nonsense"]);
        assert!(!select.truncated);
        for (item, wanted, unknown) in [("1:2,", 16, 0), ("?,", 0, 16)] {
            let select = DeviceSelect::parse(item.repeat(40).as_bytes());
            assert_eq!((select.wanted.len(), select.unknown.len()), (wanted, unknown));
            assert!(
                select.truncated,
                "what is left out means something, and is not called unknown"
            );
        }
        assert!(!DeviceSelect::parse("1:2,".repeat(16).as_bytes()).truncated);
    }
}
