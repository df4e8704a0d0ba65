//! Finds why a program has no instance, and layers that are too old for the program.

use super::display;
use crate::events::{Event, Record};
use crate::names;
use crate::report::{Dropped, Report, codes};

const LAYER_NOT_PRESENT: i32 = -6;
const EXTENSION_NOT_PRESENT: i32 = -7;

/// Phrases in the log about a layer that is older than the program.
const OLDER: [&str; 3] = [
    "Layer ",
    " uses API version ",
    " which is older than the application specified API version of ",
];

/// Adds the reason why there is no instance. `of_program` is `true` for the user's program and `false` for the probe, which requests the newest
/// version.
pub(super) fn find(report: &mut Report, records: &[&Record], of_program: bool) {
    let mut found = Vec::new();
    if report.loader.is_some() && report.ended.is_none() || of_program {
        found.extend(refused(report, records));
    }
    if of_program {
        found.extend(records.iter().filter_map(|record| older(record)));
    }
    for one in found {
        if !report
            .dropped
            .iter()
            .any(|known| (&known.code, &known.name) == (&one.code, &one.name))
        {
            report.dropped.push(one);
        }
    }
    if of_program {
        report.dropped.extend(display::missing(report, records));
        report.dropped.extend(failed_call(report));
    }
}

/// Returns a finding about the failed calls of a program that ended with a failure.
fn failed_call(report: &Report) -> Option<Dropped> {
    let has_failed = report
        .dropped
        .iter()
        .any(|dropped| dropped.code == codes::PROGRAM_FAILED.name);
    let own = report.failed.iter().filter(|call| call.library.is_none());
    let mut calls = own.filter(|call| call.name != "vkCreateInstance").peekable();
    let first = calls.peek().filter(|_| has_failed && report.is_usable())?;
    let mut found = codes::PROGRAM_CALL_FAILED.about(&first.name);
    found.findings = calls
        .map(|call| format!("{} gave {}", call.name, call.result))
        .collect();
    let errors = report.errors.iter().map(|error| format!("the log says: {error}"));
    found.findings.extend(errors);
    Some(found)
}

/// Returns a finding if the creation of the last instance failed.
fn refused(report: &Report, records: &[&Record]) -> Option<Dropped> {
    let is_known = |code: &codes::Row| report.dropped.iter().any(|dropped| dropped.code == code.name);
    if is_known(codes::LAYER_CALL_FAILED) {
        return None;
    }
    let mut results = records.iter().filter_map(|record| match &record.event {
        Event::Begin(step) if step.step == "call" && step.name == "vkCreateInstance" => Some(None),
        Event::End(step) if step.step == "call" && step.name == "vkCreateInstance" => Some(step.failure()),
        _ => None,
    });
    let Some(last) = results.next_back() else {
        return Some(codes::PROGRAM_NO_INSTANCE.about("the program"));
    };
    let code = last?;
    let row = match code {
        LAYER_NOT_PRESENT => codes::INSTANCE_LAYER_MISSING,
        EXTENSION_NOT_PRESENT => codes::INSTANCE_EXTENSION_MISSING,
        _ => codes::INSTANCE_FAILED,
    };
    let mut found = row.about("vkCreateInstance");
    found.findings = vec![format!("the result: {}", names::result(code))];
    found
        .findings
        .extend(report.errors.iter().map(|error| format!("the log says: {error}")));
    Some(found)
}

/// Returns a finding if the message is about a layer that is older than the program.
fn older(record: &Record) -> Option<Dropped> {
    let Event::Message(message) = &record.event else {
        return None;
    };
    let (layer, versions) = message.text.strip_prefix(OLDER[0])?.split_once(OLDER[1])?;
    let (own, wanted) = versions.split_once(OLDER[2])?;
    let wanted = wanted.split(". ").next().unwrap_or(wanted);
    let mut found = codes::LAYER_OLDER.about(layer);
    found.findings = vec![format!("it is for Vulkan {own}, and the program asks for {wanted}")];
    found.advice =
        format!("Update the layer, or start the program without it: VK_LOADER_LAYERS_DISABLE={layer} PROGRAM");
    Some(found)
}
