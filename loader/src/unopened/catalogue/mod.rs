//! The driver catalogue in a process (docs/catalogue.md): reads the file that `vkloader catalogue update` wrote.
//!
//! The crate `catalogue` defines the format of the file and makes the decisions. This module supplies the view of the process: [`mod@file`]
//! reads the file, and [`mod@sight`] examines libraries and devices. The first scan for drivers opens the file with one system call, and
//! keeps the content of the file. Each use of an entry checks the entry's library again. If anything has changed, the driver is opened as
//! if there were no catalogue.

#![forbid(unsafe_code)]

mod compared;
mod file;
#[cfg(all(feature = "lazy", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod records;
mod sight;
mod visible;

#[cfg(fuzzing)]
pub(crate) use file::{Content, parse};
#[cfg(all(feature = "lazy", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use records::{Needed, contradict_record, is_same_file, trace_record};
#[cfg(all(feature = "lazy", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use sight::variable_of_records;

use super::{Answer, BeforeOpening, ClosedDrivers, Purpose, Reserve, StandIns as _, Told, Wishes};
use crate::ffi::set_fixed_text;
use crate::generated::types::{VkExtensionProperties, VkPhysicalDeviceProperties, VkResult};
use ::catalogue::closure::Mount;
use ::catalogue::{Doubt, Entry, Extension, Identity, MachineState, Outcome, Usability};
use compared::{compare_known, compare_known_devices, compare_known_instance};
use core::cell::{Cell, OnceCell};
use discovery::env::Environment;
use discovery::journal::reason::{Asked, CatalogueReason};
use discovery::journal::{Decision, Journal, LogBits, Source, Subject, Verdict};
use discovery::manifest::DriverManifest;
use discovery::settings::DriverPolicies;
use discovery::text::Text;
use discovery::trace;
use discovery::version::ApiVersion;
use file::{Loaded, Looked, Seen};
use os::memory::OutOfMemory;
use rust_alloc::sync::Arc;

/// Severity of messages that say that an answer came from the catalogue.
const INFO: LogBits = LogBits::INFO.with(LogBits::DRIVER);
const WARN: LogBits = LogBits::WARN.with(LogBits::DRIVER);

/// Index of an entry in the catalogue of this process. The meaning of an index that is in use never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(any(test, fuzzing), derive(Default))]
pub(crate) struct Known {
    number: u16,
}

/// View of the catalogue for one Vulkan call.
pub(crate) struct KnownDrivers {
    loaded: OnceCell<Arc<Loaded>>,
    /// The user's own catalogue, if the system has no catalogue, or if no entry of the system's catalogue applies.
    users: OnceCell<Arc<Loaded>>,
    purpose: Purpose,
    wishes: Wishes,
    machine: Cell<Option<MachineState>>,
    /// Results of examining the files of the catalogue; `None` if memory ran out.
    looked: OnceCell<Option<Arc<Looked>>>,
    mount: Cell<Mount>,
}

impl KnownDrivers {
    /// Returns the catalogue that this call uses.
    #[inline]
    fn file(&self) -> Option<&Arc<Loaded>> {
        self.users.get().or_else(|| self.loaded.get())
    }

    /// Returns the answer about the driver of a manifest, if the catalogue has one.
    #[cold]
    #[inline(never)]
    fn answer(&self, manifest: &DriverManifest, journal: &mut Journal<'_>) -> Answer {
        let Some((loaded, number, entry)) = self.find(manifest) else {
            return Answer::Open(None);
        };
        let known = Known { number };
        if loaded.is_doubted(number) {
            return Answer::Open(None);
        }
        if let Err(doubt) = self.check(number, entry, loaded) {
            let file = loaded
                .catalogue()
                .map_or(&[][..], |catalogue| catalogue.file_of(entry, doubt));
            tell_doubt(manifest, doubt.0, file, journal);
            return Answer::Open(None);
        }
        if loaded.verifies {
            return Answer::Open(Some(known));
        }
        let (answer, reason) = self.judge(entry, known);
        tell(manifest, entry, &answer, reason, journal);
        answer
    }

    fn find(&self, manifest: &DriverManifest) -> Option<(&Loaded, u16, Entry<'_, Seen<'_>>)> {
        let loaded = self.file()?;
        let (number, entry) = loaded.find(&manifest.path, &manifest.library_path)?;
        Some((loaded, number, entry))
    }

    /// Returns the answer about the driver of a valid entry, and the reason if the driver is left out.
    fn judge(&self, entry: Entry<'_, Seen<'_>>, known: Known) -> (Answer, Option<CatalogueReason>) {
        let asked = Asked(entry.asked());
        let broken = match entry.outcome {
            Outcome::Crashed(signal) => Some(CatalogueReason::Crashed(signal, asked)),
            Outcome::Ended(status) => Some(CatalogueReason::Ended(status, asked)),
            Outcome::Hung(seconds) => Some(CatalogueReason::Hung(seconds, asked)),
            Outcome::Answered | Outcome::Failed(_) => None,
        };
        // Devices matter only for the creation of an instance.
        let judged = if broken.is_some() || self.purpose == Purpose::Creation {
            entry.at_creation(|| self.machine())
        } else {
            Usability::Open
        };
        let aside = |reserve, reason| (Answer::Aside(known, reserve), Some(reason));
        match (judged, self.purpose) {
            (Usability::Broken, _) => (Answer::Skip, broken),
            (_, Purpose::Query) if entry.extensions().is_some() => (Answer::Answered(known), None),
            (_, Purpose::Query) => (Answer::Open(Some(known)), None),
            (Usability::NoDevice, _) => aside(Reserve::NoDevice, CatalogueReason::NoDevice(asked)),
            _ if self.hides(entry) => aside(Reserve::NoDevice, CatalogueReason::Hidden(asked)),
            _ if self.wishes.policies.has(DriverPolicies::SOFTWARE_LAST) && entry.is_software() => {
                aside(Reserve::Software, CatalogueReason::Software)
            }
            // If the machine has changed, a new device may belong to the driver too, and may be awake.
            _ if self.wishes.policies.has(DriverPolicies::NO_WAKE)
                && entry.sleeps(&sight::Kernel)
                && self.is_same_machine() =>
            {
                aside(Reserve::Asleep, CatalogueReason::Asleep)
            }
            _ => (Answer::Open(Some(known)), None),
        }
    }

    /// Returns `true` if all devices of a driver are known and all of them are hidden.
    fn hides(&self, entry: Entry<'_, Seen<'_>>) -> bool {
        let words = self.wishes.visible.as_ref();
        words.is_some_and(|words| visible::hides(words, entry)) && self.is_same_machine()
    }

    fn check(&self, number: u16, entry: Entry<'_, Seen<'_>>, loaded: &Loaded) -> Result<(), (Doubt, Option<u16>)> {
        let mut mount = self.mount.get();
        let looked = self.looked.get_or_init(|| loaded.looked(&mut mount));
        let looked = looked.as_ref().ok_or((Doubt::Unknown, None))?;
        let checked = looked.check(number, entry, &mut mount);
        self.mount.set(mount);
        checked
    }

    #[inline(never)]
    fn pass_extensions(
        &self,
        known: Known,
        mut told: Option<&mut Told>,
        take: &mut dyn FnMut(&VkExtensionProperties) -> Result<(), OutOfMemory>,
    ) -> Result<(), OutOfMemory> {
        let Some(catalogue) = self.file().and_then(|loaded| loaded.catalogue()) else {
            return Ok(());
        };
        let is_new = |text: &[u8]| told.as_mut().is_none_or(|told| told.add(text));
        // All extensions were checked before the entry was accepted.
        let mut all = catalogue.valid_extensions(known.number, is_new);
        all.try_for_each(|one| take(&properties(&one)))
    }

    fn is_same_machine(&self) -> bool {
        self.machine() != MachineState::Changed
    }

    fn machine(&self) -> MachineState {
        if let Some(known) = self.machine.get() {
            return known;
        }
        let catalogue = self.file().and_then(|loaded| loaded.catalogue());
        let state = catalogue.map_or(MachineState::Changed, |catalogue| {
            catalogue.state_of_machine(&sight::Kernel)
        });
        self.machine.set(Some(state));
        state
    }
}

impl BeforeOpening for KnownDrivers {
    #[inline]
    fn read_mode(environment: &Environment<'_>) {
        file::read_mode(environment);
    }

    fn forget() {
        file::forget();
    }

    /// Loads the catalogue. Ignores the catalogue if the value of a variable that drivers read differs from the value during the update.
    fn of_call(purpose: Purpose, wishes: Wishes, environment: &Environment<'_>, journal: &mut Journal<'_>) -> Self {
        let loaded = OnceCell::new();
        if let Some(found) = file::of_process(environment, journal)
            && sight::variables_are_allowed(&found, journal)
        {
            let _ = loaded.set(found);
        }
        Self {
            loaded,
            users: OnceCell::new(),
            purpose,
            wishes,
            machine: Cell::new(None),
            looked: OnceCell::new(),
            mount: Cell::default(),
        }
    }

    /// Adds the user's own catalogue if the system has none, or if no entry of the system's catalogue applies, for example in an unpacked
    /// image.
    #[cold]
    #[inline(never)]
    fn add_users(&self, environment: &Environment<'_>, journal: &mut Journal<'_>) {
        if let Some(found) = file::of_mark(environment, journal)
            && sight::variables_are_allowed(&found, journal)
        {
            // Each Vulkan call scans at most once, so `users` is not set yet.
            let _ = self.users.set(found);
        }
    }

    #[inline]
    fn consider(&self, manifest: &DriverManifest, journal: &mut Journal<'_>) -> Result<Answer, OutOfMemory> {
        let answer = match self.file() {
            Some(_) => self.answer(manifest, journal),
            None => Answer::Open(None),
        };
        match answer {
            Answer::Open(known) => self.consider_closed(manifest, known, journal),
            answer => Ok(answer),
        }
    }

    #[inline]
    fn consider_closed(
        &self,
        manifest: &DriverManifest,
        known: Option<Known>,
        journal: &mut Journal<'_>,
    ) -> Result<Answer, OutOfMemory> {
        let closed = ClosedDrivers::of(manifest, known, self, journal)?;
        Ok(match (known, closed) {
            (Some(known), Some(stand_in)) => Answer::Closed(known, stand_in),
            _ => Answer::Open(known),
        })
    }

    /// Returns `true` if a driver is known to have devices and the machine has not changed.
    fn has_devices(&self, known: Option<Known>) -> bool {
        let entry = known.and_then(|known| self.file()?.entry(known.number));
        entry.and_then(Entry::devices).is_some_and(|devices| devices > 0) && self.is_same_machine()
    }

    fn extensions(
        &self,
        known: Known,
        told: Option<&mut Told>,
        mut take: impl FnMut(&VkExtensionProperties) -> Result<(), OutOfMemory>,
    ) -> Result<(), OutOfMemory> {
        self.pass_extensions(known, told, &mut take)
    }

    #[inline]
    fn compare_extensions(
        known: Option<Known>,
        driver: &[u8],
        offered: &[VkExtensionProperties],
        journal: &Journal<'_>,
    ) {
        if let Some(known) = known {
            compare_known(known, driver, offered, journal);
        }
    }

    /// Compares the facts with the driver's answers if `VK_LOADER_CATALOGUE` requests comparisons.
    #[inline]
    fn compare_instance(
        known: Option<Known>,
        driver: &[u8],
        facts: (u32, ApiVersion, VkResult),
        journal: &Journal<'_>,
    ) {
        if let Some(known) = known
            && file::verifies()
        {
            compare_known_instance(known, driver, facts, journal);
        }
    }

    #[inline]
    fn compare_devices(
        known: Option<Known>,
        driver: &[u8],
        reported: usize,
        describe: impl Fn(usize) -> VkPhysicalDeviceProperties,
        journal: &Journal<'_>,
    ) {
        if let Some(known) = known {
            compare_known_devices(known, driver, reported, &describe, journal);
        }
    }
}

/// Passes extensions of an entry to `take` until `take` returns `false`. Returns `true` if the entry has a list and the whole list was
/// passed.
#[inline(never)]
fn each_extension(entry: Option<Entry<'_, Seen<'_>>>, take: &mut dyn FnMut(Extension<'_>) -> bool) -> bool {
    match entry.and_then(Entry::extensions) {
        Some(mut listed) => listed.all(take),
        None => false,
    }
}

#[inline(never)]
fn properties(extension: &Extension<'_>) -> VkExtensionProperties {
    let mut properties = VkExtensionProperties {
        extensionName: [0; 256],
        specVersion: extension.version,
    };
    set_fixed_text(&mut properties.extensionName, extension.name);
    properties
}

fn tell_doubt(manifest: &DriverManifest, doubt: Doubt, file: &[u8], journal: &Journal<'_>) {
    let (word, why) = doubt.words();
    trace::write("catalogue", |record| {
        record.text("library", &manifest.library_path);
        record.text("manifest", &manifest.path);
        record.word("use", "none");
        record.word("doubt", word);
        record.text("file", file);
    });
    let library = &manifest.library_path;
    journal.note(
        INFO,
        format_args!(
            "The driver catalogue does not count for {library}: {} {why}",
            os::Raw(file)
        ),
    );
}

fn tell(
    manifest: &DriverManifest,
    entry: Entry<'_, Seen<'_>>,
    answer: &Answer,
    reason: Option<CatalogueReason>,
    journal: &mut Journal<'_>,
) {
    let asked = Asked(entry.asked());
    if let Answer::Answered(_) = answer {
        trace::write("catalogue", |record| {
            record.text("library", &manifest.library_path);
            record.text("manifest", &manifest.path);
            record.word("use", "extensions");
            record.number("asked", asked.0);
        });
        let library = &manifest.library_path;
        journal.note(
            INFO,
            format_args!("Not opening driver {library}: its extensions are in the driver catalogue, of {asked}"),
        );
    }
    let Some(reason) = reason else { return };
    journal.decide(Decision {
        subject: Subject::DriverLibrary,
        name: manifest.library_path.clone(),
        path: manifest.path.clone(),
        verdict: Verdict::Dropped(reason.into()),
        source: manifest.source,
    });
}

/// Records that the whole catalogue is ignored.
fn ignore(path: &Text, reason: discovery::journal::Reason, journal: &mut Journal<'_>) {
    journal.decide(Decision {
        subject: Subject::Catalogue,
        name: path.clone(),
        path: Text::default(),
        verdict: Verdict::Dropped(reason),
        source: Source::BuildTime,
    });
}

/// Returns the identity of a file.
fn identity_of(stamp: os::Stamp) -> Identity {
    let ((device, inode), size, [modified, changed]) = stamp.parts();
    Identity {
        device,
        inode,
        size,
        modified,
        changed,
    }
}
