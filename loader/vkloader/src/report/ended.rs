//! How a process ended, and within which call.

use super::build::busiest;
use super::decided::Manifests;
use super::{Dropped, codes};
use crate::child::{Ending, Finished};
use crate::events::{Event, Record, Step};
use crate::{installed, names};
use std::collections::HashMap;

/// How a process ended, in words, where that was not by itself with success.
pub(crate) fn how_ended(finished: &Finished) -> Option<String> {
    finding(finished.ending, &busiest(&finished.records)).map(|ended| ended.reason)
}

/// What to say of a process that did not end by itself: in which library and call it was.
pub(super) fn finding(ending: Ending, records: &[&Record]) -> Option<Dropped> {
    let how = match ending {
        Ending::Status(_) => return None,
        Ending::Signal(number) => format!("ended by {}", names::signal(number)),
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
    let row = match ending {
        Ending::TooLong(_) => codes::PROGRAM_HUNG,
        _ => codes::PROGRAM_CRASHED,
    };
    let mut found = row.about(library.unwrap_or("the program"));
    found.reason = format!("The program {how} {place}.");
    if let Some(library) = library {
        found.advice = without(library, records);
    }
    Some(found)
}

/// How to do without a library in which a program ended.
fn without(library: &str, records: &[&Record]) -> String {
    let owner = installed::owner(library).map(|owner| format!(" ({owner})"));
    let update = format!("Update or remove what brings {library}{}", owner.unwrap_or_default());
    let manifests = Manifests::of(records);
    let manifests = manifests.all(library);
    if manifests.is_empty() {
        return format!(
            "{update}; until then, VK_LOADER_LAYERS_DISABLE=~implicit~ PROGRAM starts a program without implicit layers"
        );
    }
    let files: Vec<&str> = manifests
        .iter()
        .map(|(path, _)| path.rsplit('/').next().unwrap_or(path))
        .collect();
    format!(
        "{update}; until then, start programs without it: VK_LOADER_DRIVERS_DISABLE={} PROGRAM",
        files.join(",")
    )
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
