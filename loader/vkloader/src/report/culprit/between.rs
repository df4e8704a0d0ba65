//! Finds layers between a program and the driver that crashed, and drivers and layers in whose calls a process crashed although none of their
//! functions is on the stack.

use super::parts::{Owner, Part, Parts};
use super::passed::{self, Call, Fault, Passed, is_of_loader};
use super::suspect::Unclear;
use super::{Crashed, Switch, Who, switch};
use crate::crash::{Argument, Crash};
use crate::events::Record;
use crate::required::{self, Null};
use std::path::Path;

/// Largest distance in bytes of the address of a fault from the argument that led to it.
const NEAR: u64 = 0x10000;

/// A layer that may be at fault in place of the driver that it called.
#[derive(Clone, Debug)]
pub(super) struct Beside {
    pub(super) name: String,
    pub(super) library: String,
    pub(super) switch: Switch,
    /// Variable that disables the layer, according to the layer's manifest.
    pub(super) own_switch: Option<Switch>,
    /// `true` if the driver got another argument than the program passed.
    pub(super) is_changed: bool,
}

impl Beside {
    pub(super) fn of(layer: &Part, is_changed: bool) -> Self {
        Self {
            name: layer.name.clone(),
            library: layer.library.clone(),
            switch: Switch {
                variable: "VK_LOADER_LAYERS_DISABLE".into(),
                value: layer.name.clone(),
            },
            own_switch: layer
                .manifest
                .as_deref()
                .and_then(|path| switch::own(Path::new(path), &layer.name)),
            is_changed,
        }
    }
}

/// A call that reached a driver or layer that has no function on the stack. The last step of the function of the driver or layer was a jump to
/// the function that crashed, or to an invalid address.
pub(super) struct Hidden {
    /// Index of the function that made the call.
    pub(super) caller: usize,
    /// Index of the driver or layer.
    pub(super) part: usize,
}

impl Hidden {
    pub(super) fn of(crash: &Crash, owners: &[Owner], parts: &Parts) -> Option<Self> {
        let is_inner = |owner: &Owner| matches!(owner, Owner::Common | Owner::Brought(_));
        let caller = owners.iter().position(|owner| !is_inner(owner))?;
        let is_caller = caller > 0 && matches!(owners[caller], Owner::Program | Owner::Loader);
        let file = crash.reached.get(caller)?.as_deref().filter(|_| is_caller);
        match parts.owner(file) {
            Owner::Part(part) => Some(Self { caller, part }),
            _ => None,
        }
    }

    /// Returns the argument of the program's call of `name` that led to the address of the fault.
    fn argument(&self, crash: &Crash, owners: &[Owner], name: &str) -> Option<Argument> {
        let is_of_memory = matches!(crash.signal, libc::SIGSEGV | libc::SIGBUS);
        let is_jump = crash.frames.first().is_some_and(|first| !first.is_mapped);
        let is_meant = is_of_memory && !is_jump && owners[self.caller] == Owner::Program;
        let address = crash.address.filter(|_| is_meant)?;
        let passed = crash.passed.get(self.caller)?.iter().enumerate();
        let mut near = passed.filter_map(|(place, value)| {
            let value = (*value).filter(|value| *value <= address && address - *value < NEAR)?;
            let null = required::null(name, place)?;
            let is_used = null == Null::Invalid || null != Null::Valid && value != 0;
            is_used.then_some(Argument {
                place,
                value: Some(value),
                is_behind: false,
            })
        });
        near.next()
    }
}

/// Returns the index of a layer through which the program called the driver whose function has the index `place` on the stack. The layer may
/// have left the stack by a jump to the driver.
pub(super) fn layer(crash: &Crash, owners: &[Owner], parts: &Parts, place: usize) -> Option<usize> {
    let Owner::Part(driver) = owners[place] else {
        return None;
    };
    let is_layer = |part: &usize| *part != driver && parts.parts[*part].is_layer;
    let callers = owners.get(place + 1..)?;
    let program = callers.iter().position(|owner| *owner == Owner::Program)?;
    let layer_of = |owner: &Owner| match owner {
        Owner::Part(part) => Some(*part).filter(is_layer),
        _ => None,
    };
    let mut reached = callers[..=program].iter().enumerate().filter_map(|(index, _)| {
        let file = crash.reached.get(place + 1 + index)?.as_deref();
        layer_of(&parts.owner(file))
    });
    let on_stack = callers[..program].iter().find_map(layer_of);
    on_stack
        .or_else(|| reached.next())
        .filter(|_| !parts.parts[driver].is_layer)
}

/// Part of a process whose fault a crash of a driver is that a layer may have called.
pub(super) enum Judged {
    Fault(Fault),
    /// The layer passed this invalid argument.
    Layer(Argument),
    /// The driver or the layer is at fault, or the program as in the fault.
    Beside {
        fault: Fault,
        is_changed: bool,
    },
}

/// Decides whether the layer `layer` may be at fault in place of the driver or the program. `name` is the name of the function that the program
/// called.
pub(super) fn judged(
    fault: Fault,
    call: &Call,
    (crash, owners): (&Crash, &[Owner]),
    layer: usize,
    name: Option<&str>,
) -> Judged {
    let is_on_stack = owners[call.place..call.program].contains(&Owner::Part(layer));
    if let Some(own) = crash.own.filter(|own| *own > call.place && *own < call.program) {
        let owner = owners[own..].iter().find(|owner| matches!(owner, Owner::Part(_)));
        let argument = crash.arguments.get(own - 1).copied().flatten();
        if let Some(argument) = argument.filter(|_| owner == Some(&Owner::Part(layer))) {
            let called = crash.called.get(own).and_then(|name| name.as_deref()).or(name);
            let is_valid = called.and_then(|name| required::null(name, argument.place)) == Some(Null::Valid);
            let is_null = argument.value == Some(0) && !argument.is_behind;
            return match is_null && is_valid {
                true => Judged::Fault(Fault::Part),
                false if argument.is_behind => Judged::Beside {
                    fault: Fault::Either(None),
                    is_changed: true,
                },
                false => Judged::Layer(argument),
            };
        }
    }
    let is_same = |argument: &Argument| {
        call.passed(crash, owners, argument.place)
            .map(|passed| Some(passed) == argument.value)
    };
    match fault {
        Fault::Part => Judged::Fault(fault),
        Fault::Either(None) if is_of_loader(name) => Judged::Fault(fault),
        Fault::Program(argument) => match is_same(&argument) {
            Some(true) => Judged::Fault(fault),
            None if is_on_stack => Judged::Fault(fault),
            None => Judged::Beside {
                fault: Fault::Either(Some(argument)),
                is_changed: false,
            },
            Some(false) => Judged::Beside {
                fault: Fault::Either(None),
                is_changed: true,
            },
        },
        Fault::Either(argument) => match argument.as_ref().and_then(is_same) {
            Some(true) => Judged::Fault(fault),
            Some(false) => Judged::Beside {
                fault: Fault::Either(None),
                is_changed: true,
            },
            None => Judged::Beside {
                fault,
                is_changed: false,
            },
        },
    }
}

impl Crashed {
    /// Blames the driver or layer that a call reached. Blames the program if it passed the address of the fault.
    pub(super) fn judge_hidden(
        &mut self,
        hidden: &Hidden,
        (crash, owners): (&Crash, &[Owner]),
        (parts, records): (&Parts, &[Record]),
    ) {
        self.blame(&parts.parts[hidden.part], records);
        self.is_hidden = true;
        self.doubt = Some(None);
        let named = |index: usize| crash.called.get(index)?.clone();
        self.call = match owners[hidden.caller] {
            Owner::Program => named(hidden.caller),
            _ => passed::name(crash, owners, hidden.caller),
        };
        self.call = self.call.take().or_else(|| self.called_in_file());
        let name = self.call.as_deref().unwrap_or_default();
        if let Some(argument) = hidden.argument(crash, owners, name) {
            self.blame_for(argument);
        }
        self.judge_heap(crash, owners);
        self.judge_short_file(crash, parts, records);
        self.is_certain &= self.heap.is_none() && self.short_file.is_none();
    }

    /// Makes the program the culprit, because it passed an invalid argument to the driver or layer that is the culprit now.
    pub(super) fn blame_for(&mut self, argument: Argument) {
        let to = self.name.clone();
        self.blame_caller();
        let is_null = argument.value == Some(0) && !argument.is_behind;
        let is_handle = |call: &str| required::is_handle_of_driver(call, argument.place);
        if is_null && self.call.as_deref().is_some_and(is_handle) {
            self.unclear = Some(Unclear::Handle);
        }
        self.argument = Some(Passed { to, argument });
    }

    /// Makes a layer the culprit, because it passed an invalid argument to the driver that is the culprit now.
    pub(super) fn blame_layer_for(&mut self, argument: Argument, layer: &Part, records: &[Record]) {
        let to = self.name.clone();
        self.variable = None;
        self.blame(layer, records);
        self.argument = Some(Passed { to, argument });
        (self.is_certain, self.doubt) = (true, None);
    }

    /// Makes the layer that may be at fault the culprit, because the program lives without it. Without `layer`, the culprit is this layer already.
    pub(super) fn blame_beside(&mut self, layer: Option<Beside>) {
        if let Some(layer) = layer {
            self.culprit = Who::Layer;
            (self.name, self.library) = (layer.name, Some(layer.library));
            (self.switch, self.own_switch) = (Some(layer.switch), layer.own_switch);
            (self.variable, self.called_by) = (None, None);
        }
        (self.is_certain, self.doubt) = (true, None);
    }

    /// Returns the variable that disables the layer that may be at fault, in place of a driver.
    pub(crate) fn suspected_layer(&self) -> Option<&Switch> {
        let own = self
            .switch
            .as_ref()
            .filter(|_| self.culprit == Who::Layer && self.is_hidden);
        self.beside.as_ref().map(|layer| &layer.switch).or(own)
    }
}
