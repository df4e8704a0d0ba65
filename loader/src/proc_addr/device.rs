//! `vkGetDeviceProcAddr` as the application calls it (APP-40 to APP-48).

use super::write_missing;
use crate::device::Device;
use crate::ffi::Uncounted;
use crate::generated::lookup::row;
use crate::generated::types::{PFN_vkVoidFunction, VkDevice};
use crate::lookup::{Command, ROWS};
use crate::translation;
use core::ffi::{CStr, c_char};
use discovery::extension::{DeviceExtension, InstanceExtension};
use discovery::trace;

/// Answer for a command whose answer is not the function in the device's slot (APP-43).
#[derive(Clone, Copy)]
enum Answer {
    /// The loader's function, without checking the device (APP-41).
    Loader,
    /// The loader's function, for any valid device (APP-42).
    LoaderForDevice,
    /// The loader's function, which must unwrap a handle, if the debug-marker extension is available (APP-44).
    DebugMarker,
    /// The loader's function, which must unwrap a handle, if debug utils is available (APP-44).
    DebugUtils,
}

/// Commands whose answer is not the function in the device's slot.
const OWN: [(u16, Answer); 9] = [
    (row::vkGetDeviceProcAddr, Answer::Loader),
    (row::vkDestroyDevice, Answer::Loader),
    (row::vkGetDeviceQueue, Answer::Loader),
    (row::vkAllocateCommandBuffers, Answer::Loader),
    (row::vkGetDeviceQueue2, Answer::LoaderForDevice),
    (row::vkDebugMarkerSetObjectTagEXT, Answer::DebugMarker),
    (row::vkDebugMarkerSetObjectNameEXT, Answer::DebugMarker),
    (row::vkSetDebugUtilsObjectNameEXT, Answer::DebugUtils),
    (row::vkSetDebugUtilsObjectTagEXT, Answer::DebugUtils),
];

/// Fills in a device's answers for the commands whose answer is not the function in a slot.
pub(crate) fn fill_own_answers(device: &Device) {
    for (number, answer) in OWN {
        let row = &ROWS[usize::from(number)];
        let is_shown = match answer {
            Answer::Loader => true,
            Answer::LoaderForDevice => row.rank <= device.highest_rank(),
            Answer::DebugMarker => device.names_objects(DeviceExtension::VK_EXT_debug_marker),
            Answer::DebugUtils => {
                let enabled = &device.instance().enabled;
                enabled.contains(InstanceExtension::VK_EXT_debug_utils)
            }
        };
        device.answers()[usize::from(row.slot)].set(is_shown.then(|| row.trampoline()));
    }
}

/// Looks a device command up. The trace gets a record if the answer is NULL.
///
/// # Safety
/// `name` is NULL or terminated; `handle` is NULL or readable as [`translation::device_table`] demands.
#[inline(always)]
pub(crate) unsafe fn get_device_proc_addr(handle: VkDevice, name: *const c_char) -> PFN_vkVoidFunction {
    if trace::is_on() {
        // SAFETY: the caller promises what `look_up` requires.
        return unsafe { look_up_traced(handle, name) };
    }
    // SAFETY: the caller promises what `look_up` requires.
    unsafe { look_up(handle, name) }
}

/// Looks a device command up while the trace is on. A function of its own, so that the usual look-up ends with a plain jump.
///
/// # Safety
/// As for [`look_up`].
#[cold]
#[inline(never)]
unsafe fn look_up_traced(handle: VkDevice, name: *const c_char) -> PFN_vkVoidFunction {
    // SAFETY: the caller promises what `look_up` requires.
    let answer = unsafe { look_up(handle, name) };
    // SAFETY: the caller promises a name that is NULL or terminated.
    unsafe { write_missing("vkGetDeviceProcAddr", name, answer) };
    answer
}

/// Looks a device command up, without the trace.
///
/// # Safety
/// As for [`get_device_proc_addr`].
#[inline(always)]
unsafe fn look_up(handle: VkDevice, name: *const c_char) -> PFN_vkVoidFunction {
    if name.is_null() {
        // SAFETY: the caller promises a handle that is NULL or readable. With an empty name, `decide` returns null. The
        // function does not return null itself: like the calls below, this call allows the compiler to end the function with a plain jump.
        return unsafe { decide(handle, c"".into(), None) };
    }
    // SAFETY: the name is not null, so the caller promises that it is terminated.
    let name = unsafe { CStr::from_ptr(name) };
    let Some(command) = Command::find(name.to_bytes()) else {
        // SAFETY: the caller promises a handle that is NULL or readable.
        return unsafe { decide(handle, name.into(), None) };
    };
    // SAFETY: the caller promises a handle that is NULL or readable.
    let Some(table) = (unsafe { translation::device_table(handle) }) else {
        // SAFETY: the caller promises a handle that is NULL or readable.
        return unsafe { decide(handle, name.into(), Some(command)) };
    };
    // SAFETY: `device_table` found the table, so a device contains it; `answer` is an index into the answers.
    unsafe { Device::of_table(table).answers().get_unchecked(command.answer()) }.get()
}

/// Returns the answer for a name that the registry does not know, or for a handle that is not a device.
///
/// # Safety
/// `handle` is NULL or readable as [`translation::device_table`] demands.
#[inline(never)]
unsafe fn decide(handle: VkDevice, name: Uncounted<'_>, command: Option<Command>) -> PFN_vkVoidFunction {
    let Some(command) = command else {
        // SAFETY: the caller promises a handle that is NULL or readable.
        let table = unsafe { translation::device_table(handle) }.filter(|_| name.is_vulkan())?;
        // SAFETY: `device_table` has checked the magic, so a device contains the table.
        return unsafe { Device::of_table(table) }.ask_chain(name);
    };
    let needs_none = OWN
        .iter()
        .any(|(number, answer)| *number == command.row().number && matches!(answer, Answer::Loader));
    needs_none.then(|| command.trampoline())
}
