//! Finding and opening all drivers (DRV-7, DRV-8).

use super::direct::DirectDrivers;
use super::open::Driver;
use crate::alloc::OutOfMemory;
use crate::discovery::drivers::DriverScan;
use crate::env::Environment;
use crate::journal::Journal;
use crate::settings::Settings;

/// What a scan depends on besides the file system.
#[derive(Clone, Copy)]
pub struct ScanOptions<'a> {
    /// The process environment.
    pub environment: &'a Environment<'a>,
    /// The settings file in force, if there is one.
    pub settings: Option<&'a Settings>,
    /// Whether manifests of portability drivers are used (DRV-97, DRV-98).
    pub portability: bool,
}

/// The drivers of one scan, in scan order.
pub struct Scan {
    /// Open and negotiated drivers.
    pub drivers: Vec<Driver>,
    /// A manifest was passed over because portability drivers were not asked for (DRV-99).
    pub skipped_portability: bool,
}

/// Looks for drivers afresh. Direct drivers come first; in exclusive mode nothing else is looked at.
///
/// # Errors
/// Only when memory runs out: whatever is wrong with one driver costs that driver and is recorded.
pub fn scan(options: &ScanOptions<'_>, direct: DirectDrivers, journal: &mut Journal<'_>) -> Result<Scan, OutOfMemory> {
    let mut found = Scan {
        drivers: direct.drivers,
        skipped_portability: false,
    };
    if direct.exclusive {
        return Ok(found);
    }
    let scan = DriverScan {
        environment: options.environment,
        settings: options.settings,
        with_portability: options.portability,
    };
    let left_out = scan.run(journal, |manifest, journal| {
        if let Some(driver) = Driver::open(&manifest, manifest.source, journal) {
            found.drivers.try_reserve(1)?;
            found.drivers.push(driver);
        }
        Ok(())
    })?;
    found.skipped_portability = left_out.portability;
    Ok(found)
}
