//! Filling the tables that trampolines call through (GEN-62, LAY-238, LAY-290).

use super::device::fill_own_answers;
use super::terminators::known_to_device;
use crate::device::Device;
use crate::ffi::layer_interface::{GetDeviceProcAddr, GetInstanceProcAddr};
use crate::generated::dispatch::{
    DeviceTable, InstanceTable, device as generated_device, instance as generated_instance,
};
use crate::generated::lookup::row;
use crate::generated::terminator;
use crate::generated::types::{PFN_vkVoidFunction, VkDevice};
use crate::handle::{Chain, InstanceHandle};
use crate::instance::Instance;
use crate::lookup::{DeviceGate, Gate, Row};
use crate::stubs;
use crate::table::{self, SharedSlots, Slots};
use crate::translation::DEVICE_MAGIC;

/// A table in which every command is missing.
pub(crate) fn empty_instance_table() -> InstanceTable {
    // SAFETY: every slot has a stub.
    unsafe { InstanceTable::build(|row| stubs::missing_instance(usize::from(row.slot))) }
}

/// A table in which every command is missing and every unknown function reports that it is not there.
///
/// # Safety
/// `table` is writable.
pub(crate) unsafe fn write_empty_device_table(table: *mut DeviceTable) {
    // SAFETY: every slot has a stub, and what is zero gets its value below.
    let table = unsafe {
        DeviceTable::write(table, |row| stubs::missing_device(usize::from(row.slot)));
        (*table).magic = DEVICE_MAGIC;
        &*table
    };
    // A few commands tolerate that no layer or driver answers, all others end the process (GEN-51).
    for &index in &generated_device::NULL_TOLERANT {
        table.entries()[index].set(stubs::return_zero(index));
    }
    super::clear_unknown_of_device(table);
}

/// Points every slot at the loader's own terminator, which works as soon as the drivers exist (LAY-239).
pub(crate) fn fill_with_terminators(instance: &Instance) {
    let table = instance.table();
    for (index, (slot, row)) in table.entries().iter().zip(InstanceTable::commands()).enumerate() {
        slot.set(row.terminator().or_else(|| stubs::missing_instance(index)));
    }
    share_entries(instance);
}

/// Fills the table from the topmost entity (LAY-238).
pub(crate) fn fill_instance_table(instance: &Instance, gipa: GetInstanceProcAddr, handle: InstanceHandle<Chain>) {
    if core::ptr::fn_addr_eq(gipa, terminator::vkGetInstanceProcAddr as GetInstanceProcAddr) {
        // Without layers the terminators, which are there already, are the chain.
        return;
    }
    let table = instance.table();
    for (index, (slot, row)) in table.entries().iter().zip(InstanceTable::commands()).enumerate() {
        let answer = if row.number == row::vkGetInstanceProcAddr {
            // SAFETY: only the type is erased.
            unsafe { table::from_word(gipa as *mut ()) }
        } else {
            // SAFETY: the topmost entity's function with the handle it returned.
            unsafe { gipa(handle, row.name().as_ptr()) }
        };
        let answer = answer.or_else(|| closed_gate(instance, row));
        slot.set(answer.or_else(|| stubs::missing_instance(index)));
    }
    share_entries(instance);
}

/// The terminator of a command whose extension is not enabled: it says so and does nothing (APP-161), while the chain
/// rightly answers NULL.
fn closed_gate(instance: &Instance, row: &Row) -> PFN_vkVoidFunction {
    match row.gate() {
        Gate::Instance(any) if !instance.enabled.get().intersects(any) => row.terminator(),
        _ => None,
    }
}

/// A command and its KHR alias that are one trampoline enter the chain at the KHR entry when that extension is enabled,
/// otherwise at the core one (DRV-159).
fn share_entries(instance: &Instance) {
    let entries = instance.table().entries();
    for shared in generated_instance::SHARED_ENTRIES {
        if instance.enabled.contains(shared.extension) {
            entries[shared.core].set(entries[shared.alias].get());
        }
    }
}

/// Fills a device's table from the topmost entity (GEN-62). What the chain does not answer keeps its stub.
pub(crate) fn fill_device_table(device: &Device, gdpa: GetDeviceProcAddr, handle: VkDevice) {
    let table = device.table();
    // The loader's own ends of the chains need not find the row by its name again.
    let without_layers = core::ptr::fn_addr_eq(gdpa, terminator::vkGetDeviceProcAddr as GetDeviceProcAddr);
    let instance = device.instance();
    let gipa = instance.table().vkGetInstanceProcAddr.get();
    let without_instance_layers = core::ptr::fn_addr_eq(gipa, terminator::vkGetInstanceProcAddr as GetInstanceProcAddr);
    let highest = device.highest_rank();
    let places = table.entries().iter().zip(device.answers());
    for ((slot, shown), row) in places.zip(DeviceTable::commands()) {
        let answer = if row.number == row::vkGetDeviceProcAddr {
            // SAFETY: only the type is erased.
            unsafe { table::from_word(gdpa as *mut ()) }
        } else if matches!(row.device_gate(), DeviceGate::Instance(_)) {
            // A device command of an instance extension: layers answer for it as one of the instance (LAY-290).
            match without_instance_layers {
                true => known_to_device(device, row),
                // SAFETY: the topmost entity's function with the instance handle of the chain.
                false => unsafe { gipa(instance.chain_handle(), row.name().as_ptr()) },
            }
        } else if without_layers {
            known_to_device(device, row)
        } else {
            // SAFETY: the topmost entity's function with the handle it returned.
            unsafe { gdpa(handle, row.name().as_ptr()) }
        };
        if answer.is_some() {
            slot.set(answer);
        }
        shown.set(answer.filter(|_| row.rank <= highest));
    }
    fill_own_answers(device);
    super::fill_unknown_of_device(device, gdpa, handle);
    super::ends::fill_late_ends(device);
}
