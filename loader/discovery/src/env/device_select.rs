//! Words that select devices: the device to list first (DRV-140), and the devices to show (DRV-143a). Both kinds of words have the same
//! grammar.

use super::environment::split;
use super::glob::Pattern;
use super::numbers::hexadecimal;
use alloc::vec::Vec;
use core::fmt::{Display, Formatter};
use os::memory::{Grow, copy_or_note};
use os::{Raw, Show};
use promises::limits::MAX_VISIBLE_WORDS;
use promises::variable::Separator;

/// Upper bound on the number of items of `VK_LOADER_DEVICE_SELECT`; later items are dropped with a warning.
pub const MOST: usize = 16;

/// Beginning of a UUID in the output of `nvidia-smi -L`.
const PRINTED_UUID: &[u8] = b"GPU-";

/// Marks the end of each word in a list from the settings file. A comma cannot mark the end, because words of the settings file may contain
/// commas.
pub const END_OF_WORD: u8 = 0;

/// The word that hides all devices.
const NOTHING: &[u8] = b"none";

/// A property by which the user selects a device.
#[derive(Debug, PartialEq, Eq)]
pub enum Wanted {
    /// `vendor:device`: the numbers of the vendor and of the device, both hexadecimal.
    Numbers(u32, u32),
    /// `pci:`: domain, bus, device and function.
    Pci([u32; 4]),
    /// `uuid:` or `GPU-`: the device's UUID, or its beginning.
    Uuid(UuidBeginning),
    /// `type:`: the word for the device's type.
    Type(&'static str),
    /// `driver:`: a part of the driver's file name, in lower case.
    Driver(Vec<u8>),
    /// `name:`: a pattern of the device's name.
    Name(Pattern),
}

/// The first digits of a UUID, or all digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UuidBeginning {
    digits: usize,
    /// The digits as bytes, padded with zeros.
    bytes: [u8; 16],
}

/// Words for device types. The trace uses the same words.
pub const TYPES: [&str; 4] = ["discrete", "integrated", "virtual", "cpu"];

/// A word with which the user selects devices, and the meaning of the word.
#[derive(Debug, PartialEq, Eq)]
pub struct Word {
    /// Text of the word.
    pub text: Vec<u8>,
    /// Meaning of the word; `None` for an invalid word.
    pub wanted: Option<Wanted>,
}

/// A list of words that select devices, in order of preference.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DeviceWords {
    /// The words, in order of preference.
    pub words: Vec<Word>,
    /// `true` if there were too many words. The loader dropped the surplus words, and must warn about them.
    pub truncated: bool,
}

impl DeviceWords {
    /// Reads `VK_LOADER_DEVICE_SELECT`. In `vendor:device`, text after the second number is ignored.
    pub fn select(value: &[u8]) -> Self {
        Self::parse(words_of_variable(value), MOST)
    }

    /// Reads `VK_LOADER_VISIBLE_DEVICES`. The word `none` hides all devices, and is not reported as an unmatched word.
    pub fn visible(value: &[u8]) -> Self {
        Self::parse(words_of_variable(value), MAX_VISIBLE_WORDS).without_nothing()
    }

    /// Reads `visible_devices` of the settings file. Each element is one word. An invalid word matches no device, but the list still hides
    /// all devices that no word matches.
    pub fn visible_in_file(value: &[u8]) -> Self {
        Self::parse(words_of_file(value), MAX_VISIBLE_WORDS).without_nothing()
    }

    /// Shows `visible_devices` of the settings file in a message.
    pub fn shown_in_file(value: &[u8]) -> impl Display + '_ {
        Show(move |out: &mut Formatter<'_>| {
            for (place, word) in words_of_file(value).enumerate() {
                let comma = if place == 0 { "" } else { "," };
                write!(out, "{comma}{}", Raw(word))?;
            }
            Ok(())
        })
    }

    fn without_nothing(mut self) -> Self {
        self.words.retain(|word| word.text != NOTHING);
        self
    }

    fn parse<'a>(mut items: impl Iterator<Item = &'a [u8]>, most: usize) -> Self {
        let mut parsed = Self::default();
        for item in items.by_ref().take(most) {
            parsed.words.push_or_note(Word {
                text: copy_or_note(item),
                wanted: Wanted::parse(item),
            });
        }
        parsed.truncated = items.next().is_some();
        parsed
    }

    /// Returns the meaning of each valid word, with the word's position in the list.
    pub fn wanted(&self) -> impl Iterator<Item = (usize, &Wanted)> {
        let all = self.words.iter().enumerate();
        all.filter_map(|(place, word)| Some((place, word.wanted.as_ref()?)))
    }

    /// Returns `true` if a word needs the UUIDs of devices, for which each driver must be queried.
    pub fn asks_for_uuid(&self) -> bool {
        self.wanted().any(|(_, wanted)| matches!(wanted, Wanted::Uuid(_)))
    }
}

/// Returns the words of a variable. Users often write a blank after a comma, so blanks before a word are ignored.
fn words_of_variable(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = split(value, Separator::Comma).map(<[u8]>::trim_ascii_start);
    words.filter(|word| !word.is_empty())
}

/// Returns the words of a list from the settings file.
fn words_of_file(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = value.split(|&byte| byte == END_OF_WORD);
    // A word must end with an end byte, so the text after the last end byte is dropped.
    words.take(value.iter().filter(|&&byte| byte == END_OF_WORD).count())
}

/// Returns `true` if the value of a variable contains a word.
pub fn has_words(value: &[u8]) -> bool {
    words_of_variable(value).next().is_some()
}

impl Word {
    /// Returns `true` if the word is a plain number. A plain number selects no device, because interfaces count devices in different
    /// orders.
    pub fn is_number(&self) -> bool {
        !self.text.is_empty() && self.text.iter().all(u8::is_ascii_digit)
    }
}

impl Wanted {
    fn parse(item: &[u8]) -> Option<Self> {
        if let Some(digits) = item.strip_prefix(PRINTED_UUID) {
            return UuidBeginning::parse(digits).map(Self::Uuid);
        }
        let colon = item.iter().position(|&byte| byte == b':')?;
        let (word, value) = (&item[..colon], &item[colon + 1..]);
        match word {
            b"pci" => pci_address(value).map(Self::Pci),
            b"uuid" => UuidBeginning::parse(value)
                .filter(|uuid| !uuid.is_partial())
                .map(Self::Uuid),
            b"type" => TYPES.into_iter().find(|kind| kind.as_bytes() == value).map(Self::Type),
            b"driver" if !value.is_empty() => Some(Self::Driver(lower_case(value))),
            b"name" if !value.is_empty() => Some(Self::Name(Pattern::parse(value))),
            _ => Self::numbers(item),
        }
    }

    /// Reads `vendor:device`, two hexadecimal numbers.
    pub(super) fn numbers(text: &[u8]) -> Option<Self> {
        let (vendor, rest) = hexadecimal(text)?;
        let (device, _) = hexadecimal(rest.strip_prefix(b":")?)?;
        Some(Self::Numbers(vendor, device))
    }
}

/// Returns a copy in lower case. Only ASCII letters change.
pub fn lower_case(text: &[u8]) -> Vec<u8> {
    let mut copy = copy_or_note(text);
    copy.make_ascii_lowercase();
    copy
}

/// Reads an address on the PCI bus: `0000:65:00.0`, or without the domain.
pub fn pci_address(text: &[u8]) -> Option<[u32; 4]> {
    let (first, rest) = hexadecimal(text)?;
    let (second, rest) = hexadecimal(rest.strip_prefix(b":")?)?;
    let (domain, bus, (device, rest)) = match rest.strip_prefix(b":") {
        Some(rest) => (first, second, hexadecimal(rest)?),
        None => (0, first, (second, rest)),
    };
    let (function, rest) = hexadecimal(rest.strip_prefix(b".")?)?;
    rest.is_empty().then_some([domain, bus, device, function])
}

impl UuidBeginning {
    /// Reads one to thirty-two hexadecimal digits, with or without hyphens between them.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut bytes = [0; 16];
        let mut digits = 0_usize;
        for &one in text.iter().filter(|&&byte| byte != b'-') {
            let digit = char::from(one).to_digit(16)?;
            let shift = if digits.is_multiple_of(2) { 4 } else { 0 };
            *bytes.get_mut(digits / 2)? |= (digit as u8) << shift;
            digits += 1;
        }
        (digits > 0).then_some(Self { digits, bytes })
    }

    /// Returns `true` if `uuid` begins with the digits.
    pub fn begins(&self, uuid: &[u8; 16]) -> bool {
        let whole = self.digits / 2;
        let half =
            self.digits.is_multiple_of(2) || self.bytes.get(whole).copied() == uuid.get(whole).map(|byte| byte & 0xF0);
        half && self.bytes[..whole] == uuid[..whole]
    }

    /// Returns `true` if the word has fewer digits than a UUID, so that several UUIDs may begin with them.
    pub fn is_partial(&self) -> bool {
        self.digits < 2 * self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the meanings of all valid words.
    fn meanings(value: &str) -> Vec<Wanted> {
        let words = DeviceWords::select(value.as_bytes()).words;
        words.into_iter().filter_map(|word| word.wanted).collect()
    }

    /// Returns the invalid words.
    fn unknown(value: &str) -> Vec<Vec<u8>> {
        let words = DeviceWords::select(value.as_bytes()).words;
        let unknown = words.into_iter().filter(|word| word.wanted.is_none());
        unknown.map(|word| word.text).collect()
    }

    fn uuid(digits: &str) -> Wanted {
        Wanted::Uuid(UuidBeginning::parse(digits.as_bytes()).expect("digits"))
    }

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
            let expected = expected.map(|(vendor, device)| Wanted::Numbers(vendor, device));
            assert_eq!(meanings(value), Vec::from_iter(expected), "{value}");
        }
    }

    #[test]
    fn words_and_their_values() {
        let whole = "12c2786dc61362be0b2bc7ef2674e144";
        for (value, expected) in [
            ("pci:0000:65:00.0", Wanted::Pci([0, 0x65, 0, 0])),
            ("pci:1:aF.7", Wanted::Pci([0, 1, 0xaf, 7])),
            ("uuid:12c2786dc61362be0b2bc7ef2674e144", uuid(whole)),
            ("uuid:12c2786d-c613-62be-0b2b-c7ef2674e144", uuid(whole)),
            ("GPU-12c2786d-c613-62be-0b2b-c7ef2674e144", uuid(whole)),
            ("GPU-12c2786d-c6", uuid("12c2786dc6")),
            ("type:virtual", Wanted::Type("virtual")),
            ("driver:RADV", Wanted::Driver(b"radv".into())),
            ("name:*H200", Wanted::Name(Pattern::parse(b"*H200"))),
        ] {
            assert_eq!(meanings(value), [expected], "{value}");
        }
        for value in [
            "pci:65",
            "pci:0:65:0.0x",
            "uuid:12",
            "uuid:12c2786dc61362be0b2bc7ef2674e1440",
            "GPU-",
            "GPU-xyz",
            "GPU-12c2786dc61362be0b2bc7ef2674e1440",
            "gpu-12",
            "0",
            "none",
            "type:fast",
            "driver:",
            "name:",
            "kind:cpu",
            "type: cpu",
        ] {
            assert_eq!(unknown(value), [value.as_bytes()], "{value}");
        }
    }

    #[test]
    fn a_list_is_in_order_of_preference_and_bounded() {
        let list = "type:discrete,,nonsense,1:2";
        assert_eq!(meanings(list), [Wanted::Type("discrete"), Wanted::Numbers(1, 2)]);
        assert_eq!(unknown(list), [b"nonsense"]);
        let places = DeviceWords::select(list.as_bytes());
        assert!(places.wanted().map(|(place, _)| place).eq([0, 2]));
        for item in ["1:2,", "?,"] {
            let select = DeviceWords::select(item.repeat(40).as_bytes());
            assert_eq!((select.words.len(), select.truncated), (16, true), "{item}");
        }
        assert!(!DeviceWords::select("1:2,".repeat(16).as_bytes()).truncated);
    }

    #[test]
    fn drv_143a_none_is_a_word_for_nothing_and_ten_thousand_words_count() {
        let visible = DeviceWords::visible(b"none,0,type:cpu");
        let texts: Vec<&[u8]> = visible.words.iter().map(|word| &word.text[..]).collect();
        assert_eq!(texts, [&b"0"[..], b"type:cpu"]);
        assert!(visible.words[0].is_number() && !visible.words[1].is_number());
        let words = |value| {
            DeviceWords::visible_in_file(value)
                .words
                .into_iter()
                .map(|word| word.text)
        };
        assert!(words(b"none\0name:a,b\0\0,\0").eq([&b"name:a,b"[..], b"", b","]));
        assert_eq!(words(b"").len(), 0);
        assert_eq!(DeviceWords::shown_in_file(b"a\0b,c\0").to_string(), "a,b,c");
        let many = DeviceWords::visible("1:2,".repeat(10_000).as_bytes());
        assert_eq!((many.words.len(), many.truncated), (10_000, false));
        assert!(DeviceWords::visible("1:2,".repeat(MAX_VISIBLE_WORDS + 1).as_bytes()).truncated);
        assert!(has_words(b"none") && !has_words(b",,"));
    }

    #[test]
    fn drv_143a_a_beginning_counts_digit_by_digit() {
        let mut own = [0xAB; 16];
        own[2] = 0xCD;
        for (digits, begins) in [
            ("a", true),
            ("ab", true),
            ("aba", true),
            ("abab-c", true),
            ("ababcd", true),
            ("b", false),
            ("abb", false),
            ("ababd", false),
        ] {
            let beginning = UuidBeginning::parse(digits.as_bytes()).expect("digits");
            assert_eq!(
                (beginning.begins(&own), beginning.is_partial()),
                (begins, true),
                "{digits}"
            );
        }
    }
}
