//! Replaces the physical devices of a device group by their handles one level down (APP-144, DRV-193).

use crate::alloc::{HostAllocator, HostBox, HostVec};
use crate::ffi::{self, Replaced};
use crate::generated::types::VkDeviceGroupDeviceCreateInfo;
use crate::handle::{App, Level};
use core::ffi::c_void;
use os::memory::OutOfMemory;

/// A chain in which a copy with other devices replaces the structure of a device group. This value must live as long as the chain is used.
pub(super) struct Regrouped<L: Level> {
    /// Refers to `_info`, so this member is dropped first.
    _chain: Replaced,
    /// Refers to `_devices`, so this member is dropped before the devices.
    _info: HostBox<VkDeviceGroupDeviceCreateInfo<L>>,
    /// Handles of the devices one level down.
    _devices: HostVec<L::VkPhysicalDevice>,
}

/// Returns the group structure of a chain if it names devices. The handles in the structure are at the level of the caller, although the
/// type names the application's level.
///
/// # Safety
/// `first` is the head of a valid chain, which stays valid while the structure is used.
pub(super) unsafe fn find<'a>(first: *const c_void) -> Option<&'a VkDeviceGroupDeviceCreateInfo<App>> {
    let kind = VkDeviceGroupDeviceCreateInfo::<App>::STRUCTURE_TYPE;
    // SAFETY: the caller promises a valid chain, and the structure has the same layout at all levels.
    let group = unsafe { ffi::find::<VkDeviceGroupDeviceCreateInfo<App>>(first, kind) }?;
    (group.physicalDeviceCount > 0 && !group.pPhysicalDevices.is_null()).then_some(group)
}

impl<L: Level> Regrouped<L> {
    /// Puts a copy of `group`, with other devices, into the chain that starts at `*head`.
    ///
    /// # Safety
    /// `group` is in the chain, which meets the conditions of [`Replaced::put`].
    pub(super) unsafe fn put(
        head: &mut *const c_void,
        group: &VkDeviceGroupDeviceCreateInfo<App>,
        devices: impl ExactSizeIterator<Item = L::VkPhysicalDevice>,
        allocator: HostAllocator,
    ) -> Result<Self, OutOfMemory> {
        let devices = HostVec::try_from_iter(devices, allocator)?;
        let copy = VkDeviceGroupDeviceCreateInfo::<L> {
            sType: group.sType,
            pNext: group.pNext,
            physicalDeviceCount: group.physicalDeviceCount,
            pPhysicalDevices: devices.as_ptr(),
        };
        let info = HostBox::try_new(copy, allocator)?;
        let original = core::ptr::from_ref(group).cast::<c_void>();
        // SAFETY: the caller promises that `group` is in the chain; the new structure lives as long as the result.
        let chain = unsafe { Replaced::put(head, original, info.as_ptr().cast_const().cast(), allocator) }?;
        Ok(Self {
            _chain: chain,
            _info: info,
            _devices: devices,
        })
    }
}
