//! What layers reach at the end of the chains (LAY-240, LAY-241, LAY-291, DRV-204, DRV-214).

use super::{ends, unknown};
use crate::device::Device;
use crate::generated::lookup::row;
use crate::generated::types::{PFN_vkVoidFunction, VkDevice};
use crate::handle::{Chain, InstanceHandle};
use crate::instance::{Instance, terminator_of_global};
use crate::lookup::{self, DeviceGate, Level, Row};
use crate::translation;
use core::ffi::{CStr, c_char};
use discovery::journal::LogBits;
use discovery::log;
use os::Raw;

/// Terminators that the end of the chain gives with any instance, NULL included: old layers ask even for
/// `vkCreateDevice` that way (LAY-240).
const WITHOUT_INSTANCE: [&CStr; 3] = [c"vkGetInstanceProcAddr", c"vkCreateInstance", c"vkCreateDevice"];

/// `vkGetInstanceProcAddr` of the instance terminator.
///
/// # Safety
/// `name` is NULL or terminated; a non-null `handle` starts with a dispatch pointer, unless the name needs none.
pub(crate) unsafe fn terminator_get_instance_proc_addr(
    handle: InstanceHandle<Chain>,
    name: *const c_char,
) -> PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: terminated by this function's contract.
    let name = unsafe { CStr::from_ptr(name) };
    if name == c"vk_layerGetPhysicalDeviceProcAddr" {
        // SAFETY: only the type is erased.
        return unsafe { crate::table::from_word(terminator_get_physical_device_proc_addr as *mut ()) };
    }
    if let Some(function) = terminator_of_global(name) {
        return Some(function);
    }
    let row = lookup::find(name.to_bytes());
    if let Some(row) = row.filter(|_| WITHOUT_INSTANCE.contains(&name)) {
        return row.terminator();
    }
    // SAFETY: by this function's contract.
    let instance = unsafe { translation::chain_instance(handle) }?;
    match row {
        Some(row) if row.level != Level::Device => known(row),
        Some(row) => device_command(instance, row),
        None => unknown::for_layer_physical_device(instance, name.into())
            .or_else(|| unknown::for_layer_device(instance, name.into()))
            .or_else(|| unrecognized(instance, name, "loader_gpa_instance_terminator")),
    }
}

/// Says that an end of the chain has nothing under a name.
fn unrecognized(instance: &Instance, name: &CStr, lookup: &str) -> PFN_vkVoidFunction {
    log::emit(
        Some(instance),
        LogBits::DEBUG,
        format_args!("{lookup}() unrecognized name {}", Raw(name.to_bytes())),
    );
    None
}

/// `vk_layerGetPhysicalDeviceProcAddr` of the instance terminator: instance-level commands and drivers' unknown
/// physical-device functions (LAY-241).
///
/// # Safety
/// As for [`terminator_get_instance_proc_addr`].
pub(crate) unsafe extern "system" fn terminator_get_physical_device_proc_addr(
    handle: InstanceHandle<Chain>,
    name: *const c_char,
) -> PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: terminated by this function's contract.
    let name = unsafe { CStr::from_ptr(name) };
    // SAFETY: by this function's contract.
    let instance = unsafe { translation::chain_instance(handle) }?;
    match lookup::find(name.to_bytes()) {
        Some(row) if matches!(row.level, Level::Instance | Level::PhysicalDevice) => known(row),
        // Drivers are asked about every other name, whether the registry knows it or not.
        _ => unknown::for_layer_physical_device(instance, name.into())
            .or_else(|| unrecognized(instance, name, "loader_gpdpa_instance_terminator")),
    }
}

/// The terminator of a command of an instance or physical device. Whether its extension is enabled is its own business:
/// layers fill a table once and call what they were allowed to (LAY-240).
fn known(row: &Row) -> PFN_vkVoidFunction {
    row.terminator().filter(|_| row.is_built)
}

/// A function that leads to the driver on any device. What names, tags and labels the loader's own objects is only there
/// while those exist.
fn device_command(instance: &Instance, row: &Row) -> PFN_vkVoidFunction {
    match row.device_gate() {
        DeviceGate::Instance(any) => row.terminator().filter(|_| instance.enabled.get().intersects(any)),
        DeviceGate::Always | DeviceGate::Device(_) => ends::for_layer(instance, row)
            .or_else(|| unrecognized(instance, row.name(), "loader_gpa_instance_terminator")),
    }
}

/// `vkGetDeviceProcAddr` of the device terminator.
///
/// # Safety
/// `name` is NULL or terminated; a non-null `handle` starts with a dispatch pointer.
pub(crate) unsafe fn terminator_get_device_proc_addr(handle: VkDevice, name: *const c_char) -> PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: terminated by this function's contract.
    let name = unsafe { CStr::from_ptr(name) };
    // SAFETY: by this function's contract.
    let device = unsafe { translation::device_by_word(handle) }?;
    match lookup::find(name.to_bytes()) {
        Some(row) => known_to_device(device, row),
        None => device.ask_driver(name.into(), None),
    }
}

/// What the end of the device chain has for a known command.
pub(super) fn known_to_device(device: &Device, row: &Row) -> PFN_vkVoidFunction {
    let enabled = match row.device_gate() {
        DeviceGate::Always if row.number == row::vkGetDeviceProcAddr => return row.terminator(),
        DeviceGate::Always if row.level != Level::Device => return None,
        DeviceGate::Always => return device.ask_driver(row.name().into(), Some(row)),
        DeviceGate::Device(any) => device.enabled().intersects(any),
        DeviceGate::Instance(any) => device.instance().enabled.get().intersects(any),
    };
    // The driver is not asked for what the loader must see first (DRV-204).
    row.terminator().filter(|_| enabled)
}
