//! Terminators for messengers, report callbacks and messages (APP-190 to APP-193, DRV-166).

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

/// Implements `vkCreateDebugUtilsMessengerEXT` at the end of the chain.
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
    // SAFETY: the caller promises a handle from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkCreateDebugUtilsMessengerEXT") };
    // SAFETY: Vulkan requires a valid create info and callbacks that are NULL or valid.
    match unsafe { create(instance, CreateInfo::Messenger(&*create_info), callbacks) } {
        Ok(handle) => {
            // SAFETY: Vulkan requires a writable `out`.
            unsafe { *out = MessengerHandle::from_raw(handle) };
            VkResult::VK_SUCCESS
        }
        Err(result) => result,
    }
}

/// Implements `vkCreateDebugReportCallbackEXT` at the end of the chain.
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
    // SAFETY: the caller promises a handle from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkCreateDebugReportCallbackEXT") };
    // SAFETY: Vulkan requires a valid create info and callbacks that are NULL or valid.
    match unsafe { create(instance, CreateInfo::Report(&*create_info), callbacks) } {
        Ok(handle) => {
            // SAFETY: Vulkan requires a writable `out`.
            unsafe { *out = ReportCallbackHandle::from_raw(handle) };
            VkResult::VK_SUCCESS
        }
        Err(result) => result,
    }
}

/// Creates the loader's object, reserves its slot, and creates an object in every driver that has the function for such objects. The
/// callback gets messages only after all of these steps (APP-178, APP-190). If a step fails, the earlier steps are undone (APP-179).
///
/// # Safety
/// `callbacks` is NULL or valid.
unsafe fn create(
    instance: &Instance,
    info: CreateInfo<'_>,
    callbacks: *const VkAllocationCallbacks,
) -> Result<u64, VkResult> {
    let kind = info.kind();
    // SAFETY: the caller promises that `callbacks` is NULL or valid.
    let object = unsafe { Registered::allocate(info.callback(), callbacks, instance.allocator) }?;
    let slot = match instance.messengers.reserve(kind, object) {
        Ok(slot) => slot,
        Err(error) => {
            // SAFETY: nothing else refers to the object yet.
            unsafe { Registered::free(object) };
            return Err(error.into());
        }
    };
    // SAFETY: the caller promises that `callbacks` is NULL or valid.
    if let Err(error) = unsafe { create_in_drivers(instance, info, callbacks, slot) } {
        // SAFETY: the slot is still reserved, and the application never saw the object.
        unsafe { remove(instance, kind, object, slot, callbacks) };
        return Err(error);
    }
    instance.messengers.activate(kind, slot);
    Ok(object.as_ptr() as usize as u64)
}

/// Creates an object in every driver that has the function, and stores the object's handle in the driver's table at the index `slot`.
///
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
        // SAFETY: `driver` is pinned, and the caller promises that `callbacks` is NULL or valid.
        let handle = unsafe { info.create((&driver.table, driver.handle), callbacks) }?;
        handles.lock().set(slot, handle);
    }
    Ok(())
}

/// Destroys the drivers' objects of a slot, then the loader's own, and releases the slot.
///
/// # Safety
/// `object` is in `slot` and no other thread uses it; `callbacks` is NULL or valid.
unsafe fn remove(
    instance: &Instance,
    kind: Kind,
    object: NonNull<Registered>,
    slot: usize,
    callbacks: *const VkAllocationCallbacks,
) {
    for driver in instance.drivers().filter_map(|driver| driver.pin()) {
        let handle = driver.callback_handles(kind).lock().take(slot);
        // SAFETY: the handle belongs to this driver, and no other thread can take it from the table again.
        unsafe { driver.destroy_callback(kind, handle, callbacks) };
    }
    instance.messengers.release(kind, slot);
    // SAFETY: the caller promises that no other thread uses the object, and its slot is released.
    unsafe { Registered::free(object) };
}

/// Implements `vkDestroyDebugUtilsMessengerEXT` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handles come from the lowest layer.
pub(crate) unsafe fn destroy_debug_utils_messenger_ext(
    instance: VkInstance<Chain>,
    messenger: VkDebugUtilsMessengerEXT<Chain>,
    callbacks: *const VkAllocationCallbacks,
) {
    let _passage = GATE.enter();
    // SAFETY: the caller promises a handle from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkDestroyDebugUtilsMessengerEXT") };
    // SAFETY: Vulkan forbids use of the messenger during this call and requires callbacks that are NULL or valid.
    unsafe { destroy(instance, Kind::Messenger, messenger.raw(), callbacks) };
}

/// Implements `vkDestroyDebugReportCallbackEXT` at the end of the chain.
///
/// # Safety
/// The parameters are as the Vulkan specification demands; the handles come from the lowest layer.
pub(crate) unsafe fn destroy_debug_report_callback_ext(
    instance: VkInstance<Chain>,
    callback: VkDebugReportCallbackEXT<Chain>,
    callbacks: *const VkAllocationCallbacks,
) {
    let _passage = GATE.enter();
    // SAFETY: the caller promises a handle from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkDestroyDebugReportCallbackEXT") };
    // SAFETY: Vulkan forbids use of the callback during this call and requires callbacks that are NULL or valid.
    unsafe { destroy(instance, Kind::Report, callback.raw(), callbacks) };
}

/// Destroys an object; ignores NULL and handles that are not objects of this instance (APP-191).
///
/// # Safety
/// If `handle` is an object, it is not in use; `callbacks` is NULL or valid.
unsafe fn destroy(instance: &Instance, kind: Kind, handle: u64, callbacks: *const VkAllocationCallbacks) {
    let Some(object) = NonNull::new(handle as usize as *mut Registered) else {
        return;
    };
    if let Some(slot) = instance.messengers.slot_of(kind, object) {
        // SAFETY: the object is in `slot`, and the caller promises that it is not in use.
        unsafe { remove(instance, kind, object, slot, callbacks) };
    }
}

/// Implements `vkSubmitDebugUtilsMessageEXT` at the end of the chain. Drivers do not get the message, because each driver would call the
/// same callbacks again (APP-192).
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
    // SAFETY: the caller promises a handle from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkSubmitDebugUtilsMessageEXT") };
    // SAFETY: Vulkan requires a valid message structure.
    let message = unsafe { Message::from_utils(severity, types, data) };
    // SAFETY: the structure outlives the call, and this thread holds no lock.
    unsafe { instance.messengers.deliver(&message) };
}

/// Implements `vkDebugReportMessageEXT` at the end of the chain: calls every driver that has the function, then the loader's callbacks
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
    // SAFETY: the caller promises a handle from the lowest layer.
    let instance = unsafe { require_instance(instance, "vkDebugReportMessageEXT") };
    for driver in instance.drivers().filter_map(|driver| driver.pin()) {
        if let Some(report) = driver.table.vkDebugReportMessageEXT {
            // SAFETY: the function belongs to the driver, which is pinned, and receives the driver's live instance.
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
    // SAFETY: Vulkan requires valid strings, the rest is on this stack frame, and this thread holds no lock.
    unsafe { instance.messengers.deliver(&message) };
}
