//! Finds settings that override others without a message: variables that replace the search for drivers, settings files, override layers,
//! and two manifests for one library. Also finds the reason why a machine has no drivers.

use super::replacing::is_replacing;
use super::sandbox::Sandbox;
use super::{elf, masked, multiarch, packages, settings, spelling, unnamed, unsearched, variables};
use crate::events::{Event, Record, Searched, TracedDecision};
use crate::installed;
use crate::paths::file_name;
use crate::report::{Device, Dropped, Fact, Facts, Kind, MESAS_LAYER, Report, Verdict, codes, rank};
use crate::shell::word;
use reasons::Code;
use reasons::rank::OTHER;
use rustix::fs::Access;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Variables that replace the whole search for drivers.
pub(crate) const REPLACING: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// Names of the drivers that most systems have.
const DRIVERS: [&str; 4] = [
    "libvulkan_radeon",
    "libvulkan_intel",
    "libvulkan_nouveau",
    "libvulkan_lvp",
];

/// The layer that Vulkan Configurator installs, which can replace search paths and disable layers.
const OVERRIDE: &str = "VK_LAYER_LUNARG_override";

/// Adds findings about settings that override other settings, drivers and layers.
pub(super) fn find(report: &mut Report, records: &[&Record]) {
    // If no device is usable, the override is the likely cause. The override is only a side note if a device is usable, or if a filter or
    // layer hid a device that the search found.
    let is_aside = report.is_usable() || !report.hidden.is_empty();
    let silent = if is_aside { rank::ASIDE } else { rank::SILENT };
    let replacing = variables(records).find(|(name, value)| is_replacing(name, value) && !is_unread(report, name));
    let mut found = Vec::new();
    if let Some((name, value)) = replacing {
        // If only software drivers are usable although the system has a card, the variable is the likely cause too.
        let hides_card = report.verdict == Verdict::SoftwareOnly && !report.hardware.is_empty();
        let silent = if hides_card { rank::SILENT } else { silent };
        found.push(replaced(report, name, value, silent));
        multiarch::blame_variable(report, name, silent);
        offer_usual_drivers(report, name);
    } else if !report.is_usable()
        && !has_crashed(report)
        && searched(records).next().is_some()
        && !has_manifests(records)
    {
        found.push(without_manifests(report, records));
    }
    found.extend(settings::find(report, records, silent));
    for decision in kept(records, "layer").filter(|decision| decision.name == OVERRIDE) {
        found.push(Dropped {
            // This layer only selects layers, so it does not explain a missing device.
            rank: silent.max(rank::CONSEQUENCE),
            file: Some(decision.path.clone()),
            ..codes::LAYER_OVERRIDE_ACTIVE.about(&decision.name)
        });
    }
    let is_list = report.variables.get(MESA_SELECT).is_some_and(|value| value == "list");
    let overrides = kept(records, "layer").filter(|decision| decision.name == OVERRIDE);
    let mut overrides: Vec<String> = overrides.map(|decision| decision.path.clone()).collect();
    overrides.dedup();
    for dropped in &mut report.dropped {
        left_by_configurator(dropped, &overrides);
        if is_list {
            listed_by_mesa(dropped);
        }
    }
    found.extend(closed_folders(report, records));
    found.extend(twice(records, &report.devices));
    found.extend(listed_twice(report));
    found.extend(none_has_device(report));
    let mut seen = Vec::new();
    found.retain(|one| {
        let is_new = !seen.contains(&(one.code.clone(), one.name.clone()));
        seen.push((one.code.clone(), one.name.clone()));
        is_new
    });
    report.dropped.append(&mut found);
}

/// Returns `true` if another finding says that the loader of programs does not know the variable `name`.
fn is_unread(report: &Report, name: &str) -> bool {
    let is_it = |one: &Dropped| one.code == codes::VARIABLE_NO_MATCH.name && one.name == name;
    report.other_loader.is_some() && report.dropped.iter().any(is_it)
}

/// Returns `true` if the program ended before it could use a device. A program without a device often ends with a status that means failure;
/// such an end follows from the missing device.
fn has_crashed(report: &Report) -> bool {
    let is_failure = |one: &Dropped| one.code == codes::PROGRAM_FAILED.name;
    report.ended.is_some() && !report.dropped.iter().any(is_failure)
}

/// Returns the finding that the search found no manifest.
fn without_manifests(report: &mut Report, records: &[&Record]) -> Dropped {
    let nothing = nothing_installed(records, report);
    if nothing.names_file {
        // The finding names an existing manifest, whose remedy also helps the driver of the card. A finding about a card without a
        // manifest is then only a consequence.
        let without_manifest = |one: &&mut Dropped| one.code == codes::HARDWARE_NO_MANIFEST.name;
        for one in report.dropped.iter_mut().filter(without_manifest) {
            one.rank = rank::CONSEQUENCE;
        }
    }
    nothing
}

/// Returns the finding about a variable that replaces the search for drivers.
fn replaced(report: &Report, name: &str, value: &str, silent: u8) -> Dropped {
    // If the variable names a broken driver or manifest, that file is the cause. The variable then only explains why the loader found no
    // other driver.
    let is_of_driver = |dropped: &&Dropped| dropped.rank == rank::BROKEN && dropped.code.starts_with("driver.");
    let is_of_file = |dropped: &&Dropped| {
        let is_there = dropped.code.starts_with("file.") && dropped.code != Code::FileNotFound.name();
        is_there && dropped.subject == "driver manifest"
    };
    // A repeated manifest is a side note, and not a broken file.
    let is_cause = |one: &&Dropped| one.rank < rank::ASIDE && (is_of_driver(one) || is_of_file(one));
    let broken = report.dropped.iter().filter(is_cause);
    let after = broken.map(|one| one.rank + 1).max();
    let (reason, words) = if value.split(':').all(str::is_empty) {
        let reason = format!("{name} is set, but names no manifest, so that no driver is searched for.");
        (reason, format!("its value: \"{value}\""))
    } else {
        let reason = format!("{name} is set, so drivers are searched only there.");
        (reason, format!("its value: {value}"))
    };
    Dropped {
        rank: after.map_or(silent, |after| silent.max(after)),
        reason,
        findings: [words].into(),
        advice: match spelling::advice(value) {
            Some(advice) => format!("{advice}, or: unset {name}"),
            None => format!("If this is unintended: unset {name}"),
        },
        ..codes::SEARCH_REPLACED.about(name)
    }
}

/// Adds to the remedies of broken drivers that the variable `name` names how to use the drivers of the system. A driver that is built for
/// another system or card cannot be repaired, so this remedy then comes first.
fn offer_usual_drivers(report: &mut Report, name: &str) {
    let unset = format!("unset {name}");
    let by_variable = format!("the variable {name}");
    let is_it = |one: &&mut Dropped| {
        let is_named = one.named_by.as_deref() == Some(by_variable.as_str());
        one.rank == rank::BROKEN && one.subject == "driver" && is_named && !one.advice.contains(&unset)
    };
    let has_others = !unsearched::usual_manifests().is_empty();
    let Report { dropped, hardware, .. } = report;
    for one in dropped.iter_mut().filter(is_it) {
        let is_of_other_system =
            one.advice.starts_with(elf::FOR_ANOTHER_SYSTEM) || super::hardware::is_for_no_card(one, hardware);
        one.advice = match (is_of_other_system, has_others) {
            (true, true) => {
                format!(
                    "Use the drivers of this system, which {name} replaces: {unset}{}",
                    with_folder(one)
                )
            }
            (true, false) => format!(
                "Install the drivers of this system, such as mesa-vulkan-drivers (Debian, Ubuntu, Fedora), and let programs search for them: {unset}{}",
                with_folder(one)
            ),
            (false, true) => format!(
                "{}; or use the drivers of the system: {unset}",
                one.advice.trim_end_matches('.')
            ),
            (false, false) => continue,
        };
        one.variable = Some(name.into());
    }
}

/// Returns the second half of the remedy for a driver of another system whose folder is in `LD_LIBRARY_PATH`: the drivers of this system would get
/// libraries from there too.
fn with_folder(driver: &Dropped) -> String {
    let folder = Path::new(&driver.name).parent();
    let folder = folder.filter(|folder| elf::is_in_variable(folder));
    folder.map_or(String::new(), |folder| {
        format!(
            ". Also take {} out of LD_LIBRARY_PATH, because its libraries are for that other system.",
            folder.display()
        )
    })
}

/// Adds to a remedy that unsets one of the variables in [`REPLACING`] the other one, which then replaces the search in its place.
pub(super) fn unset_both(one: &mut Dropped) {
    let [first, second] = REPLACING;
    let unset = |name: &str| one.advice.contains(&format!("unset {name}"));
    if unset(first) && !unset(second) {
        one.advice = one
            .advice
            .replace(&format!("unset {first}"), &format!("unset {first}; unset {second}"));
    }
}

/// Adds the file of the override layer, and the program that makes the file, to findings about this layer, and about layers that it excludes.
/// `overrides` has the files of the active override layers.
fn left_by_configurator(dropped: &mut Dropped, overrides: &[String]) {
    if dropped.name == OVERRIDE {
        let file = dropped.file.as_deref().unwrap_or("its manifest");
        let made = format!("Vulkan Configurator makes this layer; if you do not use it, delete {file}.");
        dropped.advice = format!("{} {made}", dropped.advice).trim_start().into();
    } else if dropped.code == Code::LayerBlacklisted.name()
        && let [file] = overrides
    {
        dropped.findings.insert(0, format!("{file} excludes it"));
        dropped.advice = format!(
            "Change the configuration in Vulkan Configurator, which makes {file}; or, if you do not use it: rm {}",
            word(file)
        );
    }
}

/// Variable of Mesa's layer that selects a device.
const MESA_SELECT: &str = "MESA_VK_DEVICE_SELECT";

/// Adds to a finding the variable that makes Mesa's layer print the devices and end the program.
fn listed_by_mesa(dropped: &mut Dropped) {
    let is_layer = |fact: &Fact| match fact.kind() {
        Kind::Layer(name) => name == MESAS_LAYER,
        Kind::Through(names) => names.iter().any(|name| name == MESAS_LAYER),
        _ => false,
    };
    if dropped.code == codes::PROGRAM_EXITED.name && dropped.findings.iter().any(is_layer) {
        let words = format!("{MESA_SELECT}=list lets Mesa's layer print the devices and end the program");
        dropped.findings.insert(0, words);
        dropped.advice = format!("Name a device instead of list, or: unset {MESA_SELECT}");
        dropped.variable = Some(MESA_SELECT.into());
    }
}

/// Returns the decisions to keep an object of the kind `subject`.
pub(super) fn kept<'a>(records: &'a [&Record], subject: &'a str) -> impl Iterator<Item = &'a TracedDecision> {
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

/// Returns findings about manifest folders that this user may not read, or whose parent folder this user may not search.
fn closed_folders(report: &Report, records: &[&Record]) -> Vec<Dropped> {
    let has_card = report.verdict == Verdict::Hardware;
    let mut found: Vec<Dropped> = Vec::new();
    for record in records {
        let Event::Searched(searched) = &record.event else {
            continue;
        };
        let folder = &searched.folder;
        let Some(closed) = unsearched::closed(Path::new(folder)).filter(|_| searched.system.is_some()) else {
            continue;
        };
        let is_itself = closed == Path::new(folder);
        // Another user's home folder is often closed, for example for services. The content of a closed home folder is unknown.
        let is_home = searched.source.variable.as_deref() == Some("HOME");
        if !is_itself && has_card {
            continue;
        }
        let closed = closed.display().to_string();
        let mut one = codes::SEARCH_FOLDER_CLOSED.about(&closed);
        let place = word(&closed);
        one.findings = [format!("searched for: {}", searched.wanted)].into();
        one.advice = format!("Let this user read the folder: chmod o+rx {place}");
        if !is_itself {
            one.reason =
                "This user may not search a folder, so it is unknown whether there are manifests below it.".into();
            one.findings = [format!("searched for: {}, in {folder}", searched.wanted)].into();
            one.advice = if is_home {
                format!(
                    "Set HOME to the home folder of the user who starts the program, or let this user search the folder: chmod o+x {place}"
                )
            } else {
                format!("Let this user search the folder: chmod o+x {place}")
            };
        }
        let is_by_policy = is_itself && elf::is_permitted(Path::new(&closed), Access::READ_OK | Access::EXEC_OK);
        let policy = || is_by_policy.then(elf::by_policy);
        if let Some((finding, advice)) = masked::explain(Path::new(&closed)).or_else(policy) {
            one.findings.insert(0, finding);
            one.advice = advice;
        }
        if searched.wanted != "driver" {
            one.rank = rank::ASIDE;
        } else if is_home && !is_itself {
            one.rank = rank::CONSEQUENCE;
        }
        found.push(one);
    }
    // A closed folder may contain both the folder of drivers and the folder of layers. The finding about drivers comes first.
    found.sort_by_key(|one| one.rank);
    found
}

fn has_manifests(records: &[&Record]) -> bool {
    let decided = records
        .iter()
        .any(|record| matches!(&record.event, Event::Decision(decision) if decision.subject.starts_with("driver")));
    decided || searched(records).any(|folder| folder.manifests > 0)
}

/// Returns findings about libraries that several manifests name. Programs list the devices of these libraries several times.
fn twice(records: &[&Record], devices: &[Device]) -> Vec<Dropped> {
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
    let is_of = |device: &&Device, manifest: &str| device.manifest.as_deref() == Some(manifest);
    let has_device = |manifest: &&&str| devices.iter().any(|device| is_of(&device, manifest));
    twice
        .map(|(library, manifests)| Dropped {
            rank: if manifests.iter().filter(has_device).count() > 1 {
                rank::ASKED_FOR
            } else {
                rank::ASIDE
            },
            findings: manifests
                .iter()
                .map(|manifest| format!("named by {manifest}"))
                .collect(),
            advice: format!("Remove all but one of these manifests: {}.", manifests.join(", ")),
            ..codes::DRIVER_NAMED_TWICE.about(library.display().to_string())
        })
        .collect()
}

/// Returns findings about cards that two drivers list. Compares the PCI addresses.
fn listed_twice(report: &Report) -> Vec<Dropped> {
    let mut found = Vec::new();
    for (index, device) in report.devices.iter().enumerate() {
        let same = |first: &&Device| first.pci.is_some() && first.pci == device.pci && first.driver != device.driver;
        let Some(first) = report.devices[..index].iter().find(same) else {
            continue;
        };
        let names = [first, device].map(|one| format!("{} lists {}", one.driver, one.name));
        let file = device.manifest.as_deref().map(file_name);
        let mut one = codes::DEVICE_LISTED_TWICE.about(&device.name);
        one.file.clone_from(&device.manifest);
        one.findings = names.into();
        if let (Some(first), Some(second)) = (&first.manifest, &device.manifest)
            && Some(file_name(first)) == file
        {
            // A variable with this file name would leave out both drivers.
            one.advice =
                format!("Remove the package of one of the two drivers, or one of the manifests {first} and {second}.");
        } else if let Some(file) = file {
            one.advice = format!(
                "Remove the package of one of the two drivers, or leave one out: VK_LOADER_DRIVERS_DISABLE={} PROGRAM",
                word(file)
            );
        }
        let unowned = |path: &&String| installed::owner(path).is_none();
        let mut manifests = [&first.manifest, &device.manifest]
            .into_iter()
            .flatten()
            .filter(unowned);
        // If both manifests belong to packages, or none, the package or file to remove is a choice of the user.
        if let (Some(path), None) = (manifests.next(), manifests.next()) {
            one.advice = format!(
                "Switch off the manifest that belongs to no package: mv {0} {0}.off",
                word(path)
            );
            one.file = Some(path.clone());
        }
        found.push(one);
    }
    found
}

/// Returns a finding if drivers are installed but none of them has a device.
fn none_has_device(report: &Report) -> Option<Dropped> {
    let reasons = report
        .dropped
        .iter()
        .filter(|dropped| dropped.code == "driver.no-devices");
    let findings: Facts = reasons
        .map(|driver| format!("{}: {}", driver.name, driver.reason))
        .collect();
    let is_all = report.devices.is_empty() && report.hidden.is_empty() && !has_crashed(report);
    // A broken driver explains a failure better than drivers that found no hardware.
    let is_broken =
        |dropped: &Dropped| dropped.subject.starts_with("driver") && (rank::BROKEN..=OTHER).contains(&dropped.rank);
    let found = codes::DRIVER_NONE_HAS_DEVICE.about_any("all drivers");
    let rank = if report.dropped.iter().any(is_broken) {
        OTHER + 1
    } else {
        found.rank
    };
    (is_all && !findings.is_empty()).then_some(Dropped {
        findings,
        rank,
        ..found
    })
}

/// End of the system's message about a folder that does not exist.
const NOT_THERE: &str = "(os error 2)";

fn nothing_installed(records: &[&Record], report: &Report) -> Dropped {
    let mut findings: Vec<Fact> = Vec::new();
    for folder in searched(records) {
        let why = folder.system.as_deref().unwrap_or("no manifest is in it");
        let line = format!("searched {} ({}): {why}", folder.folder, folder.source.words());
        let line = Fact::new(Kind::Searched, line);
        if !findings.contains(&line) {
            findings.push(line);
        }
    }
    let mut found = codes::DRIVER_NONE_INSTALLED.about_any("no driver");
    let folders: Vec<&str> = searched(records).map(|folder| folder.folder.as_str()).collect();
    let absent = |folder: &&Searched| folder.system.as_deref().is_some_and(|words| words.ends_with(NOT_THERE));
    let absent: Vec<&str> = searched(records)
        .filter(absent)
        .map(|folder| folder.folder.as_str())
        .collect();
    let mut unsearched = Vec::from_iter(unsearched::in_sandbox(&absent, Sandbox::of(report)));
    unsearched.extend(unsearched::find(Path::new("/"), &folders, &report.variables));
    let mut seen = Vec::new();
    unsearched.retain(|one| {
        let is_new = !seen.contains(&one.finding);
        seen.push(one.finding.clone());
        is_new
    });
    let is_it = |sandbox: &str| report.runs_in(&[sandbox]);
    let in_sandbox = unsearched::in_sandbox_of(is_it, Path::new("/"));
    // The variables of a snap do not prove that the program runs in the snap, so that the remedy for the snap is the last one.
    let is_snap = report.snap.as_ref().is_some_and(|snap| !snap.is_classic());
    if report.dropped.iter().any(|dropped| dropped.subject == "service") {
        // A service replaces installed drivers, so that its failure explains more.
        found.rank = rank::CONSEQUENCE - 1;
    }
    found.names_file = !unsearched.is_empty();
    found.advice = packages::reinstall(Path::new("/"), &DRIVERS).unwrap_or(found.advice);
    match (in_sandbox, unsearched.first()) {
        (Some(advice), _) => found.advice = advice,
        (None, Some(first)) => {
            found.advice.clone_from(&first.advice);
            found.variable = first.variable.map(String::from);
        }
        (None, None) if Path::new("/etc/NIXOS").exists() => found.advice = unsearched::ON_NIXOS.into(),
        (None, None) if is_snap => found.advice = unsearched::IN_SNAP.into(),
        (None, None) => {
            if let Some((finding, advice)) = unnamed::find() {
                findings.insert(0, finding.into());
                found.reason = "The search for drivers found no manifest, although drivers are installed.".into();
                found.advice = advice;
            }
        }
    }
    // A manifest that exists but that the loader does not find explains more than an empty folder.
    found.findings = unsearched
        .into_iter()
        .map(|one| one.finding.into())
        .chain(findings)
        .collect();
    found
}
