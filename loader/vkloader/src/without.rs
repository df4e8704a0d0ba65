//! Finds out which variables cause a failure: runs the probe without them, and compares the usable devices.

use crate::causes;
use crate::child::{self, Ending, Finished};
use crate::commands::Library;
use crate::explain::{KEPT, of_probe, tell_of_tries};
use crate::probe::{self, Seen};
use crate::report::{Dropped, Kind, Report, Verdict, codes, rank};
use reasons::Code;
use std::io;
use std::process::Command;
use std::slice;
use std::time::Duration;

/// Upper bound on the number of variables that are left out.
const MOST: usize = 4;
/// Time limit for a run. A successful run takes only a fraction of this time.
const ENOUGH: Duration = Duration::from_secs(10);

/// Codes of findings about a program that did not reach its devices. The variables of such a program cannot be compared.
const ENDINGS: [&codes::Row; 4] = [
    codes::PROGRAM_CRASHED,
    codes::PROGRAM_EXITED,
    codes::PROGRAM_HUNG,
    codes::PROGRAM_KILLED,
];

/// Effect of a variable on a program that has no graphics card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Without the variable, programs have a graphics card, or at least a device on a machine without a card.
    Decides,
    /// Without the variable, programs find a driver for a card, but the card has another obstacle; or programs have a software driver.
    HidesDriver,
    /// Without the variable, programs have the same drivers for the cards.
    Nothing,
}

impl Effect {
    /// Compares a report with the report of a run without a variable.
    fn of(report: &Report, without: &Report) -> Self {
        let is_better = match without.verdict {
            Verdict::Hardware => true,
            Verdict::SoftwareOnly => report.verdict == Verdict::Nothing && report.hardware.is_empty(),
            Verdict::Nothing => false,
        };
        let drivers = |of: &Report| causes::for_cards(of, &report.hardware);
        if is_better {
            Self::Decides
        } else if without.verdict == report.verdict && drivers(without).is_subset(&drivers(report)) {
            Self::Nothing
        } else {
            Self::HidesDriver
        }
    }
}

impl Library {
    /// Runs the probe without the variables that may be the reason for a missing device. A variable that decides becomes the first cause. A
    /// variable without an effect comes after the causes that remain without it, which this function adds to the report.
    ///
    /// # Errors
    ///
    /// The probe cannot be run.
    pub(crate) fn try_variables(&self, report: &mut Report) -> io::Result<()> {
        let has_ended = |one: &Dropped| ENDINGS.iter().any(|row| row.name == one.code);
        if report.loader.is_none() || report.verdict == Verdict::Hardware || report.dropped.iter().any(has_ended) {
            return Ok(());
        }
        let names = suspects(report);
        let mut effects = Vec::new();
        for name in &names {
            let Some(effect) = self.try_one(report, name)? else {
                return Ok(());
            };
            effects.push(effect);
        }
        let with = |wanted| {
            let all = names.iter().zip(&effects);
            all.filter(move |(_, effect)| **effect == wanted).map(|(name, _)| name)
        };
        let deciding: Vec<&String> = with(Effect::Decides).collect();
        contradict(report, &deciding);
        if deciding.is_empty() && !names.is_empty() && !self.try_together(report, &names)? {
            with(Effect::Nothing).for_each(|name| excuse(report, name));
        }
        report.dropped.sort_by_key(|one| one.rank);
        Ok(())
    }

    /// Runs the probe without one variable, and returns the effect of the variable. Returns `None` if the probe crashes or hangs, after which
    /// no other variable is tried.
    fn try_one(&self, report: &mut Report, name: &String) -> io::Result<Option<Effect>> {
        let (finished, without) = self.run_without(slice::from_ref(name), report)?;
        if !matches!(finished.ending, Ending::Status(_)) {
            keeps_out(report, name);
            return Ok(None);
        }
        let effect = Effect::of(report, &without);
        if effect == Effect::Decides {
            decide(report, slice::from_ref(name), &without);
        }
        Ok(Some(effect))
    }

    /// Runs the probe without all variables in `names`, and then also without the variables that hide drivers in this run. Returns `true` if
    /// the variables decide together. Otherwise, adds the cause that remains without them.
    fn try_together(&self, report: &mut Report, names: &[String]) -> io::Result<bool> {
        let (finished, mut without) = self.run_without(names, report)?;
        if Effect::of(report, &without) == Effect::Decides {
            decide(report, names, &without);
            return Ok(true);
        }
        causes::find(&mut without, &finished, None, false);
        let more: Vec<String> = suspects(&without)
            .into_iter()
            .filter(|name| !names.contains(name) && without.dropped.iter().any(is_setting_of(slice::from_ref(name))))
            .collect();
        let all = [names, &more[..]].concat();
        if !more.is_empty() && all.len() <= MOST {
            let (_, last) = self.run_without(&all, report)?;
            if Effect::of(report, &last) == Effect::Decides {
                let hidden = without.dropped.into_iter().filter(is_setting_of(&more));
                report.dropped.extend(hidden);
                decide(report, &all, &last);
                return Ok(true);
            }
        }
        remaining(report, without);
        Ok(false)
    }

    /// Runs the probe with the program's variables, but without those in `names`.
    fn run_without(&self, names: &[String], report: &Report) -> io::Result<(Finished, Report)> {
        tell_of_tries();
        let mut command = Command::new(crate::itself::path()?);
        command.arg(probe::ARGUMENT).arg(self.path());
        report.variables.give_to(&mut command);
        for name in names {
            command.env_remove(name);
        }
        let finished = child::run(command, self.limit().min(ENOUGH), KEPT)?;
        let seen = Seen::last(&finished.output);
        let without = of_probe(self, &finished, seen.as_ref())?;
        Ok((finished, without))
    }
}

/// Returns the variables that may hide drivers or devices. Variables about layers are not among them, because runs of the probe without a
/// layer examine the layers.
fn suspects(report: &Report) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let may_hide =
        |one: &&Dropped| one.rank < rank::ASIDE && one.subject != "program" && !one.subject.starts_with("layer");
    for name in report
        .dropped
        .iter()
        .filter(may_hide)
        .filter_map(|one| one.variable.as_ref())
    {
        if !name.contains("LAYER") && !names.contains(name) && names.len() < MOST {
            names.push(name.clone());
        }
    }
    names
}

/// Returns the findings that a variable causes.
fn of_variable<'a>(report: &'a mut Report, name: &str) -> impl Iterator<Item = &'a mut Dropped> {
    let is_it = move |one: &&mut Dropped| one.rank < rank::ASIDE && one.variable.as_deref() == Some(name);
    report.dropped.iter_mut().filter(is_it)
}

/// Makes the findings about variables the first causes, because a run without the variables had a better device. A finding that does not exist
/// only because of a variable still comes after a folder that this user may not read.
fn decide(report: &mut Report, names: &[String], without: &Report) {
    let words = format!("this was tried without {}: {}", names.join(" and "), without.usable());
    for name in names {
        let is_broken = names_broken(report, name);
        let is_first = without.verdict == Verdict::Hardware || !is_broken;
        for one in of_variable(report, name) {
            let first = if is_setting(one) { rank::SILENT } else { rank::HARDWARE };
            if is_first {
                one.rank = one.rank.min(first - 1);
            }
            one.findings.push(words.clone());
        }
        lost_library_first(report, name, &words);
    }
}

/// Makes the drivers whose library is missing, and whose manifest the variable `name` names, the first causes: the variable names the right file, and
/// that file leads nowhere.
fn lost_library_first(report: &mut Report, name: &str, words: &str) {
    let source = format!("the variable {name}");
    let is_it = |one: &Dropped| one.absent.is_some() && one.named_by.as_deref() == Some(source.as_str());
    let places: Vec<usize> = (0..report.dropped.len())
        .filter(|place| is_it(&report.dropped[*place]))
        .collect();
    for place in places {
        let one = &mut report.dropped[place];
        one.rank = one.rank.min(rank::SILENT - 2);
        if one.variable.is_none() {
            one.variable = Some(name.into());
            one.findings.push(words.to_owned());
            causes::add_origin(report, place, name);
        }
    }
}

/// Adds to the remedy for a broken driver the variable `name` that names the driver. Returns `false` if the variable names no broken driver. A
/// driver that a user named is meant for a card, so its fault explains more than a software driver that the variable hides.
fn names_broken(report: &mut Report, name: &str) -> bool {
    let source = format!("the variable {name}");
    let is_it = |one: &&mut Dropped| {
        one.rank == rank::BROKEN && one.subject == "driver" && one.named_by.as_deref() == Some(source.as_str())
    };
    let mut is_any = false;
    for one in report.dropped.iter_mut().filter(is_it) {
        is_any = true;
        let unset = format!("unset {name}");
        if !one.advice.contains(&unset) {
            one.advice = format!("{}, or: {unset}", one.advice.trim_end_matches('.'));
        }
    }
    is_any
}

/// Describes two variables that decide and contradict each other: one names drivers, and a filter leaves out all of them. The filter comes
/// first, because the other variable names the driver that is asked for. If only the other variable comes from a file of the session, the
/// filter is the newer request, and the other variable comes first.
fn contradict(report: &mut Report, deciding: &[&String]) {
    let is_of_filter = |one: &Dropped| is_filtered(one) && one.subject == "driver manifest";
    let decides = |name: &&String| deciding.contains(name);
    let mut filters = report.dropped.iter().filter(|one| is_of_filter(one));
    let filter = filters.find_map(|one| one.variable.as_ref().filter(decides)).cloned();
    let replacing = deciding.iter().find(|name| causes::REPLACING.contains(&name.as_str()));
    let (Some(filter), Some(&replacing)) = (filter, replacing) else {
        return;
    };
    if !report.drivers.is_empty() {
        return;
    }
    let findings = || report.dropped.iter().flat_map(|one| &one.findings);
    let is_of_session = |name: &String| {
        findings().any(|fact| matches!(fact.kind(), Kind::Origin { variable, is_file: true } if variable == name))
    };
    let is_reversed = is_of_session(replacing) && !is_of_session(&filter);
    let (first, second) = if is_reversed {
        (replacing, &filter)
    } else {
        (&filter, replacing)
    };
    for one in report.dropped.iter_mut() {
        let is_first = one.variable.as_ref() == Some(first);
        if is_first && (is_of_filter(one) || one.code == codes::SEARCH_REPLACED.name) {
            one.rank = rank::SILENT - 2;
            one.reason = format!("{filter} leaves out each driver that {replacing} names.");
            one.advice = format!("The variables contradict each other: unset {first}, or: unset {second}");
        } else if one.code == codes::VARIABLE_NO_MATCH.name && one.name == filter {
            one.rank = rank::CONSEQUENCE;
        }
    }
}

/// Adds to the findings about a variable that the variable may be useful, and ends the tries.
fn keeps_out(report: &mut Report, name: &str) {
    for one in of_variable(report, name) {
        one.findings.push(format!(
            "this was tried without {name}: the probe crashed or hung, so the variable may keep out a driver that crashes"
        ));
    }
}

/// Adds the first cause of a failure that remains without the variables. A broken driver that the variables lead to comes before that cause, because
/// the user chose this driver.
fn remaining(report: &mut Report, mut without: Report) {
    let is_known = |one: &Dropped| {
        report
            .dropped
            .iter()
            .any(|known| (&known.code, &known.name) == (&one.code, &one.name))
    };
    let is_cause = |one: &Dropped| one.rank < rank::CONSEQUENCE && !one.advice.is_empty() && one.variable.is_none();
    let place = without.dropped.iter().position(is_cause);
    let first = place.map(|place| without.dropped.swap_remove(place));
    let Some(mut first) = first.filter(|first| !is_known(first)) else {
        return;
    };
    let is_broken = |one: &&Dropped| {
        one.subject.starts_with("driver") && (rank::BROKEN..rank::STATUS).contains(&one.rank) && !is_filtered(one)
    };
    if let Some(last) = report.dropped.iter().filter(is_broken).map(|one| one.rank).max() {
        first.rank = first.rank.max(last + 1);
    }
    report.dropped.push(first);
}

/// Returns a function that returns `true` for a finding that exists only because one of the variables in `names` is set.
fn is_setting_of(names: &[String]) -> impl Fn(&Dropped) -> bool {
    |one| is_setting(one) && one.variable.as_ref().is_some_and(|name| names.contains(name))
}

/// Returns `true` for a finding that exists only because a variable is set.
fn is_setting(one: &Dropped) -> bool {
    one.subject == "variable" || is_filtered(one)
}

/// Returns `true` for a finding about a driver or device that a variable filters out.
fn is_filtered(one: &Dropped) -> bool {
    let codes = [
        Code::DriverManifestDisabled,
        Code::DriverManifestNotSelected,
        Code::DeviceIdFilter,
        Code::DeviceNotVisible,
    ];
    codes.iter().any(|code| code.name() == one.code)
}

/// Ranks the findings about a filter after the causes that remain without the filter. Other variables replace the search for drivers, so they
/// also prevent the remedies of the remaining causes from helping.
fn excuse(report: &mut Report, name: &str) {
    let explains = |one: &Dropped| one.rank < rank::CONSEQUENCE && one.variable.is_none() && !one.advice.is_empty();
    if !report.dropped.iter().any(explains) {
        return;
    }
    for one in of_variable(report, name).filter(|one| is_filtered(one)) {
        one.rank = one.rank.max(rank::CONSEQUENCE);
        one.findings.push(format!(
            "this was tried without {name}, and no graphics card can be used either"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the variable that names a broken driver, the system may have no manifest at all.
    #[test]
    fn a_broken_driver_of_a_variable_comes_before_what_remains_without_the_variable() {
        let report = |dropped| Report {
            dropped: vec![dropped],
            ..Report::default()
        };
        let first = |code: Code, subject: &str| {
            let mut own = report(Dropped {
                code: code.name().into(),
                subject: subject.into(),
                rank: rank::BROKEN,
                ..codes::SEARCH_FOLDER_CLOSED.about("own")
            });
            remaining(&mut own, report(codes::HARDWARE_NO_MANIFEST.about("card")));
            own.dropped.sort_by_key(|one| one.rank);
            own.dropped.swap_remove(0).name
        };
        assert_eq!(first(Code::DriverNotOpened, "driver"), "own");
        assert_eq!(first(Code::LayerLibraryNotOpened, "layer"), "card");
    }
}
