//! Filling of the tables through which trampolines call (GEN-62, LAY-238, LAY-290).

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

/// Returns a table in which every command is missing.
pub(crate) fn empty_instance_table() -> InstanceTable {
    // SAFETY: `missing_instance` returns a stub for every slot.
    unsafe { InstanceTable::build(|row| stubs::missing_instance(usize::from(row.slot))) }
}

/// Writes a table in which every command is missing and every unknown function reports that it is missing.
///
/// # Safety
/// `table` is writable.
pub(crate) unsafe fn write_empty_device_table(table: *mut DeviceTable) {
    // SAFETY: the caller promises a writable table; every slot gets a stub, and the members that are still zero are set below.
    let table = unsafe {
        DeviceTable::write(table, |row| stubs::missing_device(usize::from(row.slot)));
        (*table).magic = DEVICE_MAGIC;
        &*table
    };
    // A few commands do nothing if neither a layer nor a driver implements them; all others end the process (GEN-51).
    for &index in &generated_device::NULL_TOLERANT {
        table.entries()[index].set(stubs::return_zero(index));
    }
    super::clear_unknown_of_device(table);
}

/// Points every slot at the loader's own terminator, which works as soon as the drivers' instances exist (LAY-239). The slot of a command
/// without a terminator gets a stub that reports the missing command.
pub(crate) fn fill_with_terminators(instance: &Instance) {
    let table = instance.table();
    for (index, (slot, row)) in table.entries().iter().zip(InstanceTable::commands()).enumerate() {
        slot.set(row.terminator().or_else(|| stubs::missing_instance(index)));
    }
    share_entries(instance);
}

/// Fills the table with the functions of the topmost entity (LAY-238).
pub(crate) fn fill_instance_table(instance: &Instance, gipa: GetInstanceProcAddr, handle: InstanceHandle<Chain>) {
    if core::ptr::fn_addr_eq(gipa, terminator::vkGetInstanceProcAddr as GetInstanceProcAddr) {
        // Without layers, the terminators are the chain, and the table already has them.
        return;
    }
    let table = instance.table();
    for (index, (slot, row)) in table.entries().iter().zip(InstanceTable::commands()).enumerate() {
        let answer = if row.number == row::vkGetInstanceProcAddr {
            // SAFETY: the word is a function's address; only its type is erased.
            unsafe { table::from_word(gipa as *mut ()) }
        } else {
            // SAFETY: the lookup function belongs to the topmost entity and receives the handle that this entity returned.
            unsafe { gipa(handle, row.name().as_ptr()) }
        };
        let answer = answer.or_else(|| closed_gate(instance, row));
        slot.set(answer.or_else(|| stubs::missing_instance(index)));
    }
    share_entries(instance);
}

/// Returns the terminator of a command whose extension is not enabled: it logs an error and does nothing (APP-161). The chain returns NULL
/// for this command.
fn closed_gate(instance: &Instance, row: &Row) -> PFN_vkVoidFunction {
    match row.gate() {
        Gate::Instance(any) if !instance.enabled.get().intersects(any) => row.terminator(),
        _ => None,
    }
}

/// Sets the function that a trampoline with two names calls ([`SharedEntry`](crate::dispatch_table::SharedEntry)): the alias's function if
/// the alias's extension is enabled, otherwise the function of the core name (DRV-159).
fn share_entries(instance: &Instance) {
    let entries = instance.table().entries();
    for shared in generated_instance::SHARED_ENTRIES {
        if instance.enabled.contains(shared.extension) {
            entries[shared.core].set(entries[shared.alias].get());
        }
    }
}

/// Fills a device's table with the functions of the topmost entity (GEN-62). A command that the chain lacks keeps its stub.
pub(crate) fn fill_device_table(device: &Device, gdpa: GetDeviceProcAddr, handle: VkDevice) {
    let table = device.table();
    // Without layers, the answers come from the loader's own ends of the chains, which need no look-up by name.
    let without_layers = core::ptr::fn_addr_eq(gdpa, terminator::vkGetDeviceProcAddr as GetDeviceProcAddr);
    let instance = device.instance();
    let gipa = instance.table().vkGetInstanceProcAddr.get();
    let without_instance_layers = core::ptr::fn_addr_eq(gipa, terminator::vkGetInstanceProcAddr as GetInstanceProcAddr);
    let highest = device.highest_rank();
    let places = table.entries().iter().zip(device.answers());
    for ((slot, shown), row) in places.zip(DeviceTable::commands()) {
        let answer = if row.number == row::vkGetDeviceProcAddr {
            // SAFETY: the word is a function's address; only its type is erased.
            unsafe { table::from_word(gdpa as *mut ()) }
        } else if matches!(row.device_gate(), DeviceGate::Instance(_)) {
            // Layers answer the look-up of a device command of an instance extension like that of an instance command (LAY-290).
            if without_instance_layers {
                known_to_device(device, row)
            } else {
                // SAFETY: the lookup function belongs to the topmost entity and receives the chain's instance handle.
                unsafe { gipa(instance.chain_handle(), row.name().as_ptr()) }
            }
        } else if without_layers {
            known_to_device(device, row)
        } else {
            // SAFETY: the lookup function belongs to the topmost entity and receives the handle that this entity returned.
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
