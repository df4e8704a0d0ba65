//! `vkGetDeviceProcAddr` as the application calls it (APP-40 to APP-48).

use super::tables::absent_to_null;
use crate::device::Device;
use crate::generated::extensions::{DeviceExtension, InstanceExtension};
use crate::generated::lookup::{self, Level, ROWS, Row, row};
use crate::generated::types::{PFN_vkVoidFunction, VkDevice};
use crate::seam;
use crate::table::Slots;
use std::ffi::{CStr, c_char};

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
fn answer(number: u16) -> Answer {
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

/// Looks a device command up.
///
/// # Safety
/// `name` is NULL or terminated; `handle` is NULL or readable as [`seam::device_table`] demands.
pub unsafe fn get_device_proc_addr(handle: VkDevice, name: *const c_char) -> PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: terminated by this function's contract.
    let name = unsafe { CStr::from_ptr(name) };
    if !name.to_bytes().starts_with(b"vk") {
        return None;
    }
    let found = lookup::find_number(name.to_bytes()).map(|number| (&ROWS[usize::from(number)], answer(number)));
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
    if row.level != Level::Device || is_suppressed(device, row) {
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

/// Core commands above the application's version are hidden once maintenance5 is enabled in full (APP-46).
fn is_suppressed(device: &Device, row: &Row) -> bool {
    row.core != 0 && device.hides_newer_commands() && row.core > device.instance().api_version().0
}
