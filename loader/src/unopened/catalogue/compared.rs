//! Compares the answers of an opened driver with the driver's entry.

use super::file::{self, Seen};
use super::{Known, WARN, each_extension};
use crate::ffi;
use crate::generated::types::{VkExtensionProperties, VkPhysicalDeviceProperties, VkResult};
use ::catalogue::{Entry, Outcome};
use discovery::journal::Journal;
use discovery::trace;
use discovery::version::ApiVersion;

/// Compares the extensions of an opened driver with the extensions in the driver's entry.
#[cold]
#[inline(never)]
pub(super) fn compare_known(known: Known, driver: &[u8], offered: &[VkExtensionProperties], journal: &Journal<'_>) {
    let differs = |entry: Entry<'_, Seen<'_>>| {
        let mut offered = offered.iter();
        let repeated = each_extension(Some(entry), &mut |one| {
            let next = offered.next();
            next.is_some_and(|next| next.specVersion == one.version && ffi::fixed_text(&next.extensionName) == one.name)
        });
        // If the entry has no list of extensions, there is nothing to compare.
        entry.extensions().is_some() && (!repeated || offered.next().is_some())
    };
    contradict(known, driver, "other instance extensions", &differs, journal);
}

/// Compares the result of creating a driver's instance with the driver's entry.
#[cold]
#[inline(never)]
pub(super) fn compare_known_instance(
    known: Known,
    driver: &[u8],
    (interface, version, result): (u32, ApiVersion, VkResult),
    journal: &Journal<'_>,
) {
    let contradict = |what, differs: &dyn Fn(Entry<'_, Seen<'_>>) -> bool| {
        contradict(known, driver, what, differs, journal);
    };
    contradict("another interface version", &|entry| {
        entry.interface().is_some_and(|known| known != u64::from(interface))
    });
    contradict("another API version", &|entry| {
        !entry.agrees_on_version([version.major(), version.minor(), version.patch()])
    });
    contradict("another result of vkCreateInstance", &|entry| match entry.outcome {
        Outcome::Answered => result != VkResult::VK_SUCCESS,
        Outcome::Failed(code) => result.0 != code,
        Outcome::Crashed(_) | Outcome::Ended(_) | Outcome::Hung(_) => true,
    });
}

/// Compares the number of devices that a driver reports with the number in the driver's entry. If `VK_LOADER_CATALOGUE` requests
/// comparisons, `describe` supplies the properties of each device.
#[cold]
#[inline(never)]
pub(super) fn compare_known_devices(
    known: Known,
    driver: &[u8],
    reported: usize,
    describe: &dyn Fn(usize) -> VkPhysicalDeviceProperties,
    journal: &Journal<'_>,
) {
    let verifies = file::verifies();
    let what = if verifies {
        "other devices"
    } else {
        "devices where it had none"
    };
    let differs = &|entry: Entry<'_, Seen<'_>>| {
        let is_known = |number| {
            let found = describe(number);
            entry.has_device(ffi::fixed_text(&found.deviceName), found.vendorID, found.deviceID)
        };
        entry.devices().is_some_and(|devices| {
            if verifies {
                devices != reported || !(0..reported).all(is_known)
            } else {
                devices == 0 && reported > 0
            }
        })
    };
    contradict(known, driver, what, differs, journal);
}

/// Reports that a driver differs from its entry, and ends the use of the entry in this process, if `differs` returns `true` for the entry.
#[inline(never)]
pub(super) fn contradict(
    known: Known,
    driver: &[u8],
    what: &str,
    differs: &dyn Fn(Entry<'_, Seen<'_>>) -> bool,
    journal: &Journal<'_>,
) {
    let Some(loaded) = file::loaded() else { return };
    let entry = loaded.entry(known.number);
    if loaded.is_doubted(known.number) || !entry.is_some_and(differs) {
        return;
    }
    // With `VK_LOADER_CATALOGUE=verify`, every driver is opened anyway. The entry then stays in use, so that every difference is reported.
    if !loaded.verifies {
        loaded.doubt(known.number);
    }
    trace::write("catalogue", |record| {
        record.text("library", driver);
        record.word("use", "none");
        record.word("doubt", "differs");
    });
    journal.note(
        WARN,
        format_args!(
            "The driver {} has {what} than the driver catalogue says, which does not count for it any longer: run \
             vkloader catalogue update",
            os::Raw(driver)
        ),
    );
}
