//! Names and tags of objects at the end of the device chain (APP-198 to APP-200, DRV-205, DRV-206).

use crate::device::Device;
use crate::generated::types::{
    VkDebugMarkerObjectNameInfoEXT, VkDebugMarkerObjectTagInfoEXT, VkDebugReportObjectTypeEXT,
    VkDebugUtilsObjectNameInfoEXT, VkDebugUtilsObjectTagInfoEXT, VkDevice, VkObjectType, VkResult,
};
use crate::handle::{PhysicalDeviceHandle, SurfaceHandle};
use crate::target::require_device;
use crate::translation;
use crate::wsi;

/// A kind of object whose handle differs between application, chain and driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapped {
    /// A handle of type `VkInstance`.
    Instance,
    /// A handle of type `VkPhysicalDevice`.
    PhysicalDevice,
    /// A handle of type `VkSurfaceKHR`.
    Surface,
}

impl Wrapped {
    /// Returns the kind for an object type of debug utils; `None` for handles that pass unchanged.
    pub(super) fn by_object_type(kind: VkObjectType) -> Option<Self> {
        match kind {
            VkObjectType::VK_OBJECT_TYPE_INSTANCE => Some(Self::Instance),
            VkObjectType::VK_OBJECT_TYPE_PHYSICAL_DEVICE => Some(Self::PhysicalDevice),
            VkObjectType::VK_OBJECT_TYPE_SURFACE_KHR => Some(Self::Surface),
            _ => None,
        }
    }

    /// Returns the kind for an object type of debug report, which debug markers use too.
    pub(super) fn by_report_type(kind: VkDebugReportObjectTypeEXT) -> Option<Self> {
        match kind {
            VkDebugReportObjectTypeEXT::VK_DEBUG_REPORT_OBJECT_TYPE_INSTANCE_EXT => Some(Self::Instance),
            VkDebugReportObjectTypeEXT::VK_DEBUG_REPORT_OBJECT_TYPE_PHYSICAL_DEVICE_EXT => Some(Self::PhysicalDevice),
            VkDebugReportObjectTypeEXT::VK_DEBUG_REPORT_OBJECT_TYPE_SURFACE_KHR_EXT => Some(Self::Surface),
            _ => None,
        }
    }
}

/// Returns the driver's handle for an object of the chain; NULL stays NULL.
///
/// # Errors
/// The driver has no such object.
///
/// # Safety
/// A non-null handle is a live object of its kind that came through the chain.
unsafe fn driver_handle(device: &'static Device, kind: Option<Wrapped>, handle: u64) -> Result<u64, VkResult> {
    let (Some(kind), Some(driver), true) = (kind, device.driver(), handle != 0) else {
        return Ok(handle);
    };
    let own = match kind {
        Wrapped::Instance => driver.own_instance()?.raw() as usize as u64,
        Wrapped::PhysicalDevice => {
            let chain = PhysicalDeviceHandle::from_raw(handle as usize as *mut _);
            // SAFETY: the caller promises a live physical device that came through the chain.
            let object = unsafe { translation::chain_physical_device(chain) };
            object.driver().own_device(object.handle)?.raw() as usize as u64
        }
        // A driver without swapchains gets no surface of its own (DRV-205).
        Wrapped::Surface
            if device
                .terminators()
                .and_then(|table| table.vkCreateSwapchainKHR)
                .is_none() =>
        {
            handle
        }
        Wrapped::Surface => {
            // SAFETY: the caller promises a live surface that came through the chain.
            let surface = unsafe { wsi::surface_for(driver, SurfaceHandle::from_raw(handle)) };
            surface.map_or(handle, SurfaceHandle::raw)
        }
    };
    Ok(own)
}

/// Defines a terminator: it copies the structure, translates the handle in the copy, and calls the driver if it has the command (APP-199).
macro_rules! naming_terminator {
    ($name:ident, $info:ty, $command:ident, $kind:ident, $object:ident, $lookup:ident) => {
        #[doc = concat!("`", stringify!($command), "` at the end of the chain.")]
        ///
        /// # Safety
        /// The parameters are as the Vulkan specification demands; the handles come from the lowest layer.
        pub(crate) unsafe fn $name(device: VkDevice, info: *const $info) -> VkResult {
            // SAFETY: the handle starts with a dispatch pointer (LAY-252).
            let owner = unsafe { require_device(device, stringify!($command)) };
            let Some(function) = owner.terminators().and_then(|table| table.$command) else {
                return VkResult::VK_SUCCESS;
            };
            // SAFETY: the caller passes valid parameters; the application's structure is copied, not changed (APP-198).
            let mut copy = unsafe { *info };
            // SAFETY: Vulkan requires a live handle of the kind that the structure names, and the lowest layer passed it.
            let own = unsafe { driver_handle(owner, Wrapped::$lookup(copy.$kind), copy.$object) };
            // A device that the driver lost has no object to name, and a null handle could end the driver.
            let Ok(own) = own else {
                return VkResult::VK_SUCCESS;
            };
            copy.$object = own;
            // SAFETY: the function came from this driver, and the structure lives until the function returns.
            unsafe { function(device, &copy) }
        }
    };
}

naming_terminator! {
    set_debug_utils_object_name_ext, VkDebugUtilsObjectNameInfoEXT, vkSetDebugUtilsObjectNameEXT,
    objectType, objectHandle, by_object_type
}
naming_terminator! {
    set_debug_utils_object_tag_ext, VkDebugUtilsObjectTagInfoEXT, vkSetDebugUtilsObjectTagEXT,
    objectType, objectHandle, by_object_type
}
naming_terminator! {
    debug_marker_set_object_name_ext, VkDebugMarkerObjectNameInfoEXT, vkDebugMarkerSetObjectNameEXT,
    objectType, object, by_report_type
}
naming_terminator! {
    debug_marker_set_object_tag_ext, VkDebugMarkerObjectTagInfoEXT, vkDebugMarkerSetObjectTagEXT,
    objectType, object, by_report_type
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::object_types::OBJECT_TYPES;

    #[test]
    fn app_198_only_three_kinds_are_translated_and_both_extensions_agree() {
        let mut wrapped = Vec::new();
        for row in OBJECT_TYPES {
            if let Some(kind) = Wrapped::by_object_type(row.object) {
                assert_eq!(Wrapped::by_report_type(row.report), Some(kind), "{}", row.handle);
                wrapped.push(row.handle);
            } else {
                assert_eq!(Wrapped::by_report_type(row.report), None, "{}", row.handle);
            }
        }
        assert_eq!(wrapped, ["VkInstance", "VkPhysicalDevice", "VkSurfaceKHR"]);
        assert_eq!(Wrapped::by_object_type(VkObjectType::VK_OBJECT_TYPE_UNKNOWN), None);
    }
}
