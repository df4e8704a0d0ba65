//! Replacing the physical devices of a device group by their handles one level down (APP-144, DRV-193).

use crate::alloc::{HostAllocator, HostBox, HostVec, OutOfMemory};
use crate::ffi;
use crate::gate::Passage;
use crate::generated::types::{VkBaseInStructure, VkDeviceGroupDeviceCreateInfo};
use crate::handle::{App, Level};
use crate::state;
use core::ffi::c_void;
use core::ptr::NonNull;

/// A group structure in a chain, with handles of whatever level the caller works at.
pub(super) struct Found<'a> {
    /// The structure; it names at least one device.
    pub group: &'a VkDeviceGroupDeviceCreateInfo<App>,
    turn: Option<Passage<'static>>,
}

/// A chain in which one structure stands in for another. Dropping it restores the chain.
///
/// The structures in front of the replaced one belong to the caller, so the last of them is written to for as long as
/// this value lives. Several threads may make devices of one chain, so they take turns: the other threads do not even
/// read the chain meanwhile. A thread that comes back here, from a layer, passes.
pub(super) struct Regrouped<L: Level> {
    /// The devices one level down; the stand-in points into it.
    _devices: HostVec<L::VkPhysicalDevice>,
    _info: HostBox<VkDeviceGroupDeviceCreateInfo<L>>,
    link: NonNull<*const c_void>,
    original: *const c_void,
    /// Ends after the chain is restored.
    _turn: Option<Passage<'static>>,
}

/// The group structure of a chain, if it names devices.
///
/// # Safety
/// `first` is the head of a valid chain.
pub(super) unsafe fn find<'a>(first: *const c_void) -> Option<Found<'a>> {
    let kind = VkDeviceGroupDeviceCreateInfo::<App>::STRUCTURE_TYPE;
    // SAFETY: null or valid by this function's contract; nobody writes to this member.
    let leads = unsafe { first.cast::<VkBaseInStructure>().as_ref() }.is_some_and(|head| head.sType == kind);
    // The head is copied with the create info, so only what lies behind it is ever written to.
    let turn = if leads || first.is_null() {
        None
    } else {
        Some(state::REGROUPING.enter())
    };
    // SAFETY: by this function's contract; all levels have one layout.
    let group = unsafe { ffi::find::<VkDeviceGroupDeviceCreateInfo<App>>(first, kind) }?;
    (group.physicalDeviceCount > 0 && !group.pPhysicalDevices.is_null()).then_some(Found { group, turn })
}

impl<L: Level> Regrouped<L> {
    /// Puts a copy of what was found, with other devices, into the chain that starts at `*head`.
    ///
    /// # Safety
    /// `found` is in the chain, whose structures are writable; `head` outlives the value.
    pub(super) unsafe fn put(
        head: &mut *const c_void,
        Found { group, turn }: Found<'_>,
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
            _turn: turn,
        })
    }
}

impl<L: Level> Drop for Regrouped<L> {
    fn drop(&mut self) {
        // SAFETY: the link was writable when the value was made and still is, by the contract of `put`.
        unsafe { *self.link.as_ptr() = self.original };
    }
}
