//! Finds the differences between the loader that programs use and the examined library, with causes from the library's decisions.

use super::build::verdict;
use super::view::View;
use super::{
    Device, Difference, Dropped, Ended, Fact, FirstCause, Hidden, OtherLoader, OtherWordSize, Report, codes, failed,
    only_here, rank, requests, settings, unneeded, unread,
};
use crate::events::{Event, Record};
use crate::other::Other;
use crate::paths::file_name;
use crate::probe::{self, Seen};
use crate::regular;
use crate::{installed, names};
use std::collections::BTreeMap;
use std::path::Path;

/// Name that programs use to open their loader.
pub(super) const NAME: &str = "libvulkan.so.1";

/// Adds the loader that programs use to a report, without a comparison. Used for a program that ran with the examined library.
pub(crate) fn name(report: &mut Report, records: &[Record], other: &Other) {
    report.dropped.extend(not_opened(other));
    let described = described(other);
    report.dropped.extend(failed::at_opening(other, &described));
    report.dropped.extend(requests::find(report, other, &described));
    report.dropped.extend(unneeded::find(report, other, &described));
    if other.seen.not_opened.is_none() {
        let view = View::of(records, other);
        let ignored = ignored(report, &view, other, &described);
        // The program ran with the examined library, which follows the variables, so they explain no failure of this run.
        report.dropped.extend(ignored.into_iter().map(|found| Dropped {
            rank: rank::ASKED_FOR,
            ..found
        }));
    }
    report.other_loader = Some(described);
}

/// Returns the finding that the loader of programs does not open.
fn not_opened(other: &Other) -> Option<Dropped> {
    let words = other.seen.not_opened.as_ref()?;
    let name = other.asked.to_str().unwrap_or(NAME);
    Some(Dropped {
        findings: [Fact::of_system(words)].into(),
        ..codes::LOADER_NOT_OPENED.about(name)
    })
}

/// Adds the loader that programs use, and its differences from `own`, the results with the examined library. After the call, the report has
/// the devices that programs receive.
pub(crate) fn compare(report: &mut Report, records: &[Record], own: &Seen, other: &Other) {
    let mut described = described(other);
    described.is_compared = true;
    if let Some(found) = not_opened(other) {
        report.dropped.push(found);
    } else {
        let view = View::of(records, other);
        described.differences = differences(report, own, &other.seen, &view);
        described
            .differences
            .extend(settings::forget_unread(report, records, other));
        forget_unknown(report, &view);
        report.dropped.extend(ignored(report, &view, other, &described));
        failed::add(report, own, other, &described);
        // A failure of this loader has a finding already.
        if other.seen.instance == Some(0) {
            report.dropped.extend(unneeded::find(report, other, &described));
        }
    }
    let path = described.path.clone().unwrap_or_else(|| NAME.into());
    take_devices(report, &other.seen, &path);
    if other.seen.not_opened.is_none() {
        forget_order(report, &View::of(records, other));
    }
    let is_explained = failed::blame_drivers(report, records, (own, &other.seen), &path);
    if other.seen.library.is_some() && !is_explained {
        hidden_findings(report, &path, &described.differences);
    }
    report.verdict = verdict(report);
    report.other_loader = Some(described);
}

/// Adds the devices of 32-bit programs from the report of the 32-bit `vkloader`.
pub(crate) fn add_word_size(report: &mut Report, of_32_bits: &serde_json::Value) {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let devices = of_32_bits["devices"].as_array().map_or(&[][..], Vec::as_slice);
    let dropped = of_32_bits["dropped"].as_array().map_or(&[][..], Vec::as_slice);
    let first = dropped.iter().find(|one| !text(&one["advice"]).is_empty());
    report.other_word_size = Some(OtherWordSize {
        word_size: 32,
        verdict: text(&of_32_bits["verdict"]),
        devices: devices.iter().map(|device| text(&device["name"])).collect(),
        first_cause: first.map(|first| FirstCause {
            code: text(&first["code"]),
            name: text(&first["name"]),
            reason: text(&first["reason"]),
            advice: text(&first["advice"]),
        }),
    });
}

fn described(other: &Other) -> OtherLoader {
    let path = other.file();
    OtherLoader {
        version: other.seen.version.clone(),
        owner: path.as_deref().and_then(installed::owner),
        path,
        ending: Ended::from(other.finished.ending),
        is_compared: false,
        differences: Vec::new(),
    }
}

/// Returns all differences; the most important difference comes first.
fn differences(report: &Report, own: &Seen, other: &Seen, view: &View<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    for (name, value) in &view.unknown {
        found.push(Difference {
            what: "variable",
            name: (*name).into(),
            only: Some("asked"),
            text: only_here::without_effect(report, name, value),
            because: None,
        });
    }
    for (name, value) in &view.foreign {
        found.push(Difference {
            what: "variable",
            name: (*name).into(),
            only: Some("asked"),
            text: format!("{name} is set to {value}, and the loader that programs get knows only numbers in it."),
            because: None,
        });
    }
    let calls = [
        ("vkCreateInstance", own.instance, other.instance),
        ("vkEnumeratePhysicalDevices", own.enumeration, other.enumeration),
    ];
    for (name, here, there) in calls {
        if let (Some(here), Some(there)) = (here, there)
            && here != there
        {
            let (here, there) = (names::result(here), names::result(there));
            found.push(Difference {
                what: "call",
                name: name.into(),
                only: None,
                text: format!(
                    "{name} returns {there} with the loader that programs get, and {here} with the library asked here."
                ),
                because: None,
            });
        }
    }
    if other.instance.is_none() {
        // The programs' loader ended the probe before the probe received a list.
        return found;
    }
    devices(report, other, view, &mut found);
    drivers(report, view, &mut found);
    lists(own, other, view, &mut found);
    found
}

fn devices(report: &Report, other: &Seen, view: &View<'_>, found: &mut Vec<Difference>) {
    let places = places(&report.devices, &other.devices);
    let missing = report.devices.iter().enumerate();
    for (_, device) in missing.filter(|(place, _)| !places.contains(&Some(*place))) {
        found.push(Difference {
            what: "device",
            name: device.name.clone(),
            only: Some("asked"),
            text: format!("The loader that programs get does not list {}.", device.name),
            because: view.why_not(&device.driver, device.manifest.as_deref()),
        });
    }
    for (device, _) in other.devices.iter().zip(&places).filter(|(_, place)| place.is_none()) {
        found.push(Difference {
            what: "device",
            name: device.name.clone(),
            only: Some("other"),
            text: format!("Only the loader that programs get lists {}.", device.name),
            because: view
                .why_left_out(|name| name == device.name)
                .or_else(|| view.why_left_out(|name| !name.is_empty() && view.opened(&library_of(name)) == Some(true))),
        });
    }
    let known: Vec<usize> = places.iter().flatten().copied().collect();
    if !known.is_sorted() {
        let order = |names: Vec<&str>| names.join(", ");
        let here = known_in(&known, |place| report.devices[place].name.as_str());
        let there = places
            .iter()
            .zip(&other.devices)
            .filter(|(place, _)| place.is_some())
            .map(|(_, device)| device.name.as_str())
            .collect();
        found.push(Difference {
            what: "order",
            name: "devices".into(),
            only: None,
            text: format!(
                "The loader that programs get lists devices in the order {}; the library asked here in the order {}.",
                order(there),
                order(here)
            ),
            because: report
                .devices
                .first()
                .map(|first| format!("the library puts {} first: {}", first.name, first.order)),
        });
    }
}

/// Returns the names of the items at the indices in `places`, sorted by index.
fn known_in<'a>(places: &[usize], name: impl Fn(usize) -> &'a str) -> Vec<&'a str> {
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().map(name).collect()
}

fn drivers(report: &Report, view: &View<'_>, found: &mut Vec<Difference>) {
    for driver in &report.drivers {
        if view.opened(&driver.library) == Some(false) {
            found.push(Difference {
                what: "driver",
                name: driver.library.clone(),
                only: Some("asked"),
                text: format!(
                    "The loader that programs get did not open the driver {}.",
                    driver.library
                ),
                because: view.why_not("", driver.manifest.as_deref()).or_else(|| {
                    driver
                        .manifest
                        .as_ref()
                        .map(|manifest| format!("its manifest is {manifest}"))
                }),
            });
        }
    }
    let left_out = report
        .dropped
        .iter()
        .filter(|dropped| dropped.subject.starts_with("driver"));
    for dropped in left_out {
        let library = library_of(&dropped.name);
        let is_opened = library.contains(".so") && view.opened(&library) == Some(true);
        let is_new = !report
            .drivers
            .iter()
            .any(|driver| real_name(&driver.library) == real_name(&library));
        if is_opened && is_new {
            found.push(Difference {
                what: "driver",
                name: library.clone(),
                only: Some("other"),
                text: format!("Only the loader that programs get opened the driver {library}."),
                because: view
                    .why_left_out(|name| name == dropped.name)
                    .or_else(|| Some(dropped.reason.clone())),
            });
        }
    }
}

/// Versions of extensions or layers, by name.
type Names = BTreeMap<String, String>;

/// Compares the lists of layers and extensions, which programs can query without an instance.
fn lists(own: &Seen, other: &Seen, view: &View<'_>, found: &mut Vec<Difference>) {
    let layers = |seen: &Seen| seen.layers.iter().map(|name| (name.clone(), String::new())).collect();
    let extensions = |seen: &Seen| {
        let parts = seen.extensions.iter().filter_map(|line| line.split_once(' '));
        parts.map(|(name, version)| (name.into(), version.into())).collect()
    };
    let kinds: [(&str, Names, Names); 2] = [
        ("layer", layers(own), layers(other)),
        ("extension", extensions(own), extensions(other)),
    ];
    for (what, here, there) in kinds {
        for name in here.keys().filter(|name| !there.contains_key(*name)) {
            found.push(Difference {
                what,
                name: name.clone(),
                only: Some("asked"),
                text: format!("Only the library asked here lists the {what} {name}."),
                because: None,
            });
        }
        for (name, version) in &there {
            let (only, text) = match here.get(name) {
                None => (
                    Some("other"),
                    format!("Only the loader that programs get lists the {what} {name}."),
                ),
                Some(known) if known != version => (
                    None,
                    format!(
                        "The {what} {name} has version {version} under the loader that programs get, and {known} here."
                    ),
                ),
                Some(_) => continue,
            };
            let because = only.and_then(|_| view.why_left_out(|left_out| left_out == name));
            let name = name.clone();
            found.push(Difference {
                what,
                name,
                only,
                text,
                because,
            });
        }
    }
}

/// Returns findings about variables and words that the programs' loader ignores.
fn ignored(report: &Report, view: &View<'_>, other: &Other, described: &OtherLoader) -> Vec<Dropped> {
    let mut found = unread::find(&view.unknown, described);
    let all = [&view.unknown[..], &view.foreign].concat();
    found.extend(only_here::find(&all, report, other, described));
    let mut names = std::collections::BTreeSet::new();
    found.retain(|one| names.insert(one.name.clone()));
    found
}

/// Removes what the report says about the order of devices, if the examined library follows a variable that the programs' loader ignores.
fn forget_order(report: &mut Report, view: &View<'_>) {
    let mut ignored = view.unknown.iter().chain(&view.foreign);
    let Some((name, _)) = ignored.find(|(name, _)| only_here::chooses_devices(name)) else {
        return;
    };
    for device in &mut report.devices {
        device.order = format!("the loader of programs, which ignores {name}, has it here");
        device.moved_by = None;
    }
    report
        .dropped
        .retain(|one| one.code != codes::DEVICE_MOVED_BY_LAYER.name);
}

/// Removes findings about variables that the programs' loader does not support. These variables have no effect on programs, and are listed
/// as differences instead.
fn forget_unknown(report: &mut Report, view: &View<'_>) {
    let without_effect = |dropped: &Dropped| {
        view.records.iter().any(|record| match &record.event {
            Event::Decision(decision) => {
                let variable = decision.details.get("variable").and_then(|word| word.as_str());
                let is_unknown = variable.is_some_and(|name| view.unknown.iter().any(|(known, _)| *known == name));
                is_unknown && decision.name == dropped.name && decision.code.as_deref() == Some(dropped.code.as_str())
            }
            _ => false,
        })
    };
    report.dropped.retain(|dropped| !without_effect(dropped));
}

/// Returns, for each device of the programs' loader, the device's index in the report.
fn places(known: &[Device], received: &[probe::Device]) -> Vec<Option<usize>> {
    type Same = fn(&Device, &probe::Device) -> bool;
    let numbers: Same = |one, other| (one.vendor, one.device, &one.name) == (other.vendor, other.device, &other.name);
    let identifiers: Same = |one, other| {
        one.uuid
            .as_ref()
            .is_some_and(|uuid| uuid.bytes().any(|digit| digit != b'0'))
            && one.uuid == other.uuid
            && one.name == other.name
    };
    let mut places = vec![None; received.len()];
    for same in [identifiers, numbers] {
        for (now, device) in received.iter().enumerate() {
            if places[now].is_none() {
                places[now] =
                    (0..known.len()).find(|place| !places.contains(&Some(*place)) && same(&known[*place], device));
            }
        }
    }
    places
}

/// Replaces the devices of the report by the devices that programs receive.
fn take_devices(report: &mut Report, other: &Seen, path: &str) {
    let places = places(&report.devices, &other.devices);
    let mut known: Vec<Option<Device>> = std::mem::take(&mut report.devices).into_iter().map(Some).collect();
    for (device, place) in other.devices.iter().zip(places) {
        let mut taken = match place.and_then(|place| known[place].take()) {
            Some(taken) => taken,
            None => revealed(report, device, path),
        };
        taken.created = device.created;
        taken.is_usable = device.created == Some(0);
        report.devices.push(taken);
    }
    report.hidden.extend(known.into_iter().flatten().map(|device| Hidden {
        name: device.name,
        kind: device.kind,
        driver: device.driver,
        by_what: "loader".into(),
        by: path.into(),
    }));
}

/// Returns a device that only the programs' loader lists. If the examined library hid the device, adds its driver.
fn revealed(report: &mut Report, device: &probe::Device, path: &str) -> Device {
    let mut revealed = super::devices::of_other(device, path);
    let is_it =
        |hidden: &Hidden| hidden.by_what != "loader" && (&hidden.name, &hidden.kind) == (&device.name, &device.kind);
    if let Some(place) = report.hidden.iter().position(is_it) {
        revealed.driver = report.hidden.remove(place).driver;
    }
    revealed
}

/// Adds a finding for each device that only the programs' loader hides.
fn hidden_findings(report: &mut Report, path: &str, differences: &[Difference]) {
    let hidden = report.hidden.iter().filter(|hidden| hidden.by_what == "loader");
    let found: Vec<_> = hidden
        .map(|hidden| {
            let why = differences
                .iter()
                .find(|one| one.what == "device" && one.name == hidden.name);
            Dropped {
                file: Some(path.into()),
                findings: why.and_then(|one| one.because.clone()).into_iter().collect(),
                ..codes::DEVICE_HIDDEN_BY_LOADER.about(&hidden.name)
            }
        })
        .collect();
    report.dropped.extend(found);
}

/// Returns the library that a manifest names. Returns other paths unchanged.
pub(crate) fn library_of(path: &str) -> String {
    let manifest = path.ends_with(".json").then(|| regular::read(path).ok()).flatten();
    let value: Option<serde_json::Value> = manifest.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let library = value.and_then(|value| value["ICD"]["library_path"].as_str().map(String::from));
    library.unwrap_or_else(|| path.into())
}

/// Returns the file name of a path's target, after following symbolic links.
pub(super) fn real_name(path: &str) -> String {
    let real = std::fs::canonicalize(path).ok();
    let real = real.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    real.unwrap_or_else(|| file_name(path)).into()
}
