//! Fuzzes the record of a driver that stays closed, and all commands that are answered from a record. The record's file has any content
//! with a valid head and checksum.
//!
//! Each structure is in a block of exactly its size. A structure that must not be recorded has only the members `sType` and `pNext`.
//! AddressSanitizer therefore detects a command that reads or writes beyond a structure. For half of the inputs, the driver cannot be
//! opened. For the other half, the loader opens the driver after the first queries.
//!
//! While the driver is closed, each block must contain the recorded bytes, or zeros if the record has no answer. Chained structures without
//! a recorded answer, and array elements beyond the returned number, must not change.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_char;
use std::ptr::{null, null_mut};

use record::{Key, Query, Record, rows};

use super::late_driver;
use crate::ffi::fixed_text;
use crate::generated::dispatch::DriverTable;
use crate::generated::types::*;
use crate::handle::{Driver, PhysicalDeviceHandle};
use crate::unopened::Stand;

/// Bytes of a record before the number of its rows.
const HEAD: usize = 24;
/// Value of each byte of an output block before the loader is called.
const UNTOUCHED: u8 = 0xAA;
/// Size in bytes of `sType` and `pNext` with padding.
const INNER: usize = 16;
/// Number of elements in the arrays that queries for extensions or devices receive.
const ELEMENTS: usize = 4;

type Device = PhysicalDeviceHandle<Driver>;

/// A block of memory of a fixed size, which is freed when this value is dropped.
struct Block {
    start: *mut u8,
    layout: Layout,
}

impl Block {
    fn of(size: usize) -> Self {
        let layout = Layout::from_size_align(size.max(1), 8).expect("a small block");
        // SAFETY: the layout has at least one byte.
        let start = unsafe { alloc(layout) };
        assert!(!start.is_null(), "memory suffices");
        // SAFETY: `alloc` returned a block with the size of the layout.
        unsafe { start.write_bytes(UNTOUCHED, layout.size()) };
        Self { start, layout }
    }

    /// Returns the block of a structure with this type and chain.
    fn structure(size: usize, kind: u32, next: *mut u8) -> Self {
        let made = Self::of(size);
        // SAFETY: the callers pass sizes of structures, so the block has at least the 16 bytes of `sType` and `pNext`.
        unsafe {
            made.start.cast::<u64>().write_unaligned(0);
            made.start.cast::<u32>().write_unaligned(kind);
            made.start.add(8).cast::<*mut u8>().write_unaligned(next);
        }
        made
    }

    fn to<T>(&self) -> *mut T {
        self.start.cast()
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the block belongs to this value, and `of` initialized all its bytes.
        unsafe { std::slice::from_raw_parts(self.start, self.layout.size()) }
    }

    /// Checks that no query wrote to the elements from the offset `from` on. The first `head` bytes of each element belong to the caller.
    fn is_untouched(&self, from: usize, element: usize, head: usize) {
        for element in self.bytes().get(from..).unwrap_or_default().chunks_exact(element) {
            assert!(
                element[head..].iter().all(|byte| *byte == UNTOUCHED),
                "an element beyond the number"
            );
        }
    }
}

/// Returns the size of a structure in a chain. Structures that must not be recorded, and structures with the type zero, have only the
/// members `sType` and `pNext`.
fn size_of_chained(key: Key) -> usize {
    let size = rows::size_of(key).filter(|_| key.kind != 0);
    size.map_or(INNER, usize::from)
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the block came from `alloc` with this layout.
        unsafe { dealloc(self.start, self.layout) };
    }
}

/// Queries of a device, with the functions of a closed driver.
struct Asked<'s> {
    table: &'static DriverTable,
    record: Record<'s>,
    /// `true` until the driver is opened. Until then, all answers come from the record.
    is_closed: bool,
}

/// Calls a command of the closed driver's table.
macro_rules! ask {
    ($asked:expr, $name:ident($($argument:expr),*)) => {{
        let function = $asked.table.$name.expect("a function");
        // SAFETY: the handle is a device of the stand-in (`Stand`) for the closed driver, and all other parameters are valid.
        unsafe { function($($argument),*) }
    }};
}

impl Asked<'_> {
    /// Returns the expected bytes of a structure in a chain after a query: the bytes `before`, with the recorded answer if the record has one.
    fn expected(&self, key: Key, before: &[u8]) -> Vec<u8> {
        let mut expected = before.to_vec();
        if let Some((_, answer)) = self.record.answer(key).filter(|_| key.kind != 0) {
            answer
                .write(&mut expected)
                .expect("the answer has the size of its structure");
        }
        expected
    }

    /// Returns the expected bytes of the structure that the chain extends. Up to the offset `at`, these are the bytes `before`. After it,
    /// they are the recorded answer, or zeros if the record has no answer.
    fn expected_base(&self, key: Key, before: &[u8], at: usize) -> Vec<u8> {
        let mut expected = before.to_vec();
        match self.record.answer(Key { kind: 0, ..key }) {
            Some((_, answer)) => answer
                .write(&mut expected[at..])
                .expect("the answer has the size of its structure"),
            None => expected[at..].fill(0),
        }
        expected
    }

    /// Calls the query of Vulkan 1.0, whose structure has no `sType` and no `pNext`.
    fn plain(&self, device: Device, key: Key) {
        let size = match key.query {
            query if query == Query::Properties as u16 => size_of::<VkPhysicalDeviceProperties>(),
            query if query == Query::Features as u16 => size_of::<VkPhysicalDeviceFeatures>(),
            query if query == Query::Memory as u16 => size_of::<VkPhysicalDeviceMemoryProperties>(),
            query if query == Query::Format as u16 => size_of::<VkFormatProperties>(),
            _ => return,
        };
        let block = Block::of(size);
        let expected = self.expected_base(key, block.bytes(), 0);
        match key.query {
            query if query == Query::Properties as u16 => ask!(self, vkGetPhysicalDeviceProperties(device, block.to())),
            query if query == Query::Features as u16 => ask!(self, vkGetPhysicalDeviceFeatures(device, block.to())),
            query if query == Query::Memory as u16 => {
                ask!(self, vkGetPhysicalDeviceMemoryProperties(device, block.to()));
            }
            _ => {
                let format = VkFormat(key.index.cast_signed());
                ask!(self, vkGetPhysicalDeviceFormatProperties(device, format, block.to()));
            }
        }
        if self.is_closed {
            assert_eq!(block.bytes(), expected);
        }
    }

    /// Calls the query of Vulkan 1.1 with one structure in the chain, and with a second one if `tail` is not null.
    fn chained(&self, device: Device, key: Key, tail: *mut u8) {
        let next = Block::structure(size_of_chained(key), key.kind, tail);
        let outer = |size, kind: VkStructureType| Block::structure(size, kind.0.cast_unsigned(), next.start);
        let expected = self.expected(key, next.bytes());
        let block = match key.query {
            query if query == Query::Properties as u16 => {
                let block = outer(
                    size_of::<VkPhysicalDeviceProperties2>(),
                    VkPhysicalDeviceProperties2::STRUCTURE_TYPE,
                );
                ask!(self, vkGetPhysicalDeviceProperties2(device, block.to()));
                block
            }
            query if query == Query::Features as u16 => {
                let block = outer(
                    size_of::<VkPhysicalDeviceFeatures2>(),
                    VkPhysicalDeviceFeatures2::STRUCTURE_TYPE,
                );
                ask!(self, vkGetPhysicalDeviceFeatures2KHR(device, block.to()));
                block
            }
            query if query == Query::Memory as u16 => {
                let kind = VkPhysicalDeviceMemoryProperties2::STRUCTURE_TYPE;
                let block = outer(size_of::<VkPhysicalDeviceMemoryProperties2>(), kind);
                ask!(self, vkGetPhysicalDeviceMemoryProperties2(device, block.to()));
                block
            }
            query if query == Query::Format as u16 => {
                let block = outer(size_of::<VkFormatProperties2>(), VkFormatProperties2::STRUCTURE_TYPE);
                let format = VkFormat(key.index.cast_signed());
                ask!(self, vkGetPhysicalDeviceFormatProperties2(device, format, block.to()));
                block
            }
            _ => return,
        };
        assert_eq!(block.bytes()[8..16], next.start.addr().to_ne_bytes(), "links stay");
        assert_eq!(next.bytes()[..16], expected[..16], "types and links stay");
        if self.is_closed {
            // If the record has no answer for the first structure, the loader does not fill the chain either.
            let has_answer = self.record.answer(Key { kind: 0, ..key }).is_some();
            assert!(!has_answer || next.bytes() == expected);
            let head = block.bytes()[..INNER].to_vec();
            let before = [head, vec![UNTOUCHED; block.bytes().len() - INNER]].concat();
            let written = self.expected_base(key, &before, INNER);
            let size = rows::size_of(Key { kind: 0, ..key }).map_or(0, usize::from);
            assert_eq!(block.bytes()[..INNER + size], written[..INNER + size]);
        }
    }

    /// Calls the query of Vulkan 1.1 with a chain whose last structure has an unknown type.
    fn chained_to_unknown(&self, device: Device, key: Key) {
        let tail = Block::structure(INNER, u32::MAX, null_mut());
        let before = tail.bytes().to_vec();
        self.chained(device, key, tail.start);
        assert_eq!(tail.bytes(), before, "an unknown structure stays");
    }

    /// Queries the queue families with an array of `room` elements, each with one structure in its chain.
    fn families(&self, device: Device, key: Key, room: u32) {
        let mut count = 0xAAAA;
        ask!(
            self,
            vkGetPhysicalDeviceQueueFamilyProperties(device, &mut count, null_mut())
        );
        assert!(count as usize <= self.record.len().max(3), "{count}");
        assert!(!self.is_closed || count == self.record.families(key.device), "{count}");
        let chains: Vec<Block> = (0..room)
            .map(|_| Block::structure(size_of_chained(key), key.kind, null_mut()))
            .collect();
        let array = Block::of(room as usize * size_of::<VkQueueFamilyProperties2>());
        for (place, chain) in chains.iter().enumerate() {
            // SAFETY: `array` has `room` elements, and `place` is less than `room`, the number of chains.
            unsafe {
                let element = array.to::<VkQueueFamilyProperties2>().add(place);
                (*element).sType = VkQueueFamilyProperties2::STRUCTURE_TYPE;
                (*element).pNext = chain.to();
            }
        }
        let mut count = room;
        ask!(
            self,
            vkGetPhysicalDeviceQueueFamilyProperties2(device, &mut count, array.to())
        );
        assert!(count <= room);
        let rest = count as usize * size_of::<VkQueueFamilyProperties2>();
        array.is_untouched(rest, size_of::<VkQueueFamilyProperties2>(), INNER);
        for chain in chains.iter().skip(count as usize) {
            chain.is_untouched(0, chain.layout.size(), INNER);
        }
        let plain = Block::of(room as usize * size_of::<VkQueueFamilyProperties>());
        count = room;
        ask!(
            self,
            vkGetPhysicalDeviceQueueFamilyProperties(device, &mut count, plain.to())
        );
        // The driver reports three families, even if the array is shorter.
        assert!(count <= if self.is_closed { room } else { room.max(3) });
        let rest = count.min(room) as usize * size_of::<VkQueueFamilyProperties>();
        plain.is_untouched(rest, size_of::<VkQueueFamilyProperties>(), 0);
    }

    fn extensions(&self, device: Device, room: usize) {
        let list = |count: &mut u32, array: *mut VkExtensionProperties| {
            ask!(
                self,
                vkEnumerateDeviceExtensionProperties(device, null::<c_char>(), count, array)
            )
        };
        let mut total = 0;
        if list(&mut total, null_mut()).0 < 0 {
            return;
        }
        let array = Block::of(room * size_of::<VkExtensionProperties>());
        let mut count = room as u32;
        let result = list(&mut count, array.to());
        assert_eq!(count, total.min(room as u32));
        assert_eq!(result == VkResult::VK_INCOMPLETE, count < total);
        let one = size_of::<VkExtensionProperties>();
        array.is_untouched(count as usize * one, one, 0);
        for place in 0..count as usize {
            // SAFETY: the command has filled `count` elements, and `place` is less than `count`.
            let one = unsafe { &*array.to::<VkExtensionProperties>().add(place) };
            assert!(fixed_text(&one.extensionName).len() < one.extensionName.len());
        }
    }

    fn groups(&self, stand: &Stand, room: u32) {
        let list = |count: &mut u32, array: *mut VkPhysicalDeviceGroupProperties<Driver>| {
            ask!(self, vkEnumeratePhysicalDeviceGroups(stand.handle(), count, array))
        };
        let array = Block::of(room as usize * size_of::<VkPhysicalDeviceGroupProperties<Driver>>());
        for place in 0..room as usize {
            // SAFETY: `array` has `room` elements, and `place` is less than `room`.
            unsafe { (*array.to::<VkPhysicalDeviceGroupProperties<Driver>>().add(place)).pNext = null_mut() };
        }
        let mut count = 0;
        list(&mut count, null_mut());
        count = room;
        let result = list(&mut count, array.to());
        assert!(count <= room || result.0 < 0);
        let one = size_of::<VkPhysicalDeviceGroupProperties<Driver>>();
        if result.0 >= 0 {
            array.is_untouched(count as usize * one, one, INNER);
        }
    }

    /// Makes the query that belongs to the key of a row. The key comes from the input, so it can be invalid.
    fn row(&self, stand: &Stand, key: Key) {
        let devices = stand.devices();
        let Some(device) = devices.get(usize::from(key.device) % devices.len().max(1)) else {
            return;
        };
        // Only formats and queue families have an index in a query.
        let index = [Query::Format as u16, Query::QueueFamilies as u16].contains(&key.query);
        let own = Key {
            device: key.device % devices.len() as u16,
            index: if index { key.index } else { 0 },
            ..key
        };
        if key.kind == 0 {
            self.plain(*device, own);
        }
        self.chained(*device, own, null_mut());
        self.chained_to_unknown(*device, own);
        match key.query {
            query if query == Query::QueueFamilies as u16 => self.families(*device, own, key.index % 5),
            query if query == Query::Extensions as u16 => self.extensions(*device, key.index as usize % ELEMENTS),
            query if query == Query::NoTools as u16 => {
                let mut count = 0;
                ask!(self, vkGetPhysicalDeviceToolProperties(*device, &mut count, null_mut()));
            }
            query if query == Query::Group as u16 => self.groups(stand, key.index % 3),
            query if query == Query::Commands as u16 => stand.look_up(key.kind as usize),
            _ => {}
        }
    }

    fn all(&self, stand: &Stand) {
        let mut handles = [PhysicalDeviceHandle::NULL; ELEMENTS];
        let mut count = ELEMENTS as u32;
        ask!(
            self,
            vkEnumeratePhysicalDevices(stand.handle(), &mut count, handles.as_mut_ptr())
        );
        assert!(count as usize <= ELEMENTS);
        for place in 0..self.record.len() {
            if let Some((key, _)) = self.record.row(place) {
                self.row(stand, key);
            }
        }
        for (number, device) in (0..).zip(stand.devices()) {
            self.extensions(device, 2);
            self.families(device, Key::of(number, Query::QueueFamilies), 2);
        }
        self.groups(stand, 2);
    }
}

/// Uses the first byte of the input as a set of switches for the run, and the other bytes as the content of a record.
pub fn record(input: &[u8]) {
    let Some((&first, content)) = input.split_first() else {
        return;
    };
    let sum = record::checksum(content);
    let words = [&record::FORM.to_le_bytes()[..], &[0; 4], &sum.to_le_bytes()].concat();
    let bytes = [&b"VKLRECRD"[..], &words, content].concat();
    assert_eq!(bytes.len(), HEAD + content.len());
    let Some(read) = Record::read(&bytes, sum) else {
        return;
    };
    let Some(stand) = Stand::of(bytes.clone()) else {
        return;
    };
    let mut asked = Asked {
        table: Stand::table(),
        record: read,
        is_closed: true,
    };
    asked.all(&stand);
    if first % 2 == 1 {
        stand.open(late_driver::look_up);
        asked.is_closed = false;
        asked.all(&stand);
    }
}
