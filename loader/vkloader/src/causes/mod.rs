//! Finds causes that a loader cannot detect: missing libraries, unreachable hardware, and files that override others without a message.

mod display;
pub(crate) mod elf;
mod hardware;
mod instance;
mod limits;
mod linker;
mod manifest;
mod mesa;
mod multiarch;
mod origin;
mod overriding;
mod packages;
mod printed;
mod spelling;
mod unsearched;
pub(crate) mod words;

pub(crate) use linker::worth_watching;
pub(crate) use manifest::is_odd as is_odd_manifest;

use crate::child::Finished;
use crate::events::{Event, Record};
use crate::report::{Report, codes, rank};
use crate::variables::Variables;
use std::path::Path;

/// Adds causes to a report that are not in the trace. `watched` is a second run with the dynamic linker's log, if there was one.
/// `of_program` is `true` for the user's program, and `false` for the probe.
pub(crate) fn find(report: &mut Report, finished: &Finished, watched: Option<&Finished>, of_program: bool) {
    let records: Vec<&Record> = finished.records.iter().collect();
    let loader = report.loader.as_ref().and_then(|loader| loader.path.as_deref());
    let program = report.loader.as_ref().and_then(|loader| loader.executable.as_deref());
    for dropped in &mut report.dropped {
        elf::explain(dropped, loader.map(Path::new), program.map(Path::new));
        manifest::explain(dropped);
        if dropped.code == codes::PROGRAM_CRASHED.name && Path::new(&dropped.name).is_file() {
            let library = dropped.name.clone();
            elf::damaged(dropped, Path::new(&library));
        }
        if let Some(watched) = watched {
            linker::explain(dropped, &watched.linker);
        }
    }
    layers_without_library(report, &records);
    already_used(report);
    multiarch::forget(report);
    let is_replaced = variables(&records).any(|(name, _)| overriding::REPLACING.contains(&name));
    hardware::find(report, is_replaced);
    if report.loader.is_some() {
        overriding::find(report, &records);
        words::find(report, &records);
        let mesas = mesa::find(report, |name| std::env::var(name).ok());
        report.dropped.extend(mesas);
        instance::find(report, &records, of_program);
        origins(report, finished, &records);
    }
    for dropped in &mut report.dropped {
        limits::explain(dropped);
        printed::explain(dropped);
    }
    report.dropped.sort_by_key(|dropped| dropped.rank);
}

/// Adds the paths of the manifests to findings about layers whose libraries are missing. These findings only contain the libraries.
fn layers_without_library(report: &mut Report, records: &[&Record]) {
    for dropped in report
        .dropped
        .iter_mut()
        .filter(|dropped| dropped.advice == elf::NO_LIBRARY)
    {
        let manifest = records.iter().find_map(|record| match &record.event {
            Event::Decision(decision) if decision.subject == "layer" && decision.name == dropped.name => {
                Some(decision.path.as_str()).filter(|path| path.ends_with(".json"))
            }
            _ => None,
        });
        if let Some(manifest) = manifest {
            dropped.findings.push(format!("its manifest: {manifest}"));
            dropped.advice = elf::without_library(manifest, dropped.file.as_deref().unwrap_or(&dropped.name));
        }
    }
}

/// Recommends removing a manifest whose library is missing, if a driver with a library of the same name is already in use.
fn already_used(report: &mut Report) {
    let file = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let used: Vec<String> = report.drivers.iter().map(|driver| file(&driver.library)).collect();
    for dropped in report
        .dropped
        .iter_mut()
        .filter(|one| one.advice.starts_with(elf::ELSEWHERE))
    {
        if let Some(manifest) = dropped.file.as_deref().filter(|_| used.contains(&file(&dropped.name))) {
            dropped.advice = elf::without_library(manifest, &dropped.name);
        }
    }
}

/// Adds the origins of the variables that the findings mention.
fn origins(report: &mut Report, finished: &Finished, records: &[&Record]) {
    let own = Variables::of(&finished.records);
    for (name, _) in variables(records) {
        let mut origin = None;
        for dropped in &mut report.dropped {
            let is_about = dropped.name == name || dropped.advice.ends_with(&format!("unset {name}"));
            if is_about && dropped.rank < rank::ASIDE {
                if own.has(name) {
                    dropped.findings.push(format!(
                        "{name}: set by the program or a script that starts it, not by the shell of vkloader"
                    ));
                    dropped.advice = dropped.advice.replace(
                        &format!("unset {name}"),
                        &format!("remove {name} from the script or command that starts the program"),
                    );
                    continue;
                }
                let origin = origin.get_or_insert_with(|| origin::of(name));
                dropped
                    .findings
                    .extend(origin.iter().map(|words| format!("{name}: {words}")));
            }
        }
    }
}

/// Returns the variables of the process, with their values.
fn variables<'a>(records: &'a [&Record]) -> impl Iterator<Item = (&'a str, &'a str)> {
    records
        .iter()
        .flat_map(|record| match &record.event {
            Event::Loaded(loaded) => &loaded.variables[..],
            _ => &[],
        })
        .map(|variable| (variable.name.as_str(), variable.value.as_str()))
}
