//! The first part of a scan for drivers, without opening their libraries (DRV-7 to DRV-28, DRV-44, DRV-45, APP-227).

use super::kept::Kept;
use super::truncated::note_truncated;
use crate::env::glob::Globs;
use crate::env::{Environment, Variable};
use crate::journal::reason::{DriverManifestReason, FileKind, FileReason};
use crate::journal::{Decision, Journal, Reason, Source, Subject, Verdict};
use crate::manifest::DriverManifest;
use crate::manifest::driver::{DriverOutcome, read_driver_manifest};
use crate::search::{self, Files, Found, ManifestKind, Search};
use crate::settings::Settings;
use crate::text::{Text, file_name, has_json_name};
use alloc::vec::Vec;
use os::memory::{Grow, OutOfMemory, shortage};

/// Inputs of a search for drivers.
#[derive(Clone, Copy, Debug)]
pub struct DriverScan<'a> {
    /// Folders to search, and filters.
    pub search: &'a Search<'a>,
    /// Settings that add drivers, or replace all other drivers.
    pub settings: Option<&'a Settings>,
    /// `true` to include portability drivers. Calls other than `vkCreateInstance` always include portability drivers (DRV-98).
    pub with_portability: bool,
}

/// Kinds of drivers that a scan dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// `true` if the scan dropped a portability driver. The driver is reported if no driver remains (DRV-99).
    pub portability: bool,
}

impl DriverScan<'_> {
    /// Reads the manifests of a list, in scan order. Calls `open` with each manifest whose library is to be opened, before it reads the
    /// next manifest (DRV-8). Reports each dropped manifest to the journal.
    ///
    /// # Errors
    /// There is not enough memory, here or in `open`.
    pub fn run(
        &self,
        listing: &Listing,
        journal: &mut Journal<'_>,
        mut open: impl FnMut(DriverManifest, &mut Journal<'_>) -> Result<(), OutOfMemory>,
    ) -> Result<LeftOut, OutOfMemory> {
        let mut left_out = LeftOut::default();
        let mut kept = Kept::among(listing.files.len());
        for file in &listing.files {
            shortage::check()?;
            match self.read(file, journal)? {
                DriverOutcome::Driver(driver) => {
                    if listing.keeps(file, &driver, &mut kept, journal)? {
                        open(driver, journal)?;
                    }
                }
                DriverOutcome::Portability => left_out.portability = true,
                DriverOutcome::Unusable => {}
            }
        }
        Ok(left_out)
    }

    /// Lists the manifests and the filters for them. Reads no manifest.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn list(&self, journal: &mut Journal<'_>) -> Result<Listing, OutOfMemory> {
        // A tool that configures devices must see all drivers, even if the variables of a shell exclude some of them (DRV-45).
        let with_variables = self
            .settings
            .is_none_or(|settings| settings.device_configurations.is_none());
        let filters = if with_variables {
            DriverFilters::read(self.search.environment(), journal)
        } else {
            DriverFilters::default()
        };
        let places = self.search.places(ManifestKind::Driver, with_variables, journal)?;
        let Files { found, is_marked } = search::find(ManifestKind::Driver, &places, journal)?;
        let files = self.with_settings(found, journal)?;
        let is_replaced = places.replace
            || self
                .settings
                .is_some_and(|settings| settings.additional_drivers_exclusive);
        Ok(Listing {
            files,
            with_service: !is_replaced,
            is_marked,
            filters,
        })
    }

    /// Reads one manifest of the listing.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn read(&self, file: &Found, journal: &mut Journal<'_>) -> Result<DriverOutcome, OutOfMemory> {
        read_driver_manifest(&file.path, (file.source, None), self.with_portability, journal)
    }

    /// Inserts the drivers of the settings file before the other drivers, one by one, so that the last driver in the file is the first one
    /// (DRV-44).
    fn with_settings(&self, mut found: Vec<Found>, journal: &mut Journal<'_>) -> Result<Vec<Found>, OutOfMemory> {
        let Some(settings) = self.settings else {
            return Ok(found);
        };
        if settings.additional_drivers_exclusive {
            found.clear();
        }
        if settings.additional_drivers.is_empty() {
            return Ok(found);
        }
        let mut files = Vec::new();
        for path in settings.additional_drivers.iter().rev() {
            let source = Source::Settings;
            if has_json_name(path) {
                let path = Text::try_new(path)?;
                files.try_push(Found { path, source })?;
            } else {
                let reason = FileReason::NotJsonName(FileKind::Driver);
                journal.decide(decision(path, source, Verdict::Dropped(reason.into())));
            }
        }
        files.try_room(found.len())?;
        files.append(&mut found);
        search::without_repeats(ManifestKind::Driver, files, journal)
    }
}

fn decision(path: &Text, source: Source, verdict: Verdict) -> Decision {
    Decision {
        subject: Subject::DriverManifest,
        name: path.clone(),
        path: Text::default(),
        verdict,
        source,
    }
}

/// Manifests of a scan, in the order of the scan, and the filters in force when they were listed.
#[derive(Debug)]
pub struct Listing {
    /// Files of the manifests.
    pub files: Vec<Found>,
    /// `true` if manifests of a service follow (LSV-38), because no variable or settings file replaced the usual manifests.
    pub with_service: bool,
    /// `true` if the user has a driver catalogue (DRV-274).
    pub is_marked: bool,
    filters: DriverFilters,
}

impl Listing {
    /// Returns `true` if the filters keep a driver manifest, and `kept` does not contain another path of the same driver. Reports the
    /// decision to the journal.
    ///
    /// # Errors
    ///
    /// Memory ran out.
    pub fn keeps<'l>(
        &self,
        file: &'l Found,
        manifest: &DriverManifest,
        kept: &mut Kept<'l>,
        journal: &mut Journal<'_>,
    ) -> Result<bool, OutOfMemory> {
        let verdict = self.filters.verdict(file_name(&file.path));
        let earlier = match verdict {
            Verdict::Kept => kept.add(&file.path, manifest)?,
            Verdict::Dropped(_) => None,
        };
        tell((&file.path, file.source), verdict, earlier, journal)
    }

    /// Returns `true` if the filters keep a manifest that a service published as `name`, and no library of an installed driver replaces it.
    /// Reports the decision to the journal.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn keeps_published(
        &self,
        path: &Text,
        name: &[u8],
        installed: Option<&Text>,
        journal: &mut Journal<'_>,
    ) -> Result<bool, OutOfMemory> {
        tell((path, Source::Service), self.filters.verdict(name), installed, journal)
    }
}

/// Reports the verdict of the filters on a manifest to the journal. Drops a manifest that the filters keep if a driver that was found
/// `earlier` has the same library. Returns `true` if the manifest is kept.
///
/// # Errors
/// Memory ran out.
// If this function were inlined, its code would be in the library twice.
#[inline(never)]
fn tell(
    (path, source): (&Text, Source),
    mut verdict: Verdict,
    earlier: Option<&Text>,
    journal: &mut Journal<'_>,
) -> Result<bool, OutOfMemory> {
    if verdict == Verdict::Kept
        && let Some(earlier) = earlier
    {
        let kept = Text::try_new(earlier)?;
        verdict = Verdict::Dropped(DriverManifestReason::SameFile { kept }.into());
    }
    let is_kept = verdict == Verdict::Kept;
    let decision = || decision(path, source, verdict);
    if is_kept {
        journal.keep(decision)
    } else {
        journal.decide(decision())
    }
    Ok(is_kept)
}

/// Values of `VK_LOADER_DRIVERS_SELECT` and `VK_LOADER_DRIVERS_DISABLE` at the time of the scan.
#[derive(Debug, Default)]
struct DriverFilters {
    select: Globs,
    disable: Globs,
}

impl DriverFilters {
    fn read(environment: &Environment<'_>, journal: &Journal<'_>) -> Self {
        let globs = |variable| {
            let globs = Globs::parse(&environment.get(variable).unwrap_or_default());
            if globs.truncated {
                note_truncated(variable, journal);
            }
            globs
        };
        Self {
            select: globs(Variable::DriversSelect),
            disable: globs(Variable::DriversDisable),
        }
    }

    /// Returns the filters' verdict on a manifest. `name` is the file name (DRV-26), or the name under which a service published the
    /// manifest (LSV-38).
    // If this function were inlined, its code would be in the library twice.
    #[inline(never)]
    fn verdict(&self, name: &[u8]) -> Verdict {
        if self.select.is_empty() && self.disable.is_empty() {
            return Verdict::Kept;
        }
        let dropped = |reason| Verdict::Dropped(Reason::DriverManifest(reason));
        if self.select.matches(name) {
            return Verdict::Kept;
        }
        match self.disable.matching(name) {
            Some(pattern) => dropped(DriverManifestReason::Disabled {
                pattern: pattern.text(),
            }),
            None if !self.select.is_empty() => dropped(DriverManifestReason::NotSelected),
            None => Verdict::Kept,
        }
    }
}

#[cfg(all(test, unix))]
#[path = "drivers_tests.rs"]
mod tests;
