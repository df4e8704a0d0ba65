//! What is asked for manifests, in which order, and what of it counts (DRV-35 to DRV-41, LAY-45 to LAY-52, APP-242).

use super::values::each_text;
use super::{Event, Key, List};
use alloc::vec::Vec;
use core::cell::OnceCell;

/// A root of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hive {
    /// What holds for the machine.
    Machine,
    /// What holds for the user who runs the process.
    User,
}

impl Hive {
    /// Its name, as messages give it.
    fn name(self) -> &'static str {
        match self {
            Self::Machine => "HKEY_LOCAL_MACHINE",
            Self::User => "HKEY_CURRENT_USER",
        }
    }
}

/// What a device says when it is asked for a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer<'a> {
    /// It has none.
    Missing,
    /// Its type and data.
    Value(u32, &'a [u8]),
    /// It is not to be asked before the machine starts anew.
    NeedsRestart,
    /// The system does not report the device's status, so the device is not queried.
    NoStatus,
}

/// Takes what a device, by its name, says.
pub(crate) type TakeAnswer<'a> = dyn FnMut(&[u8], Answer<'_>) + 'a;

/// Whoever knows: this system, or a test's own.
pub(crate) trait System {
    /// Whether what the user can change is not to be trusted (LAY-47, APP-242).
    fn is_elevated(&self) -> bool;
    /// Whether this is a 32-bit process of a 64-bit system.
    fn is_wow64(&self) -> bool;
    /// Shows the root folder of the first package of a family, if one is installed.
    fn package(&self, family: &str, take: &mut dyn FnMut(&[u8]));
    /// Asks the adapters that the kernel has for a value; none where the kernel cannot be asked.
    fn each_adapter(&self, value: &str, take: &mut TakeAnswer<'_>);
    /// Asks the present display devices, and the software components below them, for a value in their software keys.
    fn each_device(&self, value: &str, take: &mut TakeAnswer<'_>);
    /// Shows the names of the values of a key that are four bytes of zero, whatever type they say they are (LAY-48).
    fn each_zero(&self, hive: Hive, key: &str, take: &mut dyn FnMut(&[u8]));
    /// Shows the names of all values of a key.
    fn each_name(&self, hive: Hive, key: &str, take: &mut dyn FnMut(&[u8]));
    /// The vendors of the display adapters; `None` when they cannot be told.
    fn vendors(&self) -> Option<Vec<u32>>;
}

/// The packages that bring drivers and implicit layers (DRV-36, LAY-45).
const PACKAGES: &str = "Microsoft.D3DMappingLayers_8wekyb3d8bbwe";
/// The key whose values are named by settings files (APP-242).
const SETTINGS_KEY: &str = r"SOFTWARE\Khronos\Vulkan\LoaderSettings";
/// The file name that such a value ends with.
const SETTINGS_FILE: &[u8] = b"vk_loader_settings.json";

/// Drivers that their vendors' installers leave behind when the adapter is gone, by the beginning of the manifest's name (DRV-40).
const VENDORS: [(&str, u32); 4] = [
    ("igvk", 0x8086),
    ("nv-vk", 0x10DE),
    ("amd-vulkan", 0x1002),
    ("amdvlk", 0x1002),
];
/// The end of their names in a process of this pointer size.
const VENDOR_ENDING: &str = if cfg!(target_pointer_width = "64") {
    "64.json"
} else {
    "32.json"
};

/// Shows `take` everything that is listed: packages, then devices, then the software keys.
pub(crate) fn each(list: List, system: &impl System, take: &mut dyn FnMut(Event<'_>)) {
    if list != List::ExplicitLayers {
        system.package(PACKAGES, &mut |folder| take(Event::Package(folder)));
    }
    let value = list.value(system.is_wow64());
    let by_devices = each_answer(value, take, |take| system.each_adapter(value, take))
        || each_answer(value, take, |take| system.each_device(value, take));
    let mut by_keys = false;
    for &hive in hives(list) {
        if hive == Hive::Machine || !system.is_elevated() {
            by_keys |= each_in_key(list, hive, system, take);
        }
    }
    if !by_devices && !by_keys {
        take(Event::Nothing);
    }
}

/// The roots that count for a list, in order. No user installs drivers (DRV-39).
fn hives(list: List) -> &'static [Hive] {
    match list {
        List::Drivers => &[Hive::Machine],
        List::ExplicitLayers | List::ImplicitLayers => &[Hive::Machine, Hive::User],
    }
}

/// Shows what devices list in a value. Returns whether that is anything.
fn each_answer(value: &str, take: &mut dyn FnMut(Event<'_>), ask: impl FnOnce(&mut TakeAnswer<'_>)) -> bool {
    let mut any = false;
    ask(&mut |device, answer| {
        let key = Key {
            root: device,
            name: value,
        };
        match answer {
            Answer::Missing => take(Event::NoValue(key)),
            Answer::NeedsRestart => take(Event::NeedsRestart(device)),
            Answer::NoStatus => take(Event::NoStatus(device)),
            Answer::Value(kind, data) => {
                let is_text = each_text(kind, data, &mut |path| {
                    any = true;
                    take(Event::Listed(path, key));
                });
                if !is_text {
                    take(Event::WrongType(key, kind));
                }
            }
        }
    });
    any
}

/// Shows what a software key lists. Returns whether that is anything.
fn each_in_key(list: List, hive: Hive, system: &impl System, take: &mut dyn FnMut(Event<'_>)) -> bool {
    let key = Key {
        root: hive.name().as_bytes(),
        name: list.key(),
    };
    let vendors = OnceCell::new();
    let (mut any, mut counts) = (false, true);
    system.each_zero(hive, list.key(), &mut |path| {
        if list == List::Drivers && counts {
            // Making a factory takes its time, so it waits for something that is listed.
            counts = vendors.get_or_init(|| system.vendors()).is_some();
            if !counts {
                take(Event::NoAdapters(key));
            }
        }
        let is_present = |vendor| {
            let vendors = vendors.get().and_then(Option::as_ref);
            vendors.is_none_or(|vendors| vendors.contains(&vendor))
        };
        if !counts {
        } else if vendor_of(path, VENDOR_ENDING).is_none_or(is_present) || list != List::Drivers {
            any = true;
            take(Event::Listed(path, key));
        } else {
            take(Event::Unserved(path, key));
        }
    });
    if !any {
        take(Event::Empty(key));
    }
    any
}

/// The vendor whose adapter a manifest is for, where its name says so. The system does not tell upper from lower case in names.
fn vendor_of(path: &[u8], ending: &str) -> Option<u32> {
    let name = file_name(path);
    let start = name.len().checked_sub(ending.len())?;
    let (start, end) = name.split_at(start);
    if !end.eq_ignore_ascii_case(ending.as_bytes()) {
        return None;
    }
    let known = VENDORS
        .iter()
        .find(|(known, _)| start.eq_ignore_ascii_case(known.as_bytes()));
    known.map(|(_, vendor)| *vendor)
}

/// The last part of a path; both separators of the system count.
fn file_name(path: &[u8]) -> &[u8] {
    let last = path.iter().rposition(|byte| b"\\/".contains(byte));
    &path[last.map_or(0, |at| at + 1)..]
}

/// Shows `take` the settings file of each key that names one: that of the user first (APP-242).
pub(crate) fn each_settings_file(system: &impl System, take: &mut dyn FnMut(&[u8])) {
    for hive in [Hive::User, Hive::Machine] {
        if hive == Hive::User && system.is_elevated() {
            continue;
        }
        let mut decided = false;
        system.each_name(hive, SETTINGS_KEY, &mut |name| {
            if !decided && file_name(name) == SETTINGS_FILE {
                decided = true;
                take(name);
            }
        });
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
