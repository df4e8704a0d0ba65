//! The two extensible queries for surface capabilities, and the loader's additions to their answers (DRV-161 to DRV-163).

use super::query::{input, output};
use super::surface_query::no_capabilities;
use super::unwrap::surface_info_for;
use crate::ffi;
use crate::generated::types::*;
use crate::handle::{Chain, PhysicalDeviceHandle, SurfaceHandle};
use crate::target::{Target, none};
use core::ffi::c_void;
use discovery::extension::{InstanceExtension, InstanceExtensionSet};

/// Implements `vkGetPhysicalDeviceSurfaceCapabilities2KHR` at the end of the chain.
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn get_physical_device_surface_capabilities2_khr(
    device: PhysicalDeviceHandle<Chain>,
    info: *const VkPhysicalDeviceSurfaceInfo2KHR<Chain>,
    capabilities: *mut VkSurfaceCapabilities2KHR,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetPhysicalDeviceSurfaceCapabilities2KHR") };
    if !target.allows(InstanceExtension::VK_KHR_surface) {
        return VkResult::VK_SUCCESS;
    }
    // SAFETY: Vulkan requires a writable output parameter, and NULL is checked.
    let capabilities = unsafe { output(capabilities, target.command, "pSurfaceCapabilities") };
    // SAFETY: Vulkan requires a valid structure, and NULL is checked.
    let info = unsafe { input(info, target.command, "pSurfaceInfo") };
    let emulates_maintenance = emulates_maintenance(target.driver.enabled);
    let answer = match target.driver.table.vkGetPhysicalDeviceSurfaceCapabilities2KHR {
        // SAFETY: the caller promises a surface from the lowest layer; the driver's function receives the driver's own handles.
        Some(function) => unsafe {
            surface_info_for(target.driver, info).map(|own| {
                preset_protected(capabilities.pNext);
                target.recorded(|| function(target.handle, &own, capabilities))
            })
        },
        // SAFETY: the caller promises valid structures and a surface from the lowest layer.
        None => unsafe { by_first_generation(&target, info, capabilities, emulates_maintenance) },
    };
    let result = match answer {
        Ok(result) => result,
        Err(error) => return error,
    };
    if emulates_maintenance {
        // SAFETY: the caller promises valid structures, so their chains are valid.
        unsafe { emulate_maintenance(info.pNext, capabilities) };
    }
    result
}

/// Returns `true` if the loader fills the structures of `VK_KHR_surface_maintenance1` in place of the driver. This extension is an instance
/// extension, so applications use it with every driver, including drivers that lack it (DRV-162).
fn emulates_maintenance(enabled_on_driver: InstanceExtensionSet) -> bool {
    !enabled_on_driver.contains(InstanceExtension::VK_KHR_surface_maintenance1)
        && !enabled_on_driver.contains(InstanceExtension::VK_EXT_surface_maintenance1)
}

/// Sets `supportsProtected` to `VK_FALSE` in each `VkSurfaceProtectedCapabilitiesKHR` of a chain, for drivers that do not know this
/// structure (DRV-163).
///
/// # Safety
/// `chain` is the chain of a valid structure.
unsafe fn preset_protected(chain: *mut c_void) {
    // SAFETY: the caller promises a valid chain.
    for structure in unsafe { ffi::chain_mut(chain) } {
        // SAFETY: each structure of a valid chain is readable and has the type of its `sType`.
        unsafe {
            if (*structure).sType == VkSurfaceProtectedCapabilitiesKHR::STRUCTURE_TYPE {
                (*structure.cast::<VkSurfaceProtectedCapabilitiesKHR>()).supportsProtected = VK_FALSE;
            }
        }
    }
}

/// Answers with `vkGetPhysicalDeviceSurfaceCapabilitiesKHR`, or with zeros if the driver lacks that command too.
///
/// # Errors
/// The error code of creating the driver's surface.
///
/// # Safety
/// The structures are valid; the surface comes from the lowest layer.
unsafe fn by_first_generation(
    target: &Target,
    info: &VkPhysicalDeviceSurfaceInfo2KHR<Chain>,
    capabilities: &mut VkSurfaceCapabilities2KHR,
    emulates_maintenance: bool,
) -> Result<VkResult, VkResult> {
    let older = target.driver.table.vkGetPhysicalDeviceSurfaceCapabilitiesKHR;
    target.announce(Some("vkGetPhysicalDeviceSurfaceCapabilitiesKHR"));
    let asked = |kind, _| emulates_maintenance && kind == VkSurfacePresentModeKHR::STRUCTURE_TYPE;
    let answered = |kind, _| {
        let maintenance = [
            VkSurfacePresentModeCompatibilityKHR::STRUCTURE_TYPE,
            VkSurfacePresentScalingCapabilitiesKHR::STRUCTURE_TYPE,
        ];
        emulates_maintenance && maintenance.contains(&kind)
    };
    // SAFETY: the caller promises valid structures, so their chains are valid.
    unsafe {
        target.ignore_chain(info.pNext, "pSurfaceInfo->", asked);
        target.ignore_chain(capabilities.pNext, "pSurfaceCapabilities->", answered);
    }
    let Some(older) = older else {
        capabilities.surfaceCapabilities = no_capabilities();
        return Ok(VkResult::VK_SUCCESS);
    };
    // SAFETY: the caller promises a surface from the lowest layer; the driver's function receives the driver's own handles.
    unsafe {
        let surface = target.surface(info.surface)?;
        Ok(older(target.handle, surface, &mut capabilities.surfaceCapabilities))
    }
}

/// Answers with facts that hold for every driver: a present mode is compatible with itself, and images are not scaled (DRV-162).
///
/// # Safety
/// `asked` is the chain of a valid query and `capabilities` a valid answer.
unsafe fn emulate_maintenance(asked: *const c_void, capabilities: &mut VkSurfaceCapabilities2KHR) {
    // SAFETY: the caller promises a valid chain.
    let mode = unsafe { ffi::find::<VkSurfacePresentModeKHR>(asked, VkSurfacePresentModeKHR::STRUCTURE_TYPE) };
    let Some(mode) = mode.map(|structure| structure.presentMode) else {
        return;
    };
    let extents = capabilities.surfaceCapabilities;
    // SAFETY: the caller promises a valid answer, so its chain is valid.
    for structure in unsafe { ffi::chain_mut(capabilities.pNext) } {
        // SAFETY: each structure of a valid chain has the type of its `sType`.
        unsafe {
            match (*structure).sType {
                VkSurfacePresentModeCompatibilityKHR::STRUCTURE_TYPE => {
                    only_itself(&mut *structure.cast::<VkSurfacePresentModeCompatibilityKHR>(), mode);
                }
                VkSurfacePresentScalingCapabilitiesKHR::STRUCTURE_TYPE => {
                    unscaled(
                        &mut *structure.cast::<VkSurfacePresentScalingCapabilitiesKHR>(),
                        &extents,
                    );
                }
                _ => {}
            }
        }
    }
}

/// Reports one compatible mode: the mode itself.
///
/// # Safety
/// `pPresentModes` is NULL or has room for `presentModeCount` elements.
unsafe fn only_itself(compatible: &mut VkSurfacePresentModeCompatibilityKHR, mode: VkPresentModeKHR) {
    if compatible.pPresentModes.is_null() {
        compatible.presentModeCount = 1;
    } else if compatible.presentModeCount != 0 {
        // SAFETY: the count is above zero, so the caller promises room for one element.
        unsafe { *compatible.pPresentModes = mode };
        compatible.presentModeCount = 1;
    }
}

/// Reports neither scaling nor gravity. The bounds of scaled image extents are those of the surface's image extents.
fn unscaled(scaling: &mut VkSurfacePresentScalingCapabilitiesKHR, capabilities: &VkSurfaceCapabilitiesKHR) {
    scaling.supportedPresentScaling = VkPresentScalingFlagsKHR::default();
    scaling.supportedPresentGravityX = VkPresentGravityFlagsKHR::default();
    scaling.supportedPresentGravityY = VkPresentGravityFlagsKHR::default();
    scaling.minScaledImageExtent = capabilities.minImageExtent;
    scaling.maxScaledImageExtent = capabilities.maxImageExtent;
}

/// Implements `vkGetPhysicalDeviceSurfaceCapabilities2EXT` at the end of the chain. Emulates the command with
/// `vkGetPhysicalDeviceSurfaceCapabilitiesKHR` (DRV-161).
///
/// # Safety
/// The parameters are as the command's reference page demands; the handles come from the lowest layer.
pub(crate) unsafe fn get_physical_device_surface_capabilities2_ext(
    device: PhysicalDeviceHandle<Chain>,
    surface: SurfaceHandle<Chain>,
    capabilities: *mut VkSurfaceCapabilities2EXT,
) -> VkResult {
    // SAFETY: the caller promises a handle from the lowest layer.
    let target = unsafe { Target::new(device, "vkGetPhysicalDeviceSurfaceCapabilities2EXT") };
    // SAFETY: Vulkan requires a writable output parameter, and NULL is checked.
    let capabilities = unsafe { output(capabilities, target.command, "pSurfaceCapabilities") };
    let answer = match target.driver.table.vkGetPhysicalDeviceSurfaceCapabilities2EXT {
        // SAFETY: the caller promises a surface from the lowest layer; the driver's function receives the driver's own handles.
        Some(function) => unsafe {
            target
                .surface(surface)
                .map(|own| function(target.handle, own, capabilities))
        },
        // SAFETY: the caller promises a valid structure and a surface from the lowest layer.
        None => unsafe { without_counters(&target, surface, capabilities) },
    };
    answer.unwrap_or_else(|error| error)
}

/// Answers with `vkGetPhysicalDeviceSurfaceCapabilitiesKHR`, or with zeros if the driver lacks that command too. After an error, the output
/// is unchanged.
///
/// # Safety
/// The structure is valid; the surface comes from the lowest layer.
unsafe fn without_counters(
    target: &Target,
    surface: SurfaceHandle<Chain>,
    capabilities: &mut VkSurfaceCapabilities2EXT,
) -> Result<VkResult, VkResult> {
    let older = target.driver.table.vkGetPhysicalDeviceSurfaceCapabilitiesKHR;
    target.announce(Some("vkGetPhysicalDeviceSurfaceCapabilitiesKHR"));
    // SAFETY: the caller promises a valid structure, so its chain is valid.
    unsafe { target.ignore_chain(capabilities.pNext, "pSurfaceCapabilities->", none) };
    let mut answer = no_capabilities();
    let result = match older {
        // SAFETY: the caller promises a surface from the lowest layer; the driver's function receives the driver's own handles.
        Some(older) => unsafe { older(target.handle, target.surface(surface)?, &mut answer) },
        None => VkResult::VK_SUCCESS,
    };
    if result.0 >= 0 {
        copy_without_counters(capabilities, &answer);
    }
    Ok(result)
}

/// Copies the members that both structures have, and reports that no surface counter is supported.
fn copy_without_counters(to: &mut VkSurfaceCapabilities2EXT, from: &VkSurfaceCapabilitiesKHR) {
    *to = VkSurfaceCapabilities2EXT {
        sType: to.sType,
        pNext: to.pNext,
        minImageCount: from.minImageCount,
        maxImageCount: from.maxImageCount,
        currentExtent: from.currentExtent,
        minImageExtent: from.minImageExtent,
        maxImageExtent: from.maxImageExtent,
        maxImageArrayLayers: from.maxImageArrayLayers,
        supportedTransforms: from.supportedTransforms,
        currentTransform: from.currentTransform,
        supportedCompositeAlpha: from.supportedCompositeAlpha,
        supportedUsageFlags: from.supportedUsageFlags,
        supportedSurfaceCounters: VkSurfaceCounterFlagsEXT::default(),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIFO: VkPresentModeKHR = VkPresentModeKHR::VK_PRESENT_MODE_FIFO_KHR;
    const MAILBOX: VkPresentModeKHR = VkPresentModeKHR::VK_PRESENT_MODE_MAILBOX_KHR;

    fn compatibility(count: u32, modes: *mut VkPresentModeKHR) -> VkSurfacePresentModeCompatibilityKHR {
        VkSurfacePresentModeCompatibilityKHR {
            sType: VkSurfacePresentModeCompatibilityKHR::STRUCTURE_TYPE,
            pNext: core::ptr::null_mut(),
            presentModeCount: count,
            pPresentModes: modes,
        }
    }

    fn answer(chain: *mut c_void) -> VkSurfaceCapabilities2KHR {
        VkSurfaceCapabilities2KHR {
            sType: VkSurfaceCapabilities2KHR::STRUCTURE_TYPE,
            pNext: chain,
            surfaceCapabilities: VkSurfaceCapabilitiesKHR {
                minImageExtent: VkExtent2D { width: 1, height: 2 },
                maxImageExtent: VkExtent2D { width: 3, height: 4 },
                ..no_capabilities()
            },
        }
    }

    #[test]
    fn drv_162_a_mode_is_compatible_with_itself_only() {
        let mut modes = [MAILBOX, MAILBOX];
        let array = modes.as_mut_ptr();
        for (count, array, expected) in [(7, core::ptr::null_mut(), 1), (2, array, 1), (0, array, 0)] {
            let mut structure = compatibility(count, array);
            // SAFETY: the array has room for `presentModeCount` elements.
            unsafe { only_itself(&mut structure, FIFO) };
            assert_eq!(structure.presentModeCount, expected);
        }
        assert_eq!(modes, [FIFO, MAILBOX]);
    }

    #[test]
    fn drv_162_scaling_is_described_by_the_image_extents() {
        let mut structure = VkSurfacePresentScalingCapabilitiesKHR {
            sType: VkSurfacePresentScalingCapabilitiesKHR::STRUCTURE_TYPE,
            pNext: core::ptr::null_mut(),
            supportedPresentScaling: VkPresentScalingFlagsKHR(7),
            supportedPresentGravityX: VkPresentGravityFlagsKHR(7),
            supportedPresentGravityY: VkPresentGravityFlagsKHR(7),
            minScaledImageExtent: VkExtent2D { width: 9, height: 9 },
            maxScaledImageExtent: VkExtent2D { width: 9, height: 9 },
        };
        let mode = VkSurfacePresentModeKHR {
            sType: VkSurfacePresentModeKHR::STRUCTURE_TYPE,
            pNext: core::ptr::null_mut(),
            presentMode: FIFO,
        };
        let chain: *mut c_void = (&raw mut structure).cast();
        // SAFETY: the chains are valid; without a mode the function does nothing.
        unsafe { emulate_maintenance(core::ptr::null(), &mut answer(chain)) };
        // SAFETY: the chain points to a live structure of this type.
        let seen = unsafe { &*chain.cast::<VkSurfacePresentScalingCapabilitiesKHR>() };
        assert_eq!(seen.supportedPresentScaling.0, 7);
        // SAFETY: both chains are valid and live.
        unsafe { emulate_maintenance(core::ptr::from_ref(&mode).cast(), &mut answer(chain)) };
        let VkSurfacePresentScalingCapabilitiesKHR {
            minScaledImageExtent: min,
            maxScaledImageExtent: max,
            ..
        } = structure;
        assert_eq!((min.width, min.height, max.width, max.height), (1, 2, 3, 4));
        assert_eq!(structure.supportedPresentScaling.0, 0);
        assert_eq!(
            (
                structure.supportedPresentGravityX.0,
                structure.supportedPresentGravityY.0
            ),
            (0, 0)
        );
    }

    #[test]
    fn drv_162_either_name_of_the_extension_on_the_driver_ends_the_emulation() {
        let none = InstanceExtensionSet::empty();
        assert!(emulates_maintenance(none.with(InstanceExtension::VK_KHR_surface)));
        assert!(!emulates_maintenance(
            none.with(InstanceExtension::VK_KHR_surface_maintenance1)
        ));
        assert!(!emulates_maintenance(
            none.with(InstanceExtension::VK_EXT_surface_maintenance1)
        ));
    }

    #[test]
    fn drv_163_every_protected_structure_starts_as_not_protected() {
        let mut second = VkSurfaceProtectedCapabilitiesKHR {
            sType: VkSurfaceProtectedCapabilitiesKHR::STRUCTURE_TYPE,
            pNext: core::ptr::null_mut(),
            supportsProtected: 5,
        };
        let mut modes = compatibility(3, core::ptr::null_mut());
        modes.pNext = (&raw mut second).cast();
        let mut first = VkSurfaceProtectedCapabilitiesKHR {
            pNext: (&raw mut modes).cast(),
            ..second
        };
        // SAFETY: the chain consists of valid structures.
        unsafe { preset_protected((&raw mut first).cast()) };
        assert_eq!(
            (
                first.supportsProtected,
                second.supportsProtected,
                modes.presentModeCount
            ),
            (0, 0, 3)
        );
    }

    #[test]
    fn drv_161_the_counters_form_keeps_its_own_chain() {
        let mut to: VkSurfaceCapabilities2EXT =
            // SAFETY: the structure has only numbers and a pointer, for which zero is valid.
            unsafe { core::mem::zeroed() };
        let mut next = 0_u32;
        to.pNext = (&raw mut next).cast();
        to.supportedSurfaceCounters = VkSurfaceCounterFlagsEXT(1);
        copy_without_counters(
            &mut to,
            &VkSurfaceCapabilitiesKHR {
                minImageCount: 2,
                ..no_capabilities()
            },
        );
        assert_eq!((to.minImageCount, to.supportedSurfaceCounters.0), (2, 0));
        assert_eq!(to.pNext, (&raw mut next).cast());
    }
}
