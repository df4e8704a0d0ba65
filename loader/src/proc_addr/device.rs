//! `vkGetDeviceProcAddr` as the application calls it (APP-40 to APP-48).

use super::tables::absent_to_null;
use crate::device::Device;
use crate::generated::extensions::{DeviceExtension, InstanceExtension};
use crate::generated::lookup::{self, Level, Row};
use crate::generated::types::{PFN_vkVoidFunction, VkDevice};
use crate::seam;
use crate::table::Slots;
use std::ffi::{CStr, c_char};

/// How a name is answered, where it is not simply the device's own slot.
enum Answer {
    /// The loader's function, without a look at the device (APP-41).
    Loader,
    /// The loader's function for any valid device (APP-42).
    LoaderForDevice,
    /// The loader's function, which must unwrap a handle, if the debug-marker extension is there (APP-44).
    DebugMarker,
    /// Likewise for debug utils.
    DebugUtils,
}

/// The exceptions of APP-41, APP-42 and APP-44. Everything else is the slot.
const EXCEPTIONS: [(&CStr, Answer); 9] = [
    (c"vkGetDeviceProcAddr", Answer::Loader),
    (c"vkDestroyDevice", Answer::Loader),
    (c"vkGetDeviceQueue", Answer::Loader),
    (c"vkAllocateCommandBuffers", Answer::Loader),
    (c"vkGetDeviceQueue2", Answer::LoaderForDevice),
    (c"vkDebugMarkerSetObjectTagEXT", Answer::DebugMarker),
    (c"vkDebugMarkerSetObjectNameEXT", Answer::DebugMarker),
    (c"vkSetDebugUtilsObjectNameEXT", Answer::DebugUtils),
    (c"vkSetDebugUtilsObjectTagEXT", Answer::DebugUtils),
];

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
    let row = lookup::find(name.to_bytes());
    let exception = row
        .and_then(|_| EXCEPTIONS.iter().find(|(known, _)| *known == name))
        .map(|(_, answer)| answer);
    if let (Some(row), Some(Answer::Loader)) = (row, exception) {
        return Some(row.trampoline);
    }
    // SAFETY: passed on.
    let table = unsafe { seam::device_table(handle) }?;
    let device = Device::of_table(table);
    let Some(row) = row else { return device.ask_chain(name) };
    if row.level != Level::Device || is_suppressed(device, row) {
        return None;
    }
    match exception {
        None => absent_to_null(Slots::get(table, usize::from(row.slot))),
        Some(Answer::Loader | Answer::LoaderForDevice) => Some(row.trampoline),
        Some(Answer::DebugMarker) => {
            Some(row.trampoline).filter(|_| device.names_objects(DeviceExtension::VK_EXT_debug_marker))
        }
        Some(Answer::DebugUtils) => {
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
