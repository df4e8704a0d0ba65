//! Creation and destruction of the loader's surfaces (DRV-174, DRV-175, DRV-182, DRV-188).
//!
//! Creation calls no driver. Memory comes from the instance's callbacks, even if the call has callbacks of its own (APP-170); the callbacks
//! of the call are stored for the drivers.

use super::query::{input, not_enabled};
use super::unwrap::has_own_surfaces;
use crate::alloc::HostBox;
use crate::ffi;
use crate::gate::GATE;
use crate::generated::types::*;
use crate::handle::{Chain, InstanceHandle, SurfaceHandle};
use crate::instance::{Instance, InstanceDriver};
use crate::slots::{HandleTable, SlotTable};
use crate::target::require_instance;
use crate::window_system::Surface;
use crate::window_system::platform::each_platform;
use crate::window_system::{Platform, PlatformInfo};
use core::ffi::c_void;
use core::ptr::NonNull;
use discovery::journal::LogBits;
use discovery::log;
use os::memory::OutOfMemory;

/// Error for a create info whose chain contains a structure that the loader cannot copy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownStructure;

/// Creates a surface of any platform.
///
/// # Safety
/// The parameters are as the platform's command demands; the instance comes from the lowest layer.
#[inline(never)]
unsafe fn create(
    platform: &'static Platform,
    instance: InstanceHandle<Chain>,
    create_info: *const VkBaseInStructure,
    callbacks: *const VkAllocationCallbacks,
    surface: *mut SurfaceHandle<Chain>,
) -> VkResult {
    let command = platform.command;
    let _passage = GATE.enter();
    // SAFETY: the lowest layer passes a handle that the loader returned to the layer.
    let instance = unsafe { require_instance(instance, command) };
    if !is_enabled(instance, platform) {
        return VkResult::VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    // SAFETY: Vulkan requires a valid create info.
    let info = unsafe { input(create_info, command, "pCreateInfo") };
    // SAFETY: the chain of a valid structure is valid.
    let Ok(stereo) = (unsafe { known_extension(platform, info.pNext.cast()) }) else {
        log::emit(
            Some(instance),
            LogBits::ERROR,
            format_args!(
                "Unsupported extension structure in {} pNext chain.",
                platform.create_info
            ),
        );
        return VkResult::VK_ERROR_EXTENSION_NOT_PRESENT;
    };
    // SAFETY: Vulkan requires callbacks that are NULL or valid.
    let callbacks = unsafe { callbacks.as_ref() }.copied();
    // SAFETY: the create info is not NULL, so the caller promises a valid structure of this platform.
    let (part, info) = unsafe { (platform.read)(create_info) };
    match add(instance, Surface::new(platform, part, info, stereo, callbacks)) {
        Ok(made) => {
            // SAFETY: Vulkan requires a writable surface handle.
            unsafe { *surface = Surface::handle(made) };
            VkResult::VK_SUCCESS
        }
        Err(error) => error.into(),
    }
}

/// Returns `true` if the platform's extension is enabled on the instance; logs an error if not (DRV-164, APP-161).
fn is_enabled(instance: &Instance, platform: &Platform) -> bool {
    let enabled = instance.enabled.contains(platform.extension);
    if !enabled {
        not_enabled(instance, platform.extension, platform.command);
    }
    enabled
}

/// Returns the `VkDisplaySurfaceStereoCreateInfoNV` in a create info's chain, for platforms whose surfaces may have it (DRV-175).
///
/// # Errors
/// The chain contains another structure.
///
/// # Safety
/// `chain` is the chain of a valid create info.
unsafe fn known_extension(
    platform: &Platform,
    chain: *const c_void,
) -> Result<Option<VkDisplaySurfaceStereoCreateInfoNV>, UnknownStructure> {
    let stereo = VkDisplaySurfaceStereoCreateInfoNV::STRUCTURE_TYPE;
    // SAFETY: the caller promises a valid chain.
    let all_known = unsafe { ffi::chain(chain) }.all(|at| {
        // SAFETY: each structure of a valid chain is readable.
        platform.stereo && unsafe { (*at).sType } == stereo
    });
    if !all_known {
        return Err(UnknownStructure);
    }
    // SAFETY: the caller promises a valid chain, in which a structure has the type of its `sType`.
    Ok(unsafe { ffi::find::<VkDisplaySurfaceStereoCreateInfoNV>(chain, stereo) }.copied())
}

/// Allocates a surface, its slot, and room in the table of every driver that may create its own surface, in this order (APP-178). If memory
/// runs out, undoes all these steps (APP-179).
fn add(instance: &Instance, surface: Surface) -> Result<NonNull<Surface>, OutOfMemory> {
    let per_driver = surface.platform.per_driver;
    let (raw, allocator) = HostBox::try_new(surface, instance.surface_allocator())?.into_raw();
    // SAFETY: pointer and allocator came from one box, and each path frees the box at most once.
    let free = || drop(unsafe { HostBox::from_raw(raw, allocator) });
    let made = NonNull::new(raw).ok_or(OutOfMemory)?;
    let number = |index: usize| {
        // SAFETY: other threads reach the object only through the table, which is locked now.
        unsafe { (*raw).index = index as u32 };
    };
    let Ok(index) = SlotTable::reserve(&instance.surface_slots, |table| table, made, number) else {
        free();
        return Err(OutOfMemory);
    };
    for driver in instance.drivers().filter_map(InstanceDriver::pin) {
        if per_driver && has_own_surfaces(&driver) && HandleTable::make_room(&driver.surfaces, index).is_err() {
            instance.surface_slots.lock().release(index);
            free();
            return Err(OutOfMemory);
        }
    }
    Ok(made)
}

/// Implements `vkDestroySurfaceKHR` at the end of the chain (DRV-182).
///
/// # Safety
/// The parameters are as the command's reference page demands; the instance comes from the lowest layer.
pub(crate) unsafe fn destroy_surface_khr(
    instance: InstanceHandle<Chain>,
    surface: SurfaceHandle<Chain>,
    callbacks: *const VkAllocationCallbacks,
) {
    // SAFETY: the lowest layer passes a handle that the loader returned to the layer.
    let instance = unsafe { require_instance(instance, "vkDestroySurfaceKHR") };
    let Some(surface) = Surface::from_handle(surface) else {
        return;
    };
    // A handle that is not, or no longer, a surface of this instance has no slot.
    let Some(index) = instance.surface_slots.lock().index_of(surface.as_ptr()) else {
        return;
    };
    for driver in instance.drivers().filter_map(InstanceDriver::pin) {
        // SAFETY: Vulkan requires callbacks that are NULL or valid; the driver is pinned, so its instance is live.
        unsafe { driver.destroy_surface(index, callbacks) };
    }
    instance.free_surface(index);
}

/// Declares the terminators that create surfaces.
macro_rules! terminators {
    ($(
        $body:ident: $command:ident, $info:ident => $part:ident { $($member:ident),* }, $extension:ident,
        per_driver: $per_driver:literal, stereo: $stereo:literal;
    )*) => {
        $(
            #[doc = concat!("Terminator of `", stringify!($command), "` (DRV-174).")]
            ///
            /// # Safety
            /// The parameters are as the command's reference page demands; the instance comes from the lowest layer.
            pub(crate) unsafe fn $body(
                instance: InstanceHandle<Chain>,
                create_info: *const $info,
                callbacks: *const VkAllocationCallbacks,
                surface: *mut SurfaceHandle<Chain>,
            ) -> VkResult {
                // SAFETY: the caller promises valid parameters of this platform's command.
                unsafe {
                    create(const { &<$info as PlatformInfo>::PLATFORM }, instance, create_info.cast(), callbacks, surface)
                }
            }
        )*
    };
}

each_platform!(terminators);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window_system::ALL;

    fn stereo(next: *const c_void) -> VkDisplaySurfaceStereoCreateInfoNV {
        VkDisplaySurfaceStereoCreateInfoNV {
            sType: VkDisplaySurfaceStereoCreateInfoNV::STRUCTURE_TYPE,
            pNext: next,
            stereoType: VkDisplaySurfaceStereoTypeNV(2),
        }
    }

    #[test]
    fn drv_175_only_display_surfaces_may_be_extended_and_only_by_stereo() {
        let foreign = VkHeadlessSurfaceCreateInfoEXT {
            sType: VkStructureType(1_000_999_000),
            pNext: core::ptr::null(),
            flags: VkHeadlessSurfaceCreateFlagsEXT::default(),
        };
        let foreign: *const c_void = core::ptr::from_ref(&foreign).cast();
        let alone = stereo(core::ptr::null());
        let alone: *const c_void = core::ptr::from_ref(&alone).cast();
        let with_foreign = stereo(foreign);
        let with_foreign: *const c_void = core::ptr::from_ref(&with_foreign).cast();
        for platform in ALL {
            // SAFETY: the chains consist of valid structures.
            let known = |chain| unsafe { known_extension(platform, chain) }.map(|found| found.map(|s| s.stereoType));
            let display = platform.command == "vkCreateDisplayPlaneSurfaceKHR";
            let expected = if display {
                Ok(Some(VkDisplaySurfaceStereoTypeNV(2)))
            } else {
                Err(UnknownStructure)
            };
            assert_eq!(known(core::ptr::null()), Ok(None), "{}", platform.command);
            assert_eq!(known(foreign), Err(UnknownStructure), "{}", platform.command);
            assert_eq!(known(with_foreign), Err(UnknownStructure), "{}", platform.command);
            assert_eq!(known(alone), expected, "{}", platform.command);
        }
    }

    #[test]
    fn drv_171_numbers_describe_the_object() {
        let info = VkXcbSurfaceCreateInfoKHR {
            sType: VkXcbSurfaceCreateInfoKHR::STRUCTURE_TYPE,
            pNext: core::ptr::null(),
            flags: VkXcbSurfaceCreateFlagsKHR::default(),
            connection: core::ptr::null_mut(),
            window: 77,
        };
        let platform = const { &<VkXcbSurfaceCreateInfoKHR as PlatformInfo>::PLATFORM };
        // SAFETY: the structure is the create info of this platform.
        let (part, info) = unsafe { (platform.read)(core::ptr::from_ref(&info).cast()) };
        let surface = Surface::new(platform, part, info, None, None);
        let words = core::ptr::from_ref(&surface).cast::<u32>();
        // SAFETY: all offsets below are inside the surface object, whose bytes there are initialised.
        let word = |byte: usize| unsafe { *words.add(byte / 4) };
        assert_eq!(word(0), 3);
        assert_eq!(word(16), 77);
        assert_eq!([word(48), word(52), word(56)], [4, 24, 48]);
        assert_eq!(word(60) as usize, size_of::<Surface>());
        assert!(surface.extensions().is_null());
    }

    #[test]
    fn drv_188_only_complete_callbacks_serve_forgotten_surfaces() {
        unsafe extern "system" fn allocate(
            _: *mut c_void,
            _: usize,
            _: usize,
            _: VkSystemAllocationScope,
        ) -> *mut c_void {
            core::ptr::null_mut()
        }
        unsafe extern "system" fn release(_: *mut c_void, _: *mut c_void) {}
        let callbacks = VkAllocationCallbacks {
            pUserData: core::ptr::null_mut(),
            pfnAllocation: Some(allocate),
            pfnReallocation: None,
            pfnFree: Some(release),
            pfnInternalAllocation: None,
            pfnInternalFree: None,
        };
        let info = VkHeadlessSurfaceCreateInfoEXT {
            sType: VkHeadlessSurfaceCreateInfoEXT::STRUCTURE_TYPE,
            pNext: core::ptr::null(),
            flags: VkHeadlessSurfaceCreateFlagsEXT::default(),
        };
        let platform = const { &<VkHeadlessSurfaceCreateInfoEXT as PlatformInfo>::PLATFORM };
        // SAFETY: the structure is the create info of this platform.
        let (part, info) = unsafe { (platform.read)(core::ptr::from_ref(&info).cast()) };
        let surface = Surface::new(platform, part, info, None, Some(callbacks));
        assert!(!surface.callbacks().is_null());
        assert!(surface.complete_callbacks().is_none());
    }
}
