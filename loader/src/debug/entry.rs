//! Names and tags of objects as the application gives them (APP-198).

use super::names::Wrapped;
use crate::generated::lookup::row;
use crate::generated::types::{
    VkDebugMarkerObjectNameInfoEXT, VkDebugMarkerObjectTagInfoEXT, VkDebugUtilsObjectNameInfoEXT,
    VkDebugUtilsObjectTagInfoEXT, VkDevice, VkResult,
};
use crate::handle::{InstanceHandle, PhysicalDeviceHandle};
use crate::translation;

/// What the chain calls an object of the application; what is no object of the loader stays as it is.
///
/// # Safety
/// A non-null handle of a wrapped kind is readable as [`translation`] demands.
unsafe fn chain_handle(kind: Option<Wrapped>, handle: u64) -> u64 {
    let pointer = handle as usize as *mut core::ffi::c_void;
    match kind {
        Some(Wrapped::Instance) => {
            // SAFETY: by this function's contract.
            let object = unsafe { translation::instance_object(InstanceHandle::from_raw(pointer)) };
            object.map_or(handle, |instance| instance.chain_handle().raw() as usize as u64)
        }
        Some(Wrapped::PhysicalDevice) => {
            // SAFETY: by this function's contract.
            let object = unsafe { translation::physical_device_object(PhysicalDeviceHandle::from_raw(pointer)) };
            object.map_or(handle, |device| device.chain.raw() as usize as u64)
        }
        // The application holds the chain's surface (APP-159).
        Some(Wrapped::Surface) | None => handle,
    }
}

/// A trampoline: checks the device, copies the structure, translates the handle in the copy, and calls the chain.
///
/// On a device without the command the table decides: for debug utils its stub succeeds, for debug markers it reports
/// the command and ends the process (APP-50, APP-199).
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
            // SAFETY: valid by this function's contract; the application's structure is not changed.
            let mut copy = unsafe { *info };
            // SAFETY: by this function's contract.
            copy.$object = unsafe { chain_handle(Wrapped::$lookup(copy.$kind), copy.$object) };
            // SAFETY: the chain's function, with a structure that lives until it returns.
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
