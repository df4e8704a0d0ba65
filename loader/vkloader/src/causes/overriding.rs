//! What wins without a word: a variable that replaces the search, a settings file, an override layer; two manifests for one library;
//! and a machine without any driver.

use super::variables;
use crate::events::{Decision, Event, Record, Searched};
use crate::report::{Dropped, Report, codes, rank};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Variables in whose place nothing else is searched for drivers.
const REPLACING: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// The layer that Vulkan Configurator makes, which may replace places and switch layers off.
const OVERRIDE: &str = "VK_LAYER_LUNARG_override";

/// Adds what stands in the way of drivers and layers.
pub(super) fn find(report: &mut Report, records: &[&Record]) {
    // What wins is the cause where nothing can be used, and worth a word elsewhere.
    let silent = if report.is_usable() { rank::ASIDE } else { rank::SILENT };
    let replacing = variables(records).find(|(name, _)| REPLACING.contains(name));
    let mut found = Vec::new();
    if let Some((name, value)) = replacing {
        // A driver that the variable names and that does not work is the cause; the variable only tells why no other is there.
        let is_broken = |dropped: &Dropped| dropped.rank == rank::BROKEN && dropped.code.starts_with("driver.");
        let after_broken = report.dropped.iter().any(is_broken);
        found.push(Dropped {
            rank: if after_broken {
                silent.max(rank::BROKEN + 1)
            } else {
                silent
            },
            reason: format!("{name} is set, so drivers are looked for nowhere else."),
            findings: vec![format!("its value: {value}")],
            advice: format!("If this is unintended: unset {name}"),
            ..codes::SEARCH_REPLACED.about(name)
        });
    } else if !report.is_usable()
        && report.ended.is_none()
        && searched(records).next().is_some()
        && !has_manifests(records)
    {
        found.push(nothing_installed(records));
    }
    for decision in kept(records, "settings") {
        found.push(Dropped {
            rank: silent,
            ..codes::SETTINGS_ACTIVE.about(&decision.name)
        });
    }
    for decision in kept(records, "layer").filter(|decision| decision.name == OVERRIDE) {
        found.push(Dropped {
            rank: silent,
            file: Some(decision.path.clone()),
            ..codes::LAYER_OVERRIDE_ACTIVE.about(&decision.name)
        });
    }
    found.extend(twice(records));
    found.extend(none_has_device(report));
    let mut seen = Vec::new();
    found.retain(|one| {
        let is_new = !seen.contains(&(one.code.clone(), one.name.clone()));
        seen.push((one.code.clone(), one.name.clone()));
        is_new
    });
    report.dropped.append(&mut found);
}

fn kept<'a>(records: &'a [&Record], subject: &'a str) -> impl Iterator<Item = &'a Decision> {
    records.iter().filter_map(move |record| match &record.event {
        Event::Decision(decision) if decision.subject == subject && decision.is_kept() => Some(decision),
        _ => None,
    })
}

fn searched<'a>(records: &'a [&Record]) -> impl Iterator<Item = &'a Searched> {
    records.iter().filter_map(|record| match &record.event {
        Event::Searched(searched) if searched.wanted == "driver" => Some(searched),
        _ => None,
    })
}

fn has_manifests(records: &[&Record]) -> bool {
    let decided = records
        .iter()
        .any(|record| matches!(&record.event, Event::Decision(decision) if decision.subject.starts_with("driver")));
    decided || searched(records).any(|folder| folder.manifests > 0)
}

/// Libraries that two manifests name: a program sees their devices twice.
fn twice(records: &[&Record]) -> Vec<Dropped> {
    let mut manifests: BTreeMap<PathBuf, Vec<&str>> = BTreeMap::new();
    for decision in kept(records, "driver") {
        let library = Path::new(&decision.name);
        let library = std::fs::canonicalize(library).unwrap_or_else(|_| library.into());
        let known = manifests.entry(library).or_default();
        if !known.contains(&decision.path.as_str()) {
            known.push(&decision.path);
        }
    }
    let twice = manifests.into_iter().filter(|(_, manifests)| manifests.len() > 1);
    twice
        .map(|(library, manifests)| Dropped {
            findings: manifests
                .iter()
                .map(|manifest| format!("named by {manifest}"))
                .collect(),
            advice: format!("Remove all but one of these manifests: {}.", manifests.join(", ")),
            ..codes::DRIVER_NAMED_TWICE.about(library.display().to_string())
        })
        .collect()
}

/// What to say where drivers are installed and none of them has a device.
fn none_has_device(report: &Report) -> Option<Dropped> {
    let reasons = report
        .dropped
        .iter()
        .filter(|dropped| dropped.code == "driver.no-devices");
    let findings: Vec<String> = reasons
        .map(|driver| format!("{}: {}", driver.name, driver.reason))
        .collect();
    let is_all = report.devices.is_empty() && report.hidden.is_empty() && report.ended.is_none();
    (is_all && !findings.is_empty()).then(|| Dropped {
        findings,
        ..codes::DRIVER_NONE_HAS_DEVICE.about("all drivers")
    })
}

fn nothing_installed(records: &[&Record]) -> Dropped {
    let mut findings: Vec<String> = Vec::new();
    for folder in searched(records) {
        let why = folder.system.as_deref().unwrap_or("no manifest in it");
        let line = format!("searched {} ({}): {why}", folder.folder, folder.source.words());
        if !findings.contains(&line) {
            findings.push(line);
        }
    }
    Dropped {
        findings,
        ..codes::DRIVER_NONE_INSTALLED.about("no driver")
    }
}
