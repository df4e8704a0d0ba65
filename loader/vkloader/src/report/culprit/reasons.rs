//! Reasons that make a culprit more or less likely, after the stack of a crash showed the first suspect.

use super::{Crashed, Owner, Parts, Who, caller, passed, recursion, sanitizer};
use crate::crash::Crash;
use crate::events::Record;

/// The stack of a crash, and what was read from it.
pub(super) struct Stack<'a> {
    pub(super) crash: &'a Crash,
    /// Owners of the functions on the stack, innermost first.
    pub(super) owners: &'a [Owner],
    /// Index of the function that decides; `None` if no function does.
    pub(super) place: Option<usize>,
    /// `true` if the suspect is on the stack.
    pub(super) is_listed: bool,
    /// `true` for an endless recursion.
    pub(super) is_endless: bool,
}

impl Crashed {
    /// Judges the call in which a process crashed, its memory, and the parts of the process that may have caused the crash.
    pub(super) fn judge_reasons(&mut self, stack: &Stack<'_>, parts: &Parts, records: &[Record]) {
        let Stack {
            crash, owners, place, ..
        } = *stack;
        if stack.is_listed {
            self.judge_in_loader(owners);
        }
        if !stack.is_endless {
            self.judge_call(crash, owners, place, (parts, records));
        }
        let name = || passed::name(crash, owners, place?);
        self.call = self.call.take().or_else(name);
        self.judge_heap(crash, owners);
        self.judge_short_file(crash, parts, records);
        let is_of_part = matches!(self.culprit, Who::Driver | Who::Layer);
        self.circle = recursion::of_several(crash, owners);
        self.is_stack_too_small = is_of_part && crash.is_stack_overflow && !stack.is_endless && self.circle.is_empty();
        if stack.is_listed && !stack.is_endless {
            self.judge_own_thread(crash, owners, records);
        }
        self.judge_lacking(crash, parts, records);
        self.judge_closed(crash, owners, records);
        self.judge_foreign(crash, owners, parts);
        self.judge_unclear(crash, owners, records);
        self.judge_circumstance((crash, owners), parts, records);
    }

    /// Adds the preloaded library on the stack, the caller of the culprit, and whether the culprit is certain.
    pub(super) fn complete(&mut self, stack: &Stack<'_>, parts: &Parts) {
        let Stack {
            crash, owners, place, ..
        } = *stack;
        let inner = place.map_or(&crash.frames[..], |place| &crash.frames[..=place]);
        if self.is_filtered() {
            // Without the driver or layer, another part of the process may make the same call.
            (self.switch, self.own_switch) = (None, None);
        }
        let mut inner = inner.iter().filter_map(|frame| frame.file.clone());
        // The runtime of a sanitizer is innermost because it found an error in other code.
        let added = |file: &str| {
            let mut all = crash.preloaded.iter();
            all.find(|one| one.path == file && sanitizer(file).is_none())
        };
        let preloaded = inner.find_map(|file| added(&file).cloned());
        self.preloaded = self.preloaded.take().or(preloaded);
        let callers = place.map_or(&[][..], |place| &owners[place..]);
        self.called_by = caller(callers, crash, parts);
        self.is_certain = self.has_no_doubt();
    }

    /// Returns `true` if the culprit is known, and nothing puts it in doubt.
    fn has_no_doubt(&self) -> bool {
        let is_guess = self.doubt.is_some()
            || self.is_stack_too_small
            || !self.circle.is_empty()
            || self.heap.is_some()
            || self.short_file.is_some();
        let is_called = self.inner.is_some() || self.foreign.as_ref().is_some_and(|foreign| foreign.caller.is_some());
        self.culprit != Who::Unknown
            && !is_guess
            && !is_called
            && self.unclear.is_none()
            && !self.is_lacking_in_doubt()
            && self.circumstance.is_none()
    }
}
