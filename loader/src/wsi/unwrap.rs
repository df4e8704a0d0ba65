//! Conversion of the loader's surface to a driver's surface (DRV-176 to DRV-181).

use crate::driver_interface::failure;
use crate::generated::types::{VkPhysicalDeviceSurfaceInfo2KHR, VkResult, VkSwapchainCreateInfoKHR};
use crate::handle::{Chain, Driver, SurfaceHandle};
use crate::instance::InstanceDriver;
use crate::window_system::Surface;
use discovery::extension::InstanceExtension;
use discovery::trace::Step;

/// First interface version in which drivers create surfaces of their own.
const OWN_SURFACES: u32 = 3;

/// Returns `true` if the loader may ask a driver for its own surfaces (DRV-176).
pub(crate) fn has_own_surfaces(driver: &InstanceDriver) -> bool {
    driver.interface_version >= OWN_SURFACES && driver.enabled.contains(InstanceExtension::VK_KHR_surface)
}

/// Returns the driver's handle of a surface, and creates the driver's surface if necessary (DRV-177).
///
/// Drivers without surfaces of their own get the loader's handle; `VK_NULL_HANDLE` stays as it is (DRV-179).
///
/// # Errors
/// `VK_ERROR_EXTENSION_NOT_PRESENT` if the driver cannot create surfaces of the surface's platform, or the error code of the driver's
/// attempt. If a closed driver cannot be opened, the error of the opening.
///
/// # Safety
/// `surface` is `VK_NULL_HANDLE` or a live surface of the driver's instance.
pub(crate) unsafe fn surface_for(
    driver: &InstanceDriver,
    surface: SurfaceHandle<Chain>,
) -> Result<SurfaceHandle<Driver>, VkResult> {
    let unchanged = SurfaceHandle::from_raw(surface.raw());
    let Some(object) = Surface::from_handle(surface) else {
        return Ok(unchanged);
    };
    // SAFETY: the handle is not null, so the caller promises a live object of this loader.
    let object = unsafe { object.as_ref() };
    if !object.platform.per_driver || !has_own_surfaces(driver) {
        return Ok(unchanged);
    }
    match stored(driver, object) {
        None => Ok(unchanged),
        // A closed driver without the platform's extension cannot create the surface, so it stays closed.
        Some(0) if !driver.enabled.contains(object.platform.extension) => Err(VkResult::VK_ERROR_EXTENSION_NOT_PRESENT),
        Some(0) => {
            // A closed driver is opened under the loader's gate, which comes before the gate of this driver.
            driver.own_instance()?;
            let _passage = driver.making_surface.enter();
            // Another thread may have created the surface meanwhile.
            match stored(driver, object) {
                None | Some(0) => make(driver, object),
                Some(handle) => Ok(SurfaceHandle::from_raw(handle)),
            }
        }
        Some(handle) => Ok(SurfaceHandle::from_raw(handle)),
    }
}

/// Returns the driver's handle in the table for a surface, or zero; `None` if the table is too small for the surface's slot.
fn stored(driver: &InstanceDriver, surface: &Surface) -> Option<u64> {
    let table = driver.surfaces.lock();
    table.has(surface.slot()).then(|| table.get(surface.slot()))
}

/// Asks the driver to create a surface, and stores the surface in the driver's table of surfaces.
///
/// The table is not locked while the driver creates the surface. During this time, the driver may call the loader, and this function may
/// run again and store a surface. In that case, the stored surface is used, and the new one is destroyed.
fn make(driver: &InstanceDriver, surface: &Surface) -> Result<SurfaceHandle<Driver>, VkResult> {
    let mut made = SurfaceHandle::NULL;
    let step = Step::Driver(driver.path()).begin(surface.platform.command.as_bytes());
    // SAFETY: the function belongs to the surface's own platform.
    let result = unsafe { (surface.platform.make)(&driver.table, driver.handle, surface, &mut made) };
    let result = result.unwrap_or(VkResult::VK_ERROR_EXTENSION_NOT_PRESENT);
    step.end(result.0);
    let succeeded = result == VkResult::VK_SUCCESS;
    let earlier = {
        let mut table = driver.surfaces.lock();
        let earlier = table.get(surface.slot());
        if succeeded && earlier == 0 {
            table.set(surface.slot(), made.raw());
        }
        earlier
    };
    if earlier == 0 {
        return if succeeded { Ok(made) } else { Err(failure(result)) };
    }
    if let (Some(destroy), true) = (driver.table.vkDestroySurfaceKHR, succeeded && !made.is_null()) {
        // SAFETY: function and instance belong to the same driver, which just created the surface; no other code has the handle.
        unsafe { destroy(driver.handle, made, surface.callbacks()) };
    }
    Ok(SurfaceHandle::from_raw(earlier))
}

/// Returns a copy of a surface query with the driver's surface. The chain is passed unchanged (DRV-181).
///
/// # Errors
/// The errors of [`surface_for`].
///
/// # Safety
/// The surface in `info` is `VK_NULL_HANDLE` or a live surface of the driver's instance.
pub(crate) unsafe fn surface_info_for(
    driver: &InstanceDriver,
    info: &VkPhysicalDeviceSurfaceInfo2KHR<Chain>,
) -> Result<VkPhysicalDeviceSurfaceInfo2KHR<Driver>, VkResult> {
    // SAFETY: the caller promises a surface that is `VK_NULL_HANDLE` or live.
    let surface = unsafe { surface_for(driver, info.surface) }?;
    Ok(VkPhysicalDeviceSurfaceInfo2KHR {
        sType: info.sType,
        pNext: info.pNext,
        surface,
    })
}

/// Returns a copy of a swapchain's create info with the driver's surface. The chain is passed unchanged (DRV-181).
///
/// # Errors
/// The errors of [`surface_for`].
///
/// # Safety
/// The surface in `info` is `VK_NULL_HANDLE` or a live surface of the driver's instance.
pub(crate) unsafe fn swapchain_info_for(
    driver: &InstanceDriver,
    info: &VkSwapchainCreateInfoKHR<Chain>,
) -> Result<VkSwapchainCreateInfoKHR<Driver>, VkResult> {
    // SAFETY: the caller promises a surface that is `VK_NULL_HANDLE` or live.
    let surface = unsafe { surface_for(driver, info.surface) }?;
    Ok(with_surface(info, surface))
}

/// Returns a copy of the create info with the surface `surface`.
fn with_surface(
    info: &VkSwapchainCreateInfoKHR<Chain>,
    surface: SurfaceHandle<Driver>,
) -> VkSwapchainCreateInfoKHR<Driver> {
    VkSwapchainCreateInfoKHR {
        sType: info.sType,
        pNext: info.pNext,
        flags: info.flags,
        surface,
        minImageCount: info.minImageCount,
        imageFormat: info.imageFormat,
        imageColorSpace: info.imageColorSpace,
        imageExtent: info.imageExtent,
        imageArrayLayers: info.imageArrayLayers,
        imageUsage: info.imageUsage,
        imageSharingMode: info.imageSharingMode,
        queueFamilyIndexCount: info.queueFamilyIndexCount,
        pQueueFamilyIndices: info.pQueueFamilyIndices,
        preTransform: info.preTransform,
        compositeAlpha: info.compositeAlpha,
        presentMode: info.presentMode,
        clipped: info.clipped,
        oldSwapchain: info.oldSwapchain,
    }
}
