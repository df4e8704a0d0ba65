//! Finds the driver, layer or program that caused a crash. The culprit is the owner of the innermost function on the stack that belongs to
//! a driver, layer or program.
//!
//! Functions of common libraries, such as the C library, are skipped, because the function that called them passed the arguments. The
//! program is the culprit if one of its functions is the innermost of these functions, regardless of the library that called it.

mod parts;
mod switch;

pub(crate) use switch::{NEWER_ONLY_DRIVERS, ONLY_DRIVERS, Switch};
pub(super) use switch::{driver_switch, driver_variable, layer_switch};

use super::{Dropped, codes, ended};
use crate::child::{Ending, Finished};
use crate::crash::{Crash, Frame, Instruction, Unsupervised};
use crate::events::Record;
use crate::names;
use crate::shell::word;
use parts::{Owner, Part, Parts};
use serde::Serialize;
use std::path::Path;

/// Upper bound on the number of functions of a stack in the JSON report.
const MOST_FRAMES: usize = 32;
/// Upper bound on the number of functions of a stack in text.
const MOST_TOLD: usize = 12;

/// Kind of the culprit, which is the part of a process that caused a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Who {
    Driver,
    Layer,
    Program,
    /// The culprit is outside of the process: another process sent the signal.
    Outside,
    #[default]
    Unknown,
}

/// Owner of a function on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Belongs {
    Driver,
    Layer,
    Program,
    Loader,
    /// A library that only some drivers and layers need.
    Brought,
    /// A library that any part of the process may use, or code outside of any file.
    Common,
}

/// A function on the stack.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Function {
    pub(crate) file: Option<String>,
    /// Address within the file, in hexadecimal digits; for code without a file, the address in memory.
    pub(crate) offset: String,
    pub(crate) of: Belongs,
    /// `false` if the address is not mapped, for example after a jump to an invalid pointer or into a closed library.
    pub(crate) is_mapped: bool,
}

/// The result of a second run of a program without the culprit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Retried {
    /// The program ended without a crash in the second run.
    Lives,
    /// The program crashed again in the second run.
    Crashes,
    /// The second run did not end within its time limit.
    TooLong,
    /// No variable disables the culprit, so the program was not run again.
    NoSwitch,
}

/// A process that a signal ended.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Crashed {
    pub(crate) culprit: Who,
    /// Name of the culprit: a layer's name, the library of a driver, or the file of a program; empty if the culprit is unknown.
    pub(crate) name: String,
    /// Library of the culprit.
    pub(crate) library: Option<String>,
    /// The part that called the culprit: the name of a layer, the library of a driver, or the file of the program.
    pub(crate) called_by: Option<String>,
    /// Reason why the process could not be supervised. Without supervision, the culprit is unknown.
    pub(crate) unsupervised: Option<Unsupervised>,
    pub(crate) process: Option<u32>,
    pub(crate) executable: Option<String>,
    /// `true` for the process that this program started, `false` for a descendant of that process.
    pub(crate) is_first: bool,
    pub(crate) signal: i32,
    /// Address that could not be accessed, in hexadecimal digits.
    pub(crate) address: Option<String>,
    /// Process that sent the signal; `None` if no process sent it.
    pub(crate) sender: Option<u32>,
    /// Functions on the stack, innermost first.
    pub(crate) frames: Vec<Function>,
    /// Variable of the loader that disables the culprit, if there is one.
    pub(crate) switch: Option<Switch>,
    /// Variable that disables the layer, according to the layer's manifest.
    pub(crate) own_switch: Option<Switch>,
    /// Result of a second run without the culprit, if there was one.
    pub(crate) retried: Option<Retried>,
    /// The innermost library that `LD_PRELOAD` adds to the process, among the libraries on the stack from the innermost function to the
    /// culprit's function.
    #[serde(skip)]
    preloaded: Option<String>,
    #[serde(skip)]
    instruction: Instruction,
}

/// Returns the crash that explains the end of a run. A crash of the started process takes precedence over crashes of its descendants.
pub(super) fn judged(finished: &Finished) -> Option<Crashed> {
    let records = &finished.records;
    let is_of_vulkan = |crash: &&Crash| records.iter().any(|record| record.process == crash.process);
    let own = finished.crashes.iter().find(|crash| crash.is_first);
    let other = || {
        let mut found = finished.crashes.iter().filter(is_of_vulkan);
        found.next_back().or(match finished.ending {
            // A shell exits with a status above 128 if one of its commands crashed.
            Ending::Status(status) if status > names::OF_SHELL => finished.crashes.last(),
            _ => None,
        })
    };
    if let Some(crash) = own.or_else(other) {
        let mut judged = judge(crash, records);
        judged.forget_probe(std::env::current_exe().ok().as_deref());
        return Some(judged);
    }
    match (finished.ending, finished.unsupervised) {
        (Ending::Signal(signal), Some(why)) if crate::crash::is_fault(signal) => Some(Crashed {
            signal,
            is_first: true,
            unsupervised: Some(why),
            ..Crashed::default()
        }),
        _ => None,
    }
}

/// Returns the result of a second run without the culprit, and a sentence about the result.
pub(crate) fn retried(finished: &Finished) -> (Retried, String) {
    let records: Vec<&Record> = finished.records.iter().collect();
    let ended = match judged(finished) {
        Some(crash) => Some(crash.reason()),
        None => ended::finding(finished.ending, &records).map(|ended| ended.reason),
    };
    let (retried, how) = match (finished.ending, &ended) {
        (Ending::TooLong(_), _) => (Retried::TooLong, "it does not end in time".into()),
        (Ending::Signal(signal), _) if crate::crash::is_fault(signal) => (Retried::Crashes, "it crashes too".into()),
        (_, _) if !finished.crashes.is_empty() => (Retried::Crashes, "it crashes too".into()),
        (Ending::Status(status), _) => (
            Retried::Lives,
            format!("it lives, and ended with {}", names::status(status)),
        ),
        (Ending::Signal(signal), _) => (
            Retried::Lives,
            format!("it lives, until {} ended it", names::signal(signal)),
        ),
    };
    let more = ended.filter(|_| retried != Retried::Lives);
    let more = more.map_or(String::new(), |ended| format!(": {ended}"));
    (
        retried,
        format!("--retry: the program was run without it, and {how}{more}"),
    )
}

/// Finds the culprit of a crash, according to the functions on the stack.
fn judge(crash: &Crash, records: &[Record]) -> Crashed {
    let parts = Parts::of(records, crash);
    let owners: Vec<Owner> = crash
        .frames
        .iter()
        .map(|frame| parts.owner(frame.file.as_deref()))
        .collect();
    let mut crashed = Crashed {
        process: Some(crash.process),
        executable: crash.executable.clone(),
        is_first: crash.is_first,
        signal: crash.signal,
        address: crash.address.map(hexadecimal),
        instruction: crash.instruction,
        sender: crash.sender,
        frames: crash
            .frames
            .iter()
            .zip(&owners)
            .take(MOST_FRAMES)
            .map(|(frame, owner)| function(frame, owner, &parts))
            .collect(),
        ..Crashed::default()
    };
    if crash.sender.is_some() {
        crashed.culprit = Who::Outside;
        return crashed;
    }
    let decides = |owner: &Owner| matches!(owner, Owner::Part(_) | Owner::Program);
    let place = owners.iter().position(decides);
    let culprit = place.map(|place| &owners[place]).cloned().or_else(|| brought(&owners));
    let unlisted = of_generated_code(crash, &owners, records, &parts).or_else(|| at_exit(&owners));
    let culprit = unlisted.or(culprit);
    match culprit {
        Some(Owner::Part(part)) => crashed.blame(&parts.parts[part], records),
        Some(Owner::Program) => {
            crashed.culprit = Who::Program;
            crashed.name = crash.executable.clone().unwrap_or_default();
            crashed.library = place.and_then(|place| crash.frames[place].file.clone());
        }
        _ => {}
    }
    let inner = place.map_or(&crash.frames[..], |place| &crash.frames[..=place]);
    let mut inner = inner.iter().filter_map(|frame| frame.file.clone());
    crashed.preloaded = inner.find(|file| crash.preloaded.contains(file));
    let callers = place.map_or(&[][..], |place| &owners[place..]);
    let caller = callers
        .iter()
        .find(|owner| decides(owner) && Some(*owner) != callers.first());
    crashed.called_by = caller.map(|owner| match owner {
        Owner::Part(part) => parts.parts[*part].name.clone(),
        _ => crash.executable.clone().unwrap_or_default(),
    });
    crashed
}

/// Returns the driver or layer that is the only one to need the innermost library on the stack, if the C library called this library. The C
/// library does so when the process exits.
fn at_exit(owners: &[Owner]) -> Option<Owner> {
    let mut rest = owners.iter().skip_while(|owner| **owner == Owner::Common);
    let first = rest.next().filter(|owner| matches!(owner, Owner::Brought(_)))?;
    let caller = rest.find(|owner| *owner != first);
    brought(std::slice::from_ref(first)).filter(|_| caller == Some(&Owner::Common))
}

/// Returns the driver or layer that the loader called if code without a file crashed, and the loader's function is the first known one on the
/// stack. A driver generates such code, for example for shaders, and the stack does not show its caller.
fn of_generated_code(crash: &Crash, owners: &[Owner], records: &[Record], parts: &Parts) -> Option<Owner> {
    let loader = owners.iter().position(|owner| *owner == Owner::Loader)?;
    let inner = &crash.frames[..loader];
    let is_generated = !inner.is_empty() && inner.iter().all(|frame| frame.file.is_none() && frame.is_mapped);
    let own = records.iter().filter(|record| record.process == crash.process);
    let library = ended::running(&own.collect::<Vec<_>>()).filter(|_| is_generated)?;
    Some(parts.owner(Some(library))).filter(|owner| matches!(owner, Owner::Part(_)))
}

/// Returns the driver or layer that is the only one to need a library on the stack. The driver or layer is the culprit if that library
/// started the thread that crashed.
fn brought(owners: &[Owner]) -> Option<Owner> {
    owners.iter().find_map(|owner| match owner {
        Owner::Brought(by) => <[usize; 1]>::try_from(by.clone()).ok().map(|[part]| Owner::Part(part)),
        _ => None,
    })
}

fn function(frame: &Frame, owner: &Owner, parts: &Parts) -> Function {
    Function {
        file: frame.file.clone(),
        offset: hexadecimal(frame.offset),
        of: match owner {
            Owner::Part(part) if parts.parts[*part].is_layer => Belongs::Layer,
            Owner::Part(_) => Belongs::Driver,
            Owner::Program => Belongs::Program,
            Owner::Brought(_) => Belongs::Brought,
            Owner::Loader => Belongs::Loader,
            Owner::Common => Belongs::Common,
        },
        is_mapped: frame.is_mapped,
    }
}

fn hexadecimal(number: u64) -> String {
    format!("{number:#x}")
}

impl Crashed {
    /// Records a driver or layer as the culprit, with the variables that disable it.
    fn blame(&mut self, part: &Part, records: &[Record]) {
        self.culprit = if part.is_layer { Who::Layer } else { Who::Driver };
        self.name.clone_from(&part.name);
        self.library = Some(part.library.clone());
        if part.is_layer {
            self.switch = Some(Switch {
                variable: "VK_LOADER_LAYERS_DISABLE".into(),
                value: part.name.clone(),
            });
            self.own_switch = part
                .manifest
                .as_deref()
                .and_then(|path| switch::own(Path::new(path), &part.name));
        } else {
            self.switch = driver_switch(&part.library, &records.iter().collect::<Vec<_>>())
        }
    }

    /// Makes the culprit unknown if the code of `own` crashed, the file of this program, whose probe takes the place of a program. The last
    /// call in the trace then explains the crash, for example by a driver that closes the files of the process.
    fn forget_probe(&mut self, own: Option<&Path>) {
        let is_own = |file: &Option<String>| file.as_deref().map(Path::new) == own;
        if self.culprit == Who::Program && is_own(&self.executable) && is_own(&self.library) {
            (self.culprit, self.library) = (Who::Unknown, None);
            self.name.clear();
        }
    }

    /// Returns the finding about the crash for the report.
    pub(super) fn finding(&self) -> Dropped {
        let mut found = codes::PROGRAM_CRASHED.about(match self.name.as_str() {
            "" => "the program",
            name => name,
        });
        found.reason = self.reason();
        found.findings = self.findings();
        if let Some(advice) = self.advice() {
            found.advice = advice;
        }
        found.file = self.library.clone().filter(|library| *library != found.name);
        found.set = self
            .switch
            .as_ref()
            .map(|switch| (switch.variable.clone(), switch.value.clone()));
        found
    }

    /// Returns one sentence with the culprit, the signal and the location of the crash.
    fn reason(&self) -> String {
        let signal = names::signal(self.signal);
        let program = match (&self.executable, self.is_first) {
            (Some(executable), false) => format!("{executable}, which the program started,"),
            _ => "the program".into(),
        };
        let by = match &self.called_by {
            Some(caller) if self.culprit != Who::Program => format!(", called by {caller}"),
            _ => String::new(),
        };
        let place = self.place();
        // A comma or colon follows the program's name in most of the sentences below, so this code removes a comma at the end of the name.
        let before_sign = program.trim_end_matches(',');
        match self.culprit {
            Who::Driver => format!("The driver {} crashed {before_sign}: {signal} {place}{by}.", self.name),
            Who::Layer => format!("The layer {} crashed {before_sign}: {signal} {place}{by}.", self.name),
            Who::Program => format!("No driver or layer crashed {before_sign}, but its own code: {signal} {place}."),
            Who::Outside => format!(
                "Another process ({}) ended {program} by {signal}.",
                self.sender.unwrap_or_default()
            ),
            Who::Unknown => {
                format!("A crash ended {before_sign}: {signal} {place}. The culprit is unknown.")
            }
        }
    }

    /// Returns a description of the location of the innermost function.
    fn place(&self) -> String {
        let Some(first) = self.frames.first() else {
            return "at an unknown place".into();
        };
        match &first.file {
            Some(file) if first.is_mapped => format!("in {file} at {}", first.offset),
            Some(file) => format!("in {file}, which was closed before"),
            None if first.is_mapped => format!("in code without a file at {}", first.offset),
            None => format!("at {}, where there is no code", first.offset),
        }
    }

    fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        if let Some(why) = self.unsupervised {
            findings.push(format!("the culprit cannot be named: {}", why.words()));
        }
        findings.extend(
            self.preloaded
                .as_ref()
                .map(|library| format!("LD_PRELOAD adds {library} to the program, and its code is the innermost")),
        );
        if self.is_trap() {
            findings.push("the instruction there is a trap, with which code ends its process on purpose".into());
        }
        findings.extend(
            self.address
                .as_ref()
                .map(|address| format!("the fault is about the address {address}")),
        );
        let stack: Vec<String> = self.stack().collect();
        if stack.len() > 1 {
            findings.push(format!("on the stack, innermost first: {}", stack.join(", ")));
        }
        findings
    }

    /// Returns the file and address of each of the innermost functions on the stack.
    pub(crate) fn stack(&self) -> impl Iterator<Item = String> {
        self.frames.iter().take(MOST_TOLD).map(|frame| match &frame.file {
            Some(file) => format!("{}+{}", file.rsplit('/').next().unwrap_or(file), frame.offset),
            None => frame.offset.clone(),
        })
    }

    /// Returns `true` if the program itself crashed, and not a library of `LD_PRELOAD`.
    pub(crate) fn is_of_program(&self) -> bool {
        self.culprit == Who::Program && self.preloaded.is_none()
    }

    /// Returns `true` if the program itself ended the process by SIGABRT, for example through a C++ exception.
    pub(crate) fn is_abort_of_program(&self) -> bool {
        self.signal == libc::SIGABRT && self.culprit == Who::Program
    }

    /// Returns `true` if the code ended the process on purpose, with an instruction for this purpose.
    fn is_trap(&self) -> bool {
        self.instruction == Instruction::Trap && matches!(self.signal, libc::SIGILL | libc::SIGTRAP)
    }

    /// Returns the remedy for a signal with one usual cause.
    fn advice_for_signal(&self) -> Option<&'static str> {
        match self.signal {
            libc::SIGSYS => Some(
                "A filter for system calls (seccomp) of a sandbox ended the process: let it permit the call, as with docker run --security-opt \
                 seccomp=unconfined, or SystemCallFilter= of systemd.",
            ),
            libc::SIGILL | libc::SIGTRAP if self.is_trap() => (self.culprit == Who::Program).then_some(
                "The program ended itself, most often because one of its checks failed: read its last messages.",
            ),
            libc::SIGILL if self.instruction == Instruction::Other => Some(
                "The code has an instruction that this processor lacks: install a build for this processor, such as the package of the distribution \
                 in place of one for x86-64-v3.",
            ),
            _ => None,
        }
    }

    /// Returns the remedy for the signal, followed by the remedy without the culprit; `None` if neither remedy exists.
    fn advice(&self) -> Option<String> {
        let without = self.without_culprit();
        match (self.advice_for_signal(), without) {
            (Some(first), Some(without)) => Some(format!("{first} If that does not help: {without}")),
            (first, without) => without.or(first.map(String::from)),
        }
    }

    /// Returns the remedy that removes a library from `LD_PRELOAD`, or that disables the culprit with a variable; `None` if neither is
    /// possible.
    fn without_culprit(&self) -> Option<String> {
        if let Some(library) = &self.preloaded {
            return Some(format!("Take {library} out of LD_PRELOAD, or update it."));
        }
        let switch = self.switch.as_ref()?;
        let library = self.library.as_deref().unwrap_or(&self.name);
        let own = self.own_switch.as_ref();
        let own = own.map_or(String::new(), |own| {
            format!(", or {}={} PROGRAM", own.variable, word(&own.value))
        });
        Some(ended::without(library, &switch.variable, &switch.value) + &own)
    }
}

#[cfg(test)]
mod tests;
