//! Look-ups at the end of the chains, as layers call them (LAY-240, LAY-241, LAY-291, DRV-204, DRV-214).

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

/// Terminators that the end of the chain returns for any instance, including NULL: old layers request even `vkCreateDevice` that way
/// (LAY-240).
const WITHOUT_INSTANCE: [&CStr; 3] = [c"vkGetInstanceProcAddr", c"vkCreateInstance", c"vkCreateDevice"];

/// Implements `vkGetInstanceProcAddr` at the end of the instance chain.
///
/// # Safety
/// `name` is NULL or terminated; a non-null `handle` starts with a dispatch pointer, unless the name needs no instance.
pub(crate) unsafe fn terminator_get_instance_proc_addr(
    handle: InstanceHandle<Chain>,
    name: *const c_char,
) -> PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: the name is not null, so the caller promises that it is terminated.
    let name = unsafe { CStr::from_ptr(name) };
    if name == c"vk_layerGetPhysicalDeviceProcAddr" {
        // SAFETY: the word is a function's address; only its type is erased.
        return unsafe { crate::table::from_word(terminator_get_physical_device_proc_addr as *mut ()) };
    }
    if let Some(function) = terminator_of_global(name) {
        return Some(function);
    }
    let row = lookup::find(name.to_bytes());
    if let Some(row) = row.filter(|_| WITHOUT_INSTANCE.contains(&name)) {
        return row.terminator();
    }
    // SAFETY: the caller promises that a non-null handle starts with a dispatch pointer.
    let instance = unsafe { translation::chain_instance(handle) }?;
    match row {
        Some(row) if row.level != Level::Device => known(row),
        Some(row) => device_command(instance, row),
        None => unknown::for_layer_physical_device(instance, name.into())
            .or_else(|| unknown::for_layer_device(instance, name.into()))
            .or_else(|| unrecognized(instance, name, "loader_gpa_instance_terminator")),
    }
}

/// Logs that an end of the chain has no function called `name`.
fn unrecognized(instance: &Instance, name: &CStr, lookup: &str) -> PFN_vkVoidFunction {
    log::emit(
        Some(instance),
        LogBits::DEBUG,
        format_args!("{lookup}() unrecognized name {}", Raw(name.to_bytes())),
    );
    None
}

/// Implements `vk_layerGetPhysicalDeviceProcAddr` at the end of the instance chain: finds instance-level commands and drivers' unknown
/// physical-device functions (LAY-241).
///
/// # Safety
/// `name` is NULL or terminated; a non-null `handle` starts with a dispatch pointer.
pub(crate) unsafe extern "system" fn terminator_get_physical_device_proc_addr(
    handle: InstanceHandle<Chain>,
    name: *const c_char,
) -> PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: the name is not null, so the caller promises that it is terminated.
    let name = unsafe { CStr::from_ptr(name) };
    // SAFETY: the caller promises that a non-null handle starts with a dispatch pointer.
    let instance = unsafe { translation::chain_instance(handle) }?;
    match lookup::find(name.to_bytes()) {
        Some(row) if matches!(row.level, Level::Instance | Level::PhysicalDevice) => known(row),
        // Drivers are asked for every other name, even if the registry knows it.
        _ => unknown::for_layer_physical_device(instance, name.into())
            .or_else(|| unrecognized(instance, name, "loader_gpdpa_instance_terminator")),
    }
}

/// Returns the terminator of a command of an instance or physical device. The terminator itself checks whether its extension is enabled,
/// because a layer fills its table once and may call every command in it (LAY-240).
fn known(row: &Row) -> PFN_vkVoidFunction {
    row.terminator().filter(|_| row.is_built)
}

/// Returns a function that calls the driver, for any device. A command that names, tags or labels the loader's own objects is available
/// only if the instance extension of these objects is enabled.
fn device_command(instance: &Instance, row: &Row) -> PFN_vkVoidFunction {
    match row.device_gate() {
        DeviceGate::Instance(any) => row.terminator().filter(|_| instance.enabled.get().intersects(any)),
        DeviceGate::Always | DeviceGate::Device(_) => ends::for_layer(instance, row)
            .or_else(|| unrecognized(instance, row.name(), "loader_gpa_instance_terminator")),
    }
}

/// Implements `vkGetDeviceProcAddr` at the end of the device chain.
///
/// # Safety
/// `name` is NULL or terminated; a non-null `handle` starts with a dispatch pointer.
pub(crate) unsafe fn terminator_get_device_proc_addr(handle: VkDevice, name: *const c_char) -> PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: the name is not null, so the caller promises that it is terminated.
    let name = unsafe { CStr::from_ptr(name) };
    // SAFETY: the caller promises that a non-null handle starts with a dispatch pointer.
    let device = unsafe { translation::device_by_word(handle) }?;
    match lookup::find(name.to_bytes()) {
        Some(row) => known_to_device(device, row),
        None => device.ask_driver(name.into(), None),
    }
}

/// Returns the function that the end of the device chain has for a known command.
pub(super) fn known_to_device(device: &Device, row: &Row) -> PFN_vkVoidFunction {
    let enabled = match row.device_gate() {
        DeviceGate::Always if row.number == row::vkGetDeviceProcAddr => return row.terminator(),
        DeviceGate::Always if row.level != Level::Device => return None,
        DeviceGate::Always => return device.ask_driver(row.name().into(), Some(row)),
        DeviceGate::Device(any) => device.enabled().intersects(any),
        DeviceGate::Instance(any) => device.instance().enabled.get().intersects(any),
    };
    // The driver is not asked for commands that the loader must see first (DRV-204).
    row.terminator().filter(|_| enabled)
}
