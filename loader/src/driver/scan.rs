//! Searches for drivers and opens all of them (DRV-7, DRV-8).

use super::direct::DirectDrivers;
use super::open::OpenDriver;
use crate::driver_interface::LibraryPlace;
use crate::unopened::{
    Answer, Answered, BeforeOpening as _, Elsewhere as _, Known, KnownDrivers, Published, Reserve, Reserves, Service,
    open_sent,
};
use core::mem::take;
use discovery::drivers::{DriverScan, Listing};
use discovery::journal::{Journal, Source};
use discovery::kept::Kept;
use discovery::manifest::DriverManifest;
use discovery::manifest::driver::{DriverOutcome, read_driver_manifest};
use discovery::scan_cache::{Cached, MOST_BYTES, ScanCache};
use discovery::search::{Found, Search};
use discovery::settings::Settings;
use discovery::text::{Text, file_name};
use os::memory::{Grow, OutOfMemory, copy, shortage};
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

/// Driver manifests that the last query found.
static DRIVER_LIST: ScanCache<DriverList> = ScanCache::new();

/// Frees the driver manifests that the process keeps.
pub(crate) fn forget() {
    DRIVER_LIST.forget();
}

/// Inputs of a scan in addition to the environment and the disk.
#[derive(Clone, Copy)]
pub(crate) struct ScanOptions<'a> {
    /// Current settings file, if there is one.
    pub settings: Option<&'a Arc<Settings>>,
    /// `true` to use manifests of portability drivers (DRV-97, DRV-98).
    pub portability: bool,
    /// `true` to keep the manifests for later scans. Only global queries set this member: programs make these queries in pairs, while most
    /// processes create one instance.
    pub remember: bool,
    /// Facts that need not be queried from drivers.
    pub known: &'a KnownDrivers,
}

impl ScanOptions<'_> {
    /// Adds the facts in the user's catalogue, if a folder of the listing contains the marker file of a catalogue.
    fn know(&self, listing: &Listing, search: &Search<'_>, journal: &mut Journal<'_>) {
        if listing.is_marked {
            self.known.add_users(search.environment(), journal);
        }
    }

    fn scan<'a>(&'a self, search: &'a Search<'a>) -> DriverScan<'a> {
        DriverScan {
            search,
            settings: self.settings.map(Arc::as_ref),
            with_portability: self.portability,
        }
    }
}

/// The drivers of one scan, in scan order.
pub(crate) struct Scan {
    /// Open and negotiated drivers.
    pub drivers: Vec<OpenDriver>,
    /// `true` if a manifest was skipped because portability drivers were not requested (DRV-99).
    pub skipped_portability: bool,
    /// Drivers that were not opened because their extensions are known.
    pub answered: Answered,
    /// Drivers that were not opened because other drivers suffice.
    pub aside: Reserves,
}

impl Scan {
    /// Opens the driver of a manifest. The driver's answers are compared with the known facts.
    fn open(
        &mut self,
        manifest: &DriverManifest,
        known: Option<Known>,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        let library = (&manifest.library_path, LibraryPlace::Path);
        match OpenDriver::open(manifest, library, known, journal) {
            Some(driver) => self.drivers.try_push(driver),
            None => Ok(()),
        }
    }

    /// Opens the driver of a manifest, unless all facts that the caller needs are known.
    fn consider(
        &mut self,
        manifest: &DriverManifest,
        known: &KnownDrivers,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        let answer = known.consider(manifest, journal)?;
        self.follow_answer(manifest, answer, journal)
    }

    fn follow_answer(
        &mut self,
        manifest: &DriverManifest,
        answer: Answer,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        match answer {
            Answer::Open(known) => self.open(manifest, known, journal),
            Answer::Closed(known, stand_in) => self.drivers.try_push(OpenDriver::of_closed(known, stand_in)),
            Answer::Answered(known) => self.answered.add(self.drivers.len(), known),
            Answer::Aside(known, reserve) => self.aside.add(manifest, known, reserve),
            Answer::Skip => Ok(()),
        }
    }

    /// Opens drivers that were set aside, because an instance without devices is better than no instance. Drivers without a device come
    /// after drivers that have one.
    #[cold]
    #[inline(never)]
    fn open_last(&mut self, known: &KnownDrivers, journal: &mut Journal<'_>) -> Result<(), OutOfMemory> {
        let mut aside = take(&mut self.aside);
        for reserve in Reserve::ORDER {
            let needed = match reserve {
                Reserve::Software => !self.drivers.iter().any(|driver| known.has_devices(driver.known)),
                Reserve::Asleep | Reserve::NoDevice => self.drivers.is_empty(),
            };
            if needed {
                aside.open(reserve, |manifest, one| {
                    let answer = known.consider_closed(manifest, Some(one), journal)?;
                    self.follow_answer(manifest, answer, journal)
                })?;
            }
        }
        self.aside = aside;
        Ok(())
    }

    /// Returns the path of an installed driver's library if its file name equals the part of `key` after the first hyphen (LSV-38). Two
    /// copies of one driver would show each device twice.
    fn installed(&self, key: &Text) -> Option<&Text> {
        let number = key.iter().position(|&byte| byte == b'-')?;
        let is_same = |path: &&Text| *file_name(path) == key[number + 1..];
        let mut open = self.drivers.iter().map(|driver| &driver.path);
        open.find(is_same).or_else(|| self.aside.paths().find(is_same))
    }

    /// Opens the drivers that a service has now, unless it is known that there is no service (LSV-38). These drivers come last, and are
    /// never remembered, because only a new scan shows the current list.
    #[inline]
    fn with_service(
        &mut self,
        listing: &Listing,
        options: &ScanOptions<'_>,
        search: &Search<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        if listing.with_service && !Service::is_off() {
            self.open_delivered(listing, options, search, journal)?;
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn open_delivered(
        &mut self,
        listing: &Listing,
        options: &ScanOptions<'_>,
        search: &Search<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        let mut wanted = Service::deliver(
            search.environment(),
            |published, journal| self.choose(published, listing, options, journal),
            journal,
        )?;
        while let Some(mut sent) = wanted {
            shortage::check()?;
            let open = |journal: &Journal<'_>| open_sent(&sent, journal);
            let place = LibraryPlace::Sent(&open);
            if let Some(driver) = OpenDriver::open(sent.manifest(), (sent.name(), place), None, journal) {
                self.drivers.try_push(driver)?;
            }
            wanted = sent.take_next();
        }
        Ok(())
    }

    /// Returns the manifest of a published driver, if the driver is wanted.
    // If this function were inlined, its code would be in the library twice.
    #[inline(never)]
    fn choose(
        &mut self,
        published: Published<'_>,
        listing: &Listing,
        options: &ScanOptions<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<Option<DriverManifest>, OutOfMemory> {
        let Published { name, path, content } = published;
        let published = (Source::Service, Some(copy(content)?));
        match read_driver_manifest(path, published, options.portability, journal)? {
            DriverOutcome::Driver(manifest) => {
                let installed = self.installed(&manifest.library_path);
                let is_wanted = listing.keeps_published(path, name, installed, journal)?;
                return Ok(is_wanted.then_some(manifest));
            }
            DriverOutcome::Portability => self.skipped_portability = true,
            DriverOutcome::Unusable => {}
        }
        Ok(None)
    }
}

/// Driver manifests of one scan: their paths and contents.
#[derive(Debug)]
pub(super) struct DriverList {
    settings: Option<Arc<Settings>>,
    listing: Cached<Listing>,
    /// One outcome per file, including portability drivers.
    outcomes: Vec<Cached<DriverOutcome>>,
}

/// Looks for drivers. Direct drivers come first; in exclusive mode, nothing else is searched.
///
/// # Errors
/// There is not enough memory. A fault of one driver is recorded and excludes only that driver.
pub(crate) fn scan(
    options: &ScanOptions<'_>,
    search: &Search<'_>,
    direct: DirectDrivers,
    journal: &mut Journal<'_>,
) -> Result<Scan, OutOfMemory> {
    let mut found = Scan {
        drivers: direct.drivers,
        skipped_portability: false,
        answered: Answered::default(),
        aside: Reserves::new(),
    };
    if direct.exclusive {
        return Ok(found);
    }
    let cached = DRIVER_LIST.current(journal.is_heard(), |list| list.is_current(options));
    if let Some(list) = cached {
        options.know(&list.listing, search, journal);
        list.open(options, search, &mut found, journal)?;
        found.with_service(&list.listing, options, search, journal)?;
    } else if options.remember && options.portability {
        let list = remember(options, search, &mut found, journal)?;
        found.with_service(&list.listing, options, search, journal)?;
    } else {
        let scan = options.scan(search);
        let listing = scan.list(journal)?;
        options.know(&listing, search, journal);
        let left_out = scan.run(&listing, journal, |manifest, journal| {
            found.consider(&manifest, options.known, journal)
        })?;
        found.skipped_portability = left_out.portability;
        found.with_service(&listing, options, search, journal)?;
    }
    if !found.aside.is_empty() {
        found.open_last(options.known, journal)?;
    }
    Ok(found)
}

/// Looks for drivers again, and stores the contents of their manifests.
fn remember(
    options: &ScanOptions<'_>,
    search: &Search<'_>,
    found: &mut Scan,
    journal: &mut Journal<'_>,
) -> Result<Arc<DriverList>, OutOfMemory> {
    let listing = journal.record(|environment, journal| options.scan(&Search::new(environment)).list(journal))?;
    options.know(&listing, search, journal);
    let mut list = DriverList {
        settings: options.settings.cloned(),
        listing,
        outcomes: Vec::new(),
    };
    list.outcomes.try_exact_room(list.listing.files.len())?;
    let mut kept = Kept::among(list.listing.files.len());
    for file in &list.listing.files {
        shortage::check()?;
        let outcome =
            journal.record(|environment, journal| options.scan(&Search::new(environment)).read(file, journal))?;
        follow((&list.listing, file), &outcome, &mut kept, (options, found), journal)?;
        list.outcomes.push(outcome);
    }
    let bytes = list.outcomes.iter().map(Cached::bytes).fold(0, u64::saturating_add);
    let list = Arc::new(list);
    if list.listing.is_cacheable() && bytes <= MOST_BYTES {
        DRIVER_LIST.keep(&list, journal.is_heard());
    }
    Ok(list)
}

impl DriverList {
    /// Returns `true` if a scan with `options` would find the same manifests.
    fn is_current(&self, options: &ScanOptions<'_>) -> bool {
        self.settings.as_ref() == options.settings && self.listing.is_current()
    }

    /// Opens the drivers, each before the next manifest is considered (DRV-8). Reads manifests that have changed.
    fn open(
        &self,
        options: &ScanOptions<'_>,
        search: &Search<'_>,
        found: &mut Scan,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        let mut changed = false;
        let mut kept = Kept::among_known(self.outcomes.iter().filter_map(|outcome| match &**outcome {
            DriverOutcome::Driver(manifest) => Some(manifest),
            DriverOutcome::Unusable | DriverOutcome::Portability => None,
        }));
        for (file, outcome) in self.listing.files.iter().zip(&self.outcomes) {
            shortage::check()?;
            if outcome.is_current() {
                follow((&self.listing, file), outcome, &mut kept, (options, found), journal)?;
            } else {
                changed = true;
                let outcome = options.scan(search).read(file, journal)?;
                follow((&self.listing, file), &outcome, &mut kept, (options, found), journal)?;
            }
        }
        if changed {
            DRIVER_LIST.forget();
        }
        Ok(())
    }
}

/// Opens the driver of one manifest of a listing, unless the manifest is excluded.
fn follow<'l>(
    (listing, file): (&Listing, &'l Found),
    outcome: &DriverOutcome,
    kept: &mut Kept<'l>,
    (options, found): (&ScanOptions<'_>, &mut Scan),
    journal: &mut Journal<'_>,
) -> Result<(), OutOfMemory> {
    match outcome {
        DriverOutcome::Driver(manifest) if manifest.is_portability_driver && !options.portability => {
            found.skipped_portability = true;
        }
        DriverOutcome::Driver(manifest) => {
            if listing.keeps(file, manifest, kept, journal)? {
                found.consider(manifest, options.known, journal)?;
            }
        }
        DriverOutcome::Unusable => {}
        DriverOutcome::Portability => found.skipped_portability = true,
    }
    Ok(())
}
