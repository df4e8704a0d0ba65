//! What terminators share: finding the loader's object behind a handle that came through the layers.

use crate::device::Device;
use crate::generated::types::{VkDevice, VkInstance};
use crate::handle::{Chain, Dispatchable};
use crate::instance::Instance;
use crate::translation;
use discovery::log;

/// The instance that a handle of the chain belongs to; `None` for a handle that is none of ours.
///
/// # Safety
/// A non-null handle points to a readable word.
pub(crate) unsafe fn instance_of(handle: VkInstance<Chain>) -> Option<&'static Instance> {
    // SAFETY: passed on.
    unsafe { translation::chain_instance(handle) }
}

/// The device that a device, queue or command buffer of the chain belongs to. Identified by the dispatch pointer, so
/// that a handle which a layer wrapped still leads to it (LAY-252, DRV-203). Takes no lock (APP-272).
///
/// # Safety
/// A non-null handle points to a readable word, and that word is null or points to a readable word.
pub(crate) unsafe fn device_of<H: Dispatchable>(handle: H) -> Option<&'static Device> {
    // SAFETY: passed on; a table that is found has the magic.
    unsafe { translation::device_table(handle).map(|table| Device::of_table(table)) }
}

/// [`instance_of`], or the end of the process with a message that names the command (APP-181).
///
/// # Safety
/// As for [`instance_of`].
pub(crate) unsafe fn require_instance(handle: VkInstance<Chain>, command: &str) -> &'static Instance {
    // SAFETY: passed on.
    unsafe { instance_of(handle) }.unwrap_or_else(|| {
        log::fatal(format_args!(
            "{command}: Invalid instance [VUID-{command}-instance-parameter]"
        ));
        os::abort()
    })
}

/// [`device_of`], or the end of the process with a message that says what went wrong (APP-186).
///
/// # Safety
/// As for [`device_of`].
pub(crate) unsafe fn require_device(handle: VkDevice, command: &str) -> &'static Device {
    // SAFETY: passed on.
    unsafe { device_of(handle) }.unwrap_or_else(|| {
        log::fatal(format_args!(
            "{command}: Invalid device handle. This is likely the result of a layer wrapping device handles and \
             failing to unwrap them in all functions. [VUID-{command}-device-parameter]"
        ));
        os::abort()
    })
}
