//! Crashes in the functions of the C library for dynamic memory. They crash after other code damaged the memory that they manage, so the stack
//! does not show the culprit.

use super::suspect::Unclear;
use super::{Crashed, Owner, Who, passed};
use crate::crash::{Crash, callee};
use std::path::Path;

/// Functions that return new memory. They have no pointer as an argument that could be invalid.
const NEW: [&str; 7] = [
    "malloc",
    "calloc",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
];
/// Functions that release memory.
const OLD: [&str; 3] = ["free", "cfree", "realloc"];

/// Functions that the compiler calls if a function overwrote its variables on the stack.
const OF_STACK: [&str; 2] = ["__stack_chk_fail", "__fortify_fail"];

/// Remedy for damaged memory.
pub(super) const TO_FIND: &str =
    "To find the code that damages the memory: valgrind PROGRAM, or build the program with -fsanitize=address.";

/// A function for dynamic memory in which a process crashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heap {
    name: String,
    /// `true` if only earlier damage explains the crash; `false` if the function may also have received an invalid pointer.
    is_damaged: bool,
}

impl Crashed {
    /// Records that a process crashed in a function for dynamic memory.
    pub(super) fn judge_heap(&mut self, crash: &Crash, owners: &[Owner]) {
        let is_plain = crash.exception.is_none() && crash.sanitizer.is_none() && !crash.is_stack_overflow;
        if !is_plain || !matches!(crash.signal, libc::SIGSEGV | libc::SIGBUS | libc::SIGABRT) {
            return;
        }
        let inner = owners.iter().take_while(|owner| **owner == Owner::Common).count();
        let names = crash.frames[..inner]
            .iter()
            .filter_map(|frame| callee::containing(Path::new(frame.file.as_deref()?), frame.offset));
        // The C library has each of these functions under two names.
        let names: Vec<String> = names
            .map(|name| name.trim_start_matches("__libc_").to_owned())
            .collect();
        if names.iter().any(|name| OF_STACK.contains(&name.as_str())) && self.culprit == Who::Program {
            self.unclear = Some(Unclear::Stack);
            return;
        }
        let found = names
            .into_iter()
            .find(|name| NEW.iter().chain(&OLD).any(|known| known == name));
        self.heap = found.map(|name| Heap {
            is_damaged: NEW.contains(&&*name) || passed::is_in_loader(owners),
            name,
        });
        self.is_in_loader &= self.heap.is_none();
    }

    /// Returns the sentence about a crash that only damaged memory explains.
    pub(super) fn reason_of_heap(&self, program: &str, signal: &str) -> Option<String> {
        let heap = self.heap.as_ref().filter(|heap| heap.is_damaged)?;
        let through = match self.culprit {
            Who::Driver | Who::Layer => self.through(),
            _ => String::new(),
        };
        Some(format!(
            "The dynamic memory of {program} was damaged before it crashed: {signal} in {}{}. The code that damaged it is not on the stack, and may be \
             that of the program, a driver or a layer.",
            heap.name, through
        ))
    }

    /// Returns one sentence with the culprit, the signal and the location of the crash. A second sentence says whether the dynamic memory may have
    /// been damaged before.
    pub(super) fn reason(&self) -> String {
        let sentence = self.sentence();
        match &self.heap {
            Some(heap) if !heap.is_damaged => format!(
                "{sentence} It crashed in {}: the pointer is invalid, or other code of the program, a driver or a layer damaged the dynamic memory before, \
                 and is the culprit.",
                heap.name
            ),
            _ => sentence,
        }
    }
}
