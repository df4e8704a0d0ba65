//! Recorders of debug messages.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use ash::vk;

/// Message that reached a debug-utils messenger.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Severity bit of the message.
    pub severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    /// Type bits of the message.
    pub types: vk::DebugUtilsMessageTypeFlagsEXT,
    /// Text of the message.
    pub text: String,
    /// Value of `pMessageIdName`, or an empty text if the pointer is NULL.
    pub id_name: String,
    /// Value of `messageIdNumber`.
    pub id_number: i32,
    /// Type and handle of each object.
    pub objects: Vec<(vk::ObjectType, u64)>,
    /// Address of the callback data.
    pub data: usize,
}

type Hook = Box<dyn Fn(&Message)>;

/// Recorder of debug-utils messages. The recorder must remain at its address, because messengers contain pointers to it.
pub struct Messages(Box<Recorder>);

struct Recorder {
    list: Mutex<Vec<Message>>,
    hook: Option<Hook>,
}

impl Default for Messages {
    fn default() -> Self {
        Messages(Box::new(Recorder {
            list: Mutex::new(Vec::new()),
            hook: None,
        }))
    }
}

impl Messages {
    /// Creates a recorder that also calls `hook` during the callback.
    pub fn with_hook(hook: impl Fn(&Message) + 'static) -> Self {
        Messages(Box::new(Recorder {
            list: Mutex::new(Vec::new()),
            hook: Some(Box::new(hook)),
        }))
    }

    /// Returns a create info for a messenger that records all messages here, of every severity and type. The recorder must outlive it.
    pub fn create_info(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        vk::DebugUtilsMessengerCreateInfoEXT {
            message_severity: vk::DebugUtilsMessageSeverityFlagsEXT::from_raw(0x1111),
            message_type: vk::DebugUtilsMessageTypeFlagsEXT::from_raw(7),
            pfn_user_callback: Some(record),
            p_user_data: ptr::from_ref(&*self.0).cast_mut().cast(),
            ..Default::default()
        }
    }

    /// Returns the messages that have arrived so far.
    pub fn all(&self) -> Vec<Message> {
        self.0.list.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the messages whose text contains `part`.
    pub fn with(&self, part: &str) -> Vec<Message> {
        self.all()
            .into_iter()
            .filter(|message| message.text.contains(part))
            .collect()
    }

    /// Removes all received messages.
    pub fn clear(&self) {
        self.0.list.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: Vulkan requires that strings in callback data are null or end with a null character.
    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
}

unsafe extern "system" fn record(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the user data is the address of the recorder, and the recorder outlives its messengers. The callback data is valid.
    let (recorder, given) = unsafe { (&*user.cast::<Recorder>(), &*data) };
    let object = |index| {
        // SAFETY: the count in the callback data is the number of objects in the array.
        let object = unsafe { &*given.p_objects.add(index) };
        (object.object_type, object.object_handle)
    };
    let message = Message {
        severity,
        types,
        text: text(given.p_message),
        id_name: text(given.p_message_id_name),
        id_number: given.message_id_number,
        objects: (0..given.object_count as usize).map(object).collect(),
        data: data as usize,
    };
    recorder
        .list
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(message.clone());
    if let Some(hook) = &recorder.hook {
        hook(&message);
    }
    vk::FALSE
}

/// Message that reached a report callback.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Flags of the message.
    pub flags: vk::DebugReportFlagsEXT,
    /// Type and handle of the object.
    pub object: (vk::DebugReportObjectTypeEXT, u64),
    /// Value of `location`.
    pub location: usize,
    /// Value of `messageCode`.
    pub code: i32,
    /// Value of `pLayerPrefix`.
    pub prefix: String,
    /// Text of the message.
    pub text: String,
}

/// Recorder of report messages. The recorder must remain at its address, because callbacks contain pointers to it.
#[derive(Default)]
pub struct Reports(Box<Mutex<Vec<Report>>>);

impl Reports {
    /// Returns a create info for a report callback that records messages with every flag here. The recorder must outlive the callback.
    pub fn create_info(&self) -> vk::DebugReportCallbackCreateInfoEXT<'static> {
        vk::DebugReportCallbackCreateInfoEXT {
            flags: vk::DebugReportFlagsEXT::from_raw(0x1f),
            pfn_callback: Some(record_report),
            p_user_data: ptr::from_ref(&*self.0).cast_mut().cast(),
            ..Default::default()
        }
    }

    /// Returns the messages whose text contains `part`.
    pub fn with(&self, part: &str) -> Vec<Report> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter()
            .filter(|report| report.text.contains(part))
            .cloned()
            .collect()
    }
}

unsafe extern "system" fn record_report(
    flags: vk::DebugReportFlagsEXT,
    object_type: vk::DebugReportObjectTypeEXT,
    object: u64,
    location: usize,
    code: i32,
    prefix: *const c_char,
    message: *const c_char,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the user data is the address of the recorder, and the recorder outlives its callbacks.
    let recorder = unsafe { &*user.cast::<Mutex<Vec<Report>>>() };
    let report = Report {
        flags,
        object: (object_type, object),
        location,
        code,
        prefix: text(prefix),
        text: text(message),
    };
    recorder.lock().unwrap_or_else(PoisonError::into_inner).push(report);
    vk::FALSE
}
