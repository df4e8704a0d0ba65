//! A report from the records of a trace.

use super::{ActiveLayer, Catalogued, Device, Driver, Dropped, InactiveLayer, Loader, Report, Slow, rank};
use crate::child::{Ending, Finished};
use crate::events::{Decision, Event, Record, Step};
use crate::installed;
use reasons::Code;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Nanoseconds from which on a library is slow.
const SLOW: u64 = 10_000_000;

/// The report about a process that ended, from what the loader wrote in the process that used it most.
pub(crate) fn build(finished: &Finished) -> Report {
    let records = busiest(&finished.records);
    let mut report = Report {
        loader: loader(&records),
        devices: devices(&records),
        drivers: drivers(&records),
        layers: layers(&records),
        slow: slow(&records),
        catalogue: catalogue(&records),
        ..Report::default()
    };
    report.inactive = inactive(&records, &report.layers);
    report.dropped = dropped(&records);
    if let Some(ended) = ended(finished.ending, &records) {
        report.ended = Some(ended.reason.clone());
        report.dropped.push(ended);
    }
    name_manifests(&records, &mut report);
    report
}

/// How a process ended, in words, where that was not by itself with success.
pub(crate) fn how_ended(finished: &Finished) -> Option<String> {
    ended(finished.ending, &busiest(&finished.records)).map(|ended| ended.reason)
}

/// The records of one process: a program may start others that open the library too.
fn busiest(records: &[Record]) -> Vec<&Record> {
    let mut counts = BTreeMap::new();
    for record in records {
        *counts.entry(record.process).or_insert(0_usize) += 1;
    }
    let busiest = counts.into_iter().max_by_key(|&(_, count)| count);
    records
        .iter()
        .filter(|record| busiest.is_some_and(|(process, _)| record.process == process))
        .collect()
}

fn loader(records: &[&Record]) -> Option<Loader> {
    records.iter().find_map(|record| match &record.event {
        Event::Loaded(loaded) => Some(Loader {
            version: loaded.version.clone(),
            owner: loaded.library.as_deref().and_then(installed::owner),
            path: loaded.library.clone(),
            word_size: loaded.word_size,
            executable: loaded.executable.clone(),
        }),
        _ => None,
    })
}

/// The devices of the last enumeration.
fn devices(records: &[&Record]) -> Vec<Device> {
    let mut found: Vec<Device> = Vec::new();
    for record in records {
        let Event::Device(device) = &record.event else { continue };
        found.truncate(device.place);
        found.push(Device {
            name: device.name.clone(),
            kind: device.kind.clone(),
            vendor: device.vendor,
            device: device.device,
            api_version: device.api_version.clone(),
            driver: device.driver.clone(),
            manifest: None,
            order: order(&device.rule).into(),
        });
    }
    found
}

/// Why a device stands where it stands, for people.
fn order(rule: &str) -> &str {
    match rule {
        "only" => "it is the only one",
        "selected" => "VK_LOADER_DEVICE_SELECT chose the first one",
        "type" => "discrete devices come first, then integrated, virtual and other ones, then processors",
        "has-pci-address" => "devices with a place on the PCI bus come before others",
        "pci-address" => "its place on the PCI bus",
        "ids" => "its numbers, where nothing else differs",
        "configured" => "the settings file lists the devices in this order",
        "adapter" => "the system's order of display adapters",
        "reported" => "the order in which drivers report them",
        other => other,
    }
}

fn drivers(records: &[&Record]) -> Vec<Driver> {
    let mut found: Vec<Driver> = Vec::new();
    for record in records {
        if let Event::Driver(driver) = &record.event
            && driver.result == 0
            && found.iter().all(|known| known.library != driver.library)
        {
            found.push(Driver {
                library: driver.library.clone(),
                manifest: None,
                api_version: Some(driver.api_version.clone()),
                interface_version: Some(driver.interface_version),
                extensions: Some(driver.extensions),
            });
        }
    }
    found
}

fn catalogue(records: &[&Record]) -> Vec<Catalogued> {
    let mut found = Vec::new();
    for record in records {
        let Event::Catalogue(one) = &record.event else { continue };
        let what = match (one.used.as_str(), one.doubt.as_deref()) {
            ("extensions", _) => "It was not opened for its extensions: they are in the driver catalogue.",
            (_, Some("library")) => {
                "Its entry does not count, since its library has changed: run vkloader catalogue update."
            }
            (_, Some("times")) => {
                "Its entry does not count, since its library lies in an image whose times prove nothing."
            }
            (_, Some("linker-cache")) => {
                "Its entry does not count, since the dynamic linker's cache has changed: run vkloader catalogue update."
            }
            (_, Some("differs")) => "It says something else than its entry: run vkloader catalogue update.",
            _ => continue,
        };
        let one = Catalogued {
            library: one.library.clone(),
            what: what.into(),
        };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

fn layers(records: &[&Record]) -> Vec<ActiveLayer> {
    let chain = records.iter().rev().find_map(|record| match &record.event {
        Event::Chain(chain) if chain.call == "vkCreateInstance" => Some(chain),
        _ => None,
    });
    let layers = chain.map_or(&[][..], |chain| &chain.layers);
    layers
        .iter()
        .map(|layer| ActiveLayer {
            name: layer.name.clone(),
            enabled_by: enabled_by(&layer.enabled_by, layer.implicit),
            manifest: layer.manifest.clone(),
            library: layer.library.clone(),
        })
        .collect()
}

fn enabled_by(word: &str, implicit: bool) -> String {
    match (word, implicit) {
        ("settings", _) => "the settings file".into(),
        ("implicit", _) => "it is implicit, and nothing switches it off".into(),
        ("application", _) => "the program".into(),
        ("meta-layer", _) => "a meta-layer that it is a part of".into(),
        (variable, _) => format!("the variable {variable}"),
    }
}

/// Layers that were kept and are not in the chain.
fn inactive(records: &[&Record], active: &[ActiveLayer]) -> Vec<InactiveLayer> {
    let mut found: BTreeMap<String, InactiveLayer> = BTreeMap::new();
    for record in records {
        match &record.event {
            Event::Decision(decision) if decision.subject == "layer" && decision.is_kept() => {
                let row = Code::LayerInactive.row();
                found.entry(decision.name.clone()).or_insert_with(|| InactiveLayer {
                    name: decision.name.clone(),
                    manifest: decision.path.clone(),
                    code: row.name.into(),
                    reason: row.meaning.into(),
                    advice: row.remedy.into(),
                });
            }
            Event::Layer(layer) => {
                if let (Some(known), Some(code)) = (found.get_mut(&layer.name), Code::of_name(&layer.code)) {
                    let variable = layer.variable.as_ref().map(|variable| format!(" ({variable})"));
                    known.code = layer.code.clone();
                    known.reason = with_variable(code.row().meaning, variable.as_deref());
                    known.advice = with_variable(code.row().remedy, variable.as_deref());
                }
            }
            _ => {}
        }
    }
    for layer in active {
        found.remove(&layer.name);
    }
    found.into_values().collect()
}

/// A sentence with the name of a variable before its end.
fn with_variable(sentence: &str, variable: Option<&str>) -> String {
    match (sentence.strip_suffix('.'), variable) {
        (Some(sentence), Some(variable)) => format!("{sentence}{variable}."),
        _ => sentence.into(),
    }
}

/// What was left out, each once.
fn dropped(records: &[&Record]) -> Vec<Dropped> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for record in records {
        let Event::Decision(decision) = &record.event else {
            continue;
        };
        if decision.is_kept() || !seen.insert((&decision.subject, &decision.name, &decision.path, &decision.code)) {
            continue;
        }
        found.push(explained(decision));
    }
    found
}

fn explained(decision: &Decision) -> Dropped {
    let name = decision.code.clone().unwrap_or_default();
    let code = Code::of_name(&name);
    let said = decision.text.clone().filter(|text| !text.is_empty());
    let (reason, advice) = match code {
        Some(code) => (code.row().meaning.into(), code.row().remedy.into()),
        // A newer library than this program.
        None => (said.clone().unwrap_or_default(), String::new()),
    };
    let word = |name: &str| decision.details.get(name).and_then(|word| word.as_str());
    let mut findings = Vec::new();
    if let Some(words) = word("system") {
        findings.push(format!("the system says: {words}"));
    }
    if let (Some(pattern), Some(variable)) = (word("pattern"), word("variable")) {
        findings.push(format!("{pattern} in {variable} matches it"));
    }
    if let Some(result) = decision.details.get("result").and_then(serde_json::Value::as_i64) {
        findings.push(format!("VkResult {result}"));
    }
    if let Some(said) = said {
        findings.push(format!("the log says: {said}"));
    }
    Dropped {
        subject: subject(&decision.subject).into(),
        code: name,
        name: decision.name.clone(),
        file: Some(decision.path.clone()).filter(|path| !path.is_empty() && *path != decision.name),
        named_by: Some(decision.source.words()),
        reason,
        findings,
        advice,
        rank: rank::of(code),
    }
}

fn subject(word: &str) -> &str {
    match word {
        "driver-manifest" => "driver manifest",
        "driver-instance" => "driver",
        "layer-manifest" => "layer manifest",
        "layer-library" => "layer",
        "settings" => "settings file",
        "catalogue" => "driver catalogue",
        other => other,
    }
}

/// What to say of a process that did not end by itself: in which library and call it was.
fn ended(ending: Ending, records: &[&Record]) -> Option<Dropped> {
    let how = match ending {
        Ending::Status(_) => return None,
        Ending::Signal(number) => format!("ended by signal {number}"),
        Ending::TooLong(limit) => format!("did not end within {} s", limit.as_secs_f64()),
    };
    let open = unfinished(records);
    let within = open.iter().rev().find(|step| step.runs().is_some()).or(open.last());
    let (place, library) = match within {
        Some(step) => match step.runs() {
            Some(library) if step.step == "open" => (format!("while {library} was opened"), Some(library)),
            Some(library) => (format!("in {} of {library}", step.name), Some(library)),
            None if step.step == "chain" => (format!("in {} of a layer or driver", step.name), None),
            None => (format!("in {}", step.name), None),
        },
        None => ("outside the loader".into(), None),
    };
    Some(Dropped {
        subject: "program".into(),
        code: match ending {
            Ending::TooLong(_) => "program.hung",
            _ => "program.crashed",
        }
        .into(),
        name: library.unwrap_or("the program").into(),
        file: None,
        named_by: None,
        reason: format!("The program {how} {place}."),
        findings: Vec::new(),
        advice: match library {
            Some(library) => format!(
                "Update or remove what brings {library}{}; until then, VK_LOADER_DRIVERS_DISABLE or VK_LOADER_LAYERS_DISABLE leaves it out.",
                installed::owner(library)
                    .map(|owner| format!(" ({owner})"))
                    .unwrap_or_default()
            ),
            None => "Look at the program itself, for example in a debugger.".into(),
        },
        rank: rank::FIRST,
    })
}

/// The steps of the busiest thread that began and did not end, outermost first.
fn unfinished<'a>(records: &[&'a Record]) -> Vec<&'a Step> {
    let mut open: HashMap<&str, Vec<&Step>> = HashMap::new();
    for record in records {
        match &record.event {
            Event::Begin(step) => open.entry(&record.thread).or_default().push(step),
            Event::End(_) => {
                open.entry(&record.thread).or_default().pop();
            }
            _ => {}
        }
    }
    open.into_values().max_by_key(Vec::len).unwrap_or_default()
}

/// Libraries that took long to open or to answer.
fn slow(records: &[&Record]) -> Vec<Slow> {
    let mut sums: BTreeMap<(String, &str), u64> = BTreeMap::new();
    for record in records {
        let Event::End(step) = &record.event else { continue };
        if let (Some(library), Some(time)) = (step.runs(), step.nanoseconds) {
            let doing = if step.step == "open" {
                "to open"
            } else {
                "in its functions"
            };
            let sum = sums.entry((library.into(), doing)).or_default();
            *sum = sum.saturating_add(time);
        }
    }
    let mut found: Vec<Slow> = sums
        .into_iter()
        .filter(|&(_, time)| time > SLOW)
        .map(|((library, doing), time)| Slow {
            library,
            doing: doing.into(),
            milliseconds: time as f64 / 1e6,
        })
        .collect();
    found.sort_by(|one, other| other.milliseconds.total_cmp(&one.milliseconds));
    found
}

/// Puts the manifests to the libraries that they name.
fn name_manifests(records: &[&Record], report: &mut Report) {
    let mut manifests: HashMap<PathBuf, (String, String)> = HashMap::new();
    for record in records {
        if let Event::Decision(decision) = &record.event
            && decision.subject == "driver"
            && decision.is_kept()
        {
            manifests.insert(real(&decision.name), (decision.path.clone(), decision.source.words()));
        }
    }
    for dropped in &mut report.dropped {
        if let (true, Some((path, source))) = (dropped.subject == "driver", manifests.get(&real(&dropped.name))) {
            dropped.file.get_or_insert_with(|| path.clone());
            dropped.named_by = Some(source.clone());
        }
    }
    let find = |library: &str| manifests.get(&real(library)).map(|(path, _)| path.clone());
    for device in &mut report.devices {
        device.manifest = find(&device.driver);
    }
    for driver in &mut report.drivers {
        driver.manifest = find(&driver.library);
    }
}

fn real(path: &str) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| Path::new(path).into())
}
