//! `vkGetDeviceProcAddr` as the application calls it (APP-40 to APP-48).

use super::tables::absent_to_null;
use crate::device::Device;
use crate::generated::extensions::{DeviceExtension, InstanceExtension};
use crate::generated::lookup::{self, Level, Place, ROWS, row};
use crate::generated::slots;
use crate::generated::types::{PFN_vkVoidFunction, VkDevice};
use crate::seam;
use crate::table::Slots;
use core::ffi::{CStr, c_char};

/// How a command is answered.
enum Answer {
    /// The device's own slot (APP-43).
    Slot,
    /// The loader's function, without a look at the device (APP-41).
    Loader,
    /// The loader's function for any valid device (APP-42).
    LoaderForDevice,
    /// The loader's function, which must unwrap a handle, if the debug-marker extension is there (APP-44).
    DebugMarker,
    /// Likewise for debug utils.
    DebugUtils,
}

/// Everything that is not in APP-41, APP-42 or APP-44 is the slot.
const fn answer(number: u16) -> Answer {
    match number {
        row::vkGetDeviceProcAddr | row::vkDestroyDevice | row::vkGetDeviceQueue | row::vkAllocateCommandBuffers => {
            Answer::Loader
        }
        row::vkGetDeviceQueue2 => Answer::LoaderForDevice,
        row::vkDebugMarkerSetObjectTagEXT | row::vkDebugMarkerSetObjectNameEXT => Answer::DebugMarker,
        row::vkSetDebugUtilsObjectNameEXT | row::vkSetDebugUtilsObjectTagEXT => Answer::DebugUtils,
        _ => Answer::Slot,
    }
}

/// Whether the look-up of a device may answer a command with something else than its slot.
pub const fn is_loaders(number: u16) -> bool {
    !matches!(answer(number), Answer::Slot)
}

/// Looks a device command up.
///
/// # Safety
/// `name` is NULL or terminated; `handle` is NULL or readable as [`seam::device_table`] demands.
#[inline(always)]
pub unsafe fn get_device_proc_addr(handle: VkDevice, name: *const c_char) -> PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: terminated by this function's contract.
    let name = unsafe { CStr::from_ptr(name) };
    let place = lookup::place(name.to_bytes());
    if place.is_none_or(|place| !place.is_ranked()) {
        // SAFETY: passed on.
        return unsafe { decide(handle, name, place) };
    }
    // SAFETY: passed on.
    let (Some(place), Some(table)) = (place, unsafe { seam::device_table(handle) }) else {
        return None;
    };
    // SAFETY: `device_table` gave it.
    if !place.is_shown(unsafe { Device::of_table(table) }.highest_rank()) {
        return None;
    }
    // SAFETY: a command with a rank has a slot.
    let function = unsafe { table.get_unchecked(usize::from(place.slot)) };
    function.filter(|&function| !slots::is_missing_stub(Some(function)))
}

/// The answer to a name that needs more than a look into the table.
///
/// # Safety
/// As for [`get_device_proc_addr`].
#[inline(never)]
unsafe fn decide(handle: VkDevice, name: &CStr, place: Option<&Place>) -> PFN_vkVoidFunction {
    if !name.to_bytes().starts_with(b"vk") {
        return None;
    }
    let found = place.map(|place| (&ROWS[usize::from(place.row)], answer(place.row)));
    if let Some((row, Answer::Loader)) = found {
        return Some(row.trampoline);
    }
    // SAFETY: passed on.
    let table = unsafe { seam::device_table(handle) }?;
    // SAFETY: the table has the magic.
    let device = unsafe { Device::of_table(table) };
    let Some((row, answer)) = found else {
        return device.ask_chain(name);
    };
    if row.level != Level::Device || lookup::rank(row.core) > device.highest_rank() {
        return None;
    }
    match answer {
        Answer::Slot => absent_to_null(Slots::get(table, usize::from(row.slot))),
        Answer::Loader | Answer::LoaderForDevice => Some(row.trampoline),
        Answer::DebugMarker => {
            Some(row.trampoline).filter(|_| device.names_objects(DeviceExtension::VK_EXT_debug_marker))
        }
        Answer::DebugUtils => {
            let enabled = device
                .instance()
                .enabled
                .contains(InstanceExtension::VK_EXT_debug_utils);
            Some(row.trampoline).filter(|_| enabled)
        }
    }
}
