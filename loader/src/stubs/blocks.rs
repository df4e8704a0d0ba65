//! Functions for the stubs of all processors that have machine code. The module of each of these processors includes this module.

use super::super::{DEVICE_ENDS, Stubs};
use super::{
    DEVICE_THUNK, MISSING, PHYSICAL_DEVICE_TERMINATOR, PHYSICAL_DEVICE_THUNK, vkl_device_terminators,
    vkl_device_thunks, vkl_missing_device, vkl_missing_instance, vkl_physical_device_terminators,
    vkl_physical_device_thunks,
};
use crate::dispatch_table::UNKNOWN_SLOTS;
use crate::generated::dispatch::{DeviceTable, InstanceTable};
use crate::table::Slot;

/// `true` if this processor can forward unknown functions.
pub(crate) const SUPPORTED: bool = true;

pub(in super::super) fn device_thunks() -> Option<Stubs> {
    Some(Stubs {
        first: &raw const vkl_device_thunks,
        size: DEVICE_THUNK,
        count: UNKNOWN_SLOTS,
    })
}

pub(in super::super) fn device_terminators() -> Option<Stubs> {
    Some(Stubs {
        first: &raw const vkl_device_terminators,
        size: DEVICE_THUNK,
        count: DEVICE_ENDS,
    })
}

pub(in super::super) fn physical_device_thunks() -> Option<Stubs> {
    Some(Stubs {
        first: &raw const vkl_physical_device_thunks,
        size: PHYSICAL_DEVICE_THUNK,
        count: UNKNOWN_SLOTS,
    })
}

pub(in super::super) fn physical_device_terminators() -> Option<Stubs> {
    let first = &raw const vkl_physical_device_terminators;
    Some(Stubs {
        first,
        size: PHYSICAL_DEVICE_TERMINATOR,
        count: UNKNOWN_SLOTS,
    })
}

fn missing_devices() -> Stubs {
    Stubs {
        first: &raw const vkl_missing_device,
        size: MISSING,
        count: DeviceTable::SLOT_COUNT,
    }
}

fn missing_instances() -> Stubs {
    Stubs {
        first: &raw const vkl_missing_instance,
        size: MISSING,
        count: InstanceTable::SLOT_COUNT,
    }
}

pub(in super::super) fn missing_device(index: usize) -> Slot {
    missing_devices().at(index)
}

pub(in super::super) fn missing_instance(index: usize) -> Slot {
    missing_instances().at(index)
}

pub(in super::super) fn is_missing_device(function: Slot) -> bool {
    missing_devices().holds(crate::table::to_word(function))
}
