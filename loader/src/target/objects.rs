//! Look-up of the loader's object for a handle that came through the layers.

use crate::device::Device;
use crate::generated::types::{VkDevice, VkInstance};
use crate::handle::{Chain, Dispatchable};
use crate::instance::Instance;
use crate::translation;
use discovery::log;

/// Returns the instance of a chain handle; `None` if the handle is not from this loader.
///
/// # Safety
/// A non-null handle points to a readable word.
pub(crate) unsafe fn instance_of(handle: VkInstance<Chain>) -> Option<&'static Instance> {
    // SAFETY: the caller promises that a non-null handle points to a readable word.
    unsafe { translation::chain_instance(handle) }
}

/// Returns the device of a device, queue or command buffer of the chain. The dispatch pointer identifies the device, even if a layer
/// wrapped the handle (LAY-252, DRV-203). Takes no lock (APP-272).
///
/// # Safety
/// A non-null handle points to a readable word, and that word is null or points to a readable word.
pub(crate) unsafe fn device_of<H: Dispatchable>(handle: H) -> Option<&'static Device> {
    // SAFETY: the caller promises readable words; a table that `device_table` returns has the magic, so a device contains it.
    unsafe { translation::device_table(handle).map(|table| Device::of_table(table)) }
}

/// Returns the instance of a chain handle; for an invalid handle, ends the process with a message that names the command (APP-181).
///
/// # Safety
/// A non-null handle points to a readable word.
pub(crate) unsafe fn require_instance(handle: VkInstance<Chain>, command: &str) -> &'static Instance {
    // SAFETY: the caller promises that a non-null handle points to a readable word.
    unsafe { instance_of(handle) }.unwrap_or_else(|| {
        log::fatal(format_args!(
            "{command}: Invalid instance [VUID-{command}-instance-parameter]"
        ));
        os::abort()
    })
}

/// Returns the device of a chain handle; for an invalid handle, ends the process with a message that gives the likely cause (APP-186).
///
/// # Safety
/// A non-null handle points to a readable word, and that word is null or points to a readable word.
pub(crate) unsafe fn require_device(handle: VkDevice, command: &str) -> &'static Device {
    // SAFETY: the caller promises readable words at a non-null handle.
    unsafe { device_of(handle) }.unwrap_or_else(|| {
        log::fatal(format_args!(
            "{command}: Invalid device handle. This is likely the result of a layer wrapping device handles and \
             failing to unwrap them in all functions. [VUID-{command}-device-parameter]"
        ));
        os::abort()
    })
}
