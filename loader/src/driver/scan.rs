//! Search for drivers, and opening of all of them (DRV-7, DRV-8).

use super::direct::DirectDrivers;
use super::open::{LibraryPlace, OpenDriver};
use crate::catalogue::{Advice, Known, KnownDrivers, Reserve};
use crate::recorded::Closed;
use crate::service;
use core::mem::take;
use discovery::drivers::{DriverScan, Listing};
use discovery::journal::Journal;
use discovery::kept::Kept;
use discovery::manifest::DriverManifest;
use discovery::manifest::driver::{DriverOutcome, read_published_manifest};
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

/// Inputs of a scan beside the environment and the disk.
#[derive(Clone, Copy)]
pub(crate) struct ScanOptions<'a> {
    /// Current settings file, if there is one.
    pub settings: Option<&'a Arc<Settings>>,
    /// `true` to use manifests of portability drivers (DRV-97, DRV-98).
    pub portability: bool,
    /// `true` to keep the manifests for later scans. Only global queries do so: they come in pairs, while most processes create one instance.
    pub remember: bool,
    /// Facts that need not be queried from drivers.
    pub known: &'a KnownDrivers,
}

impl ScanOptions<'_> {
    /// Reads the user's own catalogue if the folders of a listing have its mark, and nothing is known of drivers.
    fn know(&self, listing: &Listing, search: &Search<'_>, journal: &mut Journal<'_>) {
        if listing.is_marked && self.known.is_empty() {
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
    /// Drivers that were not opened because their extensions are known, each with the number of open drivers before it.
    pub answered: Vec<(usize, Known)>,
    /// Drivers that were not opened because other drivers suffice.
    pub aside: DriversAside,
}

/// Drivers that are not opened as long as other drivers suffice.
pub(crate) type DriversAside = Vec<(DriverManifest, Known, Reserve)>;

impl Scan {
    fn open(
        &mut self,
        manifest: &DriverManifest,
        library: &Text,
        place: LibraryPlace<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        if let Some(driver) = OpenDriver::open(manifest, library, place, journal) {
            self.drivers.try_push(driver)?;
        }
        Ok(())
    }

    /// Opens the driver of a manifest, unless everything needed is known.
    fn consider(
        &mut self,
        manifest: &DriverManifest,
        known: &KnownDrivers,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        if known.is_empty() {
            return self.open(manifest, &manifest.library_path, LibraryPlace::Path, journal);
        }
        match known.advice(manifest, journal) {
            Advice::Open(entry) => match Closed::of(manifest, entry, known, journal)? {
                Some(closed) => self.drivers.try_push(OpenDriver::of_closed(closed)),
                None => self.open_known(manifest, entry, journal),
            },
            Advice::Answered(known) => self.answered.try_push((self.drivers.len(), known)),
            Advice::Aside(known, reserve) => self.aside.try_push((manifest.try_copy()?, known, reserve)),
            Advice::Broken => Ok(()),
        }
    }

    /// Opens a driver, and compares it with its catalogue entry.
    fn open_known(
        &mut self,
        manifest: &DriverManifest,
        known: Option<Known>,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        if let Some(driver) = OpenDriver::open_known(manifest, known, journal) {
            self.drivers.try_push(driver)?;
        }
        Ok(())
    }

    /// Opens drivers that were set aside, after all, because an instance without devices is better than no instance. Drivers that have no device come
    /// after those that have one.
    #[cold]
    #[inline(never)]
    fn open_last(&mut self, known: &KnownDrivers, journal: &mut Journal<'_>) -> Result<(), OutOfMemory> {
        for reserve in [Reserve::Software, Reserve::Asleep, Reserve::NoDevice] {
            let needed = match reserve {
                Reserve::Software => !self.drivers.iter().any(|driver| known.has_devices(driver.known)),
                Reserve::Asleep | Reserve::NoDevice => self.drivers.is_empty(),
            };
            let mut rest = Vec::new();
            for one in take(&mut self.aside) {
                shortage::check()?;
                match needed && one.2 == reserve {
                    true => self.open_known(&one.0, Some(one.1), journal)?,
                    false => rest.try_push(one)?,
                }
            }
            self.aside = rest;
        }
        Ok(())
    }

    /// Returns the library of an installed driver that has the same file name as the library of this key (LSV-38): two copies of one driver
    /// would show each device twice.
    fn installed(&self, key: &Text) -> Option<&Text> {
        let number = key.iter().position(|&byte| byte == b'-')?;
        let open = self.drivers.iter().map(|driver| &driver.path);
        let aside = self.aside.iter().map(|(manifest, ..)| &manifest.library_path);
        open.chain(aside).find(|path| *file_name(path) == key[number + 1..])
    }

    /// Opens the drivers that a service has now, unless it is known that there is none (LSV-38). They come last, and are never remembered: a
    /// list is as old as its scan.
    #[inline]
    fn with_service(
        &mut self,
        listing: &Listing,
        options: &ScanOptions<'_>,
        search: &Search<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        match listing.with_service && !service::is_off() {
            true => self.ask_service(listing, options, search, journal),
            false => Ok(()),
        }
    }

    #[cold]
    #[inline(never)]
    fn ask_service(
        &mut self,
        listing: &Listing,
        options: &ScanOptions<'_>,
        search: &Search<'_>,
        journal: &mut Journal<'_>,
    ) -> Result<(), OutOfMemory> {
        let Some((mut session, list)) = service::ask(search.environment(), journal)? else {
            return Ok(());
        };
        let mut wanted = Vec::new();
        for published in list.manifests() {
            shortage::check()?;
            let path = &published.path();
            match read_published_manifest(path, copy(published.content)?, options.portability, journal)? {
                DriverOutcome::Driver(manifest) => {
                    let installed = self.installed(&manifest.library_path);
                    if listing.keeps_published(path, published.name, installed, journal)? {
                        let library = session.fetch(published, &manifest.library_path);
                        wanted.try_push((manifest, library))?;
                    }
                }
                DriverOutcome::Portability => self.skipped_portability = true,
                DriverOutcome::Unusable => {}
            }
        }
        // The connection ends before any code of a driver runs (LSV-42).
        drop(session);
        for (manifest, library) in wanted {
            shortage::check()?;
            self.open(&manifest, &library.name, LibraryPlace::Service(&library), journal)?;
        }
        Ok(())
    }
}

/// Driver manifests of one scan: their places and their contents.
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
        answered: Vec::new(),
        aside: Vec::new(),
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
    /// Returns `true` if a scan with these options would find the same manifests.
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
