//! The object for a `VkSurfaceKHR` of the application.

use super::layout::PlatformPart;
use super::platform::{CreateInfo, Platform};
use crate::alloc::HostAllocator;
use crate::generated::types::{VkAllocationCallbacks, VkDisplaySurfaceStereoCreateInfoNV};
use crate::handle::{Chain, SurfaceHandle};
use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr::NonNull;

/// A surface: data that an old driver reads, and data from which a new driver creates its own surface (DRV-170, DRV-174).
///
/// The platform's part must stay first, and the numbers after it must keep their order (DRV-171).
#[repr(C)]
pub(crate) struct Surface {
    /// Structure that drivers below interface version 3 read.
    pub part: PlatformPart,
    base_size: u32,
    platform_size: u32,
    non_platform_offset: u32,
    entire_size: u32,
    /// Slot of the surface in the tables of the instance and of each driver.
    pub index: u32,
    /// Platform, with the functions that create its surfaces in drivers.
    pub platform: &'static Platform,
    /// A copy of the create info; its `pNext` is not used.
    pub create_info: CreateInfo,
    stereo: Option<VkDisplaySurfaceStereoCreateInfoNV>,
    callbacks: Option<VkAllocationCallbacks>,
}

const _: () = {
    assert!(offset_of!(Surface, part) == 0);
    assert!(offset_of!(Surface, base_size) == size_of::<PlatformPart>());
    assert!(offset_of!(Surface, platform_size) == offset_of!(Surface, base_size) + 4);
    assert!(offset_of!(Surface, non_platform_offset) == offset_of!(Surface, base_size) + 8);
    assert!(offset_of!(Surface, entire_size) == offset_of!(Surface, base_size) + 12);
    assert!(offset_of!(Surface, index) == offset_of!(Surface, base_size) + 16);
    assert!(size_of::<Surface>() <= u32::MAX as usize);
};

// SAFETY: the surface is immutable once a handle to it exists. Its pointers belong to the application, and the loader only passes them on.
unsafe impl Send for Surface {}
// SAFETY: the surface is immutable once a handle to it exists. Its pointers belong to the application, and the loader only passes them on.
unsafe impl Sync for Surface {}

impl Surface {
    /// Creates a surface without a slot. `stereo` is the only structure that may extend a create info (DRV-175).
    pub(crate) fn new(
        platform: &'static Platform,
        part: PlatformPart,
        create_info: CreateInfo,
        stereo: Option<VkDisplaySurfaceStereoCreateInfoNV>,
        callbacks: Option<VkAllocationCallbacks>,
    ) -> Self {
        let stereo = stereo.map(|stereo| VkDisplaySurfaceStereoCreateInfoNV {
            pNext: core::ptr::null(),
            ..stereo
        });
        Self {
            part,
            base_size: size_of::<u32>() as u32,
            platform_size: platform.part_size,
            non_platform_offset: offset_of!(Self, base_size) as u32,
            entire_size: size_of::<Self>() as u32,
            index: u32::MAX,
            platform,
            create_info,
            stereo,
            callbacks,
        }
    }

    /// Returns the object for a handle; `None` for `VK_NULL_HANDLE`.
    pub(crate) fn from_handle(handle: SurfaceHandle<Chain>) -> Option<NonNull<Self>> {
        let address = usize::try_from(handle.raw()).ok()?;
        NonNull::new(core::ptr::with_exposed_provenance_mut(address))
    }

    /// Returns the handle for the application and the layers.
    pub(crate) fn handle(surface: NonNull<Self>) -> SurfaceHandle<Chain> {
        SurfaceHandle::from_raw(surface.as_ptr().expose_provenance() as u64)
    }

    /// Returns the slot as an index into tables.
    pub(crate) fn slot(&self) -> usize {
        self.index as usize
    }

    /// Returns the chain of the saved create info.
    pub(crate) fn extensions(&self) -> *const c_void {
        self.stereo
            .as_ref()
            .map_or(core::ptr::null(), |stereo| core::ptr::from_ref(stereo).cast())
    }

    /// Returns the allocation callbacks of the surface's creation. Drivers receive these callbacks when they create their own surface
    /// (DRV-177).
    pub(crate) fn callbacks(&self) -> *const VkAllocationCallbacks {
        self.callbacks.as_ref().map_or(core::ptr::null(), core::ptr::from_ref)
    }

    /// Returns the allocation callbacks for the destruction of a surface that the application did not destroy, if these callbacks are
    /// complete (DRV-188).
    pub(crate) fn complete_callbacks(&self) -> Option<VkAllocationCallbacks> {
        self.callbacks.filter(HostAllocator::is_complete)
    }
}
