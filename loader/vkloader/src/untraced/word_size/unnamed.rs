//! Drivers for programs of another word size that are installed, and that these programs do not find.

use super::super::OF_DRIVERS;
use super::drivers::{Driver, file, installed};
use crate::causes::elf::{Identity, locate};
use crate::causes::{self, REPLACING};
use crate::manifests;
use crate::paths::file_name;
use crate::report::{Dropped, Report};
use crate::shell::word;
use catalogue::hardware;
use std::path::Path;

/// Variables that replace the usual folders.
const FOLDERS: [&str; 2] = ["XDG_DATA_DIRS", "XDG_CONFIG_DIRS"];

/// Upper bound on the number of words of a variable that a finding names.
const MOST: usize = 4;

/// Adds to the finding the reason why programs with the identity `its` find no driver, although one is installed. `left_out` has the drivers that a
/// variable leaves out. Returns `false` if none is installed.
pub(super) fn explain(found: &mut Dropped, left_out: &[Driver], its: Identity, report: &Report) -> bool {
    if let Some((driver, variable)) = left_out.iter().find_map(|one| Some((one, one.variable.as_ref()?))) {
        found.reason =
            format!("The program is for {its}, and {variable} leaves out the Vulkan driver for such programs.");
        found.findings.push(driver.words());
        found.advice = format!("Let the program use the driver: unset {variable}");
        found.variable = Some(variable.clone());
        return true;
    }
    let usual = installed(its);
    let is_set = |name: &&&str| report.variables.get(name).is_some_and(|value| !value.is_empty());
    let replacing: Vec<&str> = REPLACING.iter().filter(is_set).copied().collect();
    let value = replacing.first().and_then(|variable| report.variables.get(variable));
    match (
        counterpart(&usual, &value.unwrap_or_default(), report),
        replacing.first(),
    ) {
        (Some(driver), Some(variable)) => {
            found.reason =
                format!("The program is for {its}, and {variable} names no Vulkan driver for such programs.");
            let value = report.variables.get(variable).unwrap_or_default();
            let words = value.split(':').filter(|word| !word.is_empty()).take(MOST);
            for words in words.filter_map(leads_to) {
                found.findings.insert(0, words);
            }
            found.findings.push(format!(
                "installed for such programs: {} of {}",
                driver.shown(),
                driver.manifest
            ));
            found.advice = format!(
                "Let the program find the driver: unset {}; or name it: {variable}={} PROGRAM",
                replacing.join(" "),
                word(&driver.manifest)
            );
            found.variable = Some((*variable).into());
            true
        }
        (Some(driver), None) => {
            unsearched(found, driver, its, report);
            true
        }
        (None, _) => without_manifest(found, its, report),
    }
}

/// Returns the driver in `usual` whose library has the name of one that the list `value` of manifests leads to. Otherwise returns the driver of a card,
/// or the first one.
fn counterpart<'a>(usual: &'a [Driver], value: &str, report: &Report) -> Option<&'a Driver> {
    let name = |path: &str| file_name(path).to_owned();
    let named: Vec<String> = value
        .split(':')
        .filter_map(|manifest| Some(name(&manifests::named(manifest.as_ref())?)))
        .collect();
    let is_named = |driver: &&Driver| named.contains(&name(&driver.shown()));
    let is_of_card = |driver: &&Driver| causes::is_for_any(&driver.shown(), &report.hardware);
    let mut all = usual.iter();
    let own = all.clone().find(is_named).or_else(|| all.clone().find(is_of_card));
    own.or_else(|| all.next())
}

/// Adds that the search leaves out the folder with the manifest of a driver.
fn unsearched(found: &mut Dropped, driver: &Driver, its: Identity, report: &Report) {
    let manifest = &driver.manifest;
    found.reason =
        format!("The program is for {its}, and the search leaves out the Vulkan driver for such programs, {manifest}.");
    let is_set = |name: &&&str| report.variables.get(name).is_some_and(|value| !value.is_empty());
    let replacing = FOLDERS.iter().find(is_set);
    let named = format!("{}={} PROGRAM", OF_DRIVERS[2], word(manifest));
    found.advice = match replacing {
        Some(name) => format!("Let the program search the usual folders: unset {name}; or name the manifest: {named}"),
        None => format!("Name the manifest: {named}"),
    };
    found.variable = replacing.map(|name| (*name).into());
}

/// Returns one line about the library that a manifest names.
fn leads_to(manifest: &str) -> Option<String> {
    let path = Path::new(manifest);
    let named = manifests::found(path, &manifests::named(path)?);
    let named = named.to_str()?;
    let library = locate(named, Identity::of_this_process())?;
    let its = Identity::of(&library)?;
    Some(format!("{manifest} leads to {}, which is for {its}", library.display()))
}

/// Adds that a driver for programs with the identity `its` is installed, but that no manifest names it. Returns `false` if no known driver is installed.
fn without_manifest(found: &mut Dropped, its: Identity, report: &Report) -> bool {
    let name = |row: &hardware::Row| {
        let end = if row.on_demand_vendor == 0 { "" } else { ".0" };
        format!("{}.so{end}", row.library)
    };
    let installed = hardware::TABLE.iter().filter_map(|row| file(&name(row), its));
    let mut installed: Vec<String> = installed.map(|path| path.display().to_string()).collect();
    installed.sort_by_key(|path| !causes::is_for_any(path, &report.hardware));
    let cards = &report.hardware;
    let is_useful = |path: &&String| cards.is_empty() || causes::is_for_any(path, cards);
    let Some(path) = installed.first().filter(is_useful) else {
        return false;
    };
    found.reason =
        format!("The program is for {its}, and no manifest names the Vulkan driver for such programs, {path}.");
    found.findings.extend(
        causes::usual_manifests()
            .iter()
            .filter_map(|manifest| leads_to(manifest))
            .take(MOST),
    );
    found.advice = match causes::to_reinstall(path) {
        Some(words) => format!("To get its manifest back, {words}."),
        None => format!("Write a manifest that names {path} in library_path, in /etc/vulkan/icd.d."),
    };
    true
}
