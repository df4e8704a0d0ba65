//! The driver of a fuzzed record, which is opened late. It has the functions of [`driver`], and those of Vulkan 1.1 that fill chains. Each
//! structure of a chain is filled whole, with the size that the registry says.

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

/// Fills the structures of a chain, but for their heads, and the structure at the beginning.
///
/// # Safety
/// `outer` is a chain of structures that have the types of their `sType`.
unsafe fn fill<T>(query: Query, outer: *mut T) {
    let head = size_of::<VkBaseOutStructure>();
    // SAFETY: the caller promises a chain whose structures have the types of their `sType`.
    unsafe {
        outer.cast::<u8>().add(head).write_bytes(1, size_of::<T>() - head);
        let first = outer.cast::<VkBaseOutStructure>();
        for at in chain_mut((*first).pNext.cast()) {
            let kind = (*at).sType.0.cast_unsigned();
            let size = rows::size_of(Key::of(0, query).with(kind)).map_or(head, usize::from);
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
    // SAFETY: the loader passes a writable number, and an array with room for as many elements, each with a valid chain.
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
    // SAFETY: the pointer is a function with the signature that belongs to the name.
    unsafe { transmute::<*const c_void, PFN_vkVoidFunction>(function) }
}
