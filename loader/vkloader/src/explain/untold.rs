//! Reasons why a program left no trace, and further runs that find them.

use super::{AGAIN, Explain, KEPT, Purpose, of_probe, tell, tell_of_tries};
use crate::child::{self, Ending, Finished};
use crate::library_folder::LibraryFolder;
use crate::probe::Seen;
use crate::report::{self, Report, Verdict};
use crate::variables::Variables;
use crate::{causes, names, show, untraced};
use std::ffi::{OsStr, OsString};
use std::io;

/// Line about a run of a program with an open descriptor of the trace.
const WITH_DESCRIPTOR: &str =
    "runs the program a second time, with the trace as an open descriptor, because the first run left no trace";

/// Reason why there is no trace.
pub(super) enum Untraced {
    /// The reason, and after each semicolon a remedy.
    Because(String),
    /// The program failed before it opened a loader. The field has the last lines that it printed, if they are known.
    Early(Option<Vec<String>>),
}

impl From<String> for Untraced {
    fn from(words: String) -> Self {
        Self::Because(words)
    }
}

/// Returns `true` if a program ended itself with a failure, so that a second run ends by itself too. A shell exits with a status for the signal
/// that ended its command.
fn has_failed(finished: &Finished) -> bool {
    let is_status = matches!(finished.ending, Ending::Status(status) if status != 0);
    is_status && report::cut_short(finished).is_none()
}

/// Returns the variables of the last process of a program that had a loader.
fn with_loader(finished: &Finished) -> Option<Variables> {
    let all = finished.environments.iter().rev().filter(|one| one.has_loader);
    let set = all.filter_map(|one| one.variables.as_ref()).next();
    set.map(|set| Variables::of_started(set))
}

impl Explain {
    /// Runs a program that failed without a trace once more, with the trace as an open descriptor. Does so if the program may run in a sandbox
    /// that hides the file of the trace. Returns the results of the second run if it left a trace, and `finished` otherwise.
    pub(super) fn pass_descriptor(
        &mut self,
        finished: Finished,
        folder: Option<&LibraryFolder>,
    ) -> io::Result<Finished> {
        let is_unknown = || finished.graphics.is_none() && !self.program.is_empty();
        let may_hide = || untraced::hides_trace(&finished.environments).is_some() || is_unknown();
        let is_hidden = finished.records.is_empty() && may_hide();
        let may_repeat = has_failed(&finished) && untraced::known(&self.program).is_none();
        if self.no_try || self.descriptor || !is_hidden || !may_repeat {
            return Ok(finished);
        }
        tell(WITH_DESCRIPTOR);
        self.descriptor = true;
        let again = self.watch(folder, Purpose::Run(None))?;
        self.descriptor = !again.records.is_empty();
        Ok(if self.descriptor { again } else { finished })
    }

    /// Adds the first cause in a report about the probe, if a program failed with a loader of its own and the probe finds no device either. The
    /// probe has the files of the program, and the variables that the program had when it ended, because a launcher may have changed them.
    pub(super) fn add_cause_beside(&self, report: &mut Report, finished: &Finished) -> io::Result<()> {
        let has_other = finished
            .graphics
            .as_deref()
            .is_some_and(|all| untraced::loader_in(all).is_some());
        if self.no_try || !has_other || finished.ending == Ending::Status(0) {
            return Ok(());
        }
        tell_of_tries();
        let variables = with_loader(finished).unwrap_or_default();
        let mut command = self.library.probe()?;
        variables.give_to(&mut command);
        let probe = child::run(command, self.library.limit(), KEPT)?;
        let mut beside = of_probe(&self.library, &probe, Seen::last(&probe.output).as_ref())?;
        beside.variables = variables;
        beside.executed.clone_from(&report.executed);
        causes::find(&mut beside, &probe, None, false);
        let mut causes = beside.dropped.into_iter().filter(|one| !one.advice.is_empty());
        if let Some(mut cause) = causes
            .next()
            .filter(|_| beside.verdict == Verdict::Nothing && beside.loader.is_some())
        {
            cause
                .findings
                .push("this was tried: with the variables of the program, this library finds no device either");
            report.dropped.insert(0, cause);
        }
        Ok(())
    }

    /// Adds the devices that a probe gets from the loader that the program used, if that loader writes no trace.
    pub(super) fn add_devices_beside(&self, report: &mut Report, finished: &Finished) -> io::Result<()> {
        let own = finished.graphics.as_deref().and_then(untraced::loader_in);
        let Some(own) = own.filter(|_| !self.no_try && self.library.library.is_none()) else {
            return Ok(());
        };
        tell_of_tries();
        let probe = child::run(self.library.probe()?, self.library.limit(), KEPT)?;
        let Some(seen) = Seen::last(&probe.output) else {
            return Ok(());
        };
        let real = |path: &str| std::fs::canonicalize(path).ok();
        let is_same = seen.library.as_deref().is_some_and(|path| real(path) == real(own));
        if let Some(first) = report.dropped.first_mut().filter(|_| is_same) {
            let devices: Vec<&str> = seen.devices.iter().map(|device| device.name.as_str()).collect();
            let words = match (&devices[..], seen.failed_call()) {
                ([], Some((call, code))) => format!(
                    "a process of vkloader gets {} from {call} of this loader",
                    names::result(code)
                ),
                ([], None) => "a process of vkloader gets no device from this loader".into(),
                _ => format!("a process of vkloader gets from this loader: {}", devices.join(", ")),
            };
            first.findings.insert(0, words);
            if devices.is_empty() {
                let own = Variables::default();
                let facts = causes::facts_without_trace(None, |name| own.nonempty(name));
                // The last facts are about files, and name the cause.
                facts.into_iter().for_each(|fact| first.findings.insert(0, fact));
            } else {
                untraced::searches_usual(&mut first.advice);
            }
        }
        Ok(())
    }

    /// Returns the reason why the program, which failed, opened no Vulkan loader: the dynamic linker did not find the loader, or the program failed
    /// before. Runs the program a second time with the log of the dynamic linker.
    pub(super) fn why_no_loader(
        &self,
        finished: &Finished,
        folder: Option<&LibraryFolder>,
    ) -> io::Result<Option<Untraced>> {
        let may_lack = has_failed(finished) && untraced::has_no_loader(finished.graphics.as_deref());
        if !may_lack || untraced::known(&self.program).is_some() {
            return Ok(None);
        }
        let program = self.program.first().map_or(OsStr::new(""), OsString::as_os_str);
        let early =
            |lines| untraced::opened_nothing(finished.graphics.as_deref(), program).then_some(Untraced::Early(lines));
        if self.no_try {
            return Ok(early(None));
        }
        tell(AGAIN);
        let watched = self.watch(folder, Purpose::Linker)?;
        let asked = causes::unfound(&watched.linker, untraced::is_name_of_loader);
        Ok(match asked.or_else(|| untraced::printed(&watched.records)) {
            Some(asked) => Some(untraced::why_unopened(&asked, &finished.environments).into()),
            None => early(Some(untraced::last_lines(&watched))),
        })
    }

    /// Returns the reason why the program wrote no trace, with remedies after semicolons. Returns `None` if there is a trace, or if a crash
    /// explains that there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the probe left no trace, or if the program used another library than the user named.
    pub(super) fn why_untraced(
        &self,
        report: &Report,
        finished: &Finished,
        folder: Option<&LibraryFolder>,
        seen: Option<&Seen>,
    ) -> io::Result<Option<Untraced>> {
        if report.loader.is_none() {
            if let Some(why) = self.why_no_record(report, finished, folder)? {
                return Ok(Some(why));
            }
            if report.crash.is_some() {
                return Ok(None);
            }
        }
        // If the program uses its own loader, the report is about that loader, unless the user named a library.
        let is_known = self.library.is_carried && report.loader.is_some();
        if let (Some(folder), Some(program)) = (folder, self.program.first())
            && !is_known
            && let Some(missed) = folder.missed_by(program, &finished.records)
        {
            let graphics = finished.graphics.as_deref();
            let unknown = || untraced::unknown(&self.program, graphics, &self.library.path());
            let opened = || missed.words(unknown());
            let cut_short = untraced::cut_short(&self.program, finished);
            let why = cut_short
                .or_else(|| untraced::known(&self.program))
                .unwrap_or_else(opened);
            if report.loader.is_none() {
                return Ok(Some(why.into()));
            }
            // The trace of another library does not answer the question of the user, who named one.
            let words = format!("the program left no trace of this library{}", show::reason(&why));
            return Err(io::Error::other(words));
        }
        match report.loader {
            None if self.program.is_empty() => {
                let own = Variables::default();
                let facts = causes::facts_without_trace(seen, |name| own.nonempty(name));
                let facts: String = facts.iter().map(|fact| format!("\n  - {fact}")).collect();
                Err(io::Error::other(format!("{}{facts}", self.no_trace(seen, finished))))
            }
            None => Ok(Some(self.no_trace(seen, finished).into())),
            Some(_) => Ok(None),
        }
    }

    /// Returns the reason why there is no record of any loader; `None` if the program crashed, or if the reason is unknown.
    ///
    /// # Errors
    ///
    /// Returns an error if a file that may contain the reason cannot be read.
    fn why_no_record(
        &self,
        report: &Report,
        finished: &Finished,
        folder: Option<&LibraryFolder>,
    ) -> io::Result<Option<Untraced>> {
        let program = self.program.first();
        if let Some(words) = program.and_then(|program| untraced::lacks_symbol(program, finished.ending)) {
            return Ok(Some(words.into()));
        }
        if report.crash.is_some() {
            return Ok(None);
        }
        let environments = &finished.environments;
        if let Some(words) = untraced::lacks_files(environments) {
            return Ok(Some(words.into()));
        }
        let hidden = untraced::hides_trace(environments).or_else(|| untraced::cleared(environments, &self.program));
        if let Some(words) = hidden {
            return Ok(Some(untraced::known(&self.program).unwrap_or(words).into()));
        }
        self.why_no_loader(finished, folder)
    }
}
