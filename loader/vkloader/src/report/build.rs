//! Builds the report of a run from the records in its trace.

mod ending;

use super::decided::{Decided, Manifests, busiest};
use super::{
    Device, Driver, Dropped, Fact, Facts, Loader, Report, Slow, Verdict, calls, catalogued, codes, culprit, devices,
    ended, layers, rank, stood,
};
use crate::causes::Limits;
use crate::child::Finished;
use crate::events::{Event, Record, TracedDecision};
use crate::shell::word;
use crate::variables::Variables;
use crate::{installed, names, probe};
pub(crate) use ending::explain_short;
use reasons::Code;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// Time in nanoseconds from which on the report lists a library as slow to open or to answer.
const SLOW: u64 = 10_000_000;

/// The devices that a process received above all layers, if the process reported these devices outside of the trace.
#[derive(Clone, Copy, Default)]
pub(crate) struct Received<'a> {
    /// The received devices; `None` if the list in the trace must be used.
    pub(crate) devices: Option<&'a [probe::Device]>,
    /// `true` if the call that lists devices succeeded. If the call failed, devices are missing from the list although nothing hid them.
    pub(crate) is_whole: bool,
    /// Name of the layer that changes the list of devices, if one layer was found.
    pub(crate) changer: Option<&'a str>,
}

/// Returns the report about a process that has ended. Uses only the records of the process that wrote the most records.
pub(crate) fn build(finished: &Finished, received: Received<'_>) -> Report {
    let records = busiest(&finished.records);
    let decided = Decided::of(&records);
    let matched = match received.devices {
        Some(seen) if received.is_whole => devices::matched(&decided, seen, received.changer),
        Some(_) => devices::of_filters(&decided),
        None => devices::as_listed(&decided),
    };
    let manifests = Manifests::of(&records);
    let mut report = Report {
        loader: loader(&records),
        devices: matched.devices,
        hidden: matched.hidden,
        drivers: drivers(&records, &manifests),
        layers: layers::active(&records),
        failed: calls::failed(&records),
        errors: calls::errors(&records),
        printed: calls::printed(&records),
        slow: slow(&records),
        catalogue: catalogued::of(&records),
        searched: searched(&records),
        kept: kept(&records),
        variables: Variables::of(finished),
        asked_version: records
            .iter()
            .rev()
            .find_map(|record| record.asked_version())
            .map(String::from),
        limits: Limits::of(finished),
        executed: finished
            .environments
            .iter()
            .filter_map(|one| one.executable.clone())
            .collect(),
        inside: finished.started().and_then(|started| started.inside.clone()),
        ..Report::default()
    };
    report.ending = finished.ending.into();
    report.verdict = verdict(&report);
    report.inactive = layers::inactive(&records, &report.layers, &report.variables);
    report.dropped = dropped(&records);
    report.dropped.extend(idle(&decided, &report.dropped));
    report
        .dropped
        .extend(layers::without_effect(&report.inactive, &report.variables));
    report.dropped.extend(of_devices(&report));
    ending::add(&mut report, &records);
    end(&mut report, finished, &records);
    name_manifests(&manifests, &mut report.dropped);
    quote_drivers(&mut report);
    report
}

/// Adds to a report how the process ended, and the driver, layer or program that caused the end.
fn end(report: &mut Report, finished: &Finished, records: &[&Record]) {
    report.crash = culprit::judged(finished);
    let mut ended = stood::out_of_time(finished, records).or_else(|| ended::finding(finished.ending, records));
    if let Some(found) = ended.as_mut().filter(|_| ended::is_outside(records)) {
        stood::explain(found, finished, &report.devices);
    }
    if let Some(crash) = &report.crash {
        let mut found = crash.finding();
        match &mut ended {
            // The culprit is unknown, so the last call in the trace is the best explanation.
            Some(ended) if crash.is_unknown() => ended.findings.extend(found.findings),
            _ => {
                let last = ended.filter(|ended| !ended.is_general);
                found
                    .findings
                    .extend(last.map(|ended| format!("the last call: {}", ended.reason)));
                ended = Some(found);
            }
        }
    }
    report.ended = ended.as_ref().map(|ended| ended.reason.clone());
    report.dropped.extend(ended);
    report.dropped.extend(culprit::child(finished));
}

/// Returns the best kind of usable device in a report: hardware, only software, or nothing.
pub(super) fn verdict(report: &Report) -> Verdict {
    let usable = || report.devices.iter().filter(|device| device.is_usable);
    match usable().next() {
        None => Verdict::Nothing,
        Some(_) if usable().all(Device::is_software) => Verdict::SoftwareOnly,
        Some(_) => Verdict::Hardware,
    }
}

/// Returns a finding for each driver without a device, except drivers that the library dropped. The library drops such a driver only if
/// another driver has a device.
fn idle(decided: &Decided, dropped: &[Dropped]) -> Vec<Dropped> {
    let row = Code::DriverNoDevices.row();
    let is_known = |driver: &&String| {
        dropped
            .iter()
            .any(|dropped| dropped.code == row.name && dropped.name == **driver)
    };
    let new = decided.idle.iter().filter(|driver| !is_known(driver));
    new.map(|driver| Dropped {
        subject: "driver".into(),
        code: row.name.into(),
        name: driver.clone(),
        file: None,
        source: None,
        named_by: None,
        reason: row.meaning.into(),
        findings: Facts::new(),
        advice: row.remedy.into(),
        set: None,
        variable: None,
        absent: None,
        is_general: false,
        names_file: false,
        rank: rank::of(Some(Code::DriverNoDevices)),
    })
    .collect()
}

/// Returns the findings about devices that a layer hid or moved, and about devices that are unusable.
fn of_devices(report: &Report) -> Vec<Dropped> {
    let mut found = Vec::new();
    let hidden = report.hidden.iter().filter(|hidden| hidden.by_what == "layer");
    found.extend(hidden.map(|hidden| layers::hides(hidden, &report.devices, &report.variables)));
    let mut movers: Vec<&str> = report
        .devices
        .iter()
        .filter_map(|device| device.moved_by.as_deref())
        .collect();
    movers.dedup();
    let is_old = report.is_for_first_version();
    let moves = |layer| layers::moves(layer, &report.devices, &report.variables, is_old);
    found.extend(movers.into_iter().map(moves));
    for device in &report.devices {
        if let Some(code) = device.created.filter(|&code| code != 0) {
            let others = without_driver(device, &report.devices);
            found.push(Dropped {
                file: Some(device.driver.clone()).filter(|driver| !driver.is_empty()),
                findings: [format!("vkCreateDevice returned {}", names::result(code))].into(),
                advice: format!("{}{}", for_result(code), others.unwrap_or_default()),
                ..codes::DEVICE_NOT_CREATED.about(&device.name)
            });
        }
    }
    found
}

/// Returns the end of a remedy: the variable without the driver of `device`, if another driver has a usable device.
pub(crate) fn without_driver(device: &Device, devices: &[Device]) -> Option<String> {
    let is_other = |other: &&Device| other.is_usable && other.driver != device.driver;
    devices.iter().find(is_other)?;
    let manifest = Path::new(device.manifest.as_deref()?).file_name()?.to_str()?;
    Some(format!(
        " To use only the other devices: VK_LOADER_DRIVERS_DISABLE={} PROGRAM",
        word(manifest)
    ))
}

const OUT_OF_DEVICE_MEMORY: i32 = -2;
const DEVICE_LOST: i32 = -4;

/// Returns `true` for a remedy about the state of a card, which the result of a call gave.
pub(crate) fn is_of_state(advice: &str) -> bool {
    [OUT_OF_DEVICE_MEMORY, DEVICE_LOST]
        .into_iter()
        .any(|code| for_result(code) == advice)
}

/// Returns the remedy for a device that cannot be created.
pub(crate) fn for_result(code: i32) -> &'static str {
    const OUT_OF_HOST_MEMORY: i32 = -1;
    match code {
        OUT_OF_HOST_MEMORY => "Close programs that use much memory (free -h shows what is left), and try again.",
        OUT_OF_DEVICE_MEMORY => {
            "Close programs that use the memory of the card, such as games, browsers and machine learning (nvidia-smi or nvtop lists them), and \
             try again."
        }
        DEVICE_LOST => {
            "The card no longer responds: look in dmesg for its reset or hang (ring timeout, GPU HANG, Xid), end the programs that use it, and start \
             the machine again."
        }
        _ => codes::DEVICE_NOT_CREATED.remedy,
    }
}

/// Returns `true` if two names stand for the same library. The names are equal, or both lead to one file, or one is the name of a link in
/// the folder of the other.
fn is_same(one: &str, other: &str) -> bool {
    let beside = |name: &str, path: &str| match (name.contains('/'), Path::new(path).parent()) {
        (false, Some(folder)) if path.contains('/') => Some(real(&folder.join(name)) == real(path.as_ref())),
        _ => None,
    };
    let of_links = beside(one, other).or_else(|| beside(other, one));
    one == other || of_links.unwrap_or_else(|| real(one.as_ref()) == real(other.as_ref()))
}

fn real(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.into())
}

impl Report {
    /// Adds the lines that drivers printed in `probe`, a process that imitated the program. The lines of the program itself go to its own
    /// terminal.
    pub(crate) fn take_printed(&mut self, probe: &Finished) {
        if self.verdict != Verdict::Hardware && self.printed.is_empty() {
            self.printed = calls::printed(&busiest(&probe.records));
            quote_drivers(self);
        }
    }
}

/// Adds lines that a driver printed to the findings about this driver.
fn quote_drivers(report: &mut Report) {
    for dropped in &mut report.dropped {
        let own = report.printed.iter().filter(|line| {
            let library = line.library.as_deref();
            library.is_some_and(|library| {
                is_same(library, &dropped.name) || dropped.file.as_deref().is_some_and(|file| is_same(library, file))
            })
        });
        dropped.findings.extend(own.map(|line| Fact::printed(&line.text)));
    }
}

/// Adds to each dropped driver the manifest that names this driver.
fn name_manifests(manifests: &Manifests, dropped: &mut [Dropped]) {
    for dropped in dropped.iter_mut().filter(|dropped| dropped.subject == "driver") {
        if let Some((path, source)) = manifests.all(&dropped.name).first() {
            dropped.file.get_or_insert_with(|| path.clone());
            dropped.source = Some(source.kind.clone());
            dropped.named_by = Some(source.words());
        }
    }
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

fn drivers(records: &[&Record], manifests: &Manifests) -> Vec<Driver> {
    let mut found: Vec<Driver> = Vec::new();
    for record in records {
        if let Event::Driver(driver) = &record.event
            && driver.result == 0
            && found.iter().all(|known| known.library != driver.library)
        {
            found.push(Driver {
                library: driver.library.clone(),
                manifest: manifests.of_library(&driver.library, 0).map(String::from),
                api_version: Some(driver.api_version.clone()),
                interface_version: Some(driver.interface_version),
                extensions: Some(driver.extensions),
            });
        }
    }
    found
}

/// Returns the folders that the library searched for drivers.
fn searched(records: &[&Record]) -> Vec<String> {
    let folders = records.iter().filter_map(|record| match &record.event {
        Event::Searched(searched) if searched.wanted == "driver" => Some(searched.folder.clone()),
        _ => None,
    });
    folders.collect()
}

/// Returns the names of the driver manifests and drivers that the library kept.
fn kept(records: &[&Record]) -> Vec<String> {
    let names = records.iter().filter_map(|record| match &record.event {
        Event::Decision(one) if one.is_kept() && one.subject.starts_with("driver") => Some(one.name.clone()),
        _ => None,
    });
    names.collect()
}

/// Returns one finding for each manifest, library, layer or device that the library dropped.
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

fn explained(decision: &TracedDecision) -> Dropped {
    let name = decision.code.clone().unwrap_or_default();
    let code = Code::of_name(&name);
    let said = decision.text.clone().filter(|text| !text.is_empty());
    let word = |name: &str| decision.details.get(name).and_then(|word| word.as_str());
    let (reason, advice) = match (code, word("variable")) {
        (Some(Code::DeviceIdFilter), Some(variable)) => (
            format!("{variable} hides the device by its numbers."),
            format!("If this is unintended: unset {variable}"),
        ),
        (Some(Code::DeviceNotVisible), Some(variable)) => (
            format!("{variable} does not choose this device."),
            format!(
                "If this is unintended: unset {variable}, or add a word for the device; vkloader devices prints the words"
            ),
        ),
        (Some(Code::DriverManifestDisabled | Code::DriverManifestNotSelected), Some(variable)) => {
            let row = code.map(Code::row);
            let meaning = row.map_or("", |row| row.meaning);
            (meaning.into(), format!("If this is unintended: unset {variable}"))
        }
        (Some(code), _) => (code.row().meaning.into(), of_result(code, decision)),
        // The library is newer than this program, and uses a code that this program does not know. The report then contains only the
        // library's own message.
        (None, _) => (said.clone().unwrap_or_default(), String::new()),
    };
    let mut findings = Facts::new();
    if let Some(words) = word("system") {
        findings.push(Fact::of_system(words));
    }
    if let (Some(pattern), Some(variable)) = (word("pattern"), word("variable")) {
        findings.push(format!("{pattern} in {variable} matches it"));
    }
    findings.extend(result_in(decision));
    if let Some(said) = said {
        findings.push(Fact::of_log(&said));
    }
    Dropped {
        subject: subject(&decision.subject).into(),
        code: name,
        name: decision.name.clone(),
        file: Some(decision.path.clone()).filter(|path| !path.is_empty() && *path != decision.name),
        source: Some(decision.source.kind.clone()),
        named_by: Some(decision.source.words()),
        reason,
        findings,
        advice,
        set: None,
        variable: word("variable")
            .filter(|_| code.is_some_and(is_of_variable))
            .map(String::from),
        absent: None,
        is_general: false,
        names_file: false,
        rank: rank::of(code),
    }
}

/// Returns the remedy for a decision with the code `code`, by the result of the call that failed.
fn of_result(code: Code, decision: &TracedDecision) -> String {
    let result = decision.details.get("result").and_then(|result| result.as_i64());
    let is_failure = matches!(code, Code::DeviceEnumerationFailed | Code::DriverCreationFailed);
    let result = result
        .filter(|_| is_failure)
        .and_then(|result| i32::try_from(result).ok());
    let advice = result.map(for_result).filter(|advice| is_of_state(advice));
    advice.unwrap_or(code.row().remedy).into()
}

/// Returns words about the result of the call that made the library drop an object.
fn result_in(decision: &TracedDecision) -> Option<String> {
    let result = decision.details.get("result")?.as_i64()?;
    let result = names::result(i32::try_from(result).unwrap_or_default());
    let function = decision.details.get("function").and_then(|function| function.as_str());
    Some(match function {
        Some(function) => format!("{function} returned {result}"),
        None => format!("the result: {result}"),
    })
}

/// Returns `true` if a variable can drop an object with this code, so that the remedy is to unset the variable.
fn is_of_variable(code: Code) -> bool {
    matches!(
        code,
        Code::DeviceIdFilter
            | Code::DeviceNotVisible
            | Code::DriverManifestDisabled
            | Code::DriverManifestNotSelected
            | Code::LayerDisabled
    )
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

/// Returns the libraries that took at least [`SLOW`] to open or to answer.
fn slow(records: &[&Record]) -> Vec<Slow> {
    let mut sums: BTreeMap<(String, &'static str), u64> = BTreeMap::new();
    for record in records {
        let Event::End(step) = &record.event else { continue };
        if let (Some(library), Some(time)) = (step.runs(), step.nanoseconds) {
            let doing = if step.step == "open" { "open" } else { "call" };
            let sum = sums.entry((library.into(), doing)).or_default();
            *sum = sum.saturating_add(time);
        }
    }
    let mut found: Vec<Slow> = sums
        .into_iter()
        .filter(|&(_, time)| time > SLOW)
        .map(|((library, doing), time)| Slow {
            library,
            doing,
            milliseconds: time as f64 / 1e6,
        })
        .collect();
    found.sort_by(|one, other| other.milliseconds.total_cmp(&one.milliseconds));
    found
}
