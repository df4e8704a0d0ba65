//! Finds manifests of drivers that name a Vulkan loader, and failing loaders of programs that belong to no package. A loader that is opened as
//! a driver searches for drivers again, without an end.

use super::elf::{Identity, without_variable};
use crate::events::{Event, Record};
use crate::report::{Dropped, Report, codes};
use crate::{installed, manifests};
use std::fs;
use std::path::Path;

/// Beginning of the file name of a Vulkan loader.
const LOADER: &str = "libvulkan.so";

/// Adds the manifest to a finding about a loader that was opened as a driver.
pub(super) fn explain(dropped: &mut Dropped, records: &[&Record]) {
    let ends = [
        codes::PROGRAM_HUNG.name,
        codes::PROGRAM_CRASHED.name,
        codes::PROGRAM_EXITED.name,
    ];
    let is_about = ends.contains(&dropped.code.as_str()) || dropped.code.starts_with("driver.");
    if !is_about || !is_loader(&dropped.name) {
        return;
    }
    let mut manifests = records.iter().filter_map(|record| match &record.event {
        Event::Decision(decision) if decision.subject == "driver-manifest" && decision.is_kept() => {
            Some(decision.name.as_str())
        }
        _ => None,
    });
    let names_loader = |path: &&str| manifests::named(Path::new(path)).is_some_and(|library| is_loader(&library));
    let Some(manifest) = manifests.find(names_loader) else {
        return;
    };
    let finding = format!(
        "{manifest} names {}, which is a Vulkan loader and not a driver",
        dropped.name
    );
    dropped.findings.insert(0, finding);
    dropped.advice = format!("Correct library_path in {manifest} to the library of the driver, or remove the file.");
    dropped.file = Some(manifest.into());
    dropped.set = None;
}

/// Name under which programs open their loader.
const OF_PROGRAMS: &str = "libvulkan.so.1";

/// Replaces the remedy for a failing loader of programs that belongs to no package, for example a loader that a user built. Such a loader may
/// search other folders than the system's.
pub(super) fn of_no_package(report: &mut Report, own: Identity) {
    let row = codes::LOADER_FAILED;
    let folders = report.variables.get("LD_LIBRARY_PATH").unwrap_or_default();
    let is_it = |one: &&mut Dropped| one.code == row.name && one.advice == row.remedy;
    for one in report.dropped.iter_mut().filter(is_it) {
        if installed::owner(&one.name).is_some() {
            continue;
        }
        let real = fs::canonicalize(&one.name).ok();
        let leads_to_it = |folder: &&str| {
            let file = Path::new(folder).join(OF_PROGRAMS);
            real.is_some() && fs::canonicalize(file).ok() == real
        };
        let folder = folders.split([':', ';']).find(leads_to_it);
        let usual = folder.and_then(|folder| without_variable(&format!("{folder}/{OF_PROGRAMS}"), own));
        one.advice = match (folder, usual) {
            (Some(folder), Some(usual)) => format!(
                "Take {folder} out of LD_LIBRARY_PATH, so that programs get {}; or rebuild {} with the folders of the system.",
                usual.display(),
                one.name
            ),
            _ => format!(
                "Update or rebuild {}, for which no package is known here, or remove it and install the loader of the system.",
                one.name
            ),
        };
    }
}

fn is_loader(library: &str) -> bool {
    let file = library.rsplit('/').next().unwrap_or(library);
    file.strip_prefix(LOADER)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
