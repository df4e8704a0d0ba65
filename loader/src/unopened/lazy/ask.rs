//! Queries to an opened driver. The keys of the driver's record name the queries.

use super::open::{FAILED, Opened};
use crate::alloc::{HostAllocator, HostVec};
use crate::driver_interface;
use crate::ffi::{self, TwoCalls};
use crate::generated::dispatch::DriverTable;
use crate::generated::types::{
    VkFormat, VkFormatProperties, VkFormatProperties2, VkPhysicalDeviceFeatures2, VkPhysicalDeviceGroupProperties,
    VkPhysicalDeviceMemoryProperties2, VkPhysicalDeviceProperties2, VkQueueFamilyProperties, VkQueueFamilyProperties2,
    VkResult,
};
use crate::handle::{Driver, PhysicalDeviceHandle};
use core::ffi::c_void;
use promises::limits::{ATTEMPTS, MOST_OF_ONE_DRIVER};
use record::{Answer, Key, Query};

/// Size in 64-bit words of a buffer for the largest structure of a record.
pub(super) const ROOM: usize = 1024;

/// Returns `true` if the driver returns the recorded answer.
pub(super) fn agrees(opened: &Opened, device: PhysicalDeviceHandle<Driver>, key: Key, answer: Answer<'_>) -> bool {
    let mut room = [0_u64; ROOM];
    if answer.size() > size_of_val(&room) / 2 {
        return false;
    }
    room[0] = key.kind.into();
    fill(&opened.table, device, key, room.as_mut_ptr().cast()).is_some() && answer.is_in(&bytes_of(&room))
}

fn bytes_of(room: &[u64; ROOM]) -> [u8; 8 * ROOM] {
    // SAFETY: the argument and the result are plain arrays of the same size.
    unsafe { core::mem::transmute_copy(room) }
}

/// Returns a structure with a head, whose bytes are zero except for the type and the chain.
macro_rules! asked {
    ($type:ident, $next:expr) => {{
        // SAFETY: the structure consists of numbers and pointers, for which zero is valid.
        let mut asked = unsafe { core::mem::zeroed::<$type>() };
        asked.sType = $type::STRUCTURE_TYPE;
        asked.pNext = $next;
        asked
    }};
}

/// Lets the driver fill a structure at `room`. Returns `None` if the driver has no command for the query.
fn fill(table: &DriverTable, device: PhysicalDeviceHandle<Driver>, key: Key, room: *mut c_void) -> Option<()> {
    // SAFETY for all calls below: function and device belong to this driver, and the buffer at `room` is larger than each structure.
    match (key.query, key.kind) {
        (query, 0) if query == Query::Properties as u16 => {
            let get = table.vkGetPhysicalDeviceProperties?;
            // SAFETY: function and device belong to this driver, and the buffer at `room` is larger than the structure.
            unsafe { get(device, room.cast()) };
        }
        (query, 0) if query == Query::Features as u16 => {
            let get = table.vkGetPhysicalDeviceFeatures?;
            // SAFETY: function and device belong to this driver, and the buffer at `room` is larger than the structure.
            unsafe { get(device, room.cast()) };
        }
        (query, 0) if query == Query::Memory as u16 => {
            let get = table.vkGetPhysicalDeviceMemoryProperties?;
            // SAFETY: function and device belong to this driver, and the buffer at `room` is larger than the structure.
            unsafe { get(device, room.cast()) };
        }
        (query, 0) if query == Query::Format as u16 => {
            let get = table.vkGetPhysicalDeviceFormatProperties?;
            // SAFETY: function and device belong to this driver, and the buffer at `room` is larger than the structure.
            unsafe { get(device, VkFormat(key.index as i32), room.cast::<VkFormatProperties>()) };
        }
        (query, kind) if query == Query::QueueFamilies as u16 => fill_family(table, device, (key.index, kind), room)?,
        _ => fill_chain(table, device, key, room)?,
    }
    Some(())
}

/// Returns `true` if the driver's instance has a command for structures that extend the properties.
pub(super) fn has_properties2(table: &DriverTable) -> bool {
    table.vkGetPhysicalDeviceProperties2.is_some() || table.vkGetPhysicalDeviceProperties2KHR.is_some()
}

fn fill_chain(table: &DriverTable, device: PhysicalDeviceHandle<Driver>, key: Key, next: *mut c_void) -> Option<()> {
    if key.query == Query::Properties as u16 {
        let get = table
            .vkGetPhysicalDeviceProperties2
            .or(table.vkGetPhysicalDeviceProperties2KHR)?;
        let mut asked = asked!(VkPhysicalDeviceProperties2, next);
        // SAFETY: function and device belong to this driver, and the chain has two writable structures.
        unsafe { get(device, &mut asked) };
    } else if key.query == Query::Features as u16 {
        let get = table
            .vkGetPhysicalDeviceFeatures2
            .or(table.vkGetPhysicalDeviceFeatures2KHR)?;
        let mut asked = asked!(VkPhysicalDeviceFeatures2, next);
        // SAFETY: function and device belong to this driver, and the chain has two writable structures.
        unsafe { get(device, &mut asked) };
    } else if key.query == Query::Format as u16 {
        let get = table
            .vkGetPhysicalDeviceFormatProperties2
            .or(table.vkGetPhysicalDeviceFormatProperties2KHR)?;
        let mut asked = asked!(VkFormatProperties2, next);
        // SAFETY: function and device belong to this driver, and the chain has two writable structures.
        unsafe { get(device, VkFormat(key.index as i32), &mut asked) };
    } else {
        let get = table
            .vkGetPhysicalDeviceMemoryProperties2
            .or(table.vkGetPhysicalDeviceMemoryProperties2KHR)?;
        let mut asked = asked!(VkPhysicalDeviceMemoryProperties2, next);
        // SAFETY: function and device belong to this driver, and the chain has two writable structures.
        unsafe { get(device, &mut asked) };
    }
    Some(())
}

/// Upper bound on the number of queue families that are compared.
const MOST_FAMILIES: usize = 64;

fn fill_family(
    table: &DriverTable,
    device: PhysicalDeviceHandle<Driver>,
    (family, kind): (u32, u32),
    room: *mut c_void,
) -> Option<()> {
    let mut count = MOST_FAMILIES as u32;
    if kind == 0 {
        let get = table.vkGetPhysicalDeviceQueueFamilyProperties?;
        // SAFETY: the structure consists of numbers, for which zero is valid.
        let mut all = unsafe { core::mem::zeroed::<[VkQueueFamilyProperties; MOST_FAMILIES]>() };
        // SAFETY: function and device belong to this driver, and the array has `count` elements.
        unsafe { get(device, &mut count, all.as_mut_ptr()) };
        let found = all.get(family as usize).filter(|_| family < count)?;
        // SAFETY: the buffer at `room` is larger than the structure.
        unsafe { room.cast::<VkQueueFamilyProperties>().write(*found) };
        return Some(());
    }
    let get = table
        .vkGetPhysicalDeviceQueueFamilyProperties2
        .or(table.vkGetPhysicalDeviceQueueFamilyProperties2KHR)?;
    let mut all = [const { asked!(VkQueueFamilyProperties2, core::ptr::null_mut()) }; MOST_FAMILIES];
    all.get_mut(family as usize)?.pNext = room;
    // SAFETY: function and device belong to this driver, and the array has `count` elements.
    unsafe { get(device, &mut count, all.as_mut_ptr()) };
    (family < count).then_some(())
}

/// Returns the number of queue families of a device.
pub(super) fn families(table: &DriverTable, device: PhysicalDeviceHandle<Driver>) -> Option<u32> {
    let get = table.vkGetPhysicalDeviceQueueFamilyProperties?;
    let mut count = 0;
    // SAFETY: function and device belong to this driver; the number is writable, and a null array asks for the number only.
    unsafe { get(device, &mut count, core::ptr::null_mut()) };
    Some(count)
}

/// Returns `true` if the driver reports tools of a device, or cannot answer.
pub(super) fn has_tools(table: &DriverTable, device: PhysicalDeviceHandle<Driver>) -> bool {
    let list = table
        .vkGetPhysicalDeviceToolProperties
        .or(table.vkGetPhysicalDeviceToolPropertiesEXT);
    let mut count = 0;
    // SAFETY: function and device belong to this driver; the number is writable, and a null array asks for the number only.
    let result = list.map(|list| unsafe { list(device, &mut count, core::ptr::null_mut()) });
    (result, count) != (Some(VkResult::VK_SUCCESS), 0)
}

/// Returns the device groups of a driver.
pub(super) fn groups(opened: &Opened) -> Result<HostVec<VkPhysicalDeviceGroupProperties<Driver>>, VkResult> {
    let table = &opened.table;
    let list = table
        .vkEnumeratePhysicalDeviceGroups
        .or(table.vkEnumeratePhysicalDeviceGroupsKHR)
        .ok_or(FAILED)?;
    let asking = TwoCalls {
        most: MOST_OF_ONE_DRIVER,
        attempts: ATTEMPTS,
        even_empty: false,
    };
    let call = |count: *mut u32, array: *mut VkPhysicalDeviceGroupProperties<Driver>| {
        // SAFETY: `ask` passes a readable number.
        let room = if array.is_null() { 0 } else { unsafe { *count } };
        for place in 0..room as usize {
            // SAFETY: `ask` passes an array with room for `*count` elements.
            unsafe { (*array.add(place)).sType = VkPhysicalDeviceGroupProperties::<Driver>::STRUCTURE_TYPE };
        }
        // SAFETY: function and instance belong to this driver; the number is writable, and the array has `*count` elements, whose heads are
        // set.
        ffi::is_whole(unsafe { list(opened.handle, count, array) })
    };
    // SAFETY: zero is a valid value of each member of an element.
    unsafe { asking.ask(HostAllocator::system(), call) }
}

/// Returns `true` if the driver lists the recorded device extensions, or if there is no memory for the driver's list.
pub(super) fn lists(opened: &Opened, device: PhysicalDeviceHandle<Driver>, value: &[u8]) -> bool {
    let all: HostVec<_> = match driver_interface::device_extensions(&opened.table, device, HostAllocator::system()) {
        Ok(all) => all,
        Err(result) => return result == VkResult::VK_ERROR_OUT_OF_HOST_MEMORY,
    };
    let all = all
        .iter()
        .map(|one| (ffi::fixed_text(&one.extensionName), one.specVersion));
    all.eq(record::Extensions(value))
}
