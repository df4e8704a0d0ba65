//! A record: the answers of a driver about its devices, with which the library stands in for a driver that is not open yet.
//!
//! **Design.** `vkloader catalogue update` asks each driver in a separate process, in several ways, and writes the answers that agree to
//! one file for each driver. Only programs with a policy for records read this file, so the catalogue itself stays small. The catalogue's
//! entry contains the [`checksum`] of the file, which is also in the file's name. A record therefore never belongs to another entry, and a
//! replacement needs no lock. The content is a head, sorted rows and values. A look-up is a binary search, and reads nothing else.
//!
//! A value of a structure consists of *runs*: the bytes that the driver wrote. A driver may leave bytes unchanged, such as padding, or a
//! whole structure that it does not know. These bytes stay unchanged in the program's structure too.
//!
//! This crate makes no system calls. All bytes are checked before use, so the crate never panics, whatever a file contains.
#![cfg_attr(not(any(test, feature = "write")), no_std)]
#![forbid(unsafe_code)]

mod answer;
pub mod rows;
#[cfg(any(test, feature = "write"))]
#[allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program uses it, which may end when memory runs out"
)]
mod write;

pub use answer::Answer;
pub use rows::{COMMANDS, STRUCTURES, Structure};
#[cfg(any(test, feature = "write"))]
pub use write::Builder;

/// Version of the file's layout.
pub const FORM: u32 = 1;
/// Upper bound on the devices of a driver in a record.
pub const MOST_DEVICES: u16 = 16;
/// Upper bound on the size of a record in bytes, for each device and once more for the driver as a whole.
pub const MOST_BYTES: usize = 64 << 10;
/// Value of [`Key::device`] in rows about the driver as a whole.
pub const DRIVER: u16 = u16::MAX;
/// `sType` of `VkPhysicalDeviceIDProperties`. The UUIDs in this structure show which device of the opened driver is a recorded one.
pub const IDENTITY: u32 = 1_000_071_004;
/// Index of `vkCreateDebugUtilsMessengerEXT` in [`Query::Callbacks`].
pub const MESSENGERS: u32 = 0;
/// Index of `vkCreateDebugReportCallbackEXT` in [`Query::Callbacks`].
pub const REPORTS: u32 = 1;
/// Number of minor versions of Vulkan 1 for which commands are recorded, from 1.0 on.
pub const VERSIONS: u32 = 5;

const MAGIC: &[u8; 8] = b"VKLRECRD";
const HEAD: usize = 32;
/// Number of bytes that `sType` and `pNext` take at the start of a structure.
const HEAD_OF_STRUCTURE: usize = 16;
const ROW: usize = 20;

/// Kind of fact that a row contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u16)]
pub enum Query {
    /// `VkPhysicalDeviceProperties`, or a structure that extends `VkPhysicalDeviceProperties2`.
    Properties = 1,
    /// `VkPhysicalDeviceFeatures`, or a structure that extends `VkPhysicalDeviceFeatures2`.
    Features = 2,
    /// `VkPhysicalDeviceMemoryProperties`.
    Memory = 3,
    /// `VkQueueFamilyProperties` of the family with the row's index, or a structure that extends it.
    QueueFamilies = 4,
    /// `VkFormatProperties` of the `VkFormat` with the row's index, or a structure that extends it.
    Format = 5,
    /// The device extensions, as [`Extensions`] reads them.
    Extensions = 6,
    /// Empty value, which means that the device has no active tools.
    NoTools = 7,
    /// `VkPhysicalDeviceGroupProperties` of the group with the row's index: numbers of devices, and whether a subset may allocate.
    Group = 8,
    /// A bit for each command, which is set if an instance of Vulkan 1.`index / 2` found the command; odd indices are for an instance with
    /// all extensions.
    Commands = 9,
    /// The interface version and the instance version, as numbers of four bytes.
    Versions = 10,
    /// Texts that a driver's profiles look for in program names, one in each line. A program whose name contains one of the texts is not
    /// served from the record. A line that begins with [`WHOLE_NAME`] is compared with the whole name.
    Names = 11,
    /// A file that the driver's answers depend on: its path, a NUL, and the file's identity as text, which is empty for a missing file.
    File = 12,
    /// A device node that the driver had opened.
    Node = 13,
    /// The first line of `/proc/meminfo`, on which memory properties may depend.
    Machine = 14,
    /// Empty value, which means that each instance with the command created an object for a callback. The index is [`MESSENGERS`] or
    /// [`REPORTS`].
    Callbacks = 15,
}

/// Key of a row. Rows are sorted by their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Number of the device, or [`DRIVER`].
    pub device: u16,
    /// Number of the [`Query`].
    pub query: u16,
    /// Number of the family, format or group; zero for other queries.
    pub index: u32,
    /// `sType` of the structure; zero for the structure that other structures extend.
    pub kind: u32,
}

impl Key {
    /// Returns the key of a fact without index and structure type.
    pub const fn of(device: u16, query: Query) -> Self {
        Self {
            device,
            query: query as u16,
            index: 0,
            kind: 0,
        }
    }

    /// Returns a copy of the key with the index `index`.
    pub const fn at(self, index: u32) -> Self {
        Self { index, ..self }
    }

    /// Returns a copy of the key with the structure type `kind`.
    pub const fn with(self, kind: u32) -> Self {
        Self { kind, ..self }
    }

    /// Returns the key as one number. These numbers have the order of the keys, and are faster to compare.
    const fn number(self) -> u128 {
        let device_and_query = (self.device as u128) << 16 | self.query as u128;
        device_and_query << 64 | (self.index as u128) << 32 | self.kind as u128
    }
}

/// A valid record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    bytes: &'a [u8],
    rows: &'a [[u8; ROW]],
    devices: u16,
}

impl<'a> Record<'a> {
    /// Checks the head, the checksum and the bounds of the rows. Returns `None` for bytes that are not a record of this version.
    pub fn read(bytes: &'a [u8], sum: u64) -> Option<Self> {
        let is_one = bytes.get(16..24)? == sum.to_le_bytes() && checksum(bytes.get(24..)?) == sum;
        Self::again(bytes).filter(|_| is_one)
    }

    /// Returns the record in bytes that [`Record::read`] accepted before. For other bytes, the result may have wrong answers.
    pub fn again(bytes: &'a [u8]) -> Option<Self> {
        let devices = u16::try_from(number(bytes, 28)?).ok()?;
        let rows = usize::try_from(number(bytes, 24)?).ok()?;
        let is_one = bytes.starts_with(MAGIC)
            && number(bytes, 8)? == FORM
            && number(bytes, 12)? == 0
            && devices <= MOST_DEVICES
            && bytes.len() <= MOST_BYTES * (usize::from(devices) + 1);
        let (rows, _) = bytes.get(HEAD..HEAD.checked_add(rows.checked_mul(ROW)?)?)?.as_chunks();
        is_one.then_some(Self { bytes, rows, devices })
    }

    /// Returns the number of devices.
    pub fn devices(self) -> u16 {
        self.devices
    }

    /// Returns the number of rows.
    pub fn len(self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if the record has no rows.
    pub fn is_empty(self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the key and the value of a row.
    pub fn row(self, place: usize) -> Option<(Key, &'a [u8])> {
        let row = self.rows.get(place)?;
        let from = usize::try_from(number(row, 12)?).ok()?;
        let length = usize::try_from(number(row, 16)?).ok()?;
        Some((key_of(row), self.bytes.get(from..from.checked_add(length)?)?))
    }

    /// Returns the index and the value of the row with a key.
    pub fn find(self, key: Key) -> Option<(usize, &'a [u8])> {
        let wanted = key.number();
        let place = self.rows.partition_point(|row| key_of(row).number() < wanted);
        let (found, value) = self.row(place)?;
        (found == key).then_some((place, value))
    }

    /// Returns the row's index and the recorded bytes of a structure. Returns `None` for an answer whose size differs from the size of the
    /// structure in the registry, or that has bytes of `sType` or `pNext`.
    pub fn answer(self, key: Key) -> Option<(usize, Answer<'a>)> {
        let (place, value) = self.find(key)?;
        let answer = Answer::read(value)?;
        let head = if key.kind == 0 { 0 } else { HEAD_OF_STRUCTURE };
        let is_valid = rows::size_of(key).map(usize::from) == Some(answer.size()) && answer.begins_from(head);
        is_valid.then_some((place, answer))
    }

    /// Returns the values of the rows with consecutive indices, from zero on.
    pub fn each(self, first: Key) -> impl Iterator<Item = &'a [u8]> {
        (0..).map_while(move |index| self.find(first.at(index)).map(|(_, value)| value))
    }

    /// Returns the number of queue families of a device. An invalid answer ends the list.
    pub fn families(self, device: u16) -> u32 {
        let first = Key::of(device, Query::QueueFamilies);
        let has_answer = |index: &u32| self.answer(first.at(*index)).is_some();
        (0..).take_while(has_answer).fold(0, |count, _| count + 1)
    }

    /// Returns `true` if the driver's instance found a command, `false` if it did not, and `None` if the record has no answer. Calls `asks`
    /// for a command that only some extensions make available.
    pub fn has_command(self, minor: u32, row: u16, asks: impl FnOnce() -> Option<bool>) -> Option<bool> {
        let of_none = Key::of(DRIVER, Query::Commands).at(minor.min(VERSIONS - 1) * 2);
        let (place, none) = self.find(of_none)?;
        // The two rows of a version are next to each other.
        let (of_all, all) = self.row(place + 1)?;
        if of_all != of_none.at(of_none.index + 1) {
            return None;
        }
        let bit = |bits: &[u8]| Some(bits.get(usize::from(row / 8))? & (1 << (row % 8)) != 0);
        match (bit(none)?, bit(all)?) {
            (true, true) => Some(true),
            (false, false) => Some(false),
            (false, true) => asks(),
            (true, false) => None,
        }
    }
}

/// Device extensions in a value: for each, the version, the length of the name, and the name.
#[derive(Clone, Copy, Debug)]
pub struct Extensions<'a>(pub &'a [u8]);

impl<'a> Iterator for Extensions<'a> {
    type Item = (&'a [u8], u32);

    fn next(&mut self) -> Option<Self::Item> {
        let version = number(self.0, 0)?;
        let end = 5 + usize::from(*self.0.get(4)?);
        let name = self.0.get(5..end)?;
        self.0 = self.0.get(end..)?;
        Some((name, version))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = Self(self.0).fold(0, |count, _| count + 1);
        (count, Some(count))
    }
}

impl ExactSizeIterator for Extensions<'_> {}

/// Reads a number of four bytes.
pub fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let two = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(two.try_into().ok()?))
}

const fn key_of(row: &[u8; ROW]) -> Key {
    Key {
        device: u16::from_le_bytes([row[0], row[1]]),
        query: u16::from_le_bytes([row[2], row[3]]),
        index: u32::from_le_bytes([row[4], row[5], row[6], row[7]]),
        kind: u32::from_le_bytes([row[8], row[9], row[10], row[11]]),
    }
}

/// Returns a checksum that detects accidental changes of any byte. Deliberate changes need not be detected, because only the owner can
/// write the file.
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = 0x9E37_79B9_7F4A_7C15_u64 ^ bytes.len() as u64;
    let mut take = |word: u64| sum = (sum ^ word).wrapping_mul(0xFF51_AFD7_ED55_8CCD).rotate_left(29);
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        take(word.try_into().map_or(0, u64::from_le_bytes));
    }
    let mut last = [0; 8];
    last.iter_mut()
        .zip(words.remainder())
        .for_each(|(to, from)| *to = *from);
    take(u64::from_le_bytes(last));
    take(0);
    sum
}

/// Beginning of a line of [`Query::Names`] that is a whole name. No part of a pattern contains this character.
pub const WHOLE_NAME: u8 = b'=';

/// Returns `true` if a driver's profiles mention a program of this name: a line of `lines` occurs in the name, or is the whole name after
/// [`WHOLE_NAME`]. Ignores case.
pub fn mentions(lines: &[u8], name: &[u8]) -> bool {
    let same = |one: &[u8], other: &[u8]| one.eq_ignore_ascii_case(other);
    lines
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .any(|line| match line.split_first() {
            Some((&WHOLE_NAME, whole)) => same(whole, name),
            _ => name.windows(line.len()).any(|part| same(part, line)),
        })
}

#[cfg(test)]
#[allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test may end when memory runs out"
)]
mod tests;
