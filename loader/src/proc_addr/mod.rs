//! Look-up of functions by name: the application's two look-ups, and the two at the end of the chains.
//!
//! All of them start from [`crate::lookup::Command::find`], which knows the level, gate and slots of every command in the registry. This
//! module decides which answer a caller gets (APP-20 to APP-49, LAY-240, LAY-291). [`unknown`] handles names that the registry does not
//! know.

mod device;
mod ends;
mod instance;
mod tables;
mod terminators;
mod unknown;

use crate::generated::types::PFN_vkVoidFunction;
use core::ffi::{CStr, c_char};
use discovery::trace;

/// Writes to the trace that the look-up `by` of the application answers NULL for a name, if it does.
///
/// # Safety
/// `name` is NULL or terminated.
unsafe fn write_missing(by: &'static str, name: *const c_char, answer: PFN_vkVoidFunction) {
    if answer.is_some() || name.is_null() {
        return;
    }
    // SAFETY: the name is not NULL, so the caller promises that it is terminated.
    let name = unsafe { CStr::from_ptr(name) };
    trace::write("not-found", |record| {
        record.word("by", by);
        record.text("name", name.to_bytes());
    });
}

pub(crate) use device::{fill_own_answers, get_device_proc_addr};
pub(crate) use ends::{Asked as AskedEnds, Ends, fill_ends, write_empty_ends};
pub(crate) use instance::get_instance_proc_addr;
pub(crate) use tables::{
    empty_instance_table, fill_device_table, fill_instance_table, fill_with_terminators, write_empty_device_table,
};
pub(crate) use terminators::{
    terminator_get_device_proc_addr, terminator_get_instance_proc_addr, terminator_get_physical_device_proc_addr,
};
pub(crate) use unknown::{
    UnknownFunctions, clear_device as clear_unknown_of_device, fill_device as fill_unknown_of_device,
    missing_physical_device_function,
};
