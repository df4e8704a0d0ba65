//! Findings about failures of the loader that programs use.

use super::layers::{WITHOUT, without};
use super::other::NAME;
use super::{Dropped, OtherLoader, Report, add_switch, codes, leave_out, rank};
use crate::child::Ending;
use crate::events::Record;
use crate::names;
use crate::other::{Culprits, Other, Refused};
use crate::probe::Seen;

/// Adds findings if programs fail with their loader. `own` has the results with the examined library.
pub(super) fn add(report: &mut Report, own: &Seen, other: &Other, described: &OtherLoader) {
    let path = described.path.as_deref().unwrap_or(NAME);
    if let Some(found) = at_opening(other, described).filter(|_| report.ended.is_none()) {
        report.dropped.push(found);
        return;
    }
    let Some(how) = how(other, own) else { return };
    if let Some(culprits) = &other.culprits {
        blame_layers(report, culprits, (path, &how));
        return;
    }
    if !other.refused.is_empty() {
        report
            .dropped
            .extend(other.refused.iter().map(|one| refused(one, path)));
        return;
    }
    // If the process also fails with the examined library, the cause is the same. The report names the cause only once.
    if report.ended.is_some() {
        return;
    }
    let works_here = own.instance == Some(0);
    let mut found = Dropped {
        findings: [how].into(),
        file: described.owner.clone(),
        ..codes::LOADER_FAILED.about(path)
    };
    if !works_here {
        found.reason = "The Vulkan loader that programs get ends them, but another one returns an error.".into();
        found.advice = "See the other findings; an update of that loader may help too.".into();
        found.rank = rank::CONSEQUENCE;
    } else if other.seen.instance == Some(OUT_OF_HOST_MEMORY) && blame_files(report, path) {
        found.rank = rank::CONSEQUENCE;
    }
    report.dropped.push(found);
}

/// Blames layers without which the loader `path` of programs does not crash. `how` describes the crash. If such a layer also hides devices under the
/// examined library, the finding about that gets the crash as another fact.
fn blame_layers(report: &mut Report, culprits: &Culprits, (path, how): (&str, &str)) {
    let names = culprits.names.join(",");
    let fact = format!("with the layer, the loader that programs get, {path}, crashes: {how}");
    let hidden = report.hidden.iter().filter(|one| one.by == names);
    let hidden: Vec<String> = hidden.map(|one| one.name.clone()).collect();
    let hides = |one: &&mut Dropped| one.code == codes::DEVICE_HIDDEN_BY_LAYER.name && hidden.contains(&one.name);
    let mut is_known = false;
    for one in report.dropped.iter_mut().filter(hides) {
        one.findings.push(fact.clone());
        is_known = true;
    }
    // A layer that crashes the process under each loader has a finding already.
    if is_known || report.ended.is_some() {
        return;
    }
    let mut found = Dropped {
        reason: format!(
            "The Vulkan loader that programs get crashes with {}, but not without it.",
            culprits.names.join(" and ")
        ),
        findings: [how.to_owned(), format!("that loader: {path}")].into(),
        advice: without(&names, &report.variables),
        set: Some((WITHOUT.into(), names.clone())),
        rank: codes::LOADER_FAILED.rank(),
        ..codes::LAYER_CALL_FAILED.about(&names)
    };
    if !culprits.usable.is_empty() {
        let usable = culprits.usable.join(", ");
        found
            .findings
            .push(format!("without the layer, a program can use {usable}"));
    }
    if let Some(own) = report.layers.iter().find(|own| own.name == names) {
        add_switch(&mut found, own, &report.variables);
    }
    report.dropped.push(found);
}

/// Returns the finding that the loader of programs ends each process that opens it. `described` is that loader.
pub(super) fn at_opening(other: &Other, described: &OtherLoader) -> Option<Dropped> {
    let Ending::Signal(signal) = other.finished.ending else {
        return None;
    };
    let is_before = other.seen.library.is_none() && other.seen.not_opened.is_none();
    is_before.then(|| Dropped {
        reason: "The Vulkan loader that programs get ends each process that opens it.".into(),
        findings: [format!("{} ended a process that opened it", names::signal(signal))].into(),
        file: described.owner.clone(),
        ..codes::LOADER_FAILED.about(described.path.as_deref().unwrap_or(NAME))
    })
}

impl Report {
    /// Removes the findings that a manifest crashes the loader of programs, if the process with the examined library also crashed. Both
    /// crashes have the same cause, which the finding about the process names.
    pub(crate) fn forget_refusals(&mut self) {
        let is_crash =
            |one: &Dropped| [codes::PROGRAM_CRASHED.name, codes::PROGRAM_EXITED.name].contains(&one.code.as_str());
        if self.dropped.iter().any(is_crash) {
            self.dropped
                .retain(|dropped| dropped.code != codes::LOADER_REFUSES_MANIFEST.name);
        }
    }
}

/// Result with which older loaders report a file that is not valid JSON.
const OUT_OF_HOST_MEMORY: i32 = -1;

/// Makes files that are not valid JSON the first causes, because the loader that programs use fails if it reads such a file. Returns
/// `false` if the report has no such file.
fn blame_files(report: &mut Report, loader: &str) -> bool {
    let mut is_any = false;
    for dropped in report.dropped.iter_mut().filter(|one| one.code == "file.invalid-json") {
        dropped.rank = codes::LOADER_FAILED.rank();
        dropped.findings.push(format!(
            "{loader} gives up on such a file: vkCreateInstance returned {}",
            names::result(OUT_OF_HOST_MEMORY)
        ));
        is_any = true;
    }
    is_any
}

/// Makes drivers that fail to list their devices the first causes if the loader that programs use then lists no device at all. Older loaders
/// do so. `seen` has the results with the examined library, and with the loader that programs use. Returns `false` if no driver is to blame.
pub(super) fn blame_drivers(
    report: &mut Report,
    records: &[Record],
    (own, other): (&Seen, &Seen),
    loader: &str,
) -> bool {
    let Some(code) = other.enumeration.filter(|&code| code < 0 && own.enumeration == Some(0)) else {
        return false;
    };
    let records: Vec<&Record> = records.iter().collect();
    let mut is_any = false;
    for dropped in report.dropped.iter_mut().filter(|one| one.code == FAILED_TO_LIST) {
        let library = dropped.file.clone().unwrap_or_else(|| dropped.name.clone());
        leave_out(dropped, &library, &records);
        dropped.findings.insert(
            0,
            format!(
                "{loader} lists no device of any driver then: vkEnumeratePhysicalDevices returned {}",
                names::result(code)
            ),
        );
        dropped.advice = format!("{TO_UPDATE} {}", dropped.advice);
        dropped.names_file = true;
        dropped.rank = codes::LOADER_FAILED.rank();
        is_any = true;
    }
    is_any
}

/// Remedy for a loader that lists no device if one driver fails.
pub(crate) const TO_UPDATE: &str = "Update that loader.";

/// Code of findings about drivers that failed to list their devices.
const FAILED_TO_LIST: &str = "device.enumeration-failed";

fn refused(refused: &Refused, loader: &str) -> Dropped {
    let mut found = codes::LOADER_REFUSES_MANIFEST.about(&refused.manifest);
    found.findings = [refused.how.clone(), format!("that loader: {loader}")].into();
    if let Some(variable) = &refused.variable {
        found.advice = format!("{}, or: unset {variable}", found.advice.trim_end_matches('.'));
        found.variable = Some(variable.clone());
    }
    found
}

/// Returns a description of the failure of programs with their loader. Returns `None` if programs do not fail, or if the examined library
/// also reports an error.
fn how(other: &Other, own: &Seen) -> Option<String> {
    let seen = &other.seen;
    let step = match (seen.instance, seen.enumeration) {
        (None, _) => "before it had an instance",
        (Some(_), None) => "while it listed devices",
        (Some(_), Some(_)) => "while it created devices",
    };
    match other.finished.ending {
        Ending::Signal(signal) => Some(format!("{} ended the process {step}", names::signal(signal))),
        Ending::TooLong(limit) => Some(format!(
            "the process did not end within {} s; time ran out {step}",
            limit.as_secs_f64()
        )),
        Ending::Status(status) if status != 0 => Some(format!(
            "the process ended itself with {} {step}",
            names::status(status)
        )),
        Ending::Status(_) if seen.instance.is_none() && seen.not_opened.is_none() => {
            Some(format!("the process ended itself {step}"))
        }
        Ending::Status(_) => {
            let code = seen.instance.filter(|&code| code < 0 && own.instance == Some(0))?;
            Some(format!("vkCreateInstance returned {}", names::result(code)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Hidden;

    #[test]
    fn a_driver_that_fails_is_blamed_if_the_loader_of_programs_then_fails() {
        let seen = |enumeration| Seen {
            enumeration: Some(enumeration),
            ..Seen::default()
        };
        for (own, other, is_blamed) in [(0, -3, true), (0, 0, false), (-3, -3, false)] {
            let mut failing = codes::DEVICE_NOT_CREATED.about("/lib/a.so");
            failing.code = FAILED_TO_LIST.into();
            let mut report = Report {
                dropped: vec![failing],
                ..Report::default()
            };
            let found = blame_drivers(&mut report, &[], (&seen(own), &seen(other)), "/lib/l.so");
            let first = &report.dropped[0];
            let is_first = first.rank == codes::LOADER_FAILED.rank();
            assert_eq!((found, is_first), (is_blamed, is_blamed), "{own} {other}");
            assert_eq!(
                first.findings.first().is_some_and(|one| one.contains("/lib/l.so")),
                is_blamed
            );
        }
    }

    #[test]
    fn a_layer_that_hides_devices_gets_its_crash_as_a_fact() {
        for (by, expected) in [("VK_LAYER_a", 1), ("VK_LAYER_b", 2)] {
            let mut report = Report {
                dropped: vec![codes::DEVICE_HIDDEN_BY_LAYER.about("card")],
                hidden: vec![Hidden {
                    name: "card".into(),
                    by: by.into(),
                    ..Hidden::default()
                }],
                ..Report::default()
            };
            let culprits = Culprits {
                names: vec!["VK_LAYER_a".into()],
                usable: vec!["card".into()],
            };
            blame_layers(&mut report, &culprits, ("/lib/l.so", "it crashed"));
            assert_eq!(report.dropped.len(), expected, "{by}");
            let facts = report.dropped[expected - 1].findings.joined("; ");
            assert!(facts.contains("it crashed"), "{facts}");
        }
    }

    #[test]
    fn a_manifest_is_not_blamed_for_a_crash_under_each_loader() {
        for (row, left) in [(codes::PROGRAM_CRASHED, 1), (codes::PROGRAM_FAILED, 2)] {
            let mut report = Report {
                dropped: vec![row.about("a layer"), codes::LOADER_REFUSES_MANIFEST.about("/a.json")],
                ..Report::default()
            };
            report.forget_refusals();
            assert_eq!(report.dropped.len(), left, "{}", row.name);
        }
    }
}
