//! The drivers of a scan, up to the point where their libraries are opened (DRV-7 to DRV-28, DRV-44, DRV-45, APP-227).

use super::search::{self, Found, ManifestKind, places};
use crate::alloc::OutOfMemory;
use crate::env::glob::Globs;
use crate::env::{Environment, Variable};
use crate::journal::reason::{DriverManifestReason, FileKind, FileReason};
use crate::journal::{Decision, Journal, Reason, Source, Subject, Verdict};
use crate::manifest::driver::{DriverOutcome, read_driver_manifest};
use crate::manifest::{DriverManifest, Text, file_name, has_json_name};
use crate::settings::Settings;

/// What decides which drivers are found.
#[derive(Clone, Copy, Debug)]
pub struct DriverScan<'a> {
    /// Names places and filters.
    pub environment: &'a Environment<'a>,
    /// Adds drivers, or replaces all others.
    pub settings: Option<&'a Settings>,
    /// Whether portability drivers are wanted. Outside instance creation they always are (DRV-98).
    pub with_portability: bool,
}

/// Looks for drivers afresh; see [`DriverScan`].
///
/// # Errors
/// Only when memory runs out.
pub fn find(
    environment: &Environment<'_>,
    settings: Option<&Settings>,
    with_portability: bool,
    journal: &mut Journal<'_>,
) -> Result<FoundDrivers, OutOfMemory> {
    let scan = DriverScan {
        environment,
        settings,
        with_portability,
    };
    scan.run(journal)
}

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundDrivers {
    /// The drivers whose libraries are to be opened, in scan order.
    pub drivers: Vec<DriverManifest>,
    /// Whether a portability driver was left out, which is worth telling when no driver is left (DRV-99).
    pub skipped_portability: bool,
}

impl DriverScan<'_> {
    /// Runs the scan. What is dropped, and why, is in the journal.
    pub fn run(&self, journal: &mut Journal<'_>) -> Result<FoundDrivers, OutOfMemory> {
        // A tool that configures devices must see the drivers it knows, whatever the shell says (DRV-45).
        let with_variables = self
            .settings
            .is_none_or(|settings| settings.device_configurations.is_none());
        let filters = match with_variables {
            true => DriverFilters::read(self.environment),
            false => DriverFilters::default(),
        };
        let places = places(ManifestKind::Driver, self.environment, with_variables);
        let files = self.with_settings(search::find(ManifestKind::Driver, &places, journal)?, journal)?;
        let mut found = FoundDrivers::default();
        for Found { path, source } in &files {
            match read_driver_manifest(path, *source, self.with_portability, journal)? {
                DriverOutcome::Driver(driver) => {
                    let verdict = filters.verdict(path);
                    if verdict == Verdict::Kept {
                        found.drivers.try_reserve(1)?;
                        found.drivers.push(driver);
                    }
                    decide(path, *source, verdict, journal);
                }
                DriverOutcome::Portability => found.skipped_portability = true,
                DriverOutcome::Unusable => {}
            }
        }
        Ok(found)
    }

    /// Puts the drivers of the settings file in front, one by one, so that the last one listed comes first (DRV-44).
    fn with_settings(&self, mut found: Vec<Found>, journal: &mut Journal<'_>) -> Result<Vec<Found>, OutOfMemory> {
        let Some(settings) = self.settings else {
            return Ok(found);
        };
        if settings.additional_drivers_exclusive {
            found.clear();
        }
        let mut files = Vec::new();
        files.try_reserve(settings.additional_drivers.len() + found.len())?;
        for path in settings.additional_drivers.iter().rev() {
            let source = Source::Settings;
            if has_json_name(path) {
                files.push(Found {
                    path: path.clone(),
                    source,
                });
            } else {
                let reason = FileReason::NotJsonName(FileKind::Driver);
                decide(path, source, Verdict::Dropped(reason.into()), journal);
            }
        }
        files.append(&mut found);
        Ok(files)
    }
}

fn decide(path: &Text, source: Source, verdict: Verdict, journal: &mut Journal<'_>) {
    journal.decide(Decision {
        subject: Subject::DriverManifest,
        name: path.clone(),
        path: Text::default(),
        verdict,
        source,
    });
}

/// `VK_LOADER_DRIVERS_SELECT` and `VK_LOADER_DRIVERS_DISABLE` at one moment.
#[derive(Debug, Default)]
struct DriverFilters {
    select: Globs,
    disable: Globs,
}

impl DriverFilters {
    fn read(environment: &Environment<'_>) -> Self {
        let globs = |variable| Globs::parse(&environment.get(variable).unwrap_or_default());
        Self {
            select: globs(Variable::DriversSelect),
            disable: globs(Variable::DriversDisable),
        }
    }

    /// What becomes of a manifest, by its file name (DRV-26).
    fn verdict(&self, path: &Text) -> Verdict {
        let name = file_name(path);
        let dropped = |reason| Verdict::Dropped(Reason::DriverManifest(reason));
        match self.select.matches(&name) {
            true => Verdict::Kept,
            false if self.disable.matches(&name) => dropped(DriverManifestReason::Disabled),
            false if !self.select.is_empty() => dropped(DriverManifestReason::NotSelected),
            false => Verdict::Kept,
        }
    }
}

#[cfg(all(test, unix))]
#[path = "drivers_tests.rs"]
mod tests;
