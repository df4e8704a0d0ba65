//! Trampolines for names and tags of objects (APP-198).

use super::names::Wrapped;
use crate::generated::lookup::row;
use crate::generated::types::{
    VkDebugMarkerObjectNameInfoEXT, VkDebugMarkerObjectTagInfoEXT, VkDebugUtilsObjectNameInfoEXT,
    VkDebugUtilsObjectTagInfoEXT, VkDevice, VkResult,
};
use crate::handle::{InstanceHandle, PhysicalDeviceHandle};
use crate::translation;

/// Returns the chain's handle for a handle of the application. Handles that the loader does not wrap stay the same.
///
/// # Safety
/// A non-null handle of a wrapped kind is readable as [`translation`] demands.
unsafe fn chain_handle(kind: Option<Wrapped>, handle: u64) -> u64 {
    let pointer = handle as usize as *mut core::ffi::c_void;
    match kind {
        Some(Wrapped::Instance) => {
            // SAFETY: the caller promises that a non-null instance handle is readable.
            let object = unsafe { translation::instance_object(InstanceHandle::from_raw(pointer)) };
            object.map_or(handle, |instance| instance.chain_handle().raw() as usize as u64)
        }
        Some(Wrapped::PhysicalDevice) => {
            // SAFETY: the caller promises that a non-null physical device handle is readable.
            let object = unsafe { translation::physical_device_object(PhysicalDeviceHandle::from_raw(pointer)) };
            object.map_or(handle, |device| device.chain.raw() as usize as u64)
        }
        // Application and chain have the same surface handle (APP-159).
        Some(Wrapped::Surface) | None => handle,
    }
}

/// Defines a trampoline: it checks the device, copies the structure, translates the handle in the copy, and calls the chain.
///
/// If the device lacks the command, the stub in the device's table decides the result. The stub of debug utils succeeds. The stub of debug
/// markers reports the command and ends the process (APP-50, APP-199).
macro_rules! naming_trampoline {
    ($name:ident, $info:ty, $command:ident, $kind:ident, $object:ident, $lookup:ident) => {
        #[doc = concat!("`", stringify!($command), "` as the application calls it.")]
        ///
        /// # Safety
        /// The parameters are as the Vulkan specification demands.
        pub(crate) unsafe fn $name(device: VkDevice, info: *const $info) -> VkResult {
            // SAFETY: the application's handle is readable (APP-183).
            let Some(table) = (unsafe { translation::device_table(device) }) else {
                return translation::reject(row::$command);
            };
            // SAFETY: the caller passes valid parameters; the application's structure is copied, not changed.
            let mut copy = unsafe { *info };
            // SAFETY: Vulkan requires a live handle of the kind that the structure names.
            copy.$object = unsafe { chain_handle(Wrapped::$lookup(copy.$kind), copy.$object) };
            // SAFETY: the function belongs to the device's chain, and the structure lives until the function returns.
            unsafe { (table.$command.get())(device, &copy) }
        }
    };
}

naming_trampoline! {
    set_debug_utils_object_name_ext, VkDebugUtilsObjectNameInfoEXT, vkSetDebugUtilsObjectNameEXT,
    objectType, objectHandle, by_object_type
}
naming_trampoline! {
    set_debug_utils_object_tag_ext, VkDebugUtilsObjectTagInfoEXT, vkSetDebugUtilsObjectTagEXT,
    objectType, objectHandle, by_object_type
}
naming_trampoline! {
    debug_marker_set_object_name_ext, VkDebugMarkerObjectNameInfoEXT, vkDebugMarkerSetObjectNameEXT,
    objectType, object, by_report_type
}
naming_trampoline! {
    debug_marker_set_object_tag_ext, VkDebugMarkerObjectTagInfoEXT, vkDebugMarkerSetObjectTagEXT,
    objectType, object, by_report_type
}
