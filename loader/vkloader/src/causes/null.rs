//! Explains programs that call a NULL pointer in place of a function of Vulkan.

use crate::crash::callee;
use crate::events::{Event, NotFound, Record};
use crate::introduced::{self, Introduced};
use crate::levels::is_of_device;
use crate::report::{self, Crashed, Device, Dropped, Report, codes};
use crate::required::is_of_first_version;
use std::path::Path;

/// Upper bound on the number of functions that a sentence names.
const MOST: usize = 4;
/// Look-up for the functions of an instance.
const OF_INSTANCE: &str = "vkGetInstanceProcAddr";
/// Look-up for the functions of a device.
const OF_DEVICE: &str = "vkGetDeviceProcAddr";

/// Adds to the finding about a crash the function that the program called although its look-up had returned NULL.
pub(super) fn explain(report: &mut Report, records: &[&Record]) {
    let is_it = |one: &&mut Dropped| one.code == codes::PROGRAM_CRASHED.name;
    if let Some(name) = report.crash.as_ref().and_then(Crashed::unoffered)
        && let Some(dropped) = report.dropped.iter_mut().find(is_it)
    {
        dropped.advice = remedy(OF_DEVICE, name, &report.devices);
        return;
    }
    let Report {
        crash: Some(crash),
        dropped,
        devices,
        ..
    } = report
    else {
        return;
    };
    let Some((file, at)) = crash.call_of_null() else {
        return;
    };
    let mut missed: Vec<&NotFound> = Vec::new();
    for record in records.iter().filter(|record| Some(record.process) == crash.process) {
        if let Event::NotFound(one) = &record.event {
            missed.retain(|known| known.name != one.name);
            missed.push(one);
        }
    }
    let called = callee::name(Path::new(file), at);
    let found = match &called {
        Some(called) => named(called, &missed),
        None => match missed[..] {
            [only] => Some(Called::Found(only)),
            [] => None,
            _ => Some(Called::OneOf(&missed)),
        },
    };
    if let (Some(found), Some(dropped)) = (found, dropped.iter_mut().find(is_it)) {
        found.explain(dropped, devices);
        let process = crash.process;
        let driver = || report::created_with(process?, records.iter().copied());
        if let Some(name) = found.name_of_driver()
            && let Some(driver) = driver()
        {
            dropped.reason = format!(
                "The program called {name}, for which the look-up had returned NULL: the driver {driver} lacks it, although each driver must have it."
            );
            report::leave_out(dropped, driver, records);
            crash.blame_driver_without(driver, records);
        }
    }
}

/// The function that a program called.
enum Called<'a> {
    /// The look-up of the function returned NULL.
    Found(&'a NotFound),
    /// The function has this name, and the program did not look it up.
    Never(&'a str),
    /// One of the functions whose look-up returned NULL.
    OneOf(&'a [&'a NotFound]),
}

/// Returns the function whose address belongs into the variable `variable`. Returns `None` if the name is not of Vulkan.
fn named<'a>(variable: &'a str, missed: &[&'a NotFound]) -> Option<Called<'a>> {
    let is_in = |one: &&&NotFound| variable.contains(one.name.strip_prefix("vk").unwrap_or(&one.name));
    let found = missed.iter().filter(is_in).max_by_key(|one| one.name.len());
    let never = || introduced::by(variable).map(|_| Called::Never(variable));
    found.map(|one| Called::Found(one)).or_else(never)
}

impl Called<'_> {
    /// Returns the name of a function that each driver must have, and whose look-up for a device returned NULL. The look-up must return NULL for the
    /// functions of instances and physical devices.
    fn name_of_driver(&self) -> Option<&str> {
        let Self::Found(NotFound { by, name }) = self else {
            return None;
        };
        (by == OF_DEVICE && is_of_first_version(name) && is_of_device(name)).then_some(name)
    }

    fn explain(&self, dropped: &mut Dropped, devices: &[Device]) {
        match *self {
            Called::Found(NotFound { by, name }) => {
                dropped.reason = format!(
                    "The program called {name}, although {by} had returned NULL for it: {}",
                    why(by, name)
                );
                dropped.advice = remedy(by, name, devices);
            }
            Called::Never(name) => {
                dropped.reason =
                    format!("The program called {name} through a NULL pointer: it had not looked the function up.");
                dropped.advice = remedy("the look-up", name, devices);
            }
            Called::OneOf(missed) => {
                let last = missed.iter().rev().take(MOST);
                let names: Vec<String> = last.map(|one| of_source(&one.name)).collect();
                let more = missed.len().saturating_sub(MOST);
                let more = if more == 0 {
                    String::new()
                } else {
                    format!(", and {more} more")
                };
                dropped.reason = "The program called a NULL pointer, most likely in place of a function of Vulkan for which its look-up had \
                     returned NULL."
                    .into();
                dropped.findings.insert(
                    0,
                    format!(
                        "the look-ups that returned NULL, the last one first: {}{more}",
                        names.join(", ")
                    ),
                );
                dropped.advice = "Update the program, and the driver of the device: the program must enable the extension of a function, and check the \
                     answer of its look-up. To see the call: gdb -ex run -ex bt --args PROGRAM"
                    .into();
            }
        }
    }
}

/// Returns the name of a command, with its extension or version in parentheses.
fn of_source(name: &str) -> String {
    match introduced::by(name) {
        Some(Introduced::Extension(source)) => format!("{name} ({source})"),
        Some(Introduced::Version(version)) => format!("{name} (Vulkan {version})"),
        None => name.into(),
    }
}

/// Returns the reason why the look-up `by` returned NULL for the command `name`.
fn why(by: &str, name: &str) -> String {
    match introduced::by(name) {
        Some(Introduced::Extension(extension)) => {
            format!("its extension {extension} is not enabled or not available.")
        }
        Some(Introduced::Version(version)) => {
            format!("it belongs to Vulkan {version}, which the program did not ask for or the device does not have.")
        }
        None if by == OF_INSTANCE => "there is no such function, or the look-up had no instance.".into(),
        None => "there is no such function for devices.".into(),
    }
}

/// Returns the remedy for a program that called the command `name`.
fn remedy(by: &str, name: &str, devices: &[Device]) -> String {
    let create = if by == OF_INSTANCE {
        "vkCreateInstance"
    } else {
        "vkCreateDevice"
    };
    match introduced::by(name) {
        Some(Introduced::Extension(extension)) => format!(
            "Update the program: it must enable {extension} in {create} and check the answer of the look-up. If vulkaninfo does not list {extension}, \
             update the driver, or choose another device or other settings in the program."
        ),
        Some(Introduced::Version(version)) if devices.iter().all(|device| is_older(device, version)) => {
            format!("No device has Vulkan {version}: update the driver, or use an older version of the program.")
        }
        Some(Introduced::Version(version)) => format!(
            "Update the program: it must ask for Vulkan {version} in vkCreateInstance (apiVersion), use a device that has it, and check the answer \
             of the look-up."
        ),
        None => {
            "Update the program: it must look the function up with its instance or device, and check the answer.".into()
        }
    }
}

/// Returns `true` if a device has an older version than `version`.
fn is_older(device: &Device, version: &str) -> bool {
    let numbers = |text: &str| -> Vec<u32> { text.split('.').map_while(|part| part.parse().ok()).take(2).collect() };
    numbers(&device.api_version) < numbers(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification lets look-ups return NULL for functions of another kind, so that no driver is at fault.
    #[test]
    fn a_driver_is_blamed_only_for_functions_of_devices() {
        let lacks = |by: &str, name: &str| {
            let one = NotFound {
                by: by.into(),
                name: name.into(),
            };
            Called::Found(&one).name_of_driver().is_some()
        };
        assert!(lacks(OF_DEVICE, "vkCreateBuffer"));
        assert!(lacks(OF_DEVICE, "vkGetDeviceQueue"));
        assert!(!lacks(OF_INSTANCE, "vkCreateBuffer"));
        for name in [
            "vkGetPhysicalDeviceProperties",
            "vkCreateDevice",
            "vkCreateInstance",
            "vkEnumeratePhysicalDevices",
        ] {
            assert!(!lacks(OF_DEVICE, name), "{name}");
        }
        assert!(!lacks(OF_DEVICE, "vkCmdPushConstants2"));
    }
}
