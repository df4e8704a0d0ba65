//! The catalogue's decisions about records of devices (`loader/record`).

use super::{BeforeOpening as _, Known, KnownDrivers, Purpose, contradict, identity_of, sight};
use ::catalogue::{ARCHITECTURE, Hardware, Outcome, SYSTEM_FILE};
use discovery::journal::Journal;
use discovery::manifest::DriverManifest;
use discovery::settings::DriverPolicies;
use discovery::trace;
use rust_alloc::vec::Vec;

impl KnownDrivers {
    /// Returns `true` if a policy lets drivers stay closed for a new instance.
    #[inline]
    pub(in crate::unopened) fn is_lazy(&self) -> bool {
        let policies = self.wishes.policies;
        self.purpose == Purpose::Creation
            && (policies.has(DriverPolicies::LAZY) || policies.has(DriverPolicies::LAZY_ASLEEP))
    }

    /// Returns the file of the record for a valid entry, `true` if that file may belong to the user, and the checksum of the record.
    /// Returns `None` if there is no record, or if the driver must not stay closed.
    #[cold]
    #[inline(never)]
    pub(in crate::unopened) fn record_of(&self, known: Known) -> Option<(Vec<u8>, bool, u64)> {
        let loaded = self.file().filter(|loaded| !loaded.verifies)?;
        let entry = loaded.entry(known.number)?;
        let sum = entry.record()?;
        // The kernel's lists show changes of devices, except for drivers of unknown hardware.
        let is_known = !matches!(entry.hardware(), Hardware::Unknown | Hardware::Absent);
        let is_wanted = self.wishes.policies.has(DriverPolicies::LAZY) || entry.sleeps(&sight::Kernel);
        let counts = entry.outcome == Outcome::Answered && is_known && is_wanted && entry.extensions().is_some();
        if !counts || !self.has_devices(Some(known)) {
            return None;
        }
        let path: &[u8] = &loaded.path;
        let folder = path.rsplitn(2, |&byte| byte == b'/').nth(1)?;
        let file = os::render(format_args!("{}/record-{ARCHITECTURE}-{sum:016x}.bin", os::Raw(folder)));
        Some((file, path != SYSTEM_FILE.to_bytes(), sum))
    }
}

/// Marks an entry as wrong for this process, because the record of the driver's devices differs from the opened driver.
#[cold]
pub(in crate::unopened) fn contradict_record(known: Known, driver: &[u8], what: &str, journal: &Journal<'_>) {
    contradict(known, driver, what, &|_| true, journal);
}

/// Writes to the trace that devices are listed from the record.
#[cold]
pub(in crate::unopened) fn trace_record(manifest: &DriverManifest) {
    trace::write("catalogue", |record| {
        record.text("library", &manifest.library_path);
        record.text("manifest", &manifest.path);
        record.word("use", "devices");
    });
}

/// Returns `true` if a file or folder has the identity in `written`. An empty identity means that the file or folder does not exist.
pub(in crate::unopened) fn is_same_file(path: &[u8], written: &[u8]) -> bool {
    let now = os::with_terminated(path, os::Status::at).ok();
    match now.as_ref().and_then(identity_of) {
        Some(identity) => identity.is_written(written),
        None => written.is_empty(),
    }
}
