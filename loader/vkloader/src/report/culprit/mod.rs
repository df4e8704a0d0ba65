//! Finds the driver, layer or program that caused a crash. The culprit is the owner of the innermost function on the stack that belongs to
//! a driver, layer or program.
//!
//! Functions of common libraries, such as the C library, are skipped, because the function that called them passed the arguments. The
//! program is the culprit if one of its functions is the innermost of these functions, regardless of the library that called it.

mod again;
mod between;
mod circumstance;
mod closed;
mod doubt;
mod foreign;
mod heap;
mod lacking;
mod parts;
mod passed;
mod reasons;
mod recursion;
mod repeated;
mod short;
mod suspect;
mod switch;
mod told;
mod unlisted;

pub(crate) use again::{Again, retried};
pub(crate) use doubt::TO_TELL;
pub(super) use repeated::child;
pub(crate) use suspect::{Suspect, created_with};
pub(crate) use switch::{NEWER_ONLY_DRIVERS, ONLY_DRIVERS, Switch};
pub(super) use switch::{driver_switch, driver_variable, layer_switch};

use crate::child::{Ending, Finished};
use crate::crash::{
    Argument, Crash, Exception, Frame, Instruction, Preloaded, ShortFile, Unsupervised, callee, sanitizer,
};
use crate::events::{Event, Record};
use crate::names;
use crate::system_calls;
use between::{Beside, Hidden};
use circumstance::Circumstance;
use foreign::Foreign;
use heap::Heap;
use lacking::Lacking;
use parts::{Owner, Part, Parts};
use passed::{Passed, Rejected};
use reasons::Stack;
use serde::Serialize;
use std::path::Path;
use suspect::Unclear;
use unlisted::{at_exit, being_opened, brought, late_runtime, of_generated_code};

/// Upper bound on the number of functions of a stack in the JSON report.
const MOST_FRAMES: usize = 32;

/// Kind of the culprit, which is the part of a process that caused a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Who {
    Driver,
    Layer,
    Program,
    /// Another library, which the dynamic linker added to the process, or which no driver, layer or program called.
    Library,
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
    /// Name of the culprit: a layer's name, the file of a driver, library or program; empty if the culprit is unknown.
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
    /// C++ exception with which the process ended itself.
    pub(crate) exception: Option<Exception>,
    /// Sanitizer that ended the process because it found an error.
    pub(crate) sanitizer: Option<&'static str>,
    /// Functions on the stack, innermost first.
    pub(crate) frames: Vec<Function>,
    /// Variable of the loader that disables the culprit, if there is one.
    pub(crate) switch: Option<Switch>,
    /// Variable that disables the layer, according to the layer's manifest.
    pub(crate) own_switch: Option<Switch>,
    /// Result of a second run without the culprit, if there was one.
    pub(crate) retried: Option<Retried>,
    /// The innermost library that the dynamic linker added to the process, among the libraries on the stack from the innermost function to the
    /// culprit's function.
    #[serde(skip)]
    preloaded: Option<Preloaded>,
    /// The library of the innermost function, if it belongs to no part of the process.
    #[serde(skip)]
    foreign: Option<Foreign>,
    /// The library of the innermost function, which the culprit called. The culprit is a driver or layer.
    #[serde(skip)]
    inner: Option<String>,
    /// Reason why the stack does not show the culprit.
    #[serde(skip)]
    unclear: Option<Unclear>,
    /// The driver and layers that may be at fault in place of the program.
    #[serde(skip)]
    suspects: Vec<Suspect>,
    #[serde(skip)]
    instruction: Instruction,
    /// Name or number of the system call that a filter did not permit.
    #[serde(skip)]
    system_call: Option<String>,
    /// The argument of the program's call on which the driver or layer in `name` of the argument crashed.
    #[serde(skip)]
    argument: Option<Passed>,
    /// `false` if the culprit is unknown, or a driver or layer to which the program, or another layer, may have passed an invalid handle or
    /// pointer.
    /// Also `false` after a crash at damaged memory or a truncated file, or at an address of unknown origin.
    pub(crate) is_certain: bool,
    /// Files that the process had mapped, if it crashed in the dynamic linker.
    #[serde(skip)]
    pub(crate) mapped: Vec<String>,
    /// Handle that the loader rejected, so that it ended the process.
    #[serde(skip)]
    rejected: Option<Rejected>,
    /// Library of a function that the program called after the library was closed.
    #[serde(skip)]
    closed: Option<String>,
    /// Function for which the loader ended the program, because neither the driver nor a layer offers it.
    #[serde(skip)]
    lacking: Option<Lacking>,
    /// `true` if the program is the culprit because the loader crashed in a call of the program.
    #[serde(skip)]
    is_in_loader: bool,
    /// If the culprit is not certain, the argument of the program's call that led to the fault, if one did.
    #[serde(skip)]
    doubt: Option<Option<Argument>>,
    /// A layer that called the driver and may be at fault in its place.
    #[serde(skip)]
    beside: Option<Beside>,
    /// `true` if the call of the program or loader reached the culprit, but none of the culprit's functions is on the stack.
    #[serde(skip)]
    is_hidden: bool,
    /// Name of the function of Vulkan that the program called.
    pub(crate) call: Option<String>,
    /// Runtime of a sanitizer that ended the process because it was not opened first.
    #[serde(skip)]
    late_runtime: Option<String>,
    /// Variable of the process that names the manifest of the culprit.
    #[serde(skip)]
    variable: Option<String>,
    /// `true` if functions of the culprit called each other until the stack was used up.
    #[serde(skip)]
    is_endless: bool,
    /// `true` if a function of a driver or layer used up the stack of its thread, without a recursion.
    #[serde(skip)]
    is_stack_too_small: bool,
    /// `true` if a driver crashed in a thread of its own, in which it may have done work of the program.
    #[serde(skip)]
    is_in_own_thread: bool,
    /// The function for dynamic memory in which the process crashed.
    #[serde(skip)]
    heap: Option<Heap>,
    /// The file that ends before the address of the fault, to which the process had mapped it.
    #[serde(skip)]
    short_file: Option<ShortFile>,
    /// Circumstance under which drivers and layers crash although they are correct.
    #[serde(skip)]
    circumstance: Option<Circumstance>,
    /// Files of several parts of the process whose functions called each other until the stack was used up.
    #[serde(skip)]
    circle: Vec<String>,
    /// `true` for a layer that the program asks for. Without it, the program gets no instance.
    #[serde(skip)]
    is_asked_for: bool,
    /// The driver or layer in which the process crashed, if a circumstance makes another part the culprit.
    #[serde(skip)]
    within: Option<String>,
}

/// Returns the crash that explains the end of a run. A crash of the started process takes precedence over crashes of its descendants.
pub(super) fn judged(finished: &Finished) -> Option<Crashed> {
    let records = &finished.records;
    let crashes = repeated::without(&finished.crashes, |process| is_traced(records, process));
    let own = || crashes.iter().find(|crash| crash.is_first);
    let other = || {
        let mut found = crashes.iter().filter(|crash| is_traced(records, crash.process));
        found.next_back().or_else(|| {
            let signal = match finished.ending {
                // A shell exits with a status above 128 if one of its commands crashed.
                Ending::Status(status) if status > names::OF_SHELL => return crashes.last(),
                Ending::Signal(signal) => signal,
                _ => return None,
            };
            crashes.iter().rev().find(|crash| crash.signal == signal)
        })
    };
    if let Some(&crash) = own().or_else(other) {
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

/// Returns `true` if a process wrote a trace.
fn is_traced(records: &[Record], process: u32) -> bool {
    records.iter().any(|record| record.process == process)
}

/// The part of a process in which it stood.
pub(super) struct Standing {
    /// Library of a driver or layer, or the file of the program.
    pub(super) library: String,
    /// `true` if the process was in no driver or layer.
    pub(super) is_of_program: bool,
    /// Name of the function that the program called, if its file has the name.
    pub(super) call: Option<String>,
    /// Files and addresses of the innermost functions on the stack.
    pub(super) stack: Vec<String>,
}

/// Returns the call of a driver or layer in which a process stood, or its own code. Returns `None` if the stack shows neither.
pub(super) fn standing(stack: &Crash, records: &[Record]) -> Option<Standing> {
    let parts = Parts::of(records, stack);
    let owners = parts.owners(stack);
    let place = owners
        .iter()
        .position(|owner| matches!(owner, Owner::Part(_) | Owner::Program))?;
    let library = match owners[place] {
        Owner::Part(part) => parts.parts[part].library.clone(),
        _ => stack.frames[place].file.clone()?,
    };
    let caller = owners[place..].iter().position(|owner| *owner == Owner::Program);
    let called = |at: usize| {
        let frame = &stack.frames[place + at];
        callee::name(Path::new(frame.file.as_deref()?), frame.offset)
    };
    let judged = judge(stack, records);
    Some(Standing {
        library,
        is_of_program: caller == Some(0),
        call: caller.filter(|at| *at > 0).and_then(called),
        stack: judged.stack().collect(),
    })
}

/// Returns the facts of a crash that need no stack.
fn without_culprit(crash: &Crash) -> Crashed {
    Crashed {
        process: Some(crash.process),
        executable: crash.executable.clone(),
        is_first: crash.is_first,
        signal: crash.signal,
        address: crash.address.map(hexadecimal),
        instruction: crash.instruction,
        system_call: crash.system_call.map(system_calls::name),
        sender: crash.sender,
        mapped: crash.mapped.clone(),
        exception: crash.exception.clone(),
        sanitizer: crash.sanitizer,
        ..Crashed::default()
    }
}

/// Finds the culprit of a crash, according to the functions on the stack.
fn judge(crash: &Crash, records: &[Record]) -> Crashed {
    let parts = Parts::of(records, crash);
    let owners = parts.owners(crash);
    let mut crashed = without_culprit(crash);
    let shown = crash.frames.iter().zip(&owners).take(MOST_FRAMES);
    crashed.frames = shown.map(|(frame, owner)| function(frame, owner, &parts)).collect();
    if crash.sender.is_some() {
        (crashed.culprit, crashed.is_certain) = (Who::Outside, true);
        return crashed;
    }
    if crash.is_from_thread {
        crashed.judge_unclear(crash, &owners, records);
        return crashed;
    }
    let recursion = recursion::of(crash, &owners);
    let place = recursion.or_else(|| owners.iter().position(decides));
    crashed.is_endless = recursion.is_some();
    crashed.late_runtime = late_runtime(crash, &owners, records);
    let unlisted = match &crashed.late_runtime {
        Some(_) => being_opened(records, &parts),
        None => of_generated_code(crash, &owners, records, &parts).or_else(|| at_exit(&owners)),
    };
    let hidden = Hidden::of(crash, &owners, &parts);
    if let Some(hidden) = hidden.filter(|_| unlisted.is_none() && recursion.is_none()) {
        crashed.judge_hidden(&hidden, (crash, &owners), (&parts, records));
        return crashed;
    }
    let is_listed = unlisted.is_none();
    let listed = || place.map(|place| &owners[place]).cloned();
    match unlisted.or_else(listed).or_else(|| brought(&owners)) {
        Some(Owner::Part(part)) => crashed.blame(&parts.parts[part], records),
        Some(Owner::Program) => {
            crashed.blame_program(crash, &owners, place, records);
            crashed.is_in_loader &= recursion.is_none();
        }
        _ => {}
    }
    let stack = Stack {
        crash,
        owners: &owners,
        place,
        is_listed,
        is_endless: recursion.is_some(),
    };
    crashed.judge_reasons(&stack, &parts, records);
    if crashed.argument.is_some() {
        crashed.is_certain &= crashed.unclear.is_none();
        return crashed;
    }
    crashed.complete(&stack, &parts);
    crashed
}

/// Returns `true` if the program asked for the layer `name`, according to the last chain in the trace.
fn is_asked_for(name: &str, records: &[Record]) -> bool {
    let mut layers = records.iter().rev().flat_map(|record| match &record.event {
        Event::Chain(chain) => &chain.layers[..],
        _ => &[],
    });
    let layer = layers.find(|layer| layer.name == name);
    layer.is_some_and(|layer| layer.enabled_by == "application")
}

/// Returns `true` for an owner that can be the culprit.
fn decides(owner: &Owner) -> bool {
    matches!(owner, Owner::Part(_) | Owner::Program)
}

/// Returns the part of the process that called the first of the functions with the owners `owners`.
fn caller(owners: &[Owner], crash: &Crash, parts: &Parts) -> Option<String> {
    let is_other = |owner: &&Owner| Some(*owner) != owners.first() && decides(owner);
    owners.iter().find(is_other).map(|owner| match owner {
        Owner::Part(part) => parts.parts[*part].name.clone(),
        _ => crash.executable.clone().unwrap_or_default(),
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
    /// Records the program as the culprit. `place` is the index of its function on the stack.
    fn blame_program(&mut self, crash: &Crash, owners: &[Owner], place: Option<usize>, records: &[Record]) {
        self.culprit = Who::Program;
        self.name = crash.executable.clone().unwrap_or_default();
        self.library = place.and_then(|place| crash.frames[place].file.clone());
        self.rejected = Rejected::of(crash, owners, records);
        self.is_in_loader = passed::is_in_loader(owners);
    }

    /// Records a driver or layer as the culprit, with the variables that disable it.
    fn blame(&mut self, part: &Part, records: &[Record]) {
        self.culprit = if part.is_layer { Who::Layer } else { Who::Driver };
        self.name.clone_from(&part.name);
        self.library = Some(part.library.clone());
        self.is_asked_for = part.is_layer && is_asked_for(&part.name, records);
        if part.is_layer {
            self.switch = Some(Switch {
                variable: "VK_LOADER_LAYERS_DISABLE".into(),
                value: part.name.clone(),
            })
            .filter(|_| !self.is_asked_for);
            self.own_switch = part
                .manifest
                .as_deref()
                .and_then(|path| switch::own(Path::new(path), &part.name));
        } else {
            let records: Vec<&Record> = records.iter().collect();
            self.switch = driver_switch(&part.library, &records);
            self.variable = driver_variable(&part.library, &records).map(String::from);
        }
    }

    /// Returns `true` if the report says nothing about the culprit.
    pub(super) fn is_unknown(&self) -> bool {
        self.culprit == Who::Unknown && self.unclear.is_none() && self.circumstance.is_none()
    }

    /// Makes the culprit unknown if the code of `own` crashed, the file of this program, whose probe takes the place of a program. The last
    /// call in the trace then explains the crash, for example by a driver that closes the files of the process.
    fn forget_probe(&mut self, own: Option<&Path>) {
        let is_own = |file: &Option<String>| file.as_deref().map(Path::new) == own;
        if self.culprit == Who::Program && is_own(&self.executable) && is_own(&self.library) {
            (self.culprit, self.library, self.is_certain) = (Who::Unknown, None, false);
            (self.unclear, self.foreign) = (None, None);
            self.name.clear();
        }
    }
}

#[cfg(test)]
mod tests;
