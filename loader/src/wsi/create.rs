//! Making and destroying the loader's surfaces (DRV-174, DRV-175, DRV-182, DRV-188).
//!
//! Creation calls no driver. Memory comes from the instance's callbacks, whatever the call brings along (APP-170); the
//! call's own callbacks are kept for the drivers.

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

/// Why a create info was refused: its chain holds a structure that the loader cannot copy.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownStructure;

/// Makes a surface of any platform.
///
/// # Safety
/// The parameters are as the platform's command demands; the instance comes from the lowest layer.
pub(super) unsafe fn create<I: PlatformInfo>(
    instance: InstanceHandle<Chain>,
    create_info: *const I,
    callbacks: *const VkAllocationCallbacks,
    surface: *mut SurfaceHandle<Chain>,
) -> VkResult {
    let platform: &'static Platform = const { &I::PLATFORM };
    let command = platform.command;
    let _passage = GATE.enter();
    // SAFETY: passed on to the caller.
    let instance = unsafe { require_instance(instance, command) };
    if !is_enabled(instance, platform) {
        return VkResult::VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    // SAFETY: the caller gives a valid structure.
    let info = unsafe { input(create_info, command, "pCreateInfo") };
    // SAFETY: the chain of a valid structure.
    let Ok(stereo) = (unsafe { known_extension(platform, info.next()) }) else {
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
    // SAFETY: the caller gives NULL or valid callbacks.
    let callbacks = unsafe { callbacks.as_ref() }.copied();
    match add(
        instance,
        Surface::new(platform, info.part(), (*info).into(), stereo, callbacks),
    ) {
        Ok(made) => {
            // SAFETY: the caller gives a place for the handle.
            unsafe { *surface = Surface::handle(made) };
            VkResult::VK_SUCCESS
        }
        Err(error) => error.into(),
    }
}

/// Whether the platform's extension is enabled on the instance; says so if not (DRV-164, APP-161).
fn is_enabled(instance: &Instance, platform: &Platform) -> bool {
    let enabled = instance.enabled.contains(platform.extension);
    if !enabled {
        not_enabled(instance, platform.extension, platform.command);
    }
    enabled
}

/// The stereo structure in a create info's chain, where that is known (DRV-175).
///
/// # Safety
/// `chain` is the chain of a valid create info.
unsafe fn known_extension(
    platform: &Platform,
    chain: *const c_void,
) -> Result<Option<VkDisplaySurfaceStereoCreateInfoNV>, UnknownStructure> {
    let stereo = VkDisplaySurfaceStereoCreateInfoNV::STRUCTURE_TYPE;
    // SAFETY: by this function's contract.
    let all_known = unsafe { ffi::chain(chain) }.all(|at| {
        // SAFETY: every member of a valid chain is readable.
        platform.stereo && unsafe { (*at).sType } == stereo
    });
    if !all_known {
        return Err(UnknownStructure);
    }
    // SAFETY: by this function's contract; the structure says what it is.
    Ok(unsafe { ffi::find::<VkDisplaySurfaceStereoCreateInfoNV>(chain, stereo) }.copied())
}

/// Gives a surface its memory, its slot, and room in the table of every driver that may make one of its own, in this
/// order (APP-178). Undoes all of it when memory runs out (APP-179).
fn add(instance: &Instance, surface: Surface) -> Result<NonNull<Surface>, OutOfMemory> {
    let per_driver = surface.platform.per_driver;
    let (raw, allocator) = HostBox::try_new(surface, instance.surface_allocator())?.into_raw();
    // SAFETY: the pointer and the allocator came from one box; this is undone at most once.
    let free = || drop(unsafe { HostBox::from_raw(raw, allocator) });
    let made = NonNull::new(raw).ok_or(OutOfMemory)?;
    let number = |index: usize| {
        // SAFETY: nothing else knows the object: other threads reach it through the table only, which is locked.
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

/// Terminator of `vkDestroySurfaceKHR` (DRV-182).
///
/// # Safety
/// The parameters are as the command's reference page demands; the instance comes from the lowest layer.
pub(crate) unsafe fn destroy_surface_khr(
    instance: InstanceHandle<Chain>,
    surface: SurfaceHandle<Chain>,
    callbacks: *const VkAllocationCallbacks,
) {
    // SAFETY: passed on to the caller.
    let instance = unsafe { require_instance(instance, "vkDestroySurfaceKHR") };
    let Some(surface) = Surface::from_handle(surface) else {
        return;
    };
    // A handle that is no surface of this instance, or no longer, has no slot.
    let Some(index) = instance.surface_slots.lock().index_of(surface.as_ptr()) else {
        return;
    };
    for driver in instance.drivers().filter_map(InstanceDriver::pin) {
        // SAFETY: passed on; the driver is pinned, so its instance lives.
        unsafe { driver.destroy_surface(index, callbacks) };
    }
    instance.free_surface(index);
}

/// Declares the terminators that make surfaces.
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
                // SAFETY: passed on to the caller.
                unsafe { create(instance, create_info, callbacks, surface) }
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
            // SAFETY: chains of valid structures.
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
        let surface = Surface::new(platform, info.part(), info.into(), None, None);
        let words = core::ptr::from_ref(&surface).cast::<u32>();
        // SAFETY: the words lie within the object and were initialised.
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
        let surface = Surface::new(platform, info.part(), info.into(), None, Some(callbacks));
        assert!(!surface.callbacks().is_null());
        assert!(surface.complete_callbacks().is_none());
    }
}
