//! Tests that show which messenger or callback receives a message, and in which order.

use super::callback::Callback;
use super::message::{Message, ReportFields};
use super::messengers::Messengers;
use super::registered::{Kind, Registered};
use crate::alloc::HostAllocator;
use crate::generated::types::{
    VK_FALSE, VkBool32, VkDebugReportCallbackCreateInfoEXT, VkDebugReportFlagsEXT, VkDebugReportObjectTypeEXT,
    VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageSeverityFlagsEXT, VkDebugUtilsMessageTypeFlagsEXT,
    VkDebugUtilsMessengerCallbackDataEXT, VkDebugUtilsMessengerCreateFlagsEXT, VkDebugUtilsMessengerCreateInfoEXT,
};
use crate::time_limit::ends_in_time;
use core::cell::RefCell;
use core::ffi::{c_char, c_void};
use core::ptr::NonNull;

const ERROR: u32 = 4096;
const WARNING: u32 = 256;
const GENERAL: u32 = 1;

/// A listener that adds its name to a shared list, and then calls `act`.
struct Listener<'a> {
    name: &'static str,
    heard: &'a RefCell<Vec<&'static str>>,
    act: Option<&'a dyn Fn()>,
}

impl<'a> Listener<'a> {
    fn new(name: &'static str, heard: &'a RefCell<Vec<&'static str>>) -> Self {
        Self { name, heard, act: None }
    }

    fn user_data(&self) -> *mut c_void {
        core::ptr::from_ref(self).cast_mut().cast()
    }

    fn messenger(&self, severities: u32) -> Callback {
        Callback::from(&self.messenger_info(severities))
    }

    fn messenger_info(&self, severities: u32) -> VkDebugUtilsMessengerCreateInfoEXT {
        VkDebugUtilsMessengerCreateInfoEXT {
            sType: VkDebugUtilsMessengerCreateInfoEXT::STRUCTURE_TYPE,
            pNext: core::ptr::null(),
            flags: VkDebugUtilsMessengerCreateFlagsEXT(0),
            messageSeverity: VkDebugUtilsMessageSeverityFlagsEXT(severities),
            messageType: VkDebugUtilsMessageTypeFlagsEXT(GENERAL),
            pfnUserCallback: Some(messenger_function),
            pUserData: self.user_data(),
        }
    }

    fn report(&self, flags: u32) -> Callback {
        Callback::from(&self.report_info(flags))
    }

    fn report_info(&self, flags: u32) -> VkDebugReportCallbackCreateInfoEXT {
        VkDebugReportCallbackCreateInfoEXT {
            sType: VkDebugReportCallbackCreateInfoEXT::STRUCTURE_TYPE,
            pNext: core::ptr::null(),
            flags: VkDebugReportFlagsEXT(flags),
            pfnCallback: Some(report_function),
            pUserData: self.user_data(),
        }
    }

    /// Records a message.
    ///
    /// # Safety
    /// `user_data` is the address of a live listener.
    unsafe fn hear(user_data: *mut c_void) -> VkBool32 {
        // SAFETY: the caller promises the address of a live listener.
        let listener = unsafe { &*user_data.cast::<Listener<'_>>() };
        listener.heard.borrow_mut().push(listener.name);
        if let Some(act) = listener.act {
            act();
        }
        VK_FALSE
    }
}

unsafe extern "system" fn messenger_function(
    _: VkDebugUtilsMessageSeverityFlagBitsEXT,
    _: VkDebugUtilsMessageTypeFlagsEXT,
    _: *const VkDebugUtilsMessengerCallbackDataEXT,
    user_data: *mut c_void,
) -> VkBool32 {
    // SAFETY: the tests pass the address of a live listener as user data.
    unsafe { Listener::hear(user_data) }
}

unsafe extern "system" fn report_function(
    _: VkDebugReportFlagsEXT,
    _: VkDebugReportObjectTypeEXT,
    _: u64,
    _: usize,
    _: i32,
    _: *const c_char,
    _: *const c_char,
    user_data: *mut c_void,
) -> VkBool32 {
    // SAFETY: the tests pass the address of a live listener as user data.
    unsafe { Listener::hear(user_data) }
}

/// Returns the messengers of an instance whose creation has ended.
fn created() -> Messengers {
    let messengers = Messengers::new(HostAllocator::system());
    messengers.suspend_create_time();
    messengers
}

fn add(messengers: &Messengers, kind: Kind, callback: Callback) -> (usize, NonNull<Registered>) {
    // SAFETY: null allocation callbacks are allowed.
    let object = unsafe { Registered::allocate(callback, core::ptr::null(), HostAllocator::system()) };
    let object = object.expect("memory");
    let slot = messengers.reserve(kind, object).expect("memory");
    messengers.activate(kind, slot);
    (slot, object)
}

fn remove(messengers: &Messengers, kind: Kind, (slot, object): (usize, NonNull<Registered>)) {
    messengers.release(kind, slot);
    // SAFETY: the slot held the only other reference.
    unsafe { Registered::free(object) };
}

fn clear(messengers: &Messengers) {
    for kind in Kind::ALL {
        while let Some((slot, object, ())) = messengers.next_slot(kind, 0, |_| ()) {
            remove(messengers, kind, (slot, object));
        }
    }
}

/// Delivers an error message.
fn deliver(messengers: &Messengers) {
    let fields = ReportFields {
        object_type: VkDebugReportObjectTypeEXT(0),
        object: 0,
        location: 0,
        code: 0,
        prefix: c"".as_ptr(),
        text: c"".as_ptr(),
    };
    let object = fields.object_info();
    let data = fields.data(&object);
    let message = Message::from_report(VkDebugReportFlagsEXT(8), fields, &data);
    // SAFETY: all data of the message lives until the call returns.
    unsafe { messengers.deliver(&message) };
}

#[test]
fn app_195_the_most_recently_created_hears_first_whatever_its_slot() {
    let heard = RefCell::new(Vec::new());
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| Listener::new(name, &heard));
    let messengers = created();
    assert!(!messengers.any());
    let first = add(&messengers, Kind::Messenger, a.messenger(ERROR));
    add(&messengers, Kind::Report, b.report(8));
    add(&messengers, Kind::Messenger, c.messenger(ERROR));
    remove(&messengers, Kind::Messenger, first);
    let reused = add(&messengers, Kind::Messenger, d.messenger(ERROR));
    assert_eq!(reused.0, first.0, "the slot of the first messenger is used again");
    assert!(messengers.any());
    deliver(&messengers);
    assert_eq!(*heard.borrow(), ["d", "c", "b"]);
    clear(&messengers);
    assert!(!messengers.any());
}

#[test]
fn app_193a_masks_decide_who_hears() {
    let heard = RefCell::new(Vec::new());
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| Listener::new(name, &heard));
    let messengers = created();
    add(&messengers, Kind::Messenger, a.messenger(WARNING));
    add(&messengers, Kind::Messenger, b.messenger(WARNING | ERROR));
    add(&messengers, Kind::Report, c.report(1 | 2 | 4 | 16));
    add(&messengers, Kind::Report, d.report(8));
    deliver(&messengers);
    assert_eq!(*heard.borrow(), ["d", "b"]);
    clear(&messengers);
}

#[test]
fn app_197_create_time_callbacks_hear_alone_and_only_in_their_calls() {
    let heard = RefCell::new(Vec::new());
    let [a, b, ordinary] = ["a", "b", "ordinary"].map(|name| Listener::new(name, &heard));
    let second = b.report_info(8);
    let mut first = a.messenger_info(ERROR);
    first.pNext = core::ptr::from_ref(&second).cast();
    let messengers = Messengers::new(HostAllocator::system());
    // SAFETY: the chain consists of two valid structures.
    let installed = unsafe { messengers.install_create_time(core::ptr::from_ref(&first).cast()) };
    assert_eq!(installed, Ok(()));
    deliver(&messengers);
    assert_eq!(
        core::mem::take(&mut *heard.borrow_mut()),
        ["b", "a"],
        "the last callback of the chain is the newest"
    );
    messengers.suspend_create_time();
    assert!(!messengers.any());
    add(&messengers, Kind::Messenger, ordinary.messenger(ERROR));
    deliver(&messengers);
    assert_eq!(core::mem::take(&mut *heard.borrow_mut()), ["ordinary"]);
    messengers.forget_ordinary();
    deliver(&messengers);
    assert_eq!(core::mem::take(&mut *heard.borrow_mut()), [""; 0]);
    messengers.resume_create_time();
    deliver(&messengers);
    assert_eq!(*heard.borrow(), ["b", "a"]);
    clear(&messengers);
}

#[test]
fn app_196_a_callback_may_destroy_and_create_messengers() {
    ends_in_time(|| {
        let heard = RefCell::new(Vec::new());
        let [oldest, late] = ["oldest", "late"].map(|name| Listener::new(name, &heard));
        let messengers = created();
        let victims = RefCell::new(Vec::new());
        let act = || {
            for victim in victims.borrow_mut().drain(..) {
                remove(&messengers, Kind::Messenger, victim);
            }
            add(&messengers, Kind::Messenger, late.messenger(ERROR));
        };
        let middle = Listener::new("middle", &heard);
        let busy = Listener {
            name: "busy",
            heard: &heard,
            act: Some(&act),
        };
        add(&messengers, Kind::Messenger, oldest.messenger(ERROR));
        let middle = add(&messengers, Kind::Messenger, middle.messenger(ERROR));
        let busy = add(&messengers, Kind::Messenger, busy.messenger(ERROR));
        victims.borrow_mut().extend([middle, busy]);
        deliver(&messengers);
        assert_eq!(
            *heard.borrow(),
            ["busy", "oldest"],
            "the destroyed messenger and the new one get no message"
        );
        clear(&messengers);
    });
}
