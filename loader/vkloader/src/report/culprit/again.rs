//! Draws conclusions from a second run of a program, without the culprit of its crash.

use super::super::{Dropped, Report, codes, ended};
use super::heap::TO_FIND;
use super::{Belongs, Crashed, Function, Retried, TO_TELL, Who, judged};
use crate::child::{Ending, Finished};
use crate::crash::{callee, is_fault};
use crate::events::Record;
use crate::names;
use crate::shell::word;
use std::path::Path;

/// Beginning of the names of Vulkan's functions.
const OF_VULKAN: &str = "vk";

/// Remedy for a program that passed an invalid argument.
pub(super) const OF_ARGUMENT: &str = "Correct the call in the program, or update the program: a handle or a pointer that it passes is invalid. The validation layer names it: \
    VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation PROGRAM; a debugger shows the call: gdb -ex run -ex bt --args PROGRAM";

/// The result of a second run.
pub(crate) struct Again {
    pub(super) retried: Retried,
    /// A sentence about the result.
    words: String,
    /// The crash in the second run.
    crash: Option<Crashed>,
    /// `true` if the program ended with success.
    pub(super) is_success: bool,
}

impl Again {
    /// Returns the result for a culprit that no variable disables, so that there was no second run.
    pub(crate) fn impossible(crash: &Crashed) -> Self {
        let why = match crash.culprit {
            Who::Driver | Who::Layer | Who::Library => format!("no variable of the loader leaves out {}", crash.name),
            Who::Program => "the crash is the fault of no driver or layer that a variable could leave out".into(),
            Who::Outside => "another process ended it".into(),
            Who::Unknown => "it is not known what to leave out".into(),
        };
        Self {
            retried: Retried::NoSwitch,
            words: format!("--retry: the program was not run again, because {why}"),
            crash: None,
            is_success: false,
        }
    }

    /// Returns the sentence about a run without `name`.
    pub(super) fn words_without(&self, name: &str) -> String {
        self.words.replacen("without it", &format!("without {name}"), 1)
    }
}

/// Returns the result of a second run.
pub(crate) fn retried(finished: &Finished) -> Again {
    let records: Vec<&Record> = finished.records.iter().collect();
    let crash = judged(finished);
    let ended = match &crash {
        Some(crash) => Some(crash.reason()),
        None => ended::finding(finished.ending, &records).map(|ended| ended.reason),
    };
    let (retried, how) = match (finished.ending, &ended) {
        (Ending::TooLong(_), _) => (Retried::TooLong, "it does not end in time".into()),
        (Ending::Signal(signal), _) if is_fault(signal) => (Retried::Crashes, "it crashes too".into()),
        (_, _) if !finished.crashes.is_empty() => (Retried::Crashes, "it crashes too".into()),
        (Ending::Status(0), _) => (Retried::Lives, format!("it lives, and ended with {}", names::status(0))),
        (Ending::Status(status), _) => (
            Retried::Lives,
            format!(
                "it does not crash, but ended with {}, so that it may not have come to the place of the crash",
                names::status(status)
            ),
        ),
        (Ending::Signal(signal), _) => (
            Retried::Lives,
            format!("it lives, until {} ended it", names::signal(signal)),
        ),
    };
    let more = ended.filter(|_| retried != Retried::Lives);
    let more = more.map_or(String::new(), |ended| format!(": {ended}"));
    Again {
        retried,
        words: format!("--retry: the program was run without it, and {how}{more}"),
        crash,
        is_success: finished.ending == Ending::Status(0),
    }
}

impl Report {
    /// Adds the result of a run without the layer that may be at fault. Returns `true` if the program must be run once more, without the driver,
    /// because it crashed without the layer too. The report is then about the crash without the layer.
    pub(crate) fn conclude_without_layer(&mut self, again: Again) -> bool {
        let Some(crash) = &mut self.crash else { return false };
        let is_it = |found: &&mut Dropped| found.code == codes::PROGRAM_CRASHED.name;
        let Some(found) = self.dropped.iter_mut().find(is_it) else {
            return false;
        };
        let layer = crash.beside.take();
        let without = layer.as_ref().map_or(&crash.name, |layer| &layer.name).clone();
        crash.retried = Some(again.retried);
        match (again.retried, again.crash) {
            (Retried::Lives, _) => {
                let how = format!("in the first run: {}", crash.how());
                let reason = layer.as_ref().map(|layer| crash.of_layer(&layer.name));
                crash.blame_beside(layer);
                let mut new = crash.finding();
                new.reason = reason.unwrap_or(new.reason);
                new.findings.insert(0, how);
                new.findings.insert(0, again.words);
                *found = new;
            }
            (Retried::Crashes, Some(second)) => {
                *crash = second;
                *found = crash.finding();
                found.findings.insert(
                    0,
                    format!("--retry: the program crashes without the layer {without} too"),
                );
                self.ended = Some(found.reason.clone());
                return true;
            }
            _ => {
                crash.beside = layer;
                found.findings.insert(0, again.words);
            }
        }
        self.ended = Some(found.reason.clone());
        false
    }

    /// Adds the result of a second run to the report. Takes the remedy back if the program crashes without the culprit too. Blames the program if
    /// the same call then crashes in another driver or layer.
    pub(crate) fn conclude(&mut self, again: Again) {
        let Some(crash) = &mut self.crash else { return };
        crash.retried = Some(again.retried);
        let is_it = |found: &&mut Dropped| found.code == codes::PROGRAM_CRASHED.name;
        let Some(found) = self.dropped.iter_mut().find(is_it) else {
            return;
        };
        let second = again.crash.filter(|_| again.retried == Retried::Crashes);
        if let Some(second) = second.filter(|second| crash.is_in_call_of(second)) {
            let facts = [
                format!("without {}: {}", crash.name, second.how()),
                format!("in the first run: {}", crash.how()),
            ];
            facts.into_iter().for_each(|fact| found.findings.insert(0, fact));
            found.reason = crash.of_argument(&second.name);
            found.advice = OF_ARGUMENT.into();
            crash.blame_caller();
            crash.name.clone_into(&mut found.name);
            (found.file, found.set, found.variable) = (None, None, None);
            self.ended = Some(found.reason.clone());
            return;
        }
        found.findings.insert(0, again.words);
        let switch = crash.switch.as_ref().filter(|_| again.is_success);
        let set = switch.map(|switch| format!("{}={} PROGRAM", switch.variable, word(&switch.value)));
        // A remedy that leaves no device is removed, but this program works without one.
        if let Some(set) = set.filter(|set| !found.advice.contains(set)) {
            found.advice += &format!("; this program lives without it: {set}");
        }
        if again.retried == Retried::Crashes {
            let library = crash.library.as_deref().unwrap_or(&crash.name);
            found.advice = format!(
                "Update or rebuild {library}. To leave it out does not help, because the program crashes without it too."
            );
            if crash.heap.is_some() {
                found.advice = TO_FIND.into();
            } else if crash.doubt.is_some() {
                found.advice = format!("{} {TO_TELL}", found.advice);
            }
            found.set = None;
        }
    }
}

impl Crashed {
    /// Returns `true` if both crashes are accesses to invalid addresses in two drivers or layers with different code, and the program called both
    /// from the same place. The second one may have crashed in a thread of its own, if the first crash leaves a doubt.
    fn is_in_call_of(&self, second: &Self) -> bool {
        let is_fault = |one: &Self| matches!(one.signal, libc::SIGSEGV | libc::SIGBUS) && one.exception.is_none();
        let is_of_part = |one: &Self| matches!(one.culprit, Who::Driver | Who::Layer);
        let place = |one: &Self| {
            let caller = one.caller()?;
            Some((caller.file.clone(), caller.offset.clone()))
        };
        let code = |one: &Self| {
            // Both drivers may pass the same invalid address on to the same function of a common library.
            let is_of_part = |frame: &&Function| matches!(frame.of, Belongs::Driver | Belongs::Layer);
            one.frames.iter().find(is_of_part).map(|frame| frame.offset.clone())
        };
        let is_other = self.name != second.name && code(self) != code(second);
        let both = [self, second];
        let is_meant = both.iter().all(|one| is_fault(one) && is_of_part(one));
        let is_same_call = match (place(self), place(second)) {
            (Some(own), Some(other)) => own == other,
            (Some(_), None) => self.doubt.is_some(),
            (None, _) => false,
        };
        is_meant && is_other && is_same_call
    }

    /// Returns the innermost function of the program on the stack.
    pub(super) fn caller(&self) -> Option<&Function> {
        self.frames.iter().find(|frame| frame.of == Belongs::Program)
    }

    /// Returns the name of the function of Vulkan that the program called, if the program's file has the name.
    pub(super) fn called_in_file(&self) -> Option<String> {
        let caller = self.caller()?;
        let offset = u64::from_str_radix(caller.offset.strip_prefix("0x")?, 16).ok()?;
        let name = callee::name(Path::new(caller.file.as_deref()?), offset)?;
        name.starts_with(OF_VULKAN).then_some(name)
    }

    /// Makes the program the culprit in place of the driver or layer that it called.
    pub(super) fn blame_caller(&mut self) {
        self.culprit = Who::Program;
        self.name = self.executable.clone().unwrap_or_else(|| "the program".into());
        self.library = self.caller().and_then(|caller| caller.file.clone());
        (self.switch, self.own_switch, self.variable) = (None, None, None);
        self.called_by = None;
        (self.is_certain, self.doubt) = (true, None);
    }

    /// Returns the signal and the place of a crash.
    fn how(&self) -> String {
        format!("{} {}{}", names::signal(self.signal), self.place(), self.through())
    }

    /// Returns the sentence about a layer without which the program lives.
    fn of_layer(&self, layer: &str) -> String {
        let call = self.in_call();
        format!(
            "The layer {layer} most likely passed something invalid to the driver {}, which crashed{call}: the program lives without the layer.",
            self.name
        )
    }

    /// Returns the sentence about a call that crashes in this driver or layer, and also in `other`.
    fn of_argument(&self, other: &str) -> String {
        let call = self
            .call
            .as_ref()
            .map_or_else(|| "Vulkan".into(), |name| format!("the call {name}"));
        format!(
            "The program most likely passed an invalid argument to {call}, which crashes both in {} and in {other}.",
            self.name
        )
    }
}
