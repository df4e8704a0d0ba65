//! Describes a crash of a driver or layer that may be the fault of the program.

use super::told::value_of;
use super::{Crashed, Who};
use crate::shell::word;

/// Remedy that shows whether a program passed an invalid argument.
pub(crate) const TO_TELL: &str =
    "To see whether the program passes something invalid: VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation PROGRAM";
/// Remedy for a thread whose stack is too small.
const OF_STACK: &str =
    "Give the thread a larger stack in the program (pthread_attr_setstacksize), or the first thread by ulimit -s.";
/// Another remedy for the same purpose.
const OR_RETRY: &str = ", or: vkloader explain --retry -- PROGRAM";
/// Remedy for a program that passes something invalid.
const IF_SO: &str = "If it does, correct the call in the program, or update the program";

impl Crashed {
    /// Returns the kind of the culprit, which is a driver or layer.
    fn kind(&self) -> &'static str {
        if self.culprit == Who::Layer { "layer" } else { "driver" }
    }

    /// Returns the sentences about a crash of a driver or layer. `how` has the signal and the place.
    pub(super) fn reason_of_part(&self, program: &str, how: &str) -> String {
        let (kind, name, call) = (self.kind(), &self.name, self.in_call());
        if !self.circle.is_empty() {
            return format!(
                "Functions of {} called each other without end and used up the stack{call}: {how}. One of these files is at fault.",
                self.circle.join(", ")
            );
        }
        if self.is_stack_too_small {
            return format!(
                "A thread used up its stack in the {kind} {name}{call}: {how}. Either the stack that the program gave the thread is too small, or the {kind} \
                 needs too much."
            );
        }
        if let Some(layer) = &self.beside {
            let or_program = if layer.is_changed {
                ""
            } else {
                ", or the program passed something invalid"
            };
            return format!(
                "The driver {name} crashed in a call of the layer {}{call}, and one of both is at fault{or_program}: {how}.",
                layer.name
            );
        }
        if self.doubt.is_none() && self.heap.is_none() {
            return format!("The {kind} {name} crashed {program}{call}: {how}.");
        }
        let program = match program.strip_prefix("the ") {
            Some(rest) => format!("The {rest}"),
            None => program.into(),
        };
        let comma = if call.is_empty() { "" } else { "," };
        format!(
            "{program} crashed in the {kind} {name}{comma}{call}: {how}.{}{}",
            self.hidden(),
            self.doubts()
        )
    }

    /// Returns a sentence about a culprit without functions on the stack, after a space.
    fn hidden(&self) -> String {
        if !self.is_hidden {
            return String::new();
        }
        let kind = self.kind();
        let more = if self.culprit == Who::Layer {
            ", or called a driver that did so"
        } else {
            ""
        };
        format!(" No function of the {kind} is on the stack, because its last step was a jump{more}.")
    }

    /// Returns a sentence with the parts of the process that may be at fault, after a space.
    fn doubts(&self) -> String {
        let Some(argument) = &self.doubt else {
            return String::new();
        };
        let call = self.call.as_deref().unwrap_or("a function of Vulkan");
        match argument {
            Some(argument) if argument.is_behind && argument.place > 0 => format!(
                " Either the program passed an invalid structure or handle as argument {} of {call}, from which the invalid address comes, or the {} is \
                 faulty.",
                argument.place + 1,
                self.kind()
            ),
            Some(argument) if !argument.is_behind => format!(
                " The program passed {} as argument {} of {call}, and is at fault unless that is valid.",
                value_of(argument),
                argument.place + 1
            ),
            _ if self.is_in_own_thread => format!(
                " It crashed in a thread of its own: either the {} is faulty, or the program gave it invalid work, for example with memory that it had freed.",
                self.kind()
            ),
            _ => format!(
                " Either the {} is faulty, or the program passed an invalid handle or pointer.",
                self.kind()
            ),
        }
    }

    /// Adds to the remedy `without` for a driver or layer how to tell whether the program is at fault.
    pub(super) fn advice_in_doubt(&self, without: String) -> String {
        if self.is_stack_too_small {
            return format!("{OF_STACK} If that does not help: {without}");
        }
        if let Some(layer) = &self.beside {
            let own = layer.own_switch.as_ref();
            let own = own.map_or(String::new(), |own| {
                format!(", or {}={} PROGRAM", own.variable, word(&own.value))
            });
            return format!(
                "Start the program without the layer: {}={} PROGRAM{own}. If it lives, update or remove {}. If it does not: {without}",
                layer.switch.variable,
                word(&layer.switch.value),
                layer.library
            );
        }
        match &self.doubt {
            None => without,
            Some(_) => format!("{TO_TELL}{OR_RETRY}. {IF_SO}. If it does not: {without}"),
        }
    }
}
