//! The driver of a fuzzed record, which is opened late. The driver has the functions of [`driver`], and the functions of Vulkan 1.1 that
//! fill chains. The driver fills each structure of a chain completely. The size of a structure comes from the registry.

use std::ffi::{c_char, c_void};
use std::mem::transmute;

use record::{Key, Query, rows};

use super::driver;
use crate::ffi::{c_text, chain_mut};
use crate::generated::types::*;
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};

type Device = PhysicalDeviceHandle<Driver>;

/// Number of the driver's queue families.
const FAMILIES: u32 = 3;

/// Fills the structure `outer` and the structures in its chain, except for `sType` and `pNext`.
///
/// # Safety
/// `outer` points to a writable structure of type `T`. Each structure in its chain is writable and has the type that its `sType` names.
unsafe fn fill<T>(query: Query, outer: *mut T) {
    let head = size_of::<VkBaseOutStructure>();
    // SAFETY: the caller promises that `outer` is a writable `T`, and that each structure in its chain has the type of its `sType`.
    unsafe {
        outer.cast::<u8>().add(head).write_bytes(1, size_of::<T>() - head);
        let first = outer.cast::<VkBaseOutStructure>();
        for at in chain_mut((*first).pNext.cast()) {
            let kind = (*at).sType.0.cast_unsigned();
            let size = rows::size_of(Key::of(0, query).with(kind)).filter(|_| kind != 0);
            let size = size.map_or(head, usize::from);
            at.cast::<u8>().add(head).write_bytes(1, size - head);
        }
    }
}

unsafe extern "system" fn properties(_: Device, out: *mut VkPhysicalDeviceProperties2) {
    // SAFETY: the loader passes a valid chain.
    unsafe { fill(Query::Properties, out) };
}

unsafe extern "system" fn features(_: Device, out: *mut VkPhysicalDeviceFeatures2) {
    // SAFETY: the loader passes a valid chain.
    unsafe { fill(Query::Features, out) };
}

unsafe extern "system" fn memory(_: Device, out: *mut VkPhysicalDeviceMemoryProperties2) {
    // SAFETY: the loader passes a valid chain.
    unsafe { fill(Query::Memory, out) };
}

unsafe extern "system" fn format(_: Device, _: VkFormat, out: *mut VkFormatProperties2) {
    // SAFETY: the loader passes a valid chain.
    unsafe { fill(Query::Format, out) };
}

unsafe extern "system" fn families(_: Device, count: *mut u32, out: *mut VkQueueFamilyProperties2) {
    // SAFETY: the loader passes a writable number, and null or an array with space for `*count` elements, each with a valid chain.
    unsafe {
        let written = if out.is_null() { 0 } else { FAMILIES.min(*count) };
        (0..written).for_each(|place| fill(Query::QueueFamilies, out.add(place as usize)));
        *count = if out.is_null() { FAMILIES } else { written };
    }
}

/// Returns a function of the driver.
///
/// # Safety
/// `name` is a terminated text.
pub unsafe extern "system" fn look_up(instance: InstanceHandle<Driver>, name: *const c_char) -> PFN_vkVoidFunction {
    // SAFETY: the caller promises a terminated text.
    let function = match unsafe { c_text(name) } {
        b"vkGetPhysicalDeviceProperties2" => properties as *const c_void,
        b"vkGetPhysicalDeviceFeatures2" | b"vkGetPhysicalDeviceFeatures2KHR" => features as *const c_void,
        b"vkGetPhysicalDeviceMemoryProperties2" => memory as *const c_void,
        b"vkGetPhysicalDeviceFormatProperties2" => format as *const c_void,
        b"vkGetPhysicalDeviceQueueFamilyProperties2" => families as *const c_void,
        // SAFETY: the caller promises a terminated text.
        _ => return unsafe { driver::lookup(instance, name) },
    };
    // SAFETY: each function in the table has the signature that belongs to its name.
    unsafe { transmute::<*const c_void, PFN_vkVoidFunction>(function) }
}
