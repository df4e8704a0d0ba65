//! Layers that a user switched on for a program of another word size, and that have no library for it.

use super::drivers::{Fault, file};
use crate::causes::elf::{Identity, to_install_for};
use crate::causes::multiarch::family;
use crate::events::{Event, Record};
use crate::manifests;
use crate::report::Dropped;
use crate::variables::Variables;
use promises::pattern::Pattern;
use std::path::{Path, PathBuf};

/// Variables with the names of layers to switch on, and with patterns of such names.
const NAMING: &str = "VK_INSTANCE_LAYERS";
const ENABLING: &str = "VK_LOADER_LAYERS_ENABLE";

/// Adds to the finding about a program with the identity `its` the layer that a variable switches on, and that such programs cannot open. `records` is the
/// trace of the probe.
pub(super) fn explain(found: &mut Dropped, records: &[Record], its: Identity, variables: &Variables) {
    let all = records.iter().filter_map(|record| match &record.event {
        Event::Decision(decision) if decision.subject == "layer" => Some(decision),
        _ => None,
    });
    let all: Vec<_> = all.collect();
    let is_whole = |name: &str, manifest: &str| {
        let library = library(manifest, name).and_then(|library| file(&library, its));
        library.is_some_and(|path| Fault::of(&path, its).is_none())
    };
    for one in all.iter().filter(|one| one.is_kept()) {
        let Some(by) = switched_on_by(&one.name, &one.path, variables) else {
            continue;
        };
        let is_same = |other: &str| family(other) == family(&one.name);
        // The probe drops a layer whose manifest says that it is only for such programs.
        if all
            .iter()
            .any(|other| is_same(&other.name) && is_whole(&other.name, &other.path))
        {
            continue;
        }
        let Some(named) = library(&one.path, &one.name) else {
            continue;
        };
        let own = file(&named, Identity::of_this_process()).unwrap_or_else(|| PathBuf::from(&named));
        found.reason = format!(
            "The program is for {its}, and the layer {}, which {by} switches on, has no library for such programs.",
            one.name
        );
        found.findings.push(format!("its manifest: {}", one.path));
        found.findings.push(format!("its library: {}", own.display()));
        found.advice = to_install_for(&own, its);
        return;
    }
}

/// Returns the library that the manifest of a layer names.
fn library(manifest: &str, layer: &str) -> Option<String> {
    let path = Path::new(manifest);
    let content = manifests::read(path)?;
    let layer =
        manifests::layers(&content).find(|one| one.get("name").and_then(|name| name.as_str()) == Some(layer))?;
    let named = layer.get("library_path")?.as_str()?;
    Some(manifests::found(path, named).display().to_string())
}

/// Returns the setting of a variable that switches a layer on, if one does.
fn switched_on_by(layer: &str, manifest: &str, variables: &Variables) -> Option<String> {
    if let Some((name, value)) = manifests::enabling_switch(Path::new(manifest), layer)
        && variables.get(&name).as_deref() == Some(&value)
    {
        return Some(format!("{name}={value}"));
    }
    let has = |name: &str, is_it: &dyn Fn(&str) -> bool| {
        let value = variables.get(name).unwrap_or_default();
        value.split([':', ',']).any(is_it)
    };
    let is_named = has(NAMING, &|word| word == layer);
    let is_matched = has(ENABLING, &|word| {
        Pattern::parse(word.as_bytes()).matches(layer.as_bytes())
    });
    let name = is_named.then_some(NAMING).or_else(|| is_matched.then_some(ENABLING))?;
    Some(name.into())
}
