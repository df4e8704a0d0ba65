//! Calls of functions in libraries that were closed before, because the program destroyed its instance or closed the loader.

use super::suspect::FIRST_OF_OBJECTS;
use super::{Crashed, Owner};
use crate::crash::{Crash, Frame};
use crate::events::{Event, Record};

impl Crashed {
    /// Blames the program if it called a function of a driver or layer that was closed because the program destroyed an instance.
    pub(super) fn judge_closed(&mut self, crash: &Crash, owners: &[Owner], records: &[Record]) {
        // The file of a library that was opened only for a short time is not known.
        let is_closed = |first: &Frame| !first.is_mapped && (first.file.is_some() || first.offset >= FIRST_OF_OBJECTS);
        let is_closed = crash.frames.first().is_some_and(is_closed);
        let caller = owners.iter().skip(1).find(|owner| **owner != Owner::Common);
        let is_destroyed = records.iter().any(|record| match &record.event {
            Event::End(step) => {
                record.process == crash.process && step.step == "call" && step.name == "vkDestroyInstance"
            }
            _ => false,
        });
        let is_of_loader = owners.first() == Some(&Owner::Loader);
        if is_closed && (is_destroyed || is_of_loader) && caller == Some(&Owner::Program) {
            let file = crash.frames[0].file.clone();
            self.closed = Some(file.unwrap_or_else(|| "a driver or layer".into()));
            self.blame_caller();
            (self.argument, self.beside) = (None, None);
        }
    }

    /// Returns the sentence about the call of a closed library.
    pub(super) fn reason_of_closed(&self, signal: &str) -> Option<String> {
        let closed = self.closed.as_ref()?;
        let call = self.call.as_deref().unwrap_or("a function");
        Some(if self.is_in_loader {
            format!("The program called {call} of the loader {closed} after it had closed that library: {signal}.")
        } else {
            format!(
                "The program most likely called {call} of {closed} after it had destroyed its instance, which closed that library: {signal}."
            )
        })
    }
}
