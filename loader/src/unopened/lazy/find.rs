//! Look-ups in a driver that is not open yet.

use super::Sleeper;
use super::table::TABLE;
use crate::generated::dispatch::DriverTable;
use crate::generated::lookup::row;
use crate::generated::types::PFN_vkVoidFunction;
use crate::handle::{Driver, InstanceHandle};
use crate::lookup::{self, Gate, Level, Row};
use crate::table::Slots;
use core::ffi::{CStr, c_char};

/// Stands for a device command of the driver. Nobody calls this function, because the loader only checks whether the command exists.
unsafe extern "system" fn present() {}

impl Sleeper {
    /// Returns `true` if the driver's instance finds a command. Opens the driver if the record does not have the answer.
    fn has(&self, row: &Row) -> bool {
        let asks = || match row.gate() {
            Gate::Always => None,
            Gate::Instance(any) => Some(self.request.enabled.intersects(any)),
        };
        let recorded = || {
            self.closed
                .record()?
                .has_command(self.request.minor(), row.number, asks)
        };
        match self.opened() {
            None => recorded().unwrap_or_else(|| self.asks(row.name())),
            Some(_) => self.asks(row.name()),
        }
    }

    fn asks(&self, name: &CStr) -> bool {
        let opened = self.wake(name);
        // SAFETY: the look-up function belongs to the driver of this instance, and the name is terminated.
        opened.is_ok_and(|opened| unsafe { (opened.look_up)(opened.handle, name.as_ptr()) }.is_some())
    }
}

/// Implements `vk_icdGetInstanceProcAddr` for a driver that is not open yet.
///
/// # Safety
/// `instance` is a handle of this module, and `name` is terminated.
pub(super) unsafe extern "system" fn look_up(
    instance: InstanceHandle<Driver>,
    name: *const c_char,
) -> PFN_vkVoidFunction {
    if instance.is_null() || name.is_null() {
        return None;
    }
    // SAFETY: the caller promises a handle of this module, and a terminated name.
    let (sleeper, name) = unsafe { (Sleeper::of(instance), CStr::from_ptr(name)) };
    match lookup::find(name.to_bytes()) {
        // The stand-in itself can always be destroyed.
        Some(row) if row.number != row::vkDestroyInstance && !sleeper.has(row) => None,
        Some(row) if row.level == Level::Device && !is_in_table(row) => Some(present),
        Some(row) => slot(row.number).and_then(|slot| TABLE.get(slot)),
        None => sleeper.asks(name).then_some(present as crate::lookup::Function),
    }
}

/// Returns the slot in the table of a driver for the command with this number.
pub(super) fn slot(command: u16) -> Option<usize> {
    DriverTable::rows().binary_search(&command).ok()
}

fn is_in_table(row: &Row) -> bool {
    slot(row.number).is_some()
}

/// Implements `vk_icdGetPhysicalDeviceProcAddr` for a driver that is not open yet.
///
/// # Safety
/// `instance` is a handle of this module, and `name` is terminated.
pub(super) unsafe extern "system" fn look_up_of_physical_devices(
    instance: InstanceHandle<Driver>,
    name: *const c_char,
) -> PFN_vkVoidFunction {
    if instance.is_null() || name.is_null() {
        return None;
    }
    // SAFETY: the caller promises a handle of this module, and a terminated name.
    let (sleeper, text) = unsafe { (Sleeper::of(instance), CStr::from_ptr(name)) };
    match lookup::find(text.to_bytes()) {
        Some(row) if row.level == Level::PhysicalDevice => {
            // SAFETY: the caller promises the handle and the name that `look_up` demands.
            unsafe { look_up(instance, name) }
        }
        Some(_) => None,
        None => {
            let opened = sleeper.wake(text).ok()?;
            // SAFETY: the look-up function belongs to the driver of this instance, and the name is terminated.
            let function = unsafe { (opened.look_up_of_physical_devices?)(opened.handle, name) }?;
            let number = sleeper.unknown.lock().number(text, function)?;
            sleeper.host.thunk(number)
        }
    }
}
