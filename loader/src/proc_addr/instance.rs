//! `vkGetInstanceProcAddr` as the application calls it (APP-20 to APP-35, DRV-212).

use super::unknown;
use crate::generated::lookup::{self, Gate, Level, Place, ROWS, is, row};
use crate::generated::types::PFN_vkVoidFunction;
use crate::handle::{App, InstanceHandle};
use crate::seam;
use crate::version::ApiVersion;
use core::ffi::{CStr, c_char};

/// Looks a command up.
///
/// # Safety
/// `name` is NULL or terminated. `handle` is NULL or readable as [`seam::instance_object`] demands, unless `name` is
/// `vkGetInstanceProcAddr`.
#[inline(always)]
pub unsafe fn get_instance_proc_addr(handle: InstanceHandle<App>, name: *const c_char) -> PFN_vkVoidFunction {
    if name.is_null() {
        return None;
    }
    // SAFETY: terminated by this function's contract.
    let name = unsafe { CStr::from_ptr(name) };
    let place = lookup::place(name.to_bytes());
    if let Some(place) = place.filter(|place| place.is_ranked()) {
        // SAFETY: passed on.
        if unsafe { seam::instance_object(handle) }.is_some() {
            return Some(ROWS[usize::from(place.row)].trampoline);
        }
    }
    // SAFETY: passed on.
    unsafe { decide(handle, name, place) }
}

/// The answer to a name that not every valid instance has, or to a handle that may be none.
///
/// # Safety
/// As for [`get_instance_proc_addr`].
#[inline(never)]
unsafe fn decide(handle: InstanceHandle<App>, name: &CStr, place: Option<&Place>) -> PFN_vkVoidFunction {
    let row = place.map(|place| &ROWS[usize::from(place.row)]);
    if let Some(row) = row {
        if is(row, row::vkGetInstanceProcAddr) {
            return Some(row.trampoline);
        }
        if row.level == Level::Global {
            // SAFETY: passed on.
            let instance = unsafe { seam::instance_object(handle) };
            let hidden = instance.is_some_and(|instance| instance.api_version() >= ApiVersion::V1_3);
            return Some(row.trampoline).filter(|_| !hidden);
        }
    }
    if handle.is_null() {
        return None;
    }
    // SAFETY: passed on.
    let Some(instance) = (unsafe { seam::instance_object(handle) }) else {
        return seam::reject(row::vkGetInstanceProcAddr);
    };
    match row {
        Some(row) => match row.gate {
            Gate::Always => Some(row.trampoline),
            Gate::Instance(any) => Some(row.trampoline).filter(|_| instance.enabled.get().intersects(any)),
        },
        None => unknown::for_application(instance, name),
    }
}
