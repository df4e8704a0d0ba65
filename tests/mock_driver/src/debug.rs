//! Messengers and report callbacks of the instance.

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::{Mutex, PoisonError};

use ash::vk::{self, Handle};

use crate::alloc::Allocator;
use crate::config::Config;
use crate::entry::Call;
use crate::{chain, object};

/// Messenger that exists: its handle, its callback, and its user data as a number.
struct Messenger {
    handle: u64,
    callback: vk::PFN_vkDebugUtilsMessengerCallbackEXT,
    user_data: usize,
}

static MESSENGERS: Mutex<Vec<Messenger>> = Mutex::new(Vec::new());

/// Drops all messengers. The mock driver calls this function when its library is unloaded.
pub(crate) fn end() {
    drop(std::mem::take(
        &mut *MESSENGERS.lock().unwrap_or_else(PoisonError::into_inner),
    ));
}

/// Sends the text configured for `name` to every messenger during the call. Real drivers also send messages during a call.
pub(crate) fn emit(config: &Config, name: &str) {
    let targets = {
        let list = MESSENGERS.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter()
            .map(|messenger| (messenger.callback, messenger.user_data))
            .collect()
    };
    send(config, name, targets);
}

/// Sends the text configured for `name` to the messenger in the chain of a create info.
///
/// # Safety
/// The chain is valid.
pub(crate) unsafe fn emit_to_chain(config: &Config, name: &str, next: *const c_void) {
    let kind = vk::StructureType::DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    let info = chain::find::<vk::DebugUtilsMessengerCreateInfoEXT<'static>>(next, kind);
    // SAFETY: the caller promises a valid chain, in which each structure has the type of its `s_type`.
    let target = info.map(|info| unsafe { ((*info).pfn_user_callback, (*info).p_user_data as usize) });
    send(config, name, target.into_iter().collect());
}

/// Sends the text configured for `name` to callbacks, each with its user data as a number.
fn send(config: &Config, name: &str, targets: Vec<(vk::PFN_vkDebugUtilsMessengerCallbackEXT, usize)>) {
    let Some(text) = config.emit.get(name) else { return };
    let Ok(text) = CString::new(text.as_str()) else { return };
    for (callback, user_data) in targets {
        let Some(callback) = callback else { continue };
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default()
            .message_id_name(c"mock")
            .message(&text);
        let severity = vk::DebugUtilsMessageSeverityFlagsEXT::WARNING;
        // SAFETY: the callback belongs to a live messenger, and the data outlive the call.
        unsafe {
            callback(
                severity,
                vk::DebugUtilsMessageTypeFlagsEXT::GENERAL,
                &data,
                user_data as *mut _,
            )
        };
    }
}

/// Implements `vkCreateDebugUtilsMessengerEXT`.
pub(crate) unsafe extern "system" fn create_messenger(
    instance: vk::Instance,
    info: *const vk::DebugUtilsMessengerCreateInfoEXT<'static>,
    allocator: *const vk::AllocationCallbacks<'static>,
    out: *mut vk::DebugUtilsMessengerEXT,
) -> vk::Result {
    object::expect("vkCreateDebugUtilsMessengerEXT", &["instance"], instance.as_raw());
    let call = Call::enter("vkCreateDebugUtilsMessengerEXT", Allocator(allocator));
    if let Some(code) = call.failure {
        return code;
    }
    let handle = object::number("messenger");
    // SAFETY: the create info is valid during the call.
    let info = unsafe { &*info };
    let messenger = Messenger {
        handle,
        callback: info.pfn_user_callback,
        user_data: info.p_user_data as usize,
    };
    MESSENGERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(messenger);
    // SAFETY: the caller passes a valid place for the result.
    unsafe { *out = vk::DebugUtilsMessengerEXT::from_raw(handle) };
    vk::Result::SUCCESS
}

/// Implements `vkDestroyDebugUtilsMessengerEXT`.
pub(crate) unsafe extern "system" fn destroy_messenger(
    _instance: vk::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    allocator: *const vk::AllocationCallbacks<'static>,
) {
    let handle = messenger.as_raw();
    Call::enter(
        "vkDestroyDebugUtilsMessengerEXT",
        format_args!("{handle:#x} {}", Allocator(allocator)),
    );
    MESSENGERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .retain(|messenger| messenger.handle != handle);
    object::release("vkDestroyDebugUtilsMessengerEXT", "messenger", handle);
}

/// Implements `vkSubmitDebugUtilsMessageEXT`. The loader must not call this function (APP-192). The journal line shows a call.
pub(crate) unsafe extern "system" fn submit_message(
    _instance: vk::Instance,
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    _data: *const vk::DebugUtilsMessengerCallbackDataEXT<'static>,
) {
    Call::enter("vkSubmitDebugUtilsMessageEXT", "");
}

/// Implements `vkCreateDebugReportCallbackEXT`.
pub(crate) unsafe extern "system" fn create_report(
    instance: vk::Instance,
    _info: *const vk::DebugReportCallbackCreateInfoEXT<'static>,
    allocator: *const vk::AllocationCallbacks<'static>,
    out: *mut vk::DebugReportCallbackEXT,
) -> vk::Result {
    object::expect("vkCreateDebugReportCallbackEXT", &["instance"], instance.as_raw());
    let call = Call::enter("vkCreateDebugReportCallbackEXT", Allocator(allocator));
    if call.failure.is_none() {
        // SAFETY: the caller passes a valid place for the result.
        unsafe { *out = vk::DebugReportCallbackEXT::from_raw(object::number("report_callback")) };
    }
    call.result()
}

/// Implements `vkDestroyDebugReportCallbackEXT`.
pub(crate) unsafe extern "system" fn destroy_report(
    _instance: vk::Instance,
    callback: vk::DebugReportCallbackEXT,
    allocator: *const vk::AllocationCallbacks<'static>,
) {
    let handle = callback.as_raw();
    Call::enter(
        "vkDestroyDebugReportCallbackEXT",
        format_args!("{handle:#x} {}", Allocator(allocator)),
    );
    object::release("vkDestroyDebugReportCallbackEXT", "report_callback", handle);
}

/// Implements `vkDebugReportMessageEXT`.
#[allow(clippy::too_many_arguments, reason = "the signature is the registry's")]
pub(crate) unsafe extern "system" fn report_message(
    _instance: vk::Instance,
    flags: vk::DebugReportFlagsEXT,
    _object_type: vk::DebugReportObjectTypeEXT,
    _object: u64,
    _location: usize,
    code: i32,
    _prefix: *const c_char,
    message: *const c_char,
) {
    // SAFETY: the message is a terminated string.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy();
    Call::enter(
        "vkDebugReportMessageEXT",
        format_args!("flags={} code={code} {text}", flags.as_raw()),
    );
}
