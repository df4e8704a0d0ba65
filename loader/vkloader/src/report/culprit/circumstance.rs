//! Circumstances under which correct drivers and layers crash. The program may have switched faults of numbers on, or a file system is full. The process
//! may be a copy of another one, it may be ending, or a check of the program may have ended it.

use super::suspect::{FIRST_OF_OBJECTS, created_with};
use super::{Crashed, Owner, Parts, Who, decides};
use crate::crash::Crash;
use crate::events::{Event, Record};
use std::time::Duration;

/// The circumstance that explains a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Circumstance {
    /// The process has faults of numbers with a fraction switched on.
    Fractions,
    /// The file system of this mapped file has no space left.
    Full(String),
    /// The process is a copy of a process that had started Vulkan.
    Forked,
    /// A driver or layer crashed in a thread of its own while the process was ending.
    Exiting,
    /// A function that the program had registered for its end called Vulkan.
    AtExit,
    /// The program ended itself while its first thread waited in this driver or layer for a number of seconds.
    Waiting(String, u64),
    /// A thread called a function of a library that was closed before. The driver of the process's last device, if it had one.
    Closed(Option<String>),
}

/// Shortest time after which programs believe that a card hangs.
const LONG: Duration = Duration::from_secs(4);
/// Remedy for a program that ends while drivers work.
const BEFORE_THE_END: &str = "Destroy the device and the instance in the program before it ends, not in a function for its end (atexit, a destructor of a global object), or update \
     the program.";

impl Circumstance {
    fn of(crashed: &Crashed, (crash, owners): (&Crash, &[Owner]), parts: &Parts, records: &[Record]) -> Option<Self> {
        if let Some(path) = crash.full.as_ref().filter(|_| crash.short_file.is_none()) {
            return Some(Self::Full(path.clone()));
        }
        let is_of_program = crashed.culprit == Who::Program && crashed.called_by.is_none();
        if is_of_program && is_on_purpose(crash) {
            return waiting(crash, parts);
        }
        let is_of_part = matches!(crashed.culprit, Who::Driver | Who::Layer);
        let is_of_memory = matches!(crash.signal, libc::SIGSEGV | libc::SIGBUS) && crash.sanitizer.is_none();
        if is_unlisted_jump(crash, owners) && is_of_memory && has_destroyed(crash.process, records) {
            return Some(Self::Closed(
                created_with(crash.process, records.iter()).map(String::from),
            ));
        }
        if !is_of_part || crash.short_file.is_some() || crashed.is_endless {
            return None;
        }
        if crash.is_of_fractions {
            return Some(Self::Fractions);
        }
        if crash.is_forked && is_copy(crash.process, records) {
            return Some(Self::Forked);
        }
        let is_called = |owner: &Owner| matches!(owner, Owner::Program | Owner::Loader);
        if let Some(exit) = crash.exit.filter(|_| is_of_memory) {
            let is_by_handler = owners[..exit].iter().any(is_called);
            return is_by_handler.then_some(Self::AtExit);
        }
        let is_alone = is_of_memory && !owners.iter().any(is_called);
        (crash.is_exiting && is_alone).then_some(Self::Exiting)
    }
}

/// Returns `true` for a crash by which a program may have ended itself: by SIGABRT, or by a trap.
fn is_on_purpose(crash: &Crash) -> bool {
    let is_plain = crash.exception.is_none() && crash.sanitizer.is_none();
    is_plain && matches!(crash.signal, libc::SIGABRT | libc::SIGTRAP | libc::SIGILL)
}

/// Returns the driver or layer in which the first thread waited for a long time.
fn waiting(crash: &Crash, parts: &Parts) -> Option<Circumstance> {
    let stand = crash.first_thread.as_ref().filter(|stand| stand.still >= LONG)?;
    let owners = parts.owners(&stand.stack);
    match owners.iter().find(|owner| decides(owner))? {
        Owner::Part(part) => Some(Circumstance::Waiting(
            parts.parts[*part].library.clone(),
            stand.still.as_secs(),
        )),
        _ => None,
    }
}

/// Returns `true` if code without a known file jumped to an address without code, and no driver, layer or program is on the stack.
fn is_unlisted_jump(crash: &Crash, owners: &[Owner]) -> bool {
    let is_jump = crash
        .frames
        .first()
        .is_some_and(|first| !first.is_mapped && first.file.is_none());
    let is_lost = crash.address == crash.frames.first().map(|first| first.offset);
    let is_far = crash.address.is_some_and(|address| address >= FIRST_OF_OBJECTS);
    let is_called = crash.frames.get(1).is_some_and(|caller| caller.file.is_some());
    is_jump && is_lost && is_far && is_called && !owners.iter().any(|owner| decides(owner) || *owner == Owner::Loader)
}

/// Returns `true` if a process destroyed an instance, so that the libraries of its drivers were closed.
fn has_destroyed(process: u32, records: &[Record]) -> bool {
    records.iter().any(|record| match &record.event {
        Event::End(step) => record.process == process && step.step == "call" && step.name == "vkDestroyInstance",
        _ => false,
    })
}

/// Returns `true` if another process created an instance, and the process `process` created none.
fn is_copy(process: u32, records: &[Record]) -> bool {
    let is_creation = |record: &&Record| match &record.event {
        Event::Begin(step) => step.step == "call" && step.name == "vkCreateInstance",
        _ => false,
    };
    let mut all = records.iter().filter(is_creation).peekable();
    all.peek().is_some() && all.all(|record| record.process != process)
}

impl Crashed {
    /// Records the circumstance that explains a crash, and withdraws a culprit that is not at fault then.
    pub(super) fn judge_circumstance(
        &mut self,
        (crash, owners): (&Crash, &[Owner]),
        parts: &Parts,
        records: &[Record],
    ) {
        let Some(found) = Circumstance::of(self, (crash, owners), parts, records) else {
            return;
        };
        match found {
            Circumstance::Fractions | Circumstance::Forked => {
                let (driver, call) = (std::mem::take(&mut self.name), self.call.take());
                self.blame_caller();
                (self.within, self.call) = (Some(driver), call);
            }
            Circumstance::Full(_) => {
                self.culprit = Who::Unknown;
                self.name.clear();
                (self.library, self.switch, self.own_switch, self.variable) = (None, None, None, None);
            }
            Circumstance::Exiting | Circumstance::AtExit | Circumstance::Closed(_) | Circumstance::Waiting(..) => {}
        }
        (self.doubt, self.beside, self.unclear) = (None, None, None);
        (self.heap, self.foreign, self.argument, self.rejected) = (None, None, None, None);
        self.suspects.clear();
        self.is_in_loader = false;
        self.circumstance = Some(found);
    }

    /// Returns the sentences about the circumstance. `how` has the signal and the place.
    pub(super) fn reason_of_circumstance(&self, program: &str, how: &str) -> Option<String> {
        let within = self.within.as_deref().unwrap_or(&self.name);
        let call = self.in_call();
        Some(match self.circumstance.as_ref()? {
            Circumstance::Fractions => format!(
                "Floating-point exceptions are switched on in {program}, so a usual calculation of {within} ended it{call}: {how}. Programs start with \
                 these exceptions off, and drivers rely on that."
            ),
            Circumstance::Full(path) => format!(
                "The file system of {path} is full, so {program} could not use the memory that is mapped to this file: {how}."
            ),
            Circumstance::Forked => format!(
                "A process used Vulkan as a copy (fork) of a process that had started Vulkan, and crashed in {within}{call}: {how}. Drivers work only in \
                 the process that started them."
            ),
            Circumstance::Exiting => format!(
                "{within} crashed in a thread of its own while {program} was ending: {how}. The program did not destroy its device and instance before, or \
                 the driver did not end its thread then."
            ),
            Circumstance::AtExit => format!(
                "A function that {program} runs at its end crashed in {within}{call}: {how}. At this time, the library may have ended its own work already."
            ),
            Circumstance::Waiting(library, seconds) => format!(
                "The code of {program} itself ended it: {how}. Its first thread had waited for {seconds} s in {library} then, so a check of the program may \
                 have found that the card or the driver hangs."
            ),
            Circumstance::Closed(driver) => {
                let whose = driver.as_ref().map_or_else(
                    || "a driver or layer".into(),
                    |driver| format!("a driver or layer, such as {driver}"),
                );
                format!(
                    "A thread called a function of a library that was closed before, most likely of {whose}, when the program destroyed its instance: {how}. \
                     Threads do so at their end, for example."
                )
            }
        })
    }

    /// Returns the remedy for the circumstance. `without` is the remedy that takes the culprit out, if there is one.
    pub(super) fn advice_for_circumstance(&self, without: Option<String>) -> Option<String> {
        let with = |first: &str| match &without {
            Some(without) => format!("{first} If that does not help: {without}"),
            None => first.into(),
        };
        Some(match self.circumstance.as_ref()? {
            Circumstance::Fractions => "Switch the exceptions off in the program before it calls Vulkan, or update the program: fedisableexcept(FE_ALL_EXCEPT) in C, SetExceptionMask in Free \
                 Pascal, no -ffpe-trap in Fortran."
                .into(),
            Circumstance::Full(path) => {
                let folder = path.rsplit_once('/').map_or("/", |(folder, _)| folder);
                let more = if folder == "/dev/shm" {
                    " In a container, enlarge it: docker run --shm-size=1g"
                } else {
                    ""
                };
                format!("Remove files there that nobody needs: df -h {folder} shows the space.{more}")
            }
            Circumstance::Forked => "Start Vulkan in the program only after the fork, or execute a program in the new process, or update the program. In Python: \
                 multiprocessing.set_start_method(\"spawn\")"
                .into(),
            Circumstance::Waiting(..) => "Read the last lines of the program. If they tell of a hang or a watchdog: look in dmesg for a hang or reset of the card (ring timeout, GPU HANG, \
                 Xid), and update the driver and the kernel. Otherwise examine the program in a debugger."
                .into(),
            Circumstance::Exiting | Circumstance::AtExit => with(BEFORE_THE_END),
            Circumstance::Closed(_) => with(
                "Let the program keep its instance until its threads that used Vulkan have ended, or update the program and the driver.",
            ),
        })
    }
}
