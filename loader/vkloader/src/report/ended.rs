//! Describes how a process ended, and the call in which it ended.

use super::culprit::{Switch, driver_switch, driver_variable, layer_switch};
use super::decided::busiest;
use super::{Dropped, Ended, Fact, Kind, codes, layers, rank, sent};
use crate::child::{Ending, Finished};
use crate::events::{Event, Record, Step};
use crate::shell::word;
use crate::{installed, names};
use std::collections::HashMap;

impl From<Ending> for Ended {
    fn from(ending: Ending) -> Self {
        let (by, number) = match ending {
            Ending::Status(status) => ("status", Some(status)),
            Ending::Signal(signal) => ("signal", Some(signal)),
            Ending::TooLong(_) => ("too-long", None),
        };
        Self { by, number }
    }
}

/// Returns a sentence about the end of a process; `None` if the process ended successfully.
pub(crate) fn how_ended(finished: &Finished) -> Option<String> {
    finding(finished.ending, &busiest(&finished.records)).map(|ended| ended.reason)
}

/// Returns the finding about a process that did not end successfully. The finding names the library and the call in which the process
/// ended.
pub(super) fn finding(ending: Ending, records: &[&Record]) -> Option<Dropped> {
    let open = unfinished(records);
    let within = open
        .iter()
        .rev()
        .find(|step| step.runs().is_some())
        .or(open.last())
        .copied();
    let (row, how) = match ending {
        Ending::Status(status) if within.is_some() => {
            (codes::PROGRAM_EXITED, format!("exited with {}", names::status(status)))
        }
        Ending::Status(0) => return None,
        Ending::Status(status) => {
            let mut found = codes::PROGRAM_FAILED.about_any("the program");
            found.reason = format!("The program ended with {}.", names::status(status));
            found.advice = sent::of_status(status).map_or(found.advice, String::from);
            return Some(found);
        }
        Ending::Signal(libc::SIGKILL) => return Some(killed(within, records)),
        Ending::Signal(number) if sent::remedy(number).is_some() => {
            if let Some(found) = sent::finding(number, records) {
                return Some(found);
            }
            (codes::PROGRAM_ENDED, format!("was ended by {}", names::signal(number)))
        }
        Ending::Signal(number) => (
            codes::PROGRAM_CRASHED,
            format!("was ended by {}", names::signal(number)),
        ),
        Ending::TooLong(limit) => (
            codes::PROGRAM_HUNG,
            format!("did not end within {} s", limit.as_secs_f64()),
        ),
    };
    let library = within.and_then(|step| step.runs());
    let mut found = library.map_or_else(|| row.about_any("the program"), |library| row.about(library));
    found.reason = format!("The program {how} {}.", place(within));
    if within.is_some() {
        // Users end a program that hangs, so the call explains more than the signal.
        found.rank = rank::FIRST;
    }
    if found.code == codes::PROGRAM_ENDED.name {
        found.reason = format!("The program {how} {}, which had not returned.", place(within));
    }
    match library {
        Some(library) => leave_out(&mut found, library, records),
        None if within.is_some() => suspect_layers(&mut found, records),
        None => {}
    }
    if let Ending::Signal(number) = ending
        && let Some(first) = sent::remedy(number).filter(|_| !sent::is_request(number) || number == libc::SIGPIPE)
    {
        found.advice = format!("{first} If that does not help: {}", found.advice);
    }
    Some(found)
}

/// Returns the finding about a process that SIGKILL ended within the step `within`.
fn killed(within: Option<&Step>, records: &[&Record]) -> Dropped {
    let mut found = codes::PROGRAM_KILLED.about_any("the program");
    if let Some(step) = within {
        found.findings.push(format!("it was ended {}", place(within)));
        let through = through(records).filter(|_| step.runs().is_none());
        found.findings.extend(through.map(|(_, fact)| fact));
    }
    found
}

/// Adds the layers that a call went through, because each of them may be the reason why the call did not return.
fn suspect_layers(found: &mut Dropped, records: &[&Record]) {
    if let Some((pattern, fact)) = through(records) {
        found.advice = format!(
            "To see whether a layer is at fault: VK_LOADER_LAYERS_DISABLE={} PROGRAM",
            word(&pattern)
        );
        found.findings.push(fact);
    }
}

/// Returns the pattern that disables the active layers, and a fact that lists them. Returns `None` if no layer is active.
fn through(records: &[&Record]) -> Option<(String, Fact)> {
    let layers: Vec<String> = layers::active(records).into_iter().map(|layer| layer.name).collect();
    let pattern = layers.join(",");
    let words = format!("the call went through these layers: {}", layers.join(", "));
    (!layers.is_empty()).then(|| (pattern, Fact::new(Kind::Through(layers), words)))
}

/// Returns a description of the library and the call in which the process ended.
fn place(within: Option<&Step>) -> String {
    let Some(step) = within else {
        return "outside the loader".into();
    };
    match step.runs() {
        Some(library) if step.step == "open" => format!("while {library} was opened"),
        Some(library) => format!("in {} of {library}", step.name),
        None if step.step == "chain" => format!("in {} of a layer or driver", step.name),
        None => format!("in {}", step.name),
    }
}

/// Adds a remedy that disables the library in which a program ended.
pub(crate) fn leave_out(found: &mut Dropped, library: &str, records: &[&Record]) {
    let of_layer = || {
        let (name, switch) = layer_switch(library, records)?;
        let words = format!("it is the library of the layer {name}");
        found.findings.push(Fact::new(Kind::Layer(name), words));
        Some(switch)
    };
    let switch = driver_switch(library, records).or_else(of_layer).unwrap_or(Switch {
        variable: "VK_LOADER_LAYERS_DISABLE".into(),
        value: "~implicit~".into(),
    });
    found.advice = without(library, &switch.variable, &switch.value);
    if let Some(variable) = driver_variable(library, records)
        && let Some(advice) = lead_away(&found.advice, library, variable)
    {
        found.advice = advice;
        found.variable = Some(variable.into());
    }
    found.set = Some((switch.variable, switch.value));
}

/// Returns the remedy `advice` for a driver with the variable of the process that leads to the driver. Returns `None` if the driver belongs to
/// a package.
pub(super) fn lead_away(advice: &str, library: &str, variable: &str) -> Option<String> {
    let update = to_update(library, None);
    let rest = advice.strip_prefix(&update)?;
    Some(format!("{update}{OR_STOP}unset {variable}{rest}"))
}

/// Returns the remedy that updates a faulty library, which belongs to the package `owner`.
fn to_update(library: &str, owner: Option<String>) -> String {
    match owner {
        Some(owner) => format!("Update or remove the package that contains {library} ({owner})"),
        None => format!("Update, rebuild or remove {library}"),
    }
}

/// Returns the remedy for a faulty library that no variable disables.
pub(super) fn update(library: &str) -> String {
    to_update(library, installed::owner(library)) + "."
}

/// Returns the remedy for a faulty library: an update, and until then a variable that disables the library.
pub(super) fn without(library: &str, variable: &str, value: &str) -> String {
    let update = to_update(library, installed::owner(library));
    format!("{update}; {UNTIL_THEN}{variable}={} PROGRAM", word(value))
}

/// Returns the remedy for a library that was built with a sanitizer, whose runtime programs must open first.
pub(crate) fn with_runtime(runtime: &str) -> String {
    format!(
        "Start programs with the runtime of the sanitizer: LD_PRELOAD={} PROGRAM; or build the library without it.",
        word(runtime)
    )
}

/// Beginning of the part of a remedy that leads away from the variable that names a faulty library.
pub(crate) const OR_STOP: &str = ", or stop using it: ";
/// Beginning of the part of a remedy that starts programs without a faulty library.
pub(crate) const UNTIL_THEN: &str = "until then, start programs without it: ";

/// Returns `true` if the process ended while a library was being opened. Only the trace names that library, because the stack only shows
/// the dynamic linker.
pub(crate) fn is_opening(records: &[Record]) -> bool {
    let records: Vec<&Record> = records.iter().collect();
    unfinished(&records)
        .last()
        .is_some_and(|step| step.step == "open" && step.runs().is_some())
}

/// Returns `true` if the process ended outside of all steps of the trace.
pub(super) fn is_outside(records: &[&Record]) -> bool {
    unfinished(records).is_empty()
}

/// Returns the library of a driver or layer that was running when the process ended.
pub(super) fn running<'a>(records: &[&'a Record]) -> Option<&'a str> {
    unfinished(records).last().and_then(|step| step.runs())
}

/// Returns the steps without an end, outermost first, for the thread with the most steps without an end.
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
