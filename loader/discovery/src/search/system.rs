//! Properties of a system that a search needs. A trait makes it possible to test the rules of every system on one machine.

use super::build_dirs::{EXTRASYSCONFDIR, FALLBACK_CONFIG_DIRS, FALLBACK_DATA_DIRS, SYSCONFDIR};
use os::folders::{self, Folders};

/// Upper bound on the length of a bundle's path with its terminator, in bytes. A longer path is ignored (LAY-42).
const MAX_BUNDLE: usize = 1024;

/// An operating system, with its rules for searches.
pub trait System {
    /// Folders of the system.
    const FOLDERS: Folders;

    /// Passes the resource folder of the application's bundle to `take`, if there is one.
    fn bundle(take: impl FnOnce(&[u8]));

    /// Passes the folder in which a service of the system lists drivers to `take`, if there is one.
    fn service(take: impl FnOnce(&[u8]));
}

/// The system that this library is built for, with the folders that were chosen for the build.
#[derive(Debug)]
pub struct ThisSystem;

impl System for ThisSystem {
    const FOLDERS: Folders = Folders {
        bundles: folders::HERE.bundles,
        config: chosen(FALLBACK_CONFIG_DIRS, folders::HERE.config),
        data: chosen(FALLBACK_DATA_DIRS, folders::HERE.data),
        local_config: chosen(SYSCONFDIR, folders::HERE.local_config),
        // A folder that was chosen for the build replaces the system's own folder (DRV-21, LAY-13).
        system_config: match SYSCONFDIR {
            Some(_) => chosen(EXTRASYSCONFDIR, ""),
            None => chosen(EXTRASYSCONFDIR, folders::HERE.system_config),
        },
    };

    fn bundle(take: impl FnOnce(&[u8])) {
        if let Some(folder) = folders::bundle_resources(&mut [0; MAX_BUNDLE]) {
            take(folder);
        }
    }

    fn service(take: impl FnOnce(&[u8])) {
        if let Some(folder) = folders::service_manifests() {
            take(folder);
        }
    }
}

const fn chosen(by_builder: Option<&'static str>, usual: &'static str) -> &'static str {
    match by_builder {
        Some(folders) => folders,
        None => usual,
    }
}
