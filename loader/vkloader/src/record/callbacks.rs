//! Records the kinds of callback objects that a driver can create.

use super::devices::typed;
use super::ways::Way;
use crate::vulkan::{self, Code, Handle};
use record::{Builder, DRIVER, Key, MESSENGERS, Query, REPORTS};
use std::ffi::{CStr, c_void};
use std::ptr;

/// A callback of any type, which ignores its arguments.
type Callback = unsafe extern "system" fn() -> u32;

unsafe extern "system" fn ignore() -> u32 {
    0
}

/// The structure `VkDebugUtilsMessengerCreateInfoEXT`.
#[repr(C)]
struct MessengerInfo {
    head: vulkan::Head,
    flags: u32,
    severities: u32,
    types: u32,
    callback: Callback,
    user_data: *mut c_void,
}

/// The structure `VkDebugReportCallbackCreateInfoEXT`.
#[repr(C)]
struct ReportInfo {
    head: vulkan::Head,
    flags: u32,
    callback: Callback,
    user_data: *mut c_void,
}

/// Type of a command that creates an object for callbacks.
type Create = unsafe extern "system" fn(Handle, *const c_void, *const c_void, *mut u64) -> Code;
/// Type of a command that destroys an object for callbacks.
type Destroy = unsafe extern "system" fn(Handle, u64, *const c_void);

/// Records each kind of callback object that all instances with the kind's create command can create. If a program creates an object of
/// another kind, the library opens the driver, which then reports the error.
pub(super) fn add(ways: &[Way], made: &mut Builder) {
    let messenger = MessengerInfo {
        head: vulkan::Head::of(1_000_128_004),
        flags: 0,
        severities: 0x1111,
        types: 7,
        callback: ignore,
        user_data: ptr::null_mut(),
    };
    let report = ReportInfo {
        head: vulkan::Head::of(1_000_011_000),
        flags: 0x1F,
        callback: ignore,
        user_data: ptr::null_mut(),
    };
    let kinds = [
        (
            MESSENGERS,
            [c"vkCreateDebugUtilsMessengerEXT", c"vkDestroyDebugUtilsMessengerEXT"],
            ptr::from_ref(&messenger).cast(),
        ),
        (
            REPORTS,
            [c"vkCreateDebugReportCallbackEXT", c"vkDestroyDebugReportCallbackEXT"],
            ptr::from_ref(&report).cast(),
        ),
    ];
    for (kind, commands, info) in kinds {
        let results: Vec<bool> = ways.iter().filter_map(|way| is_created(way, commands, info)).collect();
        if !results.is_empty() && results.into_iter().all(|is_created| is_created) {
            made.add(Key::of(DRIVER, Query::Callbacks).at(kind), Vec::new());
        }
    }
}

/// Returns `true` if the command `create` of an instance succeeds; `None` if the instance lacks the command `create` or `destroy`.
fn is_created(way: &Way, [create, destroy]: [&CStr; 2], info: *const c_void) -> Option<bool> {
    // SAFETY: the types are those of the two commands in the registry.
    let (create, destroy) = unsafe { (typed::<Create>(way.find(create)?), typed::<Destroy>(way.find(destroy)?)) };
    let mut object = 0;
    // SAFETY: the functions belong to the live instance, the create info is valid, and the variable for the handle is writable.
    let code = unsafe { create(way.instance(), info, vulkan::NO_ALLOCATOR, &mut object) };
    if code == vulkan::SUCCESS {
        // SAFETY: the object belongs to the instance and was just created.
        unsafe { destroy(way.instance(), object, vulkan::NO_ALLOCATOR) };
    }
    Some(code == vulkan::SUCCESS)
}
