//! Replacement for instances of closed drivers in builds without them.

use crate::alloc::HostAllocator;
use crate::driver::{GetProcAddr, Interface};
use crate::ffi::layer_interface::GetDeviceProcAddr;
use crate::generated::types::{VkAllocationCallbacks, VkInstanceCreateInfo, VkResult};
use crate::handle::{Driver, InstanceHandle, PhysicalDeviceHandle};
use crate::late::LateHost;
use crate::recorded::Closed;
use rust_alloc::sync::Arc;

/// Returns the functions of a closed driver. This build has none.
pub(crate) fn interface(_: &Closed) -> Interface {
    Interface::of_closed()
}

/// Fails: this build has no closed drivers.
///
/// # Safety
/// None.
pub(crate) unsafe fn create(
    _: &Arc<Closed>,
    _: (&'static dyn LateHost, HostAllocator),
    _: &VkInstanceCreateInfo,
    _: *const VkAllocationCallbacks,
    _: &mut InstanceHandle<Driver>,
) -> VkResult {
    VkResult::VK_ERROR_INITIALIZATION_FAILED
}

/// Returns the same handle.
#[inline(always)]
pub(crate) fn own_device(_: GetProcAddr, device: PhysicalDeviceHandle<Driver>) -> PhysicalDeviceHandle<Driver> {
    device
}

/// Returns the same handle.
#[inline(always)]
pub(crate) fn own_instance(_: GetProcAddr, instance: InstanceHandle<Driver>) -> InstanceHandle<Driver> {
    instance
}

/// Returns `None`: the driver is open.
#[inline(always)]
pub(crate) fn device_look_up(_: GetProcAddr, _: InstanceHandle<Driver>) -> Option<GetDeviceProcAddr> {
    None
}
