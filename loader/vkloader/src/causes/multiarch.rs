//! Finds drivers and layers for another word size than the program's. Systems with programs of both word sizes normally have drivers and
//! layers for both.

use super::elf::{self, Identity};
use super::overriding::REPLACING;
use crate::manifests;
use crate::report::{Dropped, Report, codes, rank};
use crate::shell::word;
use std::path::{Path, PathBuf};

/// Codes of findings about drivers and layers for another word size or processor.
pub(super) const CODES: [&str; 3] = [
    "driver.wrong-architecture",
    "driver-manifest.architecture",
    "layer-library.wrong-architecture",
];

/// Removes the findings about drivers and layers of another word size if the same driver or layer also exists for the program's word size.
pub(super) fn forget(report: &mut Report) {
    let drivers = report.drivers.iter();
    let working: Vec<String> = drivers
        .flat_map(|driver| [Some(driver.library.as_str()), driver.manifest.as_deref()])
        .chain(
            report
                .layers
                .iter()
                .flat_map(|layer| [Some(layer.library.as_str()), Some(layer.name.as_str())]),
        )
        .flatten()
        .map(stem)
        .collect();
    report.dropped.retain(|dropped| {
        let is_counterpart = [Some(dropped.name.as_str()), dropped.file.as_deref()]
            .into_iter()
            .flatten()
            .any(|name| working.contains(&stem(name)));
        !(CODES.contains(&dropped.code.as_str()) && is_counterpart)
    });
}

/// Handles a variable that replaces the search for drivers, but names only drivers for another word size. Makes the findings about these
/// drivers the first causes. `of_variable` is the rank of the finding about the variable.
pub(super) fn blame_variable(report: &mut Report, variable: &str, of_variable: u8) {
    let is_broken = |one: &Dropped| is_of_driver(one) && one.rank < rank::ASIDE && !CODES.contains(&one.code.as_str());
    if report.is_usable() || !report.drivers.is_empty() || report.dropped.iter().any(is_broken) {
        return;
    }
    let own = report.loader.as_ref().and_then(|loader| loader.path.as_deref());
    let own = own
        .and_then(|path| Identity::of(Path::new(path)))
        .unwrap_or_else(Identity::of_this_process);
    let is_of_other = |one: &&mut Dropped| is_of_driver(one) && CODES.contains(&one.code.as_str());
    for one in report.dropped.iter_mut().filter(is_of_other) {
        let rest = match counterpart(one, own) {
            Some(path) => format!(
                "Name the manifest for {own}: {variable}={}",
                word(&path.display().to_string())
            ),
            None => one.advice.trim_end_matches('.').to_owned(),
        };
        one.advice = format!("{rest}, or: unset {variable}");
        one.variable = Some(variable.into());
        one.rank = of_variable.saturating_sub(1);
    }
}

/// Blames a misspelt path in a variable that replaces the search for drivers, if the variable also names the same driver for another word
/// size. Removes the findings about the other word size, because lists with both word sizes are usual.
pub(super) fn blame_misspelt(report: &mut Report) {
    let set = |name: &&str| report.variables.get(name).is_some();
    let Some(variable) = REPLACING.into_iter().find(set).filter(|_| report.drivers.is_empty()) else {
        return;
    };
    let value = report.variables.get(variable).unwrap_or_default();
    let own = report.loader.as_ref().and_then(|loader| loader.path.as_deref());
    let own = own.and_then(|path| Identity::of(Path::new(path)));
    let own = own.unwrap_or_else(Identity::of_this_process);
    let mut misspelt: Vec<(&str, PathBuf)> = Vec::new();
    report.dropped.retain(|one| {
        let manifest = [one.file.as_deref(), Some(one.name.as_str())];
        let manifest = manifest.into_iter().flatten().find(|path| path.ends_with(".json"));
        let is_meant =
            |word: &&str| !word.is_empty() && !Path::new(word).exists() && manifest.map(stem) == Some(stem(word));
        let meant = || Some((value.split(':').find(is_meant)?, counterpart(one, own)?));
        let is_of_other = is_of_driver(one) && CODES.contains(&one.code.as_str());
        let found = is_of_other.then(meant).flatten();
        let is_kept = found.is_none();
        misspelt.extend(found);
        is_kept
    });
    for (path, exists) in misspelt {
        let exists = exists.display().to_string();
        let words: Vec<&str> = value
            .split(':')
            .map(|word| if word == path { &exists } else { word })
            .collect();
        let is_it = |one: &&mut Dropped| {
            (one.code.as_str(), one.name.as_str()) == (codes::VARIABLE_NO_MATCH.name, variable)
                && one.reason.starts_with(&format!("{path} in "))
        };
        for one in report.dropped.iter_mut().filter(is_it) {
            one.rank = rank::SILENT - 1;
            one.advice = format!(
                "Correct the path: {variable}={}, or: unset {variable}",
                word(&words.join(":"))
            );
        }
    }
}

fn is_of_driver(found: &Dropped) -> bool {
    found.subject.starts_with("driver")
}

/// Returns the manifest of the same driver for the word size in `own`, from the folder of the driver's manifest.
fn counterpart(driver: &Dropped, own: Identity) -> Option<PathBuf> {
    let mut names = [driver.file.as_deref(), Some(driver.name.as_str())]
        .into_iter()
        .flatten();
    let manifest = Path::new(names.find(|path| path.ends_with(".json"))?);
    let start = stem(manifest.to_str()?);
    let entries = std::fs::read_dir(manifest.parent()?).ok()?.flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().find(|path| {
        let is_same = path.extension().is_some_and(|ending| ending == "json") && stem(&path.to_string_lossy()) == start;
        let library = manifests::named(path).map(|named| manifests::found(path, &named));
        let opens = || {
            let file = elf::locate(library.as_ref()?.to_str()?, own)?;
            Some(Identity::of(&file)? == own)
        };
        is_same && path != manifest && opens() == Some(true)
    })
}

/// Returns the file name up to the first dot, which is the same for all word sizes: `radeon_icd` for `radeon_icd.i686.json`.
pub(super) fn stem(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split('.').next().unwrap_or(file).into()
}
