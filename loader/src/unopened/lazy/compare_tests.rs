//! Tests of the comparison of each structure of the registry with the answers of an opened driver (DRV-285).

use super::compare;
use super::open::Opened;
use super::table::TABLE;
use super::testing::{end, sleeper_of};
use crate::alloc::{HostAllocator, HostBox};
use crate::ffi::chain_mut;
use crate::generated::dispatch::DriverTable;
use crate::generated::types::*;
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use core::ffi::c_char;
use core::sync::atomic::{AtomicU8, Ordering};
use record::{Key, Query, STRUCTURES, Structure, rows};

type Device = PhysicalDeviceHandle<Driver>;

/// Offset in bytes of the inner structure in a structure with a head.
const INNER: usize = 16;
/// Value of the last byte of each recorded structure.
const RECORDED: u8 = 1;

/// Value that the driver writes to the last byte of each structure that others extend.
static BASE: AtomicU8 = AtomicU8::new(RECORDED);
/// Value that the driver writes to the last byte of each structure of a chain.
static CHAINED: AtomicU8 = AtomicU8::new(RECORDED);

/// Writes the last byte of a structure.
///
/// # Safety
/// `structure` has `size` writable bytes.
unsafe fn fill(structure: *mut u8, size: u16, value: &AtomicU8) {
    // SAFETY: the caller promises `size` writable bytes.
    unsafe { *structure.add(usize::from(size) - 1) = value.load(Ordering::Relaxed) };
}

/// Writes the last byte of each structure of a chain.
///
/// # Safety
/// `outer` is a chain of structures that have the types of their `sType`, and extend this query.
unsafe fn fill_chain<T>(query: Query, outer: *mut T) {
    let size = |kind| rows::size_of(Key::of(0, query).with(kind)).expect("a structure of the registry");
    // SAFETY: the caller promises a chain whose structures have the types of their `sType`.
    unsafe {
        fill(outer.cast::<u8>().add(INNER), size(0), &BASE);
        for at in chain_mut((*outer.cast::<VkBaseOutStructure>()).pNext.cast()) {
            fill(at.cast(), size((*at).sType.0.cast_unsigned()), &CHAINED);
        }
    }
}

/// Defines functions of the imitated driver that fill one structure.
macro_rules! functions {
    ($($plain:ident, $chained:ident: $query:ident $(, $format:ty)?;)*) => {$(
        unsafe extern "system" fn $plain<T>(_: Device, $(_: $format,)? out: *mut T) {
            let size = rows::size_of(Key::of(0, Query::$query)).expect("a structure of the registry");
            // SAFETY: the caller passes a writable structure of this query.
            unsafe { fill(out.cast(), size, &BASE) };
        }

        unsafe extern "system" fn $chained<T>(_: Device, $(_: $format,)? out: *mut T) {
            // SAFETY: the caller passes a valid chain.
            unsafe { fill_chain(Query::$query, out) };
        }
    )*};
}

functions! {
    properties, properties2: Properties;
    features, features2: Features;
    memory, memory2: Memory;
    format, format2: Format, VkFormat;
}

unsafe extern "system" fn families(_: Device, count: *mut u32, out: *mut VkQueueFamilyProperties) {
    // SAFETY: the caller passes a writable number, and an array that is null or has an element.
    unsafe {
        *count = 1;
        if !out.is_null() {
            properties_of_family(out.cast());
        }
    }
}

/// Writes the last byte of the properties of a queue family.
///
/// # Safety
/// The properties are writable.
unsafe fn properties_of_family(out: *mut u8) {
    let size = rows::size_of(Key::of(0, Query::QueueFamilies)).expect("a structure of the registry");
    // SAFETY: the caller promises a writable structure.
    unsafe { fill(out, size, &BASE) };
}

unsafe extern "system" fn families2(_: Device, count: *mut u32, out: *mut VkQueueFamilyProperties2) {
    // SAFETY: the caller passes a writable number, and an array that is null or has an element with a valid chain.
    unsafe {
        *count = 1;
        if !out.is_null() {
            fill_chain(Query::QueueFamilies, out);
        }
    }
}

unsafe extern "system" fn none(_: InstanceHandle<Driver>, _: *const c_char) -> PFN_vkVoidFunction {
    None
}

/// Returns the functions of the imitated driver.
fn driver() -> DriverTable {
    DriverTable {
        vkGetPhysicalDeviceProperties: Some(properties),
        vkGetPhysicalDeviceProperties2: Some(properties2),
        vkGetPhysicalDeviceFeatures: Some(features),
        vkGetPhysicalDeviceFeatures2: Some(features2),
        vkGetPhysicalDeviceMemoryProperties: Some(memory),
        vkGetPhysicalDeviceMemoryProperties2: Some(memory2),
        vkGetPhysicalDeviceFormatProperties: Some(format),
        vkGetPhysicalDeviceFormatProperties2: Some(format2),
        vkGetPhysicalDeviceQueueFamilyProperties: Some(families),
        vkGetPhysicalDeviceQueueFamilyProperties2: Some(families2),
        // SAFETY: null is a valid value of each slot.
        ..unsafe { core::mem::zeroed() }
    }
}

/// Encodes a recorded structure in which the driver wrote only the last byte.
fn value(size: u16) -> Vec<u8> {
    let numbers = [size, 1, size - 1, 1].map(u16::to_le_bytes).concat();
    [numbers, vec![RECORDED]].concat()
}

/// Asks a closed driver for a structure, and returns the last byte of the answer.
fn ask(device: Device, structure: &Structure) -> u8 {
    let (mut next, mut outer) = ([0_u64; 1024], [0_u64; 1024]);
    next[0] = structure.kind.into();
    if structure.kind != 0 {
        outer[1] = next.as_mut_ptr() as u64;
    }
    let out = outer.as_mut_ptr();
    macro_rules! call {
        ($name:ident($($argument:expr),*)) => {{
            let function = TABLE.$name.expect("a function");
            // SAFETY: the device belongs to the stand-in, and the memory is larger than each structure.
            unsafe { function(device, $($argument,)* out.cast()) }
        }};
    }
    match structure.query {
        Query::Properties => call!(vkGetPhysicalDeviceProperties2()),
        Query::Features => call!(vkGetPhysicalDeviceFeatures2()),
        Query::Memory => call!(vkGetPhysicalDeviceMemoryProperties2()),
        Query::Format => call!(vkGetPhysicalDeviceFormatProperties2(VkFormat(0))),
        Query::QueueFamilies => call!(vkGetPhysicalDeviceQueueFamilyProperties2(&mut 1)),
        other => panic!("no structure extends {other:?}"),
    }
    let (words, start) = if structure.kind == 0 {
        (&outer, INNER)
    } else {
        (&next, 0)
    };
    let last = start + usize::from(structure.size) - 1;
    words[last / 8].to_le_bytes()[last % 8]
}

#[test]
fn drv_285_each_structure_of_the_registry_is_compared() {
    for structure in STRUCTURES {
        let base = Key::of(0, structure.query);
        let mut recorded = vec![(base, value(rows::size_of(base).expect("a base")))];
        if structure.kind != 0 {
            recorded.push((base.with(structure.kind), value(structure.size)));
        }
        let made = sleeper_of(&recorded);
        let device = &made.devices[0];
        assert_eq!(ask(device.handle(), structure), RECORDED, "{}", structure.name);
        device.found(PhysicalDeviceHandle::from_raw(core::ptr::without_provenance_mut(8)));
        let opened = HostBox::try_new(Opened::of(driver(), none), HostAllocator::system());
        made.publish(opened.unwrap_or_else(|_| panic!("memory")));
        let (opened, record) = (
            made.opened().expect("an instance"),
            made.closed.record().expect("a record"),
        );
        for (written, differs) in [(RECORDED, false), (RECORDED + 1, true)] {
            let changed = if structure.kind == 0 { &BASE } else { &CHAINED };
            changed.store(written, Ordering::Relaxed);
            let found = compare::differing(&made, opened, record);
            assert_eq!(found.is_some(), differs, "{}: {found:?}", structure.name);
            changed.store(RECORDED, Ordering::Relaxed);
        }
        end(made);
    }
    assert!(STRUCTURES.len() > 100, "{}", STRUCTURES.len());
}
