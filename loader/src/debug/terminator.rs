//! The end of the chain for messengers, report callbacks and messages (APP-190 to APP-193, DRV-166).

use super::create_info::CreateInfo;
use crate::gate::GATE;
use crate::generated::types::{
    VkAllocationCallbacks, VkDebugReportCallbackCreateInfoEXT, VkDebugReportCallbackEXT, VkDebugReportFlagsEXT,
    VkDebugReportObjectTypeEXT, VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
    VkDebugUtilsMessengerCallbackDataEXT, VkDebugUtilsMessengerCreateInfoEXT, VkDebugUtilsMessengerEXT, VkInstance,
    VkResult,
};
use crate::handle::{Chain, MessengerHandle, ReportCallbackHandle};
use crate::instance::Instance;
use crate::messenger::{Kind, Registered};
use crate::messenger::{Message, ReportFields};
use crate::slots::HandleTable;
use crate::target::require_instance;
use core::ffi::c_char;
use core::ptr::NonNull;

pub(crate) use super::labels::*;
pub(crate) use super::names::{
    debug_marker_set_object_name_ext, debug_marker_set_object_tag_ext, set_debug_utils_object_name_ext,
    set_debug_utils_object_tag_ext,
};

/// `vkCreateDebugUtilsMessengerEXT` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn create_debug_utils_messenger_ext(
    instance: VkInstance<Chain>,
    create_info: *const VkDebugUtilsMessengerCreateInfoEXT,
    callbacks: *const VkAllocationCallbacks,
    out: *mut VkDebugUtilsMessengerEXT<Chain>,
) -> VkResult {
    let _passage = GATE.enter();
    // SAFETY: the handle comes from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkCreateDebugUtilsMessengerEXT") };
    // SAFETY: valid by this function's contract.
    match unsafe { create(instance, CreateInfo::Messenger(&*create_info), callbacks) } {
        Ok(handle) => {
            // SAFETY: valid by this function's contract.
            unsafe { *out = MessengerHandle::from_raw(handle) };
            VkResult::VK_SUCCESS
        }
        Err(result) => result,
    }
}

/// `vkCreateDebugReportCallbackEXT` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn create_debug_report_callback_ext(
    instance: VkInstance<Chain>,
    create_info: *const VkDebugReportCallbackCreateInfoEXT,
    callbacks: *const VkAllocationCallbacks,
    out: *mut VkDebugReportCallbackEXT<Chain>,
) -> VkResult {
    let _passage = GATE.enter();
    // SAFETY: the handle comes from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkCreateDebugReportCallbackEXT") };
    // SAFETY: valid by this function's contract.
    match unsafe { create(instance, CreateInfo::Report(&*create_info), callbacks) } {
        Ok(handle) => {
            // SAFETY: valid by this function's contract.
            unsafe { *out = ReportCallbackHandle::from_raw(handle) };
            VkResult::VK_SUCCESS
        }
        Err(result) => result,
    }
}

/// Makes the loader's object, reserves its slot, and makes an object of every driver that can; the callback is heard
/// only when all of that is done (APP-178, APP-190). On any failure all of it is undone (APP-179).
///
/// # Safety
/// `callbacks` is NULL or valid.
unsafe fn create(
    instance: &Instance,
    info: CreateInfo<'_>,
    callbacks: *const VkAllocationCallbacks,
) -> Result<u64, VkResult> {
    let kind = info.kind();
    // SAFETY: by this function's contract.
    let object = unsafe { Registered::allocate(info.callback(), callbacks, instance.allocator) }?;
    let slot = match instance.messengers.reserve(kind, object) {
        Ok(slot) => slot,
        Err(error) => {
            // SAFETY: nothing else knows the object.
            unsafe { Registered::free(object) };
            return Err(error.into());
        }
    };
    // SAFETY: by this function's contract.
    if let Err(error) = unsafe { create_in_drivers(instance, info, callbacks, slot) } {
        // SAFETY: the slot is still reserved, and the application never saw the object.
        unsafe { remove(instance, kind, object, slot, callbacks) };
        return Err(error);
    }
    instance.messengers.activate(kind, slot);
    Ok(object.as_ptr() as usize as u64)
}

/// # Safety
/// `callbacks` is NULL or valid.
unsafe fn create_in_drivers(
    instance: &Instance,
    info: CreateInfo<'_>,
    callbacks: *const VkAllocationCallbacks,
    slot: usize,
) -> Result<(), VkResult> {
    let able = instance
        .drivers()
        .filter_map(|driver| driver.pin())
        .filter(|driver| info.supported_by(driver));
    for driver in able {
        let handles = driver.callback_handles(info.kind());
        HandleTable::make_room(handles, slot)?;
        // SAFETY: the driver is pinned; the rest by this function's contract.
        let handle = unsafe { info.create(&driver, callbacks) }?;
        handles.lock().set(slot, handle);
    }
    Ok(())
}

/// Destroys the drivers' objects of a slot, then the loader's own, and gives the slot back.
///
/// # Safety
/// `object` is in `slot` and is not used by another thread; `callbacks` is NULL or valid.
unsafe fn remove(
    instance: &Instance,
    kind: Kind,
    object: NonNull<Registered>,
    slot: usize,
    callbacks: *const VkAllocationCallbacks,
) {
    for driver in instance.drivers().filter_map(|driver| driver.pin()) {
        let handle = driver.callback_handles(kind).lock().take(slot);
        // SAFETY: the handle is the driver's own, and taking it out of the table makes this the only use.
        unsafe { driver.destroy_callback(kind, handle, callbacks) };
    }
    instance.messengers.release(kind, slot);
    // SAFETY: by this function's contract; no slot refers to it any more.
    unsafe { Registered::free(object) };
}

/// `vkDestroyDebugUtilsMessengerEXT` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handles come from the lowest layer.
pub(crate) unsafe fn destroy_debug_utils_messenger_ext(
    instance: VkInstance<Chain>,
    messenger: VkDebugUtilsMessengerEXT<Chain>,
    callbacks: *const VkAllocationCallbacks,
) {
    let _passage = GATE.enter();
    // SAFETY: the handle comes from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkDestroyDebugUtilsMessengerEXT") };
    // SAFETY: passed on.
    unsafe { destroy(instance, Kind::Messenger, messenger.raw(), callbacks) };
}

/// `vkDestroyDebugReportCallbackEXT` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handles come from the lowest layer.
pub(crate) unsafe fn destroy_debug_report_callback_ext(
    instance: VkInstance<Chain>,
    callback: VkDebugReportCallbackEXT<Chain>,
    callbacks: *const VkAllocationCallbacks,
) {
    let _passage = GATE.enter();
    // SAFETY: the handle comes from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkDestroyDebugReportCallbackEXT") };
    // SAFETY: passed on.
    unsafe { destroy(instance, Kind::Report, callback.raw(), callbacks) };
}

/// NULL, and what is no object of this instance, is left alone (APP-191).
///
/// # Safety
/// The object, if it is one, is not in use; `callbacks` is NULL or valid.
unsafe fn destroy(instance: &Instance, kind: Kind, handle: u64, callbacks: *const VkAllocationCallbacks) {
    let Some(object) = NonNull::new(handle as usize as *mut Registered) else {
        return;
    };
    if let Some(slot) = instance.messengers.slot_of(kind, object) {
        // SAFETY: the object is in the slot; the rest by this function's contract.
        unsafe { remove(instance, kind, object, slot, callbacks) };
    }
}

/// `vkSubmitDebugUtilsMessageEXT` at the end of the chain. Drivers are not told: each would call the same callbacks
/// again (APP-192).
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
pub(crate) unsafe fn submit_debug_utils_message_ext(
    instance: VkInstance<Chain>,
    severity: VkDebugUtilsMessageSeverityFlagBitsEXT,
    types: VkDebugUtilsMessageTypeFlagsEXT,
    data: *const VkDebugUtilsMessengerCallbackDataEXT,
) {
    let _passage = GATE.enter();
    // SAFETY: the handle comes from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkSubmitDebugUtilsMessageEXT") };
    // SAFETY: valid by this function's contract.
    let message = unsafe { Message::from_utils(severity, types, data) };
    // SAFETY: as above; no lock is held.
    unsafe { instance.messengers.deliver(&message) };
}

/// `vkDebugReportMessageEXT` at the end of the chain: every driver that has the function, then the loader's callbacks
/// (APP-192).
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handle comes from the lowest layer.
#[allow(clippy::too_many_arguments, reason = "the parameters of the command")]
pub(crate) unsafe fn debug_report_message_ext(
    instance: VkInstance<Chain>,
    flags: VkDebugReportFlagsEXT,
    object_type: VkDebugReportObjectTypeEXT,
    object: u64,
    location: usize,
    code: i32,
    prefix: *const c_char,
    text: *const c_char,
) {
    let _passage = GATE.enter();
    // SAFETY: the handle comes from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkDebugReportMessageEXT") };
    for driver in instance.drivers().filter_map(|driver| driver.pin()) {
        if let Some(report) = driver.table.vkDebugReportMessageEXT {
            // SAFETY: the driver's function with its live instance; the driver is pinned.
            unsafe { report(driver.handle, flags, object_type, object, location, code, prefix, text) };
        }
    }
    let fields = ReportFields {
        object_type,
        object,
        location,
        code,
        prefix,
        text,
    };
    let object = fields.object_info();
    let data = fields.data(&object);
    let message = Message::from_report(flags, fields, &data);
    // SAFETY: the strings are valid by this function's contract, the rest lives on this stack frame; no lock is held.
    unsafe { instance.messengers.deliver(&message) };
}
