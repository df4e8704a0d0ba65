//! Destruction of devices (APP-155, LAY-293, DRV-202).

use super::object::Device;
use crate::alloc::{HostAllocator, HostBox};
use crate::device::DEVICES;
use crate::ffi::layer_interface::DestroyDevice;
use crate::gate::GATE;
use crate::generated::lookup::row;
use crate::generated::types::{VkAllocationCallbacks, VkDevice};
use crate::instance::Instance;
use crate::translation;

/// Destroys a device of the application.
///
/// # Safety
/// `handle` is NULL or readable as [`translation::device_table`] demands; the device is not in use.
pub(crate) unsafe fn destroy_device(handle: VkDevice, callbacks: *const VkAllocationCallbacks) {
    if handle.0.is_null() {
        return;
    }
    // SAFETY: the caller promises that the handle is readable.
    let Some(table) = (unsafe { translation::device_table(handle) }) else {
        return translation::reject(row::vkDestroyDevice);
    };
    // SAFETY: `device_table` has checked the magic, so a record contains the table.
    let device = unsafe { Device::of_table(table) };
    // A look-up may use the device while it waits for a layer. This thread waits for the end of the look-up before it enters the gate: no
    // thread waits for this thread yet, so the wait cannot cause a deadlock.
    device.close();
    let _passage = GATE.enter();
    // SAFETY: the function belongs to the topmost entity and gets the handle that this entity returned.
    unsafe { destroy(device, handle, callbacks, table.vkDestroyDevice.get()) };
}

/// Destroys a device that a layer created (LAY-293).
///
/// # Safety
/// The parameters are those of `PFN_vkLayerDestroyDevice`.
pub(crate) unsafe extern "system" fn layer_destroy_device(
    handle: VkDevice,
    callbacks: *const VkAllocationCallbacks,
    function: Option<DestroyDevice>,
) {
    if handle.0.is_null() {
        return;
    }
    // SAFETY: a device handle starts with a dispatch pointer.
    let device = unsafe { translation::device_by_word(handle) };
    match (device, function) {
        (Some(device), Some(function)) => {
            device.close();
            // SAFETY: the layer passes its own function for its own device.
            unsafe { destroy(device, handle, callbacks, function) }
        }
        // SAFETY: the layer passes its own function for its own device.
        (None, Some(function)) => unsafe { function(handle, callbacks) },
        (_, None) => {}
    }
}

/// Calls `function`, which destroys the device, and frees the record of the device.
///
/// # Safety
/// `function` destroys `handle`, and `device` is the record of the handle. Neither the handle nor the record is in use, and the device is
/// closed.
unsafe fn destroy(
    device: &'static Device,
    handle: VkDevice,
    callbacks: *const VkAllocationCallbacks,
    function: DestroyDevice,
) {
    // SAFETY: the caller promises that `function` destroys `handle`, which is not in use.
    unsafe { function(handle, callbacks) };
    // The allocator that created the record frees it, even if the application now passes other callbacks (APP-179b).
    let allocator = device.allocator();
    // SAFETY: the device is destroyed, so Vulkan forbids any use of its handle.
    unsafe { forget(device, allocator) };
}

/// Frees the record of a device.
///
/// # Safety
/// `allocator` created the record; nothing refers to the record any more.
pub(super) unsafe fn forget(device: &'static Device, allocator: HostAllocator) {
    let raw = core::ptr::from_ref(device).cast_mut();
    DEVICES.remove(raw);
    // SAFETY: the caller promises that nothing refers to the record any more; it came from `HostBox::into_raw` with this allocator.
    drop(unsafe { HostBox::from_raw(raw, allocator) });
}

/// Frees the records of devices that the application did not destroy (APP-111). Calls no driver (DRV-237).
pub(crate) fn release_forgotten(instance: &Instance) {
    while let Some(device) = DEVICES.find(|device| core::ptr::eq(device.instance(), instance)) {
        let allocator = device.allocator();
        // SAFETY: the instance is being destroyed, so no device of it may be in use.
        unsafe { forget(device, allocator) };
    }
}
