//! Environment variables that disable a driver or layer for a program.

use crate::events::{Event, Record, Variable};
use crate::manifests::{found, layers, named, own_switch, read as manifest};
use crate::paths::file_name;
use crate::report::decided::Manifests;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A variable that disables a driver or layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Switch {
    pub(crate) variable: String,
    /// Word that must be added to the value of the variable.
    pub(crate) value: String,
}

/// Variable that replaces the search for drivers in all versions of the loader.
pub(crate) const ONLY_DRIVERS: &str = "VK_ICD_FILENAMES";

/// Variable that replaces the search for drivers, and [`ONLY_DRIVERS`], in loaders since 1.3.207.
pub(crate) const NEWER_ONLY_DRIVERS: &str = "VK_DRIVER_FILES";

/// Returns the variables of the loader that the process has set.
fn variables<'a>(records: &'a [&Record]) -> impl Iterator<Item = &'a Variable> {
    records.iter().flat_map(|record| match &record.event {
        Event::Loaded(loaded) => &loaded.variables[..],
        _ => &[],
    })
}

/// Returns the variable that disables a driver, with the file names of the driver's manifests as its value. Returns `None` if no manifest
/// names the library.
pub(in crate::report) fn driver_switch(library: &str, records: &[&Record]) -> Option<Switch> {
    let manifests = Manifests::of(records);
    let known = manifests.all(library).iter().map(|(path, _)| path.as_str());
    // If opening a driver crashes the process, the trace has no decision about the driver yet, so the manifests are searched instead.
    let read = records.iter().filter_map(|record| match &record.event {
        Event::Decision(decision) if decision.subject == "driver-manifest" && decision.is_kept() => {
            Some(decision.name.as_str())
        }
        _ => None,
    });
    let (own, others): (Vec<&str>, Vec<&str>) = {
        let known: Vec<&str> = known.collect();
        let all = read.chain(known.iter().copied().filter(|path| path.ends_with(".json")));
        let is_own = |path: &&str| known.contains(path) || names_driver(Path::new(path), library);
        all.partition(is_own)
    };
    let file = |path: &str| file_name(path).to_owned();
    let mut files: Vec<String> = own.iter().map(|path| file(path)).collect();
    files.sort_unstable();
    files.dedup();
    if others.iter().any(|path| files.contains(&file(path))) {
        // A list of disabled file names would also disable a driver whose manifest has the same name, so the value lists the other drivers'
        // manifests.
        let mut paths: Vec<&str> = Vec::new();
        for path in others {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        // If the process has `NEWER_ONLY_DRIVERS`, the loader ignores the older variable.
        let is_newer = variables(records).any(|variable| variable.name == NEWER_ONLY_DRIVERS);
        let variable = if is_newer { NEWER_ONLY_DRIVERS } else { ONLY_DRIVERS };
        return Some(Switch {
            variable: variable.into(),
            value: paths.join(":"),
        });
    }
    (!files.is_empty()).then(|| Switch {
        variable: "VK_LOADER_DRIVERS_DISABLE".into(),
        value: files.join(","),
    })
}

/// Variable that adds drivers to those that the search finds.
const MORE_DRIVERS: &str = "VK_ADD_DRIVER_FILES";

/// Returns the variable of the process that names a manifest of a driver; `None` if the search finds the manifest.
pub(in crate::report) fn driver_variable<'a>(library: &str, records: &[&'a Record]) -> Option<&'a str> {
    records.iter().find_map(|record| match &record.event {
        Event::Decision(decision) if decision.subject == "driver-manifest" && decision.is_kept() => decision
            .source
            .variable
            .as_deref()
            .filter(|name| [ONLY_DRIVERS, NEWER_ONLY_DRIVERS, MORE_DRIVERS].contains(name))
            .filter(|_| names_driver(Path::new(&decision.name), library)),
        _ => None,
    })
}

/// Returns the name of the layer that has a library, and the variable that disables all layers of this library.
pub(in crate::report) fn layer_switch(library: &str, records: &[&Record]) -> Option<(String, Switch)> {
    let manifests = records.iter().filter_map(|record| match &record.event {
        Event::Decision(decision) if decision.subject == "layer" && decision.is_kept() => {
            Some(Path::new(&decision.path))
        }
        _ => None,
    });
    let layers = manifests.flat_map(layers_of);
    let own = layers.filter(|(_, named)| is_same_library(named, Path::new(library)));
    let mut names: Vec<String> = own.map(|(name, _)| name).collect();
    let name = names.first()?.clone();
    names.sort_unstable();
    names.dedup();
    let switch = Switch {
        variable: "VK_LOADER_LAYERS_DISABLE".into(),
        value: names.join(","),
    };
    Some((name, switch))
}

/// Returns `true` if a manifest's path leads to a library. For a path with a word that the dynamic linker replaces, such as `$LIB`, only
/// the file names are compared.
fn is_same_library(named: &Path, library: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let is_name = named.to_string_lossy().contains('$') || named.components().count() == 1;
    real(named) == real(library) || is_name && named.file_name() == library.file_name()
}

/// Returns the variable that disables a layer, according to the layer's manifest.
pub(super) fn own(path: &Path, name: &str) -> Option<Switch> {
    let (variable, value) = own_switch(path, name)?;
    Some(Switch { variable, value })
}

/// Returns the layers that a manifest describes, each with its library.
pub(super) fn layers_of(path: &Path) -> Vec<(String, PathBuf)> {
    let Some(content) = manifest(path) else {
        return Vec::new();
    };
    let named = |layer: &Value| {
        let library = layer.get("library_path")?.as_str()?;
        Some((layer.get("name")?.as_str()?.to_owned(), found(path, library)))
    };
    layers(&content).filter_map(named).collect()
}

/// Returns `true` if a manifest names the driver library `library`.
fn names_driver(path: &Path, library: &str) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
    named(path).is_some_and(|named| named == library || real(&found(path, &named)) == real(Path::new(library)))
}
