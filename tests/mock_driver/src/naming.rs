//! Commands for object names, tags and labels. The journal contains the received handles, so that a test can check how the
//! loader translates handles.

use std::ffi::CStr;

use ash::vk::{self, Handle};

use crate::entry::Call;
use crate::object;

/// Implements `vkSetDebugUtilsObjectNameEXT`.
pub(crate) unsafe extern "system" fn set_name(
    device: vk::Device,
    info: *const vk::DebugUtilsObjectNameInfoEXT<'static>,
) -> vk::Result {
    object::expect("vkSetDebugUtilsObjectNameEXT", &["device"], device.as_raw());
    // SAFETY: the caller passes a valid structure.
    let info = unsafe { &*info };
    let name = if info.p_object_name.is_null() {
        "null".into()
    } else {
        // SAFETY: a non-null name is a terminated string.
        unsafe { CStr::from_ptr(info.p_object_name) }.to_string_lossy()
    };
    let (kind, shown) = (info.object_type.as_raw(), object::show(info.object_handle));
    Call::enter(
        "vkSetDebugUtilsObjectNameEXT",
        format_args!("type={kind} {shown} {name}"),
    )
    .result()
}

/// Implements `vkSetDebugUtilsObjectTagEXT`.
pub(crate) unsafe extern "system" fn set_tag(
    device: vk::Device,
    info: *const vk::DebugUtilsObjectTagInfoEXT<'static>,
) -> vk::Result {
    object::expect("vkSetDebugUtilsObjectTagEXT", &["device"], device.as_raw());
    // SAFETY: the caller passes a valid structure.
    let info = unsafe { &*info };
    let (kind, shown) = (info.object_type.as_raw(), object::show(info.object_handle));
    Call::enter(
        "vkSetDebugUtilsObjectTagEXT",
        format_args!("type={kind} {shown} tag={}", info.tag_name),
    )
    .result()
}

/// Implements `vkDebugMarkerSetObjectNameEXT`.
pub(crate) unsafe extern "system" fn marker_name(
    device: vk::Device,
    info: *const vk::DebugMarkerObjectNameInfoEXT<'static>,
) -> vk::Result {
    object::expect("vkDebugMarkerSetObjectNameEXT", &["device"], device.as_raw());
    // SAFETY: the caller passes a valid structure.
    let info = unsafe { &*info };
    let (kind, shown) = (info.object_type.as_raw(), object::show(info.object));
    Call::enter("vkDebugMarkerSetObjectNameEXT", format_args!("type={kind} {shown}")).result()
}

/// Implements `vkDebugMarkerSetObjectTagEXT`.
pub(crate) unsafe extern "system" fn marker_tag(
    device: vk::Device,
    info: *const vk::DebugMarkerObjectTagInfoEXT<'static>,
) -> vk::Result {
    object::expect("vkDebugMarkerSetObjectTagEXT", &["device"], device.as_raw());
    // SAFETY: the caller passes a valid structure.
    let info = unsafe { &*info };
    let (kind, shown) = (info.object_type.as_raw(), object::show(info.object));
    Call::enter("vkDebugMarkerSetObjectTagEXT", format_args!("type={kind} {shown}")).result()
}

/// Defines a label command.
macro_rules! label {
    ($($function:ident, $name:literal, $kind:literal;)*) => {$(
        #[doc = concat!("`", $name, "`.")]
        pub(crate) unsafe extern "system" fn $function(handle: usize) {
            // The number of a dispatchable handle is the address of an object.
            let handle = handle as u64;
            object::expect($name, &[$kind], handle);
            Call::enter($name, object::show(handle));
        }
    )*};
}

label! {
    queue_begin, "vkQueueBeginDebugUtilsLabelEXT", "queue";
    queue_end, "vkQueueEndDebugUtilsLabelEXT", "queue";
    queue_insert, "vkQueueInsertDebugUtilsLabelEXT", "queue";
    cmd_begin, "vkCmdBeginDebugUtilsLabelEXT", "command_buffer";
    cmd_end, "vkCmdEndDebugUtilsLabelEXT", "command_buffer";
    cmd_insert, "vkCmdInsertDebugUtilsLabelEXT", "command_buffer";
    marker_begin, "vkCmdDebugMarkerBeginEXT", "command_buffer";
    marker_end, "vkCmdDebugMarkerEndEXT", "command_buffer";
    marker_insert, "vkCmdDebugMarkerInsertEXT", "command_buffer";
}
