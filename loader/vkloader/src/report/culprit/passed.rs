//! Decides whether a program passed an invalid argument to the driver or layer that crashed.

use super::between::{self, Beside, Judged};
use super::parts::Parts;
use super::{Crashed, Owner};
use crate::crash::{Argument, Crash};
use crate::events::{Event, Record};
use crate::required::{self, Null};

/// An invalid argument that the program passed.
#[derive(Clone, Debug)]
pub(super) struct Passed {
    /// Name of the driver or layer that crashed on the argument.
    pub(super) to: String,
    pub(super) argument: Argument,
}

/// A handle that the loader rejected, so that it ended the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rejected {
    /// The loader's message.
    pub(super) message: String,
    /// Function of Vulkan and its invalid argument, if the message names them.
    pub(super) argument: Option<(String, String)>,
}

impl Rejected {
    /// Returns the last error of the loader in the trace of a process that the loader ended.
    pub(super) fn of(crash: &Crash, owners: &[Owner], records: &[Record]) -> Option<Self> {
        let is_ended = crash.signal == libc::SIGABRT && is_in_loader(owners);
        let own = records.iter().rev().filter(|record| record.process == crash.process);
        let mut errors = own.filter_map(|record| match &record.event {
            Event::Message(message) if message.is_error() => Some(message.text.trim()),
            _ => None,
        });
        let message = errors.next().filter(|_| is_ended)?;
        let named = message
            .split_once(": Invalid ")
            .filter(|(call, _)| call.starts_with("vk"));
        let named = named.and_then(|(call, rest)| Some((call.into(), rest.split_whitespace().next()?.into())));
        Some(Self {
            message: message.into(),
            argument: named,
        })
    }
}

impl Crashed {
    /// Names the call in which a process crashed, and blames the program if it passed the address of the crash. `place` is the function on the
    /// stack that decides about the culprit.
    pub(super) fn judge_call(
        &mut self,
        crash: &Crash,
        owners: &[Owner],
        place: Option<usize>,
        (parts, records): (&Parts, &[Record]),
    ) {
        let call = place.and_then(|place| Call::of(crash, owners, place));
        if let Some(name) = place.and_then(|place| name(crash, owners, place)) {
            self.call = Some(name);
        } else if call.is_some() || self.is_in_loader {
            self.call = self.called_in_file();
        }
        let Some(call) = call.filter(|_| self.library.is_some()) else {
            return;
        };
        let fault = call.fault(crash, self.call.as_deref());
        let layer = between::layer(crash, owners, parts, call.place);
        let judged = match layer {
            Some(layer) => between::judged(fault, &call, (crash, owners), layer, self.call.as_deref()),
            None => Judged::Fault(fault),
        };
        let fault = match (judged, layer) {
            (Judged::Layer(argument), Some(layer)) => {
                return self.blame_layer_for(argument, &parts.parts[layer], records);
            }
            (Judged::Beside { fault, is_changed }, Some(layer)) => {
                self.beside = Some(Beside::of(&parts.parts[layer], is_changed));
                fault
            }
            (Judged::Fault(fault), _) => fault,
            _ => return,
        };
        match fault {
            Fault::Program(argument) => self.blame_for(argument),
            Fault::Either(argument) => self.doubt = Some(argument),
            Fault::Part => {}
        }
    }
}

/// Returns `true` if the loader is innermost on the stack, except for common libraries.
pub(super) fn is_in_loader(owners: &[Owner]) -> bool {
    owners.iter().find(|owner| **owner != Owner::Common) == Some(&Owner::Loader)
}

/// Part of a process whose fault a crash of a driver or layer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The program passed this invalid argument.
    Program(Argument),
    /// The driver or layer crashed by itself.
    Part,
    /// Both are possible. The argument led to the invalid address, if one is known to have done so.
    Either(Option<Argument>),
}

/// Returns the name of the function of Vulkan that the program called, if the process had it. `place` is the index of the innermost function of a
/// driver, layer or the program.
pub(super) fn name(crash: &Crash, owners: &[Owner], place: usize) -> Option<String> {
    let program = place + owners[place..].iter().position(|owner| *owner == Owner::Program)?;
    let is_callee = |owner: &Owner| matches!(owner, Owner::Part(_) | Owner::Loader);
    let callee = owners[..program].iter().rposition(is_callee)?;
    let mut names = (callee + 1..=program).filter_map(|index| crash.called.get(index)?.clone());
    names.next_back()
}

/// A call of a program into a driver or layer, in which the process crashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Index of the innermost function of a driver or layer.
    pub(super) place: usize,
    /// Index of the outermost function of a driver or layer.
    outermost: usize,
    /// Index of the function of the program.
    pub(super) program: usize,
    /// `true` if only libraries through which interpreters make calls are between the two functions.
    is_direct: bool,
    /// `true` if code of a driver, layer or library inside the call contained the invalid address.
    is_own: bool,
}

/// Beginnings of the names of functions whose calls of drivers are the loader's own. For other functions, the loader passes on what it got.
const OF_LOADER: [&str; 4] = [
    "vkCreateInstance",
    "vkDestroyInstance",
    "vkEnumerate",
    "vkGetInstanceProcAddr",
];

/// Returns `true` if the loader makes the calls of drivers in the function `name` itself.
pub(super) fn is_of_loader(name: Option<&str>) -> bool {
    name.is_some_and(|name| OF_LOADER.iter().any(|own| name.starts_with(own)))
}

impl Call {
    /// Returns the call that led to the function at the index `place`, which belongs to a driver or layer. Returns `None` if the program is not on
    /// the stack, for example in a thread of a driver.
    pub(super) fn of(crash: &Crash, owners: &[Owner], place: usize) -> Option<Self> {
        let is_part = |owner: &Owner| matches!(owner, Owner::Part(_));
        is_part(owners.get(place)?).then_some(())?;
        let program = place + owners[place..].iter().position(|owner| *owner == Owner::Program)?;
        let outermost = place + owners[place..program].iter().rposition(is_part)?;
        let is_of_interpreter = |owner: &Owner| matches!(owner, Owner::Common | Owner::Brought(_));
        Some(Self {
            place,
            outermost,
            program,
            is_direct: owners[outermost + 1..program].iter().all(is_of_interpreter),
            is_own: crash.own.is_some_and(|own| own <= outermost),
        })
    }

    /// Returns the argument that the program passed and that led to the invalid address.
    fn argument(&self, crash: &Crash) -> Option<Argument> {
        let of = |index: usize| crash.arguments.get(index).copied().flatten();
        let argument = of(self.outermost)?;
        let of_program = of(self.program - 1);
        // The loader changes some arguments, so that only those that the program passed itself count.
        of_program.or((self.is_direct || argument.value != Some(0)).then_some(argument))
    }

    /// Returns the argument of the program's call that is the address of the fault.
    fn exact(&self, crash: &Crash) -> Option<Argument> {
        let address = crash.address.filter(|address| *address != 0)?;
        let passed = crash.passed.get(self.program)?;
        let place = passed.iter().position(|value| *value == Some(address))?;
        Some(Argument {
            place,
            value: Some(address),
            is_behind: false,
        })
    }

    /// Decides whose fault the crash is. `name` is the name of the function that the program called.
    pub(super) fn fault(&self, crash: &Crash, name: Option<&str>) -> Fault {
        let is_of_memory = matches!(crash.signal, libc::SIGSEGV | libc::SIGBUS);
        let is_of_use = is_of_memory || matches!(crash.signal, libc::SIGABRT | libc::SIGFPE);
        let is_plain = crash.exception.is_none() && crash.sanitizer.is_none();
        if crash.sanitizer.is_some() && (self.is_direct || name.is_some() && !is_of_loader(name)) {
            // The memory may be that of the program, which can be too small.
            return Fault::Either(None);
        }
        if self.is_own || !is_of_use || !is_plain {
            return Fault::Part;
        }
        let of_part = crash.arguments.get(self.outermost).copied().flatten();
        let null = of_part.filter(|argument| !argument.is_behind && argument.value == Some(0));
        if let (Some(argument), Some(name)) = (null, name)
            && required::null(name, argument.place) == Some(Null::Valid)
        {
            return Fault::Part;
        }
        let is_passed_on = self.is_direct || name.is_some() && !is_of_loader(name);
        let exact = || self.exact(crash).filter(|_| is_of_memory && is_passed_on);
        let Some(argument) = self.argument(crash).or_else(exact) else {
            let is_passed_on = is_of_memory && name.is_some() && !is_of_loader(name);
            return if self.is_direct || is_passed_on {
                Fault::Either(None)
            } else {
                Fault::Part
            };
        };
        match argument {
            Argument { is_behind: true, .. } => Fault::Either(Some(argument)),
            Argument { value: Some(1..), .. } => Fault::Program(argument),
            Argument { place, .. } => self.fault_of_null(crash, name, argument, place),
        }
    }

    fn fault_of_null(&self, crash: &Crash, name: Option<&str>, argument: Argument, place: usize) -> Fault {
        match name.and_then(|name| required::null(name, place)) {
            Some(Null::Invalid) => Fault::Program(argument),
            Some(Null::Valid) => Fault::Part,
            Some(Null::IfEmpty(count)) => match self.number(crash, count) {
                Some(0) => Fault::Part,
                _ => Fault::Program(argument),
            },
            // The first argument of the functions of drivers that programs call is a handle.
            None if place == 0 && self.is_direct => Fault::Program(argument),
            None if self.is_direct => Fault::Either(Some(argument)),
            None => Fault::Part,
        }
    }

    /// Returns the argument at `place` of the function that the program called, if the code of the program shows the argument.
    pub(super) fn passed(&self, crash: &Crash, owners: &[Owner], place: usize) -> Option<u64> {
        // Libraries through which interpreters make calls have other arguments.
        let is_called = matches!(owners[self.program - 1], Owner::Part(_) | Owner::Loader);
        *crash.passed.get(self.program).filter(|_| is_called)?.get(place)?
    }

    /// Returns the number that the program passed as the argument at `place`.
    fn number(&self, crash: &Crash, place: usize) -> Option<u32> {
        crash.passed.get(self.program)?.get(place)?.map(|number| number as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Owner = Owner::Part(0);
    const OTHER: Owner = Owner::Part(1);
    const PROGRAM: Owner = Owner::Program;

    fn argument(place: usize, value: u64) -> Option<Argument> {
        Some(Argument {
            place,
            value: Some(value),
            is_behind: false,
        })
    }

    fn behind(place: usize) -> Option<Argument> {
        Some(Argument {
            place,
            value: None,
            is_behind: true,
        })
    }

    /// Returns the fault of a crash. `name` is the name of the function that the program called.
    fn fault(owners: &[Owner], arguments: &[Option<Argument>], name: Option<&str>) -> Option<Fault> {
        let crash = Crash {
            signal: libc::SIGSEGV,
            arguments: arguments.to_vec(),
            passed: vec![vec![None, Some(0)]; owners.len()],
            ..Crash::default()
        };
        let call = Call::of(&crash, owners, 0)?;
        Some(call.fault(&crash, name))
    }

    fn of_program(argument: Option<Argument>) -> Option<Fault> {
        argument.map(Fault::Program)
    }

    #[test]
    fn an_argument_counts_if_it_was_the_programs() {
        let small = argument(1, 16);
        for (owners, arguments, expected) in [
            (&[PART, PROGRAM][..], &[small][..], of_program(small)),
            (&[PART, Owner::Loader, PROGRAM], &[small], of_program(small)),
            (&[PART, Owner::Brought(vec![0]), PROGRAM], &[small], of_program(small)),
            (
                &[PART, OTHER, PROGRAM],
                &[small, argument(1, 12)],
                of_program(argument(1, 12)),
            ),
            (&[PART, OTHER, PROGRAM], &[small], Some(Fault::Either(None))),
            (&[PART, PROGRAM], &[behind(2)], Some(Fault::Either(behind(2)))),
            (&[PART, PROGRAM], &[], Some(Fault::Either(None))),
            (&[PART, Owner::Loader, PROGRAM], &[], Some(Fault::Part)),
            // The driver started the thread.
            (&[PART, Owner::Common], &[small], None),
        ] {
            assert_eq!(fault(owners, arguments, None), expected, "{owners:?} {arguments:?}");
        }
    }

    #[test]
    fn a_null_counts_if_the_argument_is_never_null() {
        let direct = &[PART, PROGRAM][..];
        let through = &[PART, Owner::Loader, PROGRAM][..];
        let properties = Some("vkGetPhysicalDeviceProperties");
        let null = |place| argument(place, 0);
        for (owners, arguments, name, expected) in [
            (direct, &[null(1)][..], properties, of_program(null(1))),
            (direct, &[null(2)], Some("vkCreateBuffer"), Some(Fault::Part)),
            (direct, &[null(0)], None, of_program(null(0))),
            (direct, &[null(1)], None, Some(Fault::Either(null(1)))),
            // The second argument is the number of elements of the third one, and is 0.
            (direct, &[null(2)], Some("vkQueueSubmit"), Some(Fault::Part)),
            (direct, &[null(2)], Some("vkCmdExecuteCommands"), Some(Fault::Part)),
            (through, &[null(1), null(1)], properties, of_program(null(1))),
            // The loader made the call.
            (through, &[null(2)], Some("vkCreateDevice"), Some(Fault::Part)),
            (through, &[null(0)], Some("vkCreateInstance"), Some(Fault::Part)),
        ] {
            assert_eq!(
                fault(owners, arguments, name),
                expected,
                "{owners:?} {arguments:?} {name:?}"
            );
        }
    }

    #[test]
    fn the_last_error_of_the_loader_is_why_it_ended_the_program() {
        let line = |number: usize, text: &str| {
            let head = format!(r#"{{"time":{number},"process":7,"thread":"7","sequence":{number},"event":"message""#);
            format!(r#"{head},"kinds":[{{"kind":"ERROR"}}],"text":"{text}"}}"#)
        };
        let lines = [
            line(1, "no driver"),
            line(
                2,
                "vkDestroyInstance: Invalid instance [VUID-vkDestroyInstance-instance-parameter]",
            ),
        ];
        let records: Vec<Record> = lines
            .iter()
            .map(|line| serde_json::from_str(line).expect("a record"))
            .collect();
        let of = |signal, owners: &[Owner]| {
            let crash = Crash {
                process: 7,
                signal,
                ..Crash::default()
            };
            Rejected::of(&crash, owners, &records)
        };
        let found = of(libc::SIGABRT, &[Owner::Common, Owner::Loader, PROGRAM]).expect("a handle");
        assert_eq!(found.argument, Some(("vkDestroyInstance".into(), "instance".into())));
        assert_eq!(of(libc::SIGABRT, &[Owner::Common, PROGRAM]), None);
        assert_eq!(of(libc::SIGSEGV, &[Owner::Loader, PROGRAM]), None);
    }

    #[test]
    fn an_address_of_the_code_itself_is_not_of_the_program() {
        let crash = |own, signal| Crash {
            signal,
            own,
            ..Crash::default()
        };
        let call = |crash: &Crash| Call::of(crash, &[PART, PROGRAM], 0).map(|call| call.fault(crash, None));
        for (own, signal, expected) in [
            (Some(0), libc::SIGSEGV, Fault::Part),
            (None, libc::SIGSEGV, Fault::Either(None)),
            (None, libc::SIGABRT, Fault::Either(None)),
            (None, libc::SIGILL, Fault::Part),
        ] {
            assert_eq!(call(&crash(own, signal)), Some(expected), "{own:?} {signal}");
        }
    }
}
