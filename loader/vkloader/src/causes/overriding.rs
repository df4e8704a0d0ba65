//! What wins without a word: a variable that replaces the search, a settings file, an override layer; two manifests for one library;
//! and a machine without any driver.

use super::variables;
use crate::events::{Decision, Event, Record, Searched};
use crate::report::{Dropped, Report, rank};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Variables in whose place nothing else is searched for drivers.
const REPLACING: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// The layer that Vulkan Configurator makes, which may replace places and switch layers off.
const OVERRIDE: &str = "VK_LAYER_LUNARG_override";

/// Adds what stands in the way of drivers and layers.
pub(super) fn find(report: &mut Report, records: &[&Record]) {
    if report.loader.is_none() {
        return;
    }
    // What wins is the cause where nothing can be used, and worth a word elsewhere.
    let silent = if report.is_usable() { rank::ASIDE } else { rank::SILENT };
    let replacing = variables(records).find(|(name, _)| REPLACING.contains(name));
    let mut found = Vec::new();
    if let Some((name, value)) = replacing {
        found.push(Dropped {
            findings: vec![format!("its value: {value}")],
            advice: format!("Where that is not meant: unset {name}."),
            ..wins(
                "variable",
                "search.replaced",
                name,
                format!("{name} is set, so drivers are looked for nowhere else."),
                silent,
            )
        });
    } else if !report.is_usable() && report.ended.is_none() && !has_manifests(records) {
        found.push(nothing_installed(records));
    }
    for decision in kept(records, "settings") {
        let reason = "A settings file decides about layers, drivers or devices.";
        found.push(Dropped {
            advice: "Where that is not meant: delete the file, or change it with the program that wrote it, such as Vulkan Configurator.".into(),
            ..wins("settings file", "settings.active", &decision.name, reason.into(), silent)
        });
    }
    for decision in kept(records, "layer").filter(|decision| decision.name == OVERRIDE) {
        let reason = "An override layer decides about layers, and may replace the places where they are looked for.";
        found.push(Dropped {
            file: Some(decision.path.clone()),
            advice: "Where that is not meant: delete its manifest, or change it with Vulkan Configurator.".into(),
            ..wins("layer", "layer.override-active", &decision.name, reason.into(), silent)
        });
    }
    found.extend(twice(records));
    let mut seen = Vec::new();
    found.retain(|one| {
        let is_new = !seen.contains(&(one.code.clone(), one.name.clone()));
        seen.push((one.code.clone(), one.name.clone()));
        is_new
    });
    report.dropped.append(&mut found);
}

fn wins(subject: &str, code: &str, name: &str, reason: String, rank: u8) -> Dropped {
    Dropped {
        subject: subject.into(),
        code: code.into(),
        name: name.into(),
        file: None,
        named_by: None,
        reason,
        findings: Vec::new(),
        advice: String::new(),
        rank,
    }
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
            ..wins(
                "driver",
                "driver.named-twice",
                &library.display().to_string(),
                "Several manifests name this driver, so its devices come several times.".into(),
                rank::ASIDE,
            )
        })
        .collect()
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
        advice: "Install a driver: mesa-vulkan-drivers (Debian, Ubuntu, Fedora), vulkan-radeon, vulkan-intel or vulkan-swrast (Arch), \
                 or the driver of your graphics card's maker; in a sandbox, its extension for graphics."
            .into(),
        ..wins(
            "driver",
            "driver.none-installed",
            "no driver",
            "No Vulkan driver is installed where this program looks.".into(),
            rank::NOTHING,
        )
    }
}
