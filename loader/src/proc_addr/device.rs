//! `vkGetDeviceProcAddr` as the application calls it (APP-40 to APP-48).

use super::tables::absent_to_null;
use crate::device::Device;
use crate::ffi::Uncounted;
use crate::generated::extensions::{DeviceExtension, InstanceExtension};
use crate::generated::lookup::{Command, Level, row};
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
pub(super) const fn is_loaders(number: u16) -> bool {
    !matches!(answer(number), Answer::Slot)
}

/// Looks a device command up.
///
/// # Safety
/// `name` is NULL or terminated; `handle` is NULL or readable as [`seam::device_table`] demands.
#[inline(always)]
pub unsafe fn get_device_proc_addr(handle: VkDevice, name: *const c_char) -> PFN_vkVoidFunction {
    if name.is_null() {
        // SAFETY: passed on. Where every other way out is a jump, that of a hit needs none.
        return unsafe { decide(handle, c"".into(), None) };
    }
    // SAFETY: terminated by this function's contract.
    let name = unsafe { CStr::from_ptr(name) };
    let command = Command::find(name.to_bytes());
    let Some(plain) = command.filter(|command| command.is_plain()) else {
        // SAFETY: passed on.
        return unsafe { decide(handle, name.into(), command) };
    };
    // SAFETY: passed on.
    let Some(table) = (unsafe { seam::device_table(handle) }) else {
        // SAFETY: passed on.
        return unsafe { decide(handle, name.into(), command) };
    };
    // SAFETY: `device_table` gave the table, and a command's number is that of an answer.
    unsafe { Device::of_table(table).answers().get_unchecked(plain.answer()) }.get()
}

/// The answer to a name that needs more than a look into the table.
///
/// # Safety
/// As for [`get_device_proc_addr`].
#[inline(never)]
unsafe fn decide(handle: VkDevice, name: Uncounted<'_>, command: Option<Command>) -> PFN_vkVoidFunction {
    if !name.is_vulkan() {
        return None;
    }
    let found = command.map(|command| (command.row(), answer(command.number())));
    if let Some((row, Answer::Loader)) = found {
        return Some(row.trampoline());
    }
    // SAFETY: passed on.
    let table = unsafe { seam::device_table(handle) }?;
    // SAFETY: the table has the magic.
    let device = unsafe { Device::of_table(table) };
    let Some((row, answer)) = found else {
        return device.ask_chain(name);
    };
    if row.level != Level::Device || row.rank > device.highest_rank() {
        return None;
    }
    match answer {
        Answer::Slot => absent_to_null(Slots::get(table, usize::from(row.slot))),
        Answer::Loader | Answer::LoaderForDevice => Some(row.trampoline()),
        Answer::DebugMarker => {
            Some(row.trampoline()).filter(|_| device.names_objects(DeviceExtension::VK_EXT_debug_marker))
        }
        Answer::DebugUtils => {
            let enabled = device
                .instance()
                .enabled
                .contains(InstanceExtension::VK_EXT_debug_utils);
            Some(row.trampoline()).filter(|_| enabled)
        }
    }
}
