//! Handles remedies that set a variable: adapts them to the loader that programs use, and tests them.

use crate::beside::Beside;
use crate::causes;
use crate::child::{self, Ending};
use crate::commands::Library;
use crate::events::{Event, Record};
use crate::explain::{KEPT, of_probe, tell_of_tries};
use crate::filters;
use crate::library_folder;
use crate::manifests;
use crate::names;
use crate::other::Other;
use crate::paths::file_name;
use crate::probe::{self, Seen};
use crate::report::{self, Dropped, ONLY_DRIVERS, Report, WITHOUT_LAYERS, rank};
use crate::shell;
use crate::variables::Variables;
use std::io;
use std::path::Path;
use std::process::Command;
use std::slice;

/// Variable that disables drivers. Loaders before 1.3.234 support neither this variable nor the variable that disables layers.
const WITHOUT_DRIVERS: &str = "VK_LOADER_DRIVERS_DISABLE";

/// Variables that enable layers. The first of them takes precedence over the variable that disables layers.
const ENABLING: [&str; 2] = [filters::ENABLING, "VK_INSTANCE_LAYERS"];

/// Code of the finding about a driver whose library does not open.
const UNOPENED: &str = "driver.not-opened";
/// Variables with which the dynamic linker may refuse a library that it otherwise opens.
const OF_LINKER: [&str; 4] = ["LD_BIND_NOW", "LD_AUDIT", "GLIBC_TUNABLES", "LD_DYNAMIC_WEAK"];

/// Upper bound on the number of drivers and layers that a remedy disables.
const MOST: usize = 4;

/// A variable, and the word that a remedy adds to its value.
type Set = (String, String);

/// In all remedies, replaces variables that the programs' loader does not support by variables that it supports.
pub(crate) fn for_loader(report: &mut Report, records: &[Record], other: &Other) {
    type Alternative = fn(&str, &[Record]) -> Option<Set>;
    let rows: [(&str, Alternative); 2] = [(WITHOUT_DRIVERS, other_drivers), (WITHOUT_LAYERS, own_variable)];
    for (variable, alternative) in rows.into_iter().filter(|(variable, _)| !other.knows(variable)) {
        for dropped in &mut report.dropped {
            let Some((written, value)) = value_in(&dropped.advice, variable) else {
                continue;
            };
            let found = alternative(&value, records);
            let old = format!("{variable}={written}");
            match &found {
                Some((name, value)) => {
                    let new = format!("{name}={} PROGRAM", shell::word(value));
                    let advice = dropped.advice.replace(&format!("{old} PROGRAM"), &new);
                    dropped.advice = advice.replace(&format!("{new}, or {new}"), &new);
                }
                None => without_command(dropped, &old),
            }
            if dropped.set.as_ref().is_some_and(|(name, _)| name == variable) {
                dropped.set = found;
            }
        }
    }
}

/// Returns the value of a variable in a remedy: first as the remedy contains it, then without quotes.
fn value_in(advice: &str, variable: &str) -> Option<(String, String)> {
    let (_, rest) = advice.split_once(&format!("{variable}="))?;
    let (written, value) = shell::first_word(rest);
    Some((written.into(), value))
}

/// Removes from a remedy the command that sets a variable.
fn without_command(dropped: &mut Dropped, set: &str) {
    let to_tell = split_to_tell(&mut dropped.advice);
    match dropped.advice.find(&format!("; {}{set}", report::UNTIL_THEN)) {
        Some(at) => dropped.advice.truncate(at),
        None if dropped.advice.contains(set) => dropped.advice = format!("Update or remove {}.", dropped.name),
        None => {}
    }
    add_to_tell(&mut dropped.advice, to_tell);
}

/// Removes the end of a remedy that shows whether the program is at fault, and returns it.
fn split_to_tell(advice: &mut String) -> Option<String> {
    let at = advice.find(report::TO_TELL).filter(|at| *at > 0)?;
    let end = advice.split_off(at);
    advice.truncate(advice.trim_end_matches(['.', ' ']).len());
    Some(end)
}

/// Adds the end of a remedy that was removed.
fn add_to_tell(advice: &mut String, end: Option<String>) {
    if let Some(end) = end {
        *advice = format!("{}. {end}", advice.trim_end_matches('.'));
    }
}

/// Returns the variable that names the manifests of all drivers except the manifests in `files`.
fn other_drivers(files: &str, records: &[Record]) -> Option<Set> {
    let mut paths: Vec<&str> = Vec::new();
    for record in records {
        let Event::Decision(decision) = &record.event else {
            continue;
        };
        let file = file_name(&decision.name);
        let is_other = decision.name.starts_with('/') && !files.split(',').any(|one| one == file);
        if decision.subject == "driver-manifest"
            && decision.is_kept()
            && is_other
            && !paths.contains(&decision.name.as_str())
        {
            paths.push(&decision.name);
        }
    }
    (!paths.is_empty()).then(|| (ONLY_DRIVERS.into(), paths.join(":")))
}

/// Returns the variable that disables a layer, according to the layer's manifest.
fn own_variable(layer: &str, records: &[Record]) -> Option<Set> {
    let manifest = records.iter().find_map(|record| match &record.event {
        Event::Decision(decision) if decision.subject == "layer" && decision.name == layer => Some(&decision.path),
        _ => None,
    });
    manifests::own_switch(Path::new(manifest?), layer)
}

/// End of a remedy for a layer with which no device is left.
const NO_DEVICE_LEFT: &str = "no device is left then, so this helps only a program that also works without Vulkan";
/// End of a remedy for the only driver that has a device.
const NO_OTHER_DRIVER: &str =
    "no other driver has a device here, so leaving this one out helps only a program that also works without Vulkan";

impl Library {
    /// Runs the probe with the first remedy that sets a variable, and adds the result to the report. If another driver or layer then
    /// crashes the probe, also disables that one. If the remedy has no effect, replaces it. If nothing replaces it and the user
    /// named no program, removes it.
    ///
    /// # Errors
    /// The probe cannot be run.
    pub(crate) fn try_remedy(&self, report: &mut Report, other: Option<&Other>, of_program: bool) -> io::Result<()> {
        self.try_without_linkers(report)?;
        let Some(first) = report.dropped.first().and_then(|first| first.set.clone()) else {
            return Ok(());
        };
        let of_programs = other.is_some_and(|other| other.seen.not_opened.is_none());
        let mut tried = Outcome::Nothing { ends: true };
        if of_programs {
            // The remedy is for programs, so it is tried first with the loader that programs use.
            tried = self.try_all(&probe::library(None), &first, &report.variables)?;
        }
        if matches!(tried, Outcome::Nothing { .. }) {
            tried = self.try_all(&self.path(), &first, &report.variables)?;
        }
        let old = joined(slice::from_ref(&first));
        match tried {
            Outcome::Usable(sets, words) => {
                let first = &mut report.dropped[0];
                if sets.len() > 1 {
                    first
                        .findings
                        .push("if only this one is left out, another driver or layer ends the program");
                    first.advice = first.advice.replace(&old, &joined(&sets));
                }
                first.findings.push(format!("this was tried: {words}"));
            }
            Outcome::Nothing { ends } => {
                let is_replaced = self.without_effect(report, &first)?;
                // A program may work without the driver that the remedy disables, even if it then gets no device.
                let is_useful = of_program && ends;
                let is_of_driver = first.0 != WITHOUT_LAYERS;
                let first = &mut report.dropped[0];
                if !is_replaced && (!is_useful || is_of_driver) {
                    without_command(first, &old);
                }
                let end = if is_of_driver { NO_OTHER_DRIVER } else { NO_DEVICE_LEFT };
                if !is_replaced && is_useful && (is_of_driver || first.advice.contains(&old)) {
                    let to_tell = split_to_tell(&mut first.advice);
                    first.advice = format!("{}; {end}", first.advice.trim_end_matches('.'));
                    add_to_tell(&mut first.advice, to_tell);
                }
            }
        }
        Ok(())
    }

    /// Runs the probe without each variable of the dynamic linker if the first cause is a library that does not open. If a device can be used then,
    /// the remedy begins with the variable.
    fn try_without_linkers(&self, report: &mut Report) -> io::Result<()> {
        let is_unopened = report.dropped.first().is_some_and(|first| first.code == UNOPENED);
        if report.is_usable() || !is_unopened {
            return Ok(());
        }
        for name in OF_LINKER {
            if report.variables.nonempty(name).is_none() {
                continue;
            }
            let tried = self.try_with(&self.path(), &[], Some(name), &report.variables)?;
            let Some(words) = tried.usable else { continue };
            let first = &mut report.dropped[0];
            first.findings.push(format!("this was tried without {name}: {words}"));
            first.advice = format!(
                "Unset {name}, with which the dynamic linker opens libraries in another way. Or: {}",
                first.advice
            );
            causes::add_origin(report, 0, name);
            return Ok(());
        }
        Ok(())
    }

    /// Replaces the remedy for a faulty driver by one without the folders of the dynamic linker's variable, if a device is usable without them. Another
    /// library of the same name is then the driver. `old` is the replaced setting.
    fn without_folders(&self, report: &mut Report, old: &str) -> io::Result<bool> {
        const NAME: &str = library_folder::VARIABLE;
        let value = report.variables.get(NAME).unwrap_or_default();
        let is_set = library_folder::without(&value).is_some_and(|value| !value.is_empty());
        if !is_set {
            return Ok(false);
        }
        let Some(words) = self.try_with(&self.path(), &[], Some(NAME), &report.variables)?.usable else {
            return Ok(false);
        };
        let first = &mut report.dropped[0];
        without_command(first, old);
        first.findings.push(format!("{NAME} is {value}"));
        first.findings.push(format!("this was tried without {NAME}: {words}"));
        first.advice = format!(
            "Start the program without {NAME}, which leads to this library: env -u {NAME} PROGRAM. Or: {}",
            names::as_clause(&first.advice)
        );
        causes::add_origin(report, 0, NAME);
        Ok(true)
    }

    /// Replaces a remedy that leaves no usable device: the first remedy then leads away from the variable that names the driver, if another driver
    /// has a device. Otherwise, the cause that remains without the culprit comes first. Returns `false` if there is neither.
    fn without_effect(&self, report: &mut Report, set: &Set) -> io::Result<bool> {
        let old = joined(slice::from_ref(set));
        let first = &mut report.dropped[0];
        first
            .findings
            .push(format!("{old} was tried, and no device can be used with it"));
        let (names, what) = if set.0 == WITHOUT_LAYERS {
            (&ENABLING[..], "layer")
        } else {
            (&causes::REPLACING[..], "driver")
        };
        for &name in names {
            if report.variables.get(name).is_none() {
                continue;
            }
            if let Some(words) = self.try_with(&self.path(), &[], Some(name), &report.variables)?.usable {
                let first = &mut report.dropped[0];
                without_command(first, &old);
                first.findings.push(format!("this was tried without {name}: {words}"));
                if !first.advice.contains(&format!(" {name}")) {
                    first.advice = format!("Stop using this {what}: unset {name}. Or: {}", first.advice);
                    causes::add_origin(report, 0, name);
                }
                return Ok(true);
            }
            // The search that the variable replaces may find the culprit too, and other drivers beside it.
            let both = self.try_with(&self.path(), slice::from_ref(set), Some(name), &report.variables)?;
            if let Some(words) = both.usable {
                with_search(&mut report.dropped[0], &old, name, &words);
                causes::add_origin(report, 0, name);
                return Ok(true);
            }
        }
        if what == "driver" && self.without_folders(report, &old)? {
            return Ok(true);
        }
        let remaining = self.remaining(report, set)?;
        let is_any = remaining.is_some();
        if let Some(cause) = remaining {
            let first = &mut report.dropped[0];
            without_command(first, &old);
            first.rank = rank::CONSEQUENCE;
            first.findings.push("this follows from the first finding, or hides it");
            report
                .dropped
                .retain(|one| (&one.code, &one.name) != (&cause.code, &cause.name));
            report.dropped.insert(0, cause);
            report.ended = None;
        }
        Ok(is_any)
    }

    /// Returns the cause that prevents the use of a device without the culprit, which `set` disables. The cause must be a setting, a variable
    /// or a layer, because hardware explains no crash.
    fn remaining(&self, report: &Report, set: &Set) -> io::Result<Option<Dropped>> {
        let mut command = Command::new(crate::itself::path()?);
        command.arg(probe::ARGUMENT).arg(self.path());
        report.variables.give_to(&mut command);
        filters::add(&mut command, &set.0, &set.1);
        let finished = child::run(command, self.limit(), KEPT)?;
        let Some(seen) = Seen::last(&finished.output) else {
            return Ok(None);
        };
        let mut rest = of_probe(self, &finished, Some(&seen))?;
        Beside::of(self, &finished, &rest).blame_layers(&seen, &mut rest)?;
        causes::find(&mut rest, &finished, None, false);
        let is_cause = |one: &Dropped| {
            one.rank < rank::HARDWARE
                && one.subject != "program"
                && !one.advice.is_empty()
                && one.variable.as_ref() != Some(&set.0)
                && one.name != set.0
        };
        let place = rest.dropped.iter().position(is_cause);
        Ok(place.map(|place| rest.dropped.swap_remove(place)))
    }

    /// Runs the probe with a loader, the variables of the program and one more variable. If another driver or layer crashes the probe, also
    /// disables that one, and runs the probe again.
    fn try_all(&self, loader: &Path, first: &Set, own: &Variables) -> io::Result<Outcome> {
        let mut sets = vec![first.clone()];
        loop {
            let tried = self.try_with(loader, &sets, None, own)?;
            if let Some(words) = tried.usable {
                return Ok(Outcome::Usable(sets, words));
            }
            match tried.next.filter(|next| sets.len() < MOST && !sets.contains(next)) {
                Some(next) => sets.push(next),
                None => return Ok(Outcome::Nothing { ends: tried.ends }),
            }
        }
    }

    /// Runs the probe with a loader, the variables of the program without `removed`, and the variables in `sets`.
    fn try_with(&self, loader: &Path, sets: &[Set], removed: Option<&str>, own: &Variables) -> io::Result<Tried> {
        tell_of_tries();
        let mut command = Command::new(crate::itself::path()?);
        command.arg(probe::ARGUMENT).arg(loader);
        own.give_to(&mut command);
        if let Some(removed) = removed {
            command.env_remove(removed);
        }
        for (name, value) in sets {
            filters::add(&mut command, name, value);
        }
        let finished = child::run(command, self.limit(), KEPT)?;
        let seen = Seen::last(&finished.output);
        let count = seen.as_ref().map_or(0, |seen| seen.usable().count());
        let report = of_probe(self, &finished, seen.as_ref())?;
        let words = if report.loader.is_some() {
            report.usable()
        } else {
            format!("{count} {} can be used.", if count == 1 { "device" } else { "devices" })
        };
        Ok(Tried {
            usable: (count > 0).then_some(words),
            next: report.dropped.into_iter().find_map(|dropped| dropped.set),
            ends: matches!(finished.ending, Ending::Status(_)),
        })
    }
}

/// Changes the remedy of a crash to one that needs two steps: `set` leaves out the culprit, and without the variable `name`, programs search for
/// other drivers. `usable` is a sentence about the devices that they then have.
fn with_search(first: &mut Dropped, set: &str, name: &str, usable: &str) {
    first
        .findings
        .push(format!("this was tried without {name}, and with {set}: {usable}"));
    let start = format!("; {}{set} PROGRAM", report::UNTIL_THEN);
    let (update, rest) = first.advice.split_once(&start).unwrap_or((&first.advice, ""));
    let update = update.split(report::OR_STOP).next().unwrap_or_default();
    first.advice = format!("{update}{start}, and: unset {name}{rest}");
}

/// Result of the probe with a set of variables.
struct Tried {
    /// A sentence about the usable devices; `None` if no device is usable.
    usable: Option<String>,
    /// The variable that disables the driver or layer that crashed the probe.
    next: Option<Set>,
    /// `true` if the probe ended by itself, and not by a crash or a time limit.
    ends: bool,
}

/// Result of all tries with a remedy.
enum Outcome {
    /// The variables with which devices are usable, and a sentence about the devices.
    Usable(Vec<Set>, String),
    /// No device is usable. The field is `true` if the probe ended by itself.
    Nothing { ends: bool },
}

/// Returns the variables in the form that a shell expects before a command. Combines words for the same variable into one value.
fn joined(sets: &[Set]) -> String {
    let mut values: Vec<(&str, String)> = Vec::new();
    for (name, value) in sets {
        match values.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = format!("{known},{value}"),
            None => values.push((name, value.clone())),
        }
    }
    let words: Vec<String> = values
        .into_iter()
        .map(|(name, value)| format!("{name}={}", shell::word(&value)))
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_one_variable_are_one_value() {
        let set = |name: &str, value: &str| (name.into(), value.into());
        let sets = [set("A", "one"), set("B", "two"), set("A", "three")];
        assert_eq!(joined(&sets), "A=one,three B=two");
    }
}
