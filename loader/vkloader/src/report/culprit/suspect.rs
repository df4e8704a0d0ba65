//! Crashes that do not show whether the program, or a driver or layer that it used, is at fault. A second run without the driver or layer helps to
//! tell.

use super::heap::TO_FIND;
use super::switch::driver_switch;
use super::{Again, Crashed, Owner, Retried, Switch, Who};
use crate::crash::Crash;
use crate::events::{Event, Record, Step};
use crate::report::layers::{MESAS, WITHOUT};
use crate::report::{Dropped, Report, codes, ended};
use crate::shell::word;

/// Smallest address that is not the address of a member of an object at NULL.
pub(super) const FIRST_OF_OBJECTS: u64 = 0x10000;
/// Remedy that shows whether a driver or layer is at fault.
const TO_RETRY: &str =
    "To see whether the program lives without its driver or layers: vkloader explain --retry -- PROGRAM";

/// A driver, or several layers, that may be at fault in place of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suspect {
    /// The driver or the layers, as the subject of a sentence.
    name: String,
    /// Library of a driver.
    library: Option<String>,
    pub(crate) switch: Switch,
}

/// Reason why the stack does not show the culprit of a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unclear {
    /// Another thread of the process sent the signal.
    Sent,
    /// The loader crashed.
    InLoader,
    /// The program passed a handle that is NULL. A driver may have returned it.
    Handle,
    /// Variables on the stack of a function were overwritten.
    Stack,
    /// The program used an invalid address of unknown origin.
    Pointer,
    /// A function for dynamic memory crashed.
    Heap,
}

/// Returns the library of the driver with which a process created its last device.
pub(crate) fn created_with<'a>(process: u32, records: impl DoubleEndedIterator<Item = &'a Record>) -> Option<&'a str> {
    let is_created = |step: &Step| step.step == "driver" && step.name == "vkCreateDevice" && step.result == Some(0);
    let mut own = records.rev().filter(|record| record.process == process);
    own.find_map(|record| match &record.event {
        Event::End(step) if is_created(step) => step.library.as_deref(),
        _ => None,
    })
}

/// Returns `true` if a driver made an instance for a process.
fn has_driver(process: u32, records: &[Record]) -> bool {
    records.iter().any(|record| match &record.event {
        Event::Driver(driver) => record.process == process && driver.result == 0,
        _ => false,
    })
}

impl Suspect {
    /// Returns the layers that a process used and that a variable can disable, and the driver with which it created a device.
    pub(super) fn of(crash: &Crash, records: &[Record]) -> Vec<Self> {
        let own = || records.iter().filter(|record| record.process == crash.process);
        let chain = own().rev().find_map(|record| match &record.event {
            Event::Chain(chain) if chain.call == "vkCreateInstance" => Some(chain),
            _ => None,
        });
        let layers = chain.map_or(&[][..], |chain| &chain.layers);
        let is_meant = |name: &str, by: &str| name != MESAS && by != "application";
        let layers = layers.iter().filter(|layer| is_meant(&layer.name, &layer.enabled_by));
        let layers: Vec<&str> = layers.map(|layer| layer.name.as_str()).collect();
        let kind = if layers.len() == 1 { "layer" } else { "layers" };
        let of_layers = (!layers.is_empty()).then(|| Self {
            name: format!("the {kind} {}", layers.join(", ")),
            library: None,
            switch: Switch {
                variable: WITHOUT.into(),
                value: layers.join(","),
            },
        });
        let driver = created_with(crash.process, records.iter());
        let all: Vec<&Record> = own().collect();
        let of_driver = driver.and_then(|library| {
            Some(Self {
                name: format!("the driver {library}"),
                library: Some(library.into()),
                switch: driver_switch(library, &all)?,
            })
        });
        of_layers.into_iter().chain(of_driver).collect()
    }

    /// Returns the words that start a program without the driver or layers.
    fn setting(&self) -> String {
        format!("{}={} PROGRAM", self.switch.variable, word(&self.switch.value))
    }
}

impl Crashed {
    /// Makes the culprit unknown if the loader crashed in a call of a driver or layer.
    pub(super) fn judge_in_loader(&mut self, owners: &[Owner]) {
        let is_of_part = matches!(self.culprit, Who::Driver | Who::Layer);
        if !is_of_part || self.is_endless || !super::passed::is_in_loader(owners) {
            return;
        }
        self.unclear = Some(Unclear::InLoader);
        self.culprit = Who::Unknown;
        self.name.clear();
        (self.library, self.switch, self.own_switch, self.variable) = (None, None, None, None);
    }

    /// Doubts the driver that crashed in a thread of its own, because it did work of the program there.
    pub(super) fn judge_own_thread(&mut self, crash: &Crash, owners: &[Owner], records: &[Record]) {
        let is_of_memory = matches!(crash.signal, libc::SIGSEGV | libc::SIGBUS) && crash.exception.is_none();
        let is_alone = !owners
            .iter()
            .any(|owner| matches!(owner, Owner::Program | Owner::Loader));
        let is_meant = self.culprit == Who::Driver && self.doubt.is_none() && crash.own.is_none();
        let has_device = || created_with(crash.process, records.iter()).is_some();
        if is_meant && is_of_memory && is_alone && crash.sanitizer.is_none() && has_device() {
            self.doubt = Some(None);
            self.is_in_own_thread = true;
        }
    }

    /// Records that the stack does not show the culprit, and the driver and layers that may be at fault in place of the program.
    pub(super) fn judge_unclear(&mut self, crash: &Crash, owners: &[Owner], records: &[Record]) {
        if !matches!(self.culprit, Who::Program | Who::Unknown) || self.foreign.is_some() || self.is_endless {
            return;
        }
        self.suspects = Suspect::of(crash, records);
        let unclear = self.unclear.or_else(|| self.why_unclear(crash, owners));
        // Without a driver or layer, only the program can be at fault.
        let has_part = match unclear {
            Some(Unclear::Stack) => !self.suspects.is_empty() || has_driver(crash.process, records),
            _ => !self.suspects.is_empty(),
        };
        let is_alone = !has_part && matches!(unclear, Some(Unclear::Stack | Unclear::Pointer));
        self.unclear = unclear.filter(|_| !is_alone);
        if self.unclear.is_none() {
            self.suspects.clear();
        }
    }

    fn why_unclear(&self, crash: &Crash, owners: &[Owner]) -> Option<Unclear> {
        if crash.is_from_thread {
            return Some(Unclear::Sent);
        }
        if self.heap.is_some() {
            return Some(Unclear::Heap);
        }
        if self.closed.is_some() || self.short_file.is_some() || self.rejected.is_some() || self.argument.is_some() {
            return None;
        }
        if self.is_in_loader {
            return Some(Unclear::InLoader);
        }
        let is_of_memory = matches!(crash.signal, libc::SIGSEGV | libc::SIGBUS) && !crash.is_raised;
        if crash.is_lost_return && is_of_memory {
            return Some(Unclear::Stack);
        }
        let is_meant = is_of_memory && crash.own.is_none() && !crash.is_stack_overflow && crash.exception.is_none();
        let inner = owners.iter().position(|owner| *owner != Owner::Common);
        let is_of_program = inner.is_some_and(|inner| owners[inner] == Owner::Program);
        let is_data = crash.frames.first().is_some_and(|first| first.is_mapped);
        // The processor reports no address if the address can belong to no memory.
        let is_far = crash.address.is_none_or(|address| address >= FIRST_OF_OBJECTS);
        (is_meant && is_of_program && is_data && is_far).then_some(Unclear::Pointer)
    }

    /// Returns the sentences about a crash whose culprit the stack does not show.
    pub(super) fn reason_of_unclear(&self, program: &str, signal: &str, place: &str) -> Option<String> {
        let or_others = "the program, a driver or a layer";
        Some(match self.unclear? {
            Unclear::Sent => format!(
                "Another thread of {program} sent {signal}, so the code on the stack is not its cause. The thread may belong to {or_others}."
            ),
            Unclear::InLoader => format!(
                "The loader crashed in {}: {signal} {place}. Either the program passed an invalid handle or pointer, or code of {or_others} damaged the \
                 memory before.",
                self.call.as_deref().unwrap_or("a call of Vulkan")
            ),
            Unclear::Stack => format!(
                "In a function of {program}, variables on the stack were overwritten: {signal} {place}. The function did so itself, or another function \
                 to which it passed their address, such as one of a driver or layer."
            ),
            Unclear::Pointer => format!(
                "{program} crashed in its own code, at an address of unknown origin: {signal} {place}. If a function of Vulkan returned the address, a driver \
                 or layer is at fault.",
                program = at_beginning(program)
            ),
            Unclear::Heap => format!("{} crashed: {signal} {place}.", at_beginning(program)),
            Unclear::Handle => return None,
        })
    }

    /// Returns the remedy for a crash whose culprit the stack does not show. `usual` is the remedy for a fault of the program.
    pub(super) fn advice_for_unclear(&self, usual: Option<String>) -> Option<String> {
        let unclear = self.unclear?;
        let first = match unclear {
            Unclear::Sent => "Read the last lines that the program and its drivers printed.".into(),
            Unclear::InLoader => format!("{}, which names what is invalid.", super::TO_TELL),
            Unclear::Handle => {
                "Check in the program that the call that makes the handle succeeded. If it did, the driver is at fault."
                    .into()
            }
            Unclear::Stack | Unclear::Heap => TO_FIND.into(),
            Unclear::Pointer => usual.unwrap_or_else(|| codes::PROGRAM_CRASHED.remedy.into()),
        };
        Some(if self.suspects.is_empty() {
            first
        } else {
            format!("{first} {TO_RETRY}")
        })
    }

    /// Returns `true` if the program may have used an object that a failed call did not make. The loader then rejected a handle, or the crash is at a
    /// handle that is NULL, or at an address near NULL in the loader.
    pub(crate) fn may_lack_object(&self) -> bool {
        let address = self.address.as_ref().and_then(|address| address.strip_prefix("0x"));
        let address = address.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        let is_near_null = address.is_some_and(|address| address < FIRST_OF_OBJECTS);
        let is_of_handle = matches!(self.unclear, Some(Unclear::InLoader | Unclear::Handle));
        let is_rejected = self
            .rejected
            .as_ref()
            .is_some_and(|rejected| rejected.argument.is_some());
        is_rejected || is_of_handle && is_near_null
    }

    /// Returns the drivers and layers without which a second run shows more.
    pub(crate) fn suspects(&self) -> &[Suspect] {
        &self.suspects
    }
}

impl Report {
    /// Adds the result of a run without a driver or layers that may be at fault in place of the program. Returns `true` if they most likely are.
    pub(crate) fn conclude_without(&mut self, suspect: &Suspect, again: Again) -> bool {
        let Some(crash) = &mut self.crash else { return false };
        let is_it = |found: &&mut Dropped| found.code == codes::PROGRAM_CRASHED.name;
        let Some(found) = self.dropped.iter_mut().find(is_it) else {
            return false;
        };
        crash.retried = Some(again.retried);
        found.advice = found.advice.replace(&format!(" {TO_RETRY}"), "");
        found.findings.insert(0, again.words_without(&suspect.name));
        // A program that ends with a failure may not have come to the place of the crash.
        if again.retried != Retried::Lives || !again.is_success {
            return false;
        }
        found.reason = format!(
            "{} The program lives without {}, which suggests that the fault is there.",
            found.reason, suspect.name
        );
        found.advice = match &suspect.library {
            Some(library) => ended::without(library, &suspect.switch.variable, &suspect.switch.value),
            None => format!("Update or remove it; {}{}", ended::UNTIL_THEN, suspect.setting()),
        };
        found.set = Some((suspect.switch.variable.clone(), suspect.switch.value.clone()));
        self.ended = Some(found.reason.clone());
        true
    }
}

/// Returns the words for a program as the beginning of a sentence.
fn at_beginning(program: &str) -> String {
    program
        .strip_prefix("the ")
        .map_or_else(|| program.into(), |rest| format!("The {rest}"))
}
