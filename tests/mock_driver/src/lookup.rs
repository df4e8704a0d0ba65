//! Look-up functions of the driver, and the exports of the library.

use std::ffi::{CStr, c_char, c_void};

use ash::vk::{self, Handle};

use crate::commands::{self, Level};
use crate::entry::Call;
use crate::{global, journal, object, state, unknown};

/// Function pointer in the form that the look-up functions return.
type Function = *const c_void;

/// Returns a name as text. The text is empty for NULL.
///
/// # Safety
/// `name` is NULL or a terminated string.
unsafe fn text<'a>(name: *const c_char) -> std::borrow::Cow<'a, str> {
    if name.is_null() {
        return "".into();
    }
    // SAFETY: the name is not null, so the caller promises that it is terminated.
    unsafe { CStr::from_ptr(name) }.to_string_lossy()
}

/// Begins a look-up: reads the configuration, records the look-up if the flag `journal_lookups` is set, and applies the configuration lines
/// `missing` and `answer`.
fn override_of(by: &'static str, handle: u64, name: &str) -> Result<Function, Call> {
    let call = Call::quiet(by);
    if call.config.flag("journal_lookups") {
        journal::line(&call.config, &format!("{by} {} {name}", object::show(handle)));
    }
    if call.config.misses(name) {
        return Ok(std::ptr::null());
    }
    match call.config.answers.get(name) {
        Some(address) => Ok(*address as Function),
        None => Err(call),
    }
}

fn offered(list: &[String], name: &str) -> Function {
    if list.iter().any(|known| known == name) {
        unknown::function(name)
    } else {
        std::ptr::null()
    }
}

/// Implements `vkGetInstanceProcAddr`.
pub(crate) unsafe extern "system" fn instance(handle: vk::Instance, name: *const c_char) -> Function {
    // SAFETY: all callers of this look-up pass a terminated name.
    let name = unsafe { text(name) };
    let call = match override_of("vk_icdGetInstanceProcAddr", handle.as_raw(), &name) {
        Ok(function) => return function,
        Err(call) => call,
    };
    if handle.is_null() {
        return commands::find(&call.config, &name, |level| level == Level::Global);
    }
    object::expect("vk_icdGetInstanceProcAddr", &["instance"], handle.as_raw());
    let known = commands::find(&call.config, &name, |_| true);
    if known.is_null() {
        offered(&call.config.gipa, &name)
    } else {
        known
    }
}

/// Look-up function for physical-device commands (DRV-70). The function ends the process if the handle is unknown.
pub(crate) unsafe extern "system" fn physical(handle: vk::Instance, name: *const c_char) -> Function {
    // SAFETY: all callers of this look-up pass a terminated name.
    let name = unsafe { text(name) };
    object::expect("vk_icdGetPhysicalDeviceProcAddr", &["instance"], handle.as_raw());
    let call = match override_of("vk_icdGetPhysicalDeviceProcAddr", handle.as_raw(), &name) {
        Ok(function) => return function,
        Err(call) => call,
    };
    let known = commands::find(&call.config, &name, |level| level == Level::Physical);
    if known.is_null() {
        offered(&call.config.gpdpa, &name)
    } else {
        known
    }
}

/// Implements `vkGetDeviceProcAddr`.
pub(crate) unsafe extern "system" fn device(handle: vk::Device, name: *const c_char) -> Function {
    // SAFETY: all callers of this look-up pass a terminated name.
    let name = unsafe { text(name) };
    let owner = object::get("vkGetDeviceProcAddr", "device", handle.as_raw());
    let call = match override_of("vkGetDeviceProcAddr", handle.as_raw(), &name) {
        Ok(function) => return function,
        Err(call) => call,
    };
    if let Some(address) = call.config.opaque_address(&name) {
        return address as Function;
    }
    let known = commands::find_for_device(&call.config, &name, &owner.extensions);
    if known.is_null() {
        offered(&call.config.gdpa, &name)
    } else {
        known
    }
}

/// Exported look-up function for instance commands.
///
/// # Safety
/// `name` is a terminated string.
#[unsafe(no_mangle)]
unsafe extern "system" fn vk_icdGetInstanceProcAddr(handle: vk::Instance, name: *const c_char) -> Function {
    // SAFETY: the caller promises valid parameters of this command.
    unsafe { instance(handle, name) }
}

/// Exported look-up function for physical-device commands.
///
/// # Safety
/// `name` is a terminated string.
#[unsafe(no_mangle)]
unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(handle: vk::Instance, name: *const c_char) -> Function {
    // SAFETY: the caller promises valid parameters of this command.
    unsafe { physical(handle, name) }
}

/// Exported negotiation of the interface version.
///
/// # Safety
/// `version` is valid for reads and writes.
#[unsafe(no_mangle)]
unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> vk::Result {
    // SAFETY: the caller promises valid parameters of this command.
    unsafe { global::negotiate(version) }
}

/// Exports of interface version 0 (DRV-67).
mod legacy {
    use super::*;

    /// Records the call, and returns the function of the name.
    ///
    /// # Safety
    /// The parameters are valid for this Vulkan command.
    #[unsafe(no_mangle)]
    unsafe extern "system" fn vkGetInstanceProcAddr(handle: vk::Instance, name: *const c_char) -> Function {
        let config = state::with(|state| state.config.clone());
        journal::line(&config, "legacy vkGetInstanceProcAddr");
        // SAFETY: the caller promises valid parameters of this command.
        unsafe { instance(handle, name) }
    }

    /// Exported `vkCreateInstance`.
    ///
    /// # Safety
    /// The parameters are valid for this Vulkan command.
    #[unsafe(no_mangle)]
    unsafe extern "system" fn vkCreateInstance(
        info: *const vk::InstanceCreateInfo<'static>,
        allocator: *const vk::AllocationCallbacks<'static>,
        out: *mut vk::Instance,
    ) -> vk::Result {
        // SAFETY: the caller promises valid parameters of this command.
        unsafe { global::create_instance(info, allocator, out) }
    }

    /// Exported `vkEnumerateInstanceExtensionProperties`.
    ///
    /// # Safety
    /// The parameters are valid for this Vulkan command.
    #[unsafe(no_mangle)]
    unsafe extern "system" fn vkEnumerateInstanceExtensionProperties(
        layer: *const c_char,
        count: *mut u32,
        out: *mut vk::ExtensionProperties,
    ) -> vk::Result {
        // SAFETY: the caller promises valid parameters of this command.
        unsafe { global::enumerate_instance_extension_properties(layer, count, out) }
    }
}
