//! Describes a crash: the sentences of the finding, and the remedies.

use super::super::{Dropped, Fact, Facts, Kind, codes, ended};
use super::again::OF_ARGUMENT;
use super::heap::TO_FIND;
use super::suspect::Unclear;
use super::{Belongs, Crashed, Function, Passed, Who};
use crate::crash::{Argument, Instruction, Preloaded};
use crate::names;
use crate::paths::file_name;
use crate::shell::word;

/// Upper bound on the number of functions of a stack in text.
const MOST_TOLD: usize = 12;

/// Remedy for a program whose own C++ exception ended it.
const OF_EXCEPTION: &str = "The program itself raised this error and did not handle it: look for the message in its documentation, and at the failed calls \
    below. To see where it is raised: gdb -ex 'catch throw' -ex run --args PROGRAM";

/// Remedy for code without a file that has an instruction which the processor lacks.
const OF_MADE_CODE: &str = "The process made this code itself, and the processor lacks one of its instructions. In a virtual machine, give the guest the processor of the host (for \
    QEMU: -cpu host), because some functions of the processor may be hidden.";

/// Returns the value of an argument in words.
pub(super) fn value_of(argument: &Argument) -> String {
    match argument.value {
        Some(0) => "NULL".into(),
        Some(value) => format!("the invalid address {value:#x}"),
        None => "an invalid address".into(),
    }
}

impl Crashed {
    /// Returns the finding about the crash for the report.
    pub(in crate::report) fn finding(&self) -> Dropped {
        let mut found = codes::PROGRAM_CRASHED.about(match self.name.as_str() {
            "" => "the program",
            name => name,
        });
        found.reason = self.reason();
        found.findings = self.findings();
        if let Some(advice) = self.advice() {
            found.advice = advice;
        }
        found.variable.clone_from(&self.variable);
        found.variable = found.variable.or_else(|| self.added_by());
        found.file = self.library.clone().filter(|library| *library != found.name);
        let of_layer = self.beside.as_ref().map(|layer| &layer.switch);
        found.set = of_layer
            .or(self.switch.as_ref())
            .map(|switch| (switch.variable.clone(), switch.value.clone()));
        found
    }

    /// Returns one sentence with the culprit, the signal and the location of the crash.
    pub(super) fn sentence(&self) -> String {
        let signal = self.cause();
        let program = match (&self.executable, self.is_first) {
            (Some(executable), false) => format!("{executable}, which the program started,"),
            _ => "the program".into(),
        };
        let by = match &self.called_by {
            Some(caller) if self.culprit != Who::Program => format!("{}, called by {caller}", self.through()),
            _ => String::new(),
        };
        let place = self.place();
        // A comma or colon follows the program's name in most of the sentences below, so this code removes a comma at the end of the name.
        let before_sign = program.trim_end_matches(',');
        let before_call = if self.call.is_some() { &*program } else { before_sign };
        if let Some(reason) = self.reason_of_filter(&program, &signal, &place) {
            return reason;
        }
        if let Some(reason) = self.reason_of_circumstance(before_sign, &format!("{signal} {place}")) {
            return reason;
        }
        if let Some(reason) = self.reason_of_heap(before_sign, &signal) {
            return reason;
        }
        if let Some(reason) = self.reason_of_argument(&signal, &place) {
            return reason;
        }
        if let Some(reason) = self.reason_of_closed(&signal) {
            return reason;
        }
        if let Some(reason) = self.reason_of_lacking(before_sign, &signal) {
            return reason;
        }
        if let Some(reason) = self.reason_of_unclear(before_sign, &signal, &place) {
            return reason;
        }
        match self.culprit {
            Who::Library => self.reason_of_library(before_sign, &signal, &place),
            Who::Driver | Who::Layer => self.reason_of_part(before_call, &format!("{signal} {place}{by}")),
            Who::Program => self.reason_of_program(before_sign, &signal, &place),
            Who::Outside => format!(
                "Another process ({}) ended {program} by {signal}.",
                self.sender.unwrap_or_default()
            ),
            Who::Unknown => {
                format!("A crash ended {before_sign}: {signal} {place}. The culprit is unknown.")
            }
        }
    }

    /// Returns the sentence for a filter of system calls.
    fn reason_of_filter(&self, program: &str, signal: &str, place: &str) -> Option<String> {
        let who = match self.culprit {
            Who::Driver | Who::Layer => format!(" of {}", self.name),
            _ => String::new(),
        };
        let call = self.system_call.as_deref().unwrap_or("unknown");
        self.is_filtered().then(|| {
            format!("A filter for system calls (seccomp) ended {program} at the call {call}{who}: {signal} {place}.")
        })
    }

    /// Returns the sentence for an argument that is the reason of the crash.
    fn reason_of_argument(&self, signal: &str, place: &str) -> Option<String> {
        let Passed { to, argument } = self.argument.as_ref()?;
        let call = self.call.as_deref().unwrap_or("Vulkan");
        let what = value_of(argument);
        let by = match self.culprit {
            Who::Layer => format!("layer {}", self.name),
            _ => "program".into(),
        };
        let doubt = match self.unclear {
            Some(Unclear::Handle) => {
                " The program did not make the object, or the driver returned no handle for it although its call succeeded."
            }
            _ => "",
        };
        Some(format!(
            "The {by} passed {what} to {call} as argument {}, and {to} crashed on it: {signal} {place}.{doubt}",
            argument.place + 1
        ))
    }

    fn reason_of_program(&self, program: &str, signal: &str, place: &str) -> String {
        let rejected = self.rejected.as_ref();
        if let Some((call, argument)) = rejected.and_then(|rejected| rejected.argument.as_ref()) {
            return format!(
                "The program passed an invalid {argument} to {call}, and the loader ended {program} for that: {signal}."
            );
        }
        if let Some(rejected) = rejected {
            return format!("The loader ended {program}: {} {signal}.", rejected.message);
        }
        if let Some(reason) = self.reason_of_short_file(signal, place) {
            return reason;
        }
        if self.is_endless {
            return format!(
                "The functions of {program} itself called each other without end and used up the stack: {signal} {place}."
            );
        }
        if let Some(reason) = self.reason_of_called_library(signal, place) {
            return reason;
        }
        format!("No driver or layer crashed {program}, but its own code: {signal} {place}.")
    }

    /// Returns the name of the function that the program called, as the end of a sentence.
    pub(super) fn in_call(&self) -> String {
        let name = self.call.as_ref().map(|name| format!(" in {name}"));
        name.unwrap_or_default()
    }

    /// Returns the library of the culprit as the caller of the innermost function, if that function is of another library.
    pub(super) fn through(&self) -> String {
        let first = self.frames.first().and_then(|first| first.file.as_ref());
        let file = |path: &String| file_name(path).to_owned();
        let is_same = first.map(file) == self.library.as_ref().map(file);
        let is_other = first.is_some() && !is_same && self.sanitizer.is_none() && !self.is_terminated();
        let own = self.library.as_ref().filter(|_| is_other);
        own.map_or_else(String::new, |own| format!(", called by {own}"))
    }

    /// Returns `true` if a filter for system calls ended the process, because of a call that the filter does not permit.
    pub(super) fn is_filtered(&self) -> bool {
        self.signal == libc::SIGSYS && self.sender.is_none() && self.unsupervised.is_none()
    }

    /// Returns the remedy for a filter for system calls that does not permit a call.
    fn permit(&self) -> String {
        let call = self.system_call.as_deref().unwrap_or("the call");
        let named = self.system_call.as_deref().unwrap_or("NAME");
        format!(
            "Let the filter of the sandbox permit {call}: in a service of systemd, add SystemCallFilter={named} with systemctl edit NAME; in a container, add \
             it to the profile (docker run --security-opt seccomp=FILE, or to try: seccomp=unconfined)."
        )
    }

    /// Returns the signal that ended the process, or a description of an end on purpose.
    fn cause(&self) -> String {
        match (self.sanitizer, &self.exception) {
            (Some(sanitizer), _) if self.late_runtime.is_some() => {
                format!("it was built with {sanitizer}, whose runtime must be the first library of a program")
            }
            (Some(sanitizer), _) => format!("{sanitizer} ended the process because of an error"),
            (None, Some(exception)) if self.is_terminated() => format!("nothing caught the C++ exception {exception}"),
            (None, Some(exception)) => format!(
                "{} while it handled the C++ exception {exception}",
                names::signal(self.signal)
            ),
            (None, None) if self.is_terminated() => "nothing caught a C++ exception".into(),
            (None, None) => names::signal(self.signal),
        }
    }

    /// Returns `true` if the library of C++ ended the process by `std::terminate`, most often because nothing caught an exception.
    pub(super) fn is_terminated(&self) -> bool {
        const OF_CPP: [&str; 2] = ["libstdc++", "libc++"];
        const OF_C: [&str; 4] = ["libc.so", "libc-2", "libc.musl", "libpthread"];
        let files = self
            .frames
            .iter()
            .map(|frame| frame.file.as_deref().unwrap_or_default());
        let mut names = files.map(file_name);
        let caller = names.find(|name| !OF_C.iter().any(|library| name.starts_with(library)));
        let is_cpp = caller.is_some_and(|name| OF_CPP.iter().any(|library| name.starts_with(library)));
        self.signal == libc::SIGABRT && self.sanitizer.is_none() && is_cpp
    }

    /// Returns a description of the location of the innermost function. If the process ended itself on purpose, returns the location in the
    /// culprit.
    pub(super) fn place(&self) -> String {
        let is_of_culprit = |function: &&Function| match self.culprit {
            Who::Driver => function.of == Belongs::Driver,
            Who::Layer => function.of == Belongs::Layer,
            _ => function.of == Belongs::Program,
        };
        let is_on_purpose = self.sanitizer.is_some() || self.is_terminated();
        let of_culprit = self.frames.iter().find(is_of_culprit).filter(|_| is_on_purpose);
        let Some(first) = of_culprit.or(self.frames.first()) else {
            return "at an unknown place".into();
        };
        match &first.file {
            Some(file) if first.is_mapped => format!("in {file} at {}", first.offset),
            Some(file) => format!("in {file}, which was closed before"),
            None if first.is_mapped => format!("in code without a file at {}", first.offset),
            None => format!("at {}, where there is no code", first.offset),
        }
    }

    fn findings(&self) -> Facts {
        let mut findings = Facts::new();
        if let Some(why) = self.unsupervised {
            findings.push(format!("the culprit cannot be named: {}", why.words()));
        }
        let added = self.preloaded.as_ref().filter(|_| self.culprit != Who::Library);
        findings.extend(added.map(|added| {
            format!(
                "{} adds {} to the program, and its code is the innermost",
                added.by, added.path
            )
        }));
        findings.extend(
            self.rejected
                .as_ref()
                .map(|rejected| format!("the loader's message: {}", rejected.message)),
        );
        findings.extend(self.fact_of_short_file());
        findings.extend(
            self.fact_of_inner()
                .filter(|_| matches!(self.culprit, Who::Driver | Who::Layer)),
        );
        if self.is_endless {
            findings.push("the stack is used up, because the same functions call each other without end");
        }
        if self.is_trap() {
            findings.push("the instruction there is a trap, with which code ends its process on purpose");
        }
        findings.extend(
            self.address
                .as_ref()
                .map(|address| format!("the fault is about the address {address}")),
        );
        let stack: Vec<String> = self.stack().collect();
        if stack.len() > 1 {
            let words = format!("on the stack, innermost first: {}", stack.join(", "));
            findings.push(Fact::new(Kind::Stack, words));
        }
        findings
    }

    /// Returns the file and address of each of the innermost functions on the stack.
    pub(crate) fn stack(&self) -> impl Iterator<Item = String> {
        self.frames.iter().take(MOST_TOLD).map(|frame| match &frame.file {
            Some(file) => format!("{}+{}", file_name(file), frame.offset),
            None => frame.offset.clone(),
        })
    }

    /// Returns the name of the layer that crashed the process; `None` for another culprit.
    pub(crate) fn layer(&self) -> Option<&str> {
        (self.culprit == Who::Layer).then_some(self.name.as_str())
    }

    /// Returns `true` if the program itself crashed, and not a library of `LD_PRELOAD`.
    pub(crate) fn is_of_program(&self) -> bool {
        self.culprit == Who::Program && self.preloaded.is_none()
    }

    /// Returns `true` if an instruction of the program itself used an invalid address.
    pub(crate) fn is_own_fault(&self) -> bool {
        matches!(self.signal, libc::SIGSEGV | libc::SIGBUS) && self.is_of_program()
    }

    /// Returns `true` if the program itself ended the process by SIGABRT, for example through a C++ exception.
    pub(crate) fn is_abort_of_program(&self) -> bool {
        let is_shown =
            self.rejected.is_none() && self.heap.is_none() && self.unclear.is_none() && self.circumstance.is_none();
        self.signal == libc::SIGABRT && self.culprit == Who::Program && is_shown
    }

    /// Returns `true` if a driver jumped to code that is in no file, such as code that the driver compiled.
    pub(crate) fn is_in_made_code(&self) -> bool {
        let is_first = self.frames.first().is_some_and(|first| first.file.is_none());
        self.culprit == Who::Driver && is_first && matches!(self.signal, libc::SIGSEGV | libc::SIGBUS)
    }

    /// Returns the file and the address of the instruction of the program that called a NULL pointer. Returns `None` if the crash has another
    /// cause.
    pub(crate) fn call_of_null(&self) -> Option<(&str, u64)> {
        let [null, caller, ..] = &self.frames[..] else {
            return None;
        };
        let is_it = null.offset == "0x0" && !null.is_mapped && caller.of == Belongs::Program;
        let offset = caller.offset.strip_prefix("0x").filter(|_| is_it)?;
        Some((caller.file.as_deref()?, u64::from_str_radix(offset, 16).ok()?))
    }

    /// Returns the name of the signal.
    pub(crate) fn signal_name(&self) -> String {
        names::signal(self.signal)
    }

    /// Returns `true` if the code ended the process on purpose, with an instruction for this purpose.
    fn is_trap(&self) -> bool {
        self.instruction == Instruction::Trap && matches!(self.signal, libc::SIGILL | libc::SIGTRAP)
    }

    /// Returns the remedy for an end on purpose, or for a signal with one usual cause.
    fn advice_for_cause(&self) -> Option<String> {
        if let Some(runtime) = &self.late_runtime {
            return Some(ended::with_runtime(runtime));
        }
        if let Some(sanitizer) = self.sanitizer {
            let library = self.library.as_deref().unwrap_or("the code");
            if self.doubt.is_some() {
                return Some(format!(
                    "Read the report that {sanitizer} printed on standard error: it names the memory, and the code that allocated it. If the program allocated too \
                     little memory, or passed a wrong size, correct the program; otherwise, correct the error in {library}."
                ));
            }
            return Some(format!(
                "Correct the error in {library}: the report that {sanitizer} printed on standard error names the line of the code."
            ));
        }
        let is_passed = self.argument.is_some() && self.culprit == Who::Program;
        if self.closed.is_some() {
            return Some(OF_ARGUMENT.into());
        }
        if self.unclear.is_some() {
            return self.advice_for_unclear(self.advice_for_signal().map(String::from));
        }
        if is_passed || self.rejected.is_some() || self.is_in_loader {
            return Some(OF_ARGUMENT.into());
        }
        if let Some(advice) = self.advice_for_short_file() {
            return Some(advice);
        }
        if self.heap.is_some() {
            return Some(TO_FIND.into());
        }
        if self.culprit == Who::Program && (self.is_terminated() || self.exception.is_some()) {
            return Some(OF_EXCEPTION.into());
        }
        let is_made = self
            .frames
            .first()
            .is_some_and(|first| first.file.is_none() && first.is_mapped);
        if is_made && self.signal == libc::SIGILL && self.instruction == Instruction::Other {
            return Some(OF_MADE_CODE.into());
        }
        self.advice_for_signal().map(String::from)
    }

    /// Returns the remedy for a signal with one usual cause.
    fn advice_for_signal(&self) -> Option<&'static str> {
        match self.signal {
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
    pub(super) fn advice(&self) -> Option<String> {
        if self.is_filtered() {
            return Some(self.permit());
        }
        let without = self.without_culprit();
        if self.circumstance.is_some() {
            return self.advice_for_circumstance(without);
        }
        if self.sanitizer.is_some() && self.doubt.is_some() {
            return self.advice_for_cause();
        }
        let without = without.map(|without| self.advice_in_doubt(without));
        match (self.advice_for_cause(), without) {
            (Some(first), Some(without)) => Some(format!("{first} If that does not help: {without}")),
            (first, without) => without.or(first),
        }
    }

    /// Returns the end of the remedy for a layer that the program asks for.
    fn asked_for(&self) -> &'static str {
        if self.is_asked_for {
            " The program itself asks for the layer: until then, start the program without the option that does so."
        } else {
            ""
        }
    }

    /// Returns the remedy that removes a library from `LD_PRELOAD`, or that disables the culprit with a variable; `None` if neither is
    /// possible.
    fn without_culprit(&self) -> Option<String> {
        if let Some(advice) = self.advice_for_library() {
            return Some(advice);
        }
        if let Some(Preloaded { path, by }) = &self.preloaded {
            return Some(format!("Take {path} out of {by}, or update it."));
        }
        let library = self.library.as_deref().unwrap_or(&self.name);
        let Some(switch) = &self.switch else {
            let is_part = matches!(self.culprit, Who::Driver | Who::Layer);
            return is_part.then(|| ended::update(library) + self.asked_for());
        };
        let own = self.own_switch.as_ref();
        let own = own.map_or(String::new(), |own| {
            format!(", or {}={} PROGRAM", own.variable, word(&own.value))
        });
        let words = ended::without(library, &switch.variable, &switch.value) + &own;
        let variable = self.variable.as_deref();
        let away = variable.and_then(|variable| ended::lead_away(&words, library, variable));
        Some(away.unwrap_or(words))
    }
}
