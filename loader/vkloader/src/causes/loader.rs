//! Finds manifests of drivers that name a Vulkan loader. A loader that is opened as a driver searches for drivers again, without an end.

use crate::events::{Event, Record};
use crate::manifests;
use crate::report::{Dropped, codes};
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

fn is_loader(library: &str) -> bool {
    let file = library.rsplit('/').next().unwrap_or(library);
    file.strip_prefix(LOADER)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
