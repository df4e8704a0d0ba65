//! Sources of manifests, their order, and their usable entries (DRV-35 to DRV-41, LAY-45 to LAY-52, APP-242).

use super::values::each_text;
use super::{Event, Key, List};
use alloc::vec::Vec;
use core::cell::OnceCell;

/// A root of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hive {
    /// Settings of the machine.
    Machine,
    /// Settings of the user who runs the process.
    User,
}

impl Hive {
    /// Returns the name of the root for messages.
    fn name(self) -> &'static str {
        match self {
            Self::Machine => "HKEY_LOCAL_MACHINE",
            Self::User => "HKEY_CURRENT_USER",
        }
    }
}

/// Answer of a device to a query for a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer<'a> {
    /// The device does not have the value.
    Missing,
    /// Type and data of the value.
    Value(u32, &'a [u8]),
    /// The device must not be queried before the next restart.
    NeedsRestart,
    /// The system does not report the device's status, so the device is not queried.
    NoStatus,
}

/// Callback that receives the name of a device, and the device's answer.
pub(crate) type TakeAnswer<'a> = dyn FnMut(&[u8], Answer<'_>) + 'a;

/// The system that is queried: the real one, or a simulated one in tests.
pub(crate) trait System {
    /// Returns `true` if data that the user can change must not be trusted (LAY-47, APP-242).
    fn is_elevated(&self) -> bool;
    /// Returns `true` for a 32-bit process on a 64-bit system.
    fn is_wow64(&self) -> bool;
    /// Passes the root folder of the first installed package of a family, if there is one.
    fn package(&self, family: &str, take: &mut dyn FnMut(&[u8]));
    /// Queries a value of the kernel's adapters. Passes no answer if the kernel cannot be queried.
    fn each_adapter(&self, value: &str, take: &mut TakeAnswer<'_>);
    /// Queries a value in the software keys of the present display devices and of the software components below them.
    fn each_device(&self, value: &str, take: &mut TakeAnswer<'_>);
    /// Passes the names of those values of a key whose data consists of four bytes that are all zero, regardless of their type (LAY-48).
    fn each_zero(&self, hive: Hive, key: &str, take: &mut dyn FnMut(&[u8]));
    /// Passes the names of all values of a key.
    fn each_name(&self, hive: Hive, key: &str, take: &mut dyn FnMut(&[u8]));
    /// Returns the vendors of the display adapters; `None` if they cannot be determined.
    fn vendors(&self) -> Option<Vec<u32>>;
}

/// Family of the packages that contain drivers and implicit layers (DRV-36, LAY-45).
const PACKAGES: &str = "Microsoft.D3DMappingLayers_8wekyb3d8bbwe";
/// Key whose values have the paths of settings files as names (APP-242).
const SETTINGS_KEY: &str = r"SOFTWARE\Khronos\Vulkan\LoaderSettings";
/// File name at the end of the name of a value in [`SETTINGS_KEY`].
const SETTINGS_FILE: &[u8] = b"vk_loader_settings.json";

/// Drivers that vendors' installers leave when the adapter is removed: prefix of the manifest's name, and number of the vendor (DRV-40).
const VENDORS: [(&str, u32); 4] = [
    ("igvk", 0x8086),
    ("nv-vk", 0x10DE),
    ("amd-vulkan", 0x1002),
    ("amdvlk", 0x1002),
];
/// Suffix of the manifest names in [`VENDORS`], for processes of this pointer size.
const VENDOR_ENDING: &str = if cfg!(target_pointer_width = "64") {
    "64.json"
} else {
    "32.json"
};

/// Passes the entries of `list` from all sources to `take`: from packages, then devices, then the software keys.
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

/// Returns the roots that are searched for a list, in order. Users cannot install drivers (DRV-39).
fn hives(list: List) -> &'static [Hive] {
    match list {
        List::Drivers => &[Hive::Machine],
        List::ExplicitLayers | List::ImplicitLayers => &[Hive::Machine, Hive::User],
    }
}

/// Passes to `take` each entry that a device lists in the value called `value`. Returns `true` if there are any entries.
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

/// Passes the entries of a software key to `take`. Returns `true` if there are any entries.
fn each_in_key(list: List, hive: Hive, system: &impl System, take: &mut dyn FnMut(Event<'_>)) -> bool {
    let key = Key {
        root: hive.name().as_bytes(),
        name: list.key(),
    };
    let vendors = OnceCell::new();
    let (mut any, mut counts) = (false, true);
    system.each_zero(hive, list.key(), &mut |path| {
        if list == List::Drivers && counts {
            // Querying the vendors takes time, so only an entry triggers the query.
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

/// Returns the vendor of the adapter that a manifest serves, if the manifest's name shows the vendor. File names on Windows are
/// case-insensitive.
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

/// Returns the last part of a path, after its last slash or backslash.
fn file_name(path: &[u8]) -> &[u8] {
    let last = path.iter().rposition(|byte| b"\\/".contains(byte));
    &path[last.map_or(0, |at| at + 1)..]
}

/// Passes the settings file of each key that names one to `take`. The user's key comes first (APP-242).
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
