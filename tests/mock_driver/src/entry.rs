//! Common start of every entry point, which counts the call, reads the configuration, and writes a journal line.

use std::fmt::Display;
use std::sync::Arc;

use ash::vk;

use crate::config::Config;
use crate::exclusive::Exclusive;
use crate::{back, debug, journal, state};

/// Call in progress.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) config: Arc<Config>,
    /// Configured result of this call, or `None` if the call must not fail.
    pub(crate) failure: Option<vk::Result>,
    _exclusive: Option<Exclusive>,
}

/// Commands that must never run on two threads at the same time. The flag `exclusive` of a driver enables the check.
const ONE_AT_A_TIME: [&str; 12] = [
    "vkCreateDebugReportCallbackEXT",
    "vkCreateDebugUtilsMessengerEXT",
    "vkCreateDevice",
    "vkCreateInstance",
    "vkDebugReportMessageEXT",
    "vkDestroyDebugReportCallbackEXT",
    "vkDestroyDebugUtilsMessengerEXT",
    "vkDestroyDevice",
    "vkDestroyInstance",
    "vkEnumerateDeviceExtensionProperties",
    "vkEnumeratePhysicalDeviceGroups",
    "vkEnumeratePhysicalDevices",
];

impl Call {
    /// Records the call `name` with the arguments that tests examine. With the flag `brief`, queries of a physical device are not recorded.
    pub(crate) fn enter(name: &'static str, arguments: impl Display) -> Self {
        let call = Self::quiet(name);
        if call.config.flag("brief") && name.starts_with("vkGetPhysicalDevice") {
            debug::emit(&call.config, name);
            return call;
        }
        let arguments = arguments.to_string();
        let space = if arguments.is_empty() { "" } else { " " };
        let end = call
            .failure
            .map_or(String::new(), |code| format!(" -> {}", code.as_raw()));
        journal::line(&call.config, &format!("{name}{space}{arguments}{end}"));
        debug::emit(&call.config, name);
        call
    }

    /// Begins a call like `enter`, but writes no journal line, because the caller writes its line later.
    pub(crate) fn quiet(name: &'static str) -> Self {
        let (config, number) = state::with(|state| {
            state.refresh();
            let number = state.calls.entry(name.into()).or_insert(0);
            *number += 1;
            (state.config.clone(), *number)
        });
        let failure = config.failure(name, number).map(vk::Result::from_raw);
        if config.calls_loader(name) {
            back::call_loader(&config, name);
        }
        let checked = config.flag("exclusive") && ONE_AT_A_TIME.contains(&name);
        Call {
            name,
            failure,
            _exclusive: checked.then(|| Exclusive::enter(&config.name, name)),
            config,
        }
    }

    /// Returns the configured result of this call, or success.
    pub(crate) fn result(&self) -> vk::Result {
        self.failure.unwrap_or(vk::Result::SUCCESS)
    }

    /// Writes a further line about this call into the journal.
    pub(crate) fn note(&self, text: impl Display) {
        journal::line(&self.config, &format!("{} {text}", self.name));
    }
}

/// Answers the two-call idiom from `items`. With `grow`, the second call reports more elements than the array has space for.
///
/// # Safety
/// `count` is valid for reads and writes. If `out` is not null, it is valid for `*count` elements.
pub(crate) unsafe fn two_call<T: Clone>(call: &Call, items: &[T], count: *mut u32, out: *mut T) -> vk::Result {
    if let Some(code) = call.failure {
        return code;
    }
    if out.is_null() {
        // SAFETY: the caller promises a valid `count`.
        unsafe { *count = items.len() as u32 };
        return vk::Result::SUCCESS;
    }
    // SAFETY: the caller promises a valid `count`.
    let room = unsafe { *count } as usize;
    let written = room.min(items.len());
    for (index, item) in items.iter().take(written).enumerate() {
        // SAFETY: the index is below `*count`, and `out` has space for that number of elements.
        unsafe { out.add(index).write(item.clone()) };
    }
    // SAFETY: the caller promises a valid `count`.
    unsafe { *count = written as u32 + call.config.grows(call.name) };
    if written < items.len() {
        vk::Result::INCOMPLETE
    } else {
        vk::Result::SUCCESS
    }
}
