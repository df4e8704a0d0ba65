//! `vkGetInstanceProcAddr` as the application calls it (APP-20 to APP-35, DRV-212).

use super::{unknown, write_missing};
use crate::ffi::Uncounted;
use crate::generated::lookup::row;
use crate::generated::types::PFN_vkVoidFunction;
use crate::handle::{App, InstanceHandle};
use crate::instance::INSTANCES;
use crate::lookup::{Command, Gate, Level};
use crate::translation;
use core::ffi::{CStr, c_char};
use discovery::trace;
use discovery::version::ApiVersion;

/// Looks a command up. The trace gets a record if the answer is NULL.
///
/// # Safety
/// `name` is NULL or terminated. `handle` is NULL or readable as [`translation::instance_object`] demands, unless `name` is
/// `vkGetInstanceProcAddr`.
#[inline(always)]
pub(crate) unsafe fn get_instance_proc_addr(handle: InstanceHandle<App>, name: *const c_char) -> PFN_vkVoidFunction {
    if trace::is_on() {
        // SAFETY: the caller promises what `look_up` requires.
        return unsafe { look_up_traced(handle, name) };
    }
    // SAFETY: the caller promises what `look_up` requires.
    unsafe { look_up(handle, name) }
}

/// Looks a command up while the trace is on. A function of its own, so that the usual look-up ends with a plain jump.
///
/// # Safety
/// As for [`look_up`].
#[cold]
#[inline(never)]
unsafe fn look_up_traced(handle: InstanceHandle<App>, name: *const c_char) -> PFN_vkVoidFunction {
    // SAFETY: the caller promises what `look_up` requires.
    let answer = unsafe { look_up(handle, name) };
    // SAFETY: the caller promises a name that is NULL or terminated.
    unsafe { write_missing("vkGetInstanceProcAddr", name, answer) };
    answer
}

/// Looks a command up, without the trace.
///
/// # Safety
/// As for [`get_instance_proc_addr`].
#[inline(always)]
unsafe fn look_up(handle: InstanceHandle<App>, name: *const c_char) -> PFN_vkVoidFunction {
    if name.is_null() {
        // A call in place of `None` allows the compiler to end every other path of this function with a plain jump.
        return no_name();
    }
    // SAFETY: the name is not null, so the caller promises that it is terminated.
    let name = unsafe { CStr::from_ptr(name) };
    let command = Command::find(name.to_bytes());
    if let Some(command) = command.filter(|command| command.is_plain()) {
        // The newest instance, which is nearly always the only one, is valid because it is live.
        if core::ptr::eq(handle.raw().cast(), INSTANCES.newest().as_ptr()) {
            return Some(command.trampoline());
        }
    }
    // SAFETY: the caller promises a handle that is NULL or readable, unless the name needs no instance.
    unsafe { decide(handle, name.into(), command) }
}

#[cold]
#[inline(never)]
fn no_name() -> PFN_vkVoidFunction {
    None
}

/// Returns the answer for a name that not every valid instance has, or for a handle that may be invalid.
///
/// # Safety
/// `handle` is NULL or readable as [`translation::instance_object`] demands, unless `name` is `vkGetInstanceProcAddr`.
#[inline(never)]
unsafe fn decide(handle: InstanceHandle<App>, name: Uncounted<'_>, command: Option<Command>) -> PFN_vkVoidFunction {
    let row = command.map(Command::row);
    if let Some(row) = row {
        if row.number == row::vkGetInstanceProcAddr {
            return Some(row.trampoline());
        }
        if row.level == Level::Global {
            // SAFETY: the caller promises a handle that is NULL or readable.
            let instance = unsafe { translation::instance_object(handle) };
            let hidden = instance.is_some_and(|instance| instance.api_version() >= ApiVersion::V1_3);
            return Some(row.trampoline()).filter(|_| !hidden);
        }
    }
    if handle.is_null() {
        return None;
    }
    // SAFETY: the caller promises a handle that is NULL or readable.
    let Some(instance) = (unsafe { translation::instance_object(handle) }) else {
        return translation::reject(row::vkGetInstanceProcAddr);
    };
    match row {
        Some(row) if !row.is_built => None,
        Some(row) => match row.gate() {
            Gate::Always => Some(row.trampoline()),
            Gate::Instance(any) => Some(row.trampoline()).filter(|_| instance.enabled.get().intersects(any)),
        },
        None => unknown::for_application(instance, name),
    }
}
