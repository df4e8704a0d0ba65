//! Replacing the physical devices of a device group by their handles one level down (APP-144, DRV-193).

use crate::alloc::{HostAllocator, HostBox, HostVec, OutOfMemory};
use crate::ffi;
use crate::generated::types::{VkBaseInStructure, VkDeviceGroupDeviceCreateInfo};
use crate::handle::{App, Level};
use std::ffi::c_void;
use std::ptr::NonNull;

/// A chain in which one structure stands in for another. Dropping it restores the chain.
///
/// The structures in front of the replaced one belong to the caller, so the last of them is written to for as long as
/// this value lives.
pub(super) struct Regrouped<L: Level> {
    /// The devices one level down; the stand-in points into it.
    _devices: HostVec<L::VkPhysicalDevice>,
    _info: HostBox<VkDeviceGroupDeviceCreateInfo<L>>,
    link: NonNull<*const c_void>,
    original: *const c_void,
}

/// The group structure of a chain, if it names devices. Its handles are of whatever level the caller works at.
///
/// # Safety
/// `first` is the head of a valid chain.
pub(super) unsafe fn find<'a>(first: *const c_void) -> Option<&'a VkDeviceGroupDeviceCreateInfo<App>> {
    // SAFETY: by this function's contract; all levels have one layout.
    let group = unsafe {
        ffi::find::<VkDeviceGroupDeviceCreateInfo<App>>(first, VkDeviceGroupDeviceCreateInfo::<App>::STRUCTURE_TYPE)
    }?;
    (group.physicalDeviceCount > 0 && !group.pPhysicalDevices.is_null()).then_some(group)
}

impl<L: Level> Regrouped<L> {
    /// Puts a copy of `group` with other devices into the chain that starts at `*head`.
    ///
    /// # Safety
    /// `group` is in the chain, whose structures are writable and which nobody else reads while the value lives; `head`
    /// outlives the value.
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
        let original = std::ptr::from_ref(group).cast::<c_void>();
        let mut link = NonNull::from(head);
        // SAFETY: every link of the chain is null or valid, and `group` is in it.
        unsafe {
            while *link.as_ptr() != original {
                let structure = (*link.as_ptr()).cast_mut().cast::<VkBaseInStructure>();
                link = NonNull::from(&mut (*structure).pNext).cast();
            }
            *link.as_ptr() = info.as_ptr().cast_const().cast();
        }
        Ok(Self {
            _devices: devices,
            _info: info,
            link,
            original,
        })
    }
}

impl<L: Level> Drop for Regrouped<L> {
    fn drop(&mut self) {
        // SAFETY: the link was writable when the value was made and still is, by the contract of `put`.
        unsafe { *self.link.as_ptr() = self.original };
    }
}
