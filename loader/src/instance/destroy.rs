//! Destruction of instances (APP-99, APP-110, APP-111, DRV-235).

use super::{INSTANCES, Instance, InstanceDriver};
use crate::alloc::{HostAllocator, HostBox};
use crate::device;
use crate::driver::PreloadedDrivers;
use crate::gate::GATE;
use crate::generated::lookup::row;
use crate::generated::types::VkAllocationCallbacks;
use crate::handle::{App, Chain, InstanceHandle};
use crate::layer;
use crate::translation;

/// Destroys an instance.
///
/// # Safety
/// `handle` is NULL, or readable as [`translation::instance_object`] demands; the instance is not in use.
pub(crate) unsafe fn destroy_instance(handle: InstanceHandle<App>, callbacks: *const VkAllocationCallbacks) {
    if handle.is_null() {
        return;
    }
    let _passage = GATE.enter();
    // SAFETY: the caller promises that the handle points to readable words.
    let Some(instance) = (unsafe { translation::instance_object(handle) }) else {
        return translation::reject(row::vkDestroyInstance);
    };
    instance.messengers.forget_ordinary();
    instance.messengers.resume_create_time();
    let destroy = instance.table().vkDestroyInstance.get();
    // SAFETY: the function belongs to the topmost entity and receives the handle that this entity returned.
    unsafe { destroy(instance.chain_handle(), callbacks) };
    let allocator = instance.allocator;
    // SAFETY: the chain is destroyed, so Vulkan forbids any use of the handle.
    unsafe { free(core::ptr::from_ref(instance).cast_mut(), allocator) };
    PreloadedDrivers::release_unless_kept();
}

/// Implements `vkDestroyInstance` at the end of the chain: destroys the instance of every driver.
///
/// # Safety
/// `handle` comes from the lowest layer.
pub(crate) unsafe fn destroy_instance_terminator(
    handle: InstanceHandle<Chain>,
    callbacks: *const VkAllocationCallbacks,
) {
    // SAFETY: the lowest layer passes a handle that starts with a dispatch pointer.
    if let Some(instance) = unsafe { translation::chain_instance(handle) } {
        device::release_forgotten(instance);
        // SAFETY: Vulkan requires callbacks that are null or valid.
        unsafe { release_drivers(instance, callbacks) };
    }
}

/// Destroys the objects that the application left in a driver, then the driver's instance. The library stays open.
///
/// # Safety
/// The caller has claimed the driver; `callbacks` is null or points to valid callbacks.
pub(crate) unsafe fn retire(instance: &Instance, driver: &InstanceDriver, callbacks: *const VkAllocationCallbacks) {
    driver.destroy_leftovers(instance);
    // SAFETY: the caller has claimed the driver and promises callbacks that are null or valid.
    unsafe { driver.destroy(callbacks) };
}

/// Retires every driver, and then closes their libraries in the order in which they were opened (DRV-235).
///
/// # Safety
/// `callbacks` is null or points to valid callbacks.
pub(super) unsafe fn release_drivers(instance: &Instance, callbacks: *const VkAllocationCallbacks) {
    for driver in instance.all_drivers().filter(|driver| driver.claim()) {
        // SAFETY: this thread has just claimed the driver, and the caller promises callbacks that are null or valid.
        unsafe { retire(instance, driver, callbacks) };
    }
    for run in instance.drivers.iter() {
        run.iter().rev().for_each(|driver| driver.close());
    }
    let refused = core::mem::take(&mut *instance.refused_drivers.lock());
    drop(refused);
}

/// Frees the loader's own object with all its members, and closes the libraries of the layers.
///
/// # Safety
/// `raw` came from [`HostBox::into_raw`] with `allocator`; nothing refers to the object any more.
pub(super) unsafe fn free(raw: *mut Instance, allocator: HostAllocator) {
    // SAFETY: the caller promises that nothing refers to the object; this reference ends with the block.
    if let Some(layers) = unsafe { (*raw).layers.get_mut() } {
        // The order of the chain no longer matters. This sort brings the layers into the order in which their libraries close.
        os::sort_by(&mut layers.chain, |one, other| one.place < other.place);
    }
    // SAFETY: the object is freed only at the end of this function.
    let instance = unsafe { &*raw };
    device::release_forgotten(instance);
    if let Some(layers) = instance.layers() {
        layer::log_unloading(instance, &layers.chain);
    }
    instance.free_leftovers();
    INSTANCES.remove(raw);
    // SAFETY: the caller promises that `raw` came from `into_raw` with this allocator, and nothing refers to it.
    drop(unsafe { HostBox::from_raw(raw, allocator) });
}
