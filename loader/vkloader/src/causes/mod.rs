//! Causes that no loader can know: libraries that are missing, hardware that cannot be reached, files that win without a word.

pub(crate) mod elf;
mod hardware;
mod linker;
mod overriding;
mod packages;

pub(crate) use linker::worth_watching;

use crate::child::Finished;
use crate::events::{Event, Record};
use crate::report::Report;
use std::path::Path;

/// Adds to a report what can be found out beside the trace. `watched` is a second run in which the dynamic linker told what it looked
/// for, if there was one.
pub(crate) fn find(report: &mut Report, finished: &Finished, watched: Option<&Finished>) {
    let records: Vec<&Record> = finished.records.iter().collect();
    let loader = report.loader.as_ref().and_then(|loader| loader.path.as_deref());
    for dropped in &mut report.dropped {
        elf::explain(dropped, loader.map(Path::new));
        if let Some(watched) = watched {
            linker::explain(dropped, &watched.linker);
        }
    }
    overriding::find(report, &records);
    hardware::find(report);
    report.dropped.sort_by_key(|dropped| dropped.rank);
}

/// The variables that count in the process.
fn variables<'a>(records: &'a [&Record]) -> impl Iterator<Item = (&'a str, &'a str)> {
    records
        .iter()
        .flat_map(|record| match &record.event {
            Event::Loaded(loaded) => &loaded.variables[..],
            _ => &[],
        })
        .map(|variable| (variable.name.as_str(), variable.value.as_str()))
}
