//! The catalogue's decisions about records of devices (`loader/record`).

use super::compared::contradict;
use super::{BeforeOpening as _, INFO, Known, KnownDrivers, Purpose, identity_of, sight};
use ::catalogue::{ARCHITECTURE, Hardware, Opening, Outcome, SYSTEM_FILE};
use core::fmt;
use discovery::journal::Journal;
use discovery::manifest::DriverManifest;
use discovery::settings::DriverPolicies;
use discovery::text::Text;
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

    /// Returns the file of the record for a driver, `true` if that file may belong to the user, and the checksum of the record.
    ///
    /// # Errors
    /// The reason why the driver must not stay closed.
    #[cold]
    #[inline(never)]
    pub(in crate::unopened) fn record_of(
        &self,
        manifest: &DriverManifest,
        known: Option<Known>,
    ) -> Result<(Vec<u8>, bool, u64), Opening> {
        let loaded = self.file().ok_or(Opening::NoCatalogue)?;
        let (_, _, entry) = self.find(manifest).ok_or(Opening::NoEntry)?;
        let known = known.ok_or(Opening::Entry)?;
        if loaded.verifies {
            return Err(Opening::Verified);
        }
        let is_whole = entry.outcome == Outcome::Answered && entry.extensions().is_some();
        let sum = entry.record().filter(|_| is_whole).ok_or(Opening::NoRecord)?;
        // The kernel's lists show changes of devices, except for drivers of unknown hardware.
        if matches!(entry.hardware(), Hardware::Unknown | Hardware::Absent) {
            return Err(Opening::Hardware);
        }
        if !self.wishes.policies.has(DriverPolicies::LAZY) && !entry.sleeps(&sight::Kernel) {
            return Err(Opening::Awake);
        }
        if !self.has_devices(Some(known)) {
            return Err(Opening::Machine);
        }
        let path: &[u8] = &loaded.path;
        let folder = path
            .rsplitn(2, |&byte| byte == b'/')
            .nth(1)
            .ok_or(Opening::RecordFile)?;
        let file = os::render(format_args!("{}/record-{ARCHITECTURE}-{sum:016x}.bin", os::Raw(folder)));
        Ok((file, path != SYSTEM_FILE.to_bytes(), sum))
    }
}

/// Reason why a driver must be opened, with the name of the file, variable or structure that it is about.
pub(in crate::unopened) struct Needed {
    reason: Opening,
    name: Text,
}

impl From<Opening> for Needed {
    fn from(reason: Opening) -> Self {
        Self {
            reason,
            name: Text::default(),
        }
    }
}

impl fmt::Display for Needed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.reason.words().1)?;
        if self.name.is_empty() {
            return Ok(());
        }
        write!(formatter, ": {}", self.name)
    }
}

impl Needed {
    /// Returns the reason with the name of a file, variable or structure.
    pub(in crate::unopened) fn of(reason: Opening, name: &[u8]) -> Self {
        Self {
            reason,
            name: name.into(),
        }
    }

    /// Logs that a driver is opened although a policy keeps drivers closed, and why.
    #[cold]
    #[inline(never)]
    pub(in crate::unopened) fn tell(&self, manifest: &DriverManifest, journal: &Journal<'_>) {
        let library = &manifest.library_path;
        trace::write("catalogue", |record| {
            record.text("library", library);
            record.text("manifest", &manifest.path);
            record.word("use", "none");
            record.word("opened", self.reason.words().0);
            record.text("name", &self.name);
        });
        journal.note(
            INFO,
            format_args!("Opening driver {library} at once, in spite of the policy: {self}"),
        );
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
    match os::with_terminated(path, os::Mounted::at) {
        Ok(now) => identity_of(now.stamp).is_written(written),
        Err(_) => written.is_empty(),
    }
}
