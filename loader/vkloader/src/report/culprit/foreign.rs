//! Crashes in libraries that belong to no driver, layer or program, such as libraries that `LD_PRELOAD` adds to a process.

use super::parts::{Owner, Parts, is_common};
use super::{Crashed, Who};
use crate::crash::{Crash, Preloaded};
use crate::installed;
use crate::report::ended;
use std::path::Path;

/// The library in which a process crashed.
#[derive(Clone, Debug)]
pub(super) struct Foreign {
    pub(super) path: String,
    /// The driver, layer or program that called the library.
    pub(super) caller: Option<String>,
}

impl Crashed {
    /// Records the library of the innermost function on the stack, if it belongs to no part of the process. Such a library is the culprit if the
    /// dynamic linker added it to the process, or if no driver, layer or program called it.
    pub(super) fn judge_foreign(&mut self, crash: &Crash, owners: &[Owner], parts: &Parts) {
        let is_plain = crash.exception.is_none() && crash.sanitizer.is_none() && self.heap.is_none();
        let is_meant = is_plain && !self.is_endless && !self.is_filtered() && !self.is_terminated();
        let is_of_all = |file: &String| is_common(Path::new(file));
        let place = crash
            .frames
            .iter()
            .position(|frame| !frame.file.as_ref().is_some_and(is_of_all));
        let Some((place, file)) =
            place.and_then(|place| Some((place, crash.frames[place].file.clone().filter(|_| is_meant)?)))
        else {
            return;
        };
        let is_foreign = match &owners[place] {
            Owner::Common => true,
            Owner::Brought(by) => by.len() != 1,
            Owner::Program => !parts.is_of_program(&file),
            Owner::Part(_) | Owner::Loader => false,
        };
        if !is_foreign {
            return;
        }
        let added = crash.preloaded.iter().find(|one| one.path == file);
        let is_own = |at: usize| {
            crash.frames[at]
                .file
                .as_deref()
                .is_some_and(|file| parts.is_of_program(file))
        };
        let caller = (place + 1..owners.len()).find(|&at| match owners[at] {
            Owner::Part(_) => true,
            Owner::Program => is_own(at),
            _ => false,
        });
        let name = caller.map(|at| match owners[at] {
            Owner::Part(part) => parts.parts[part].name.clone(),
            _ => crash.executable.clone().unwrap_or_default(),
        });
        let is_called = added.is_none() && caller.is_some();
        if is_called && self.culprit != Who::Program {
            self.inner = Some(file);
            return;
        }
        self.foreign = Some(Foreign {
            path: file.clone(),
            caller: name,
        });
        if !is_called {
            self.blame_library(file, added.cloned());
        }
    }

    /// Makes the library `file` the culprit, which no variable of the loader disables.
    fn blame_library(&mut self, file: String, added: Option<Preloaded>) {
        self.culprit = Who::Library;
        (self.name, self.library) = (file.clone(), Some(file));
        (self.switch, self.own_switch, self.variable) = (None, None, None);
        (self.doubt, self.beside, self.rejected) = (None, None, None);
        self.preloaded = added;
    }

    /// Returns the sentences about a library that is the culprit.
    pub(super) fn reason_of_library(&self, program: &str, signal: &str, place: &str) -> String {
        let library = &self.name;
        let added = self.preloaded.as_ref();
        let added = added.map_or(String::new(), |added| {
            format!(", which {} adds to the program,", added.by)
        });
        let caller = self.foreign.as_ref().and_then(|foreign| foreign.caller.as_ref());
        let caller = caller.map_or(String::new(), |caller| {
            format!(" {caller} called it, and is at fault if it passed something invalid.")
        });
        format!("The library {library}{added} crashed {program}: {signal} {place}.{caller}")
    }

    /// Returns the sentences about a library that the program called.
    pub(super) fn reason_of_called_library(&self, signal: &str, place: &str) -> Option<String> {
        let Foreign { path, .. } = self.foreign.as_ref()?;
        Some(format!(
            "The program crashed in the library {path}, which it called: {signal} {place}. Either the library is faulty, or the program passed \
             something invalid to it."
        ))
    }

    /// Returns the fact about a library that the culprit called, and that may be at fault in its place.
    pub(super) fn fact_of_inner(&self) -> Option<String> {
        let library = self.inner.as_ref().filter(|_| self.within.is_none())?;
        let owner = installed::owner(library).map_or(String::new(), |owner| format!(" ({owner})"));
        Some(format!(
            "the innermost function is of {library}{owner}, which {} called, so that this library may be at fault too",
            self.name
        ))
    }

    /// Returns the variable that adds the library to the process.
    pub(super) fn added_by(&self) -> Option<String> {
        let added = self.preloaded.as_ref().filter(|added| !added.by.contains('/'));
        added.map(|added| added.by.into())
    }

    /// Returns the remedy for the library.
    pub(super) fn advice_for_library(&self) -> Option<String> {
        let Foreign { path, .. } = self.foreign.as_ref()?;
        if let Some(added) = &self.preloaded {
            let owner = installed::owner(path).map_or(String::new(), |owner| format!(" ({owner})"));
            return Some(format!("Take {path} out of {}, or update it{owner}.", added.by));
        }
        let update = ended::update(path);
        Some(match self.culprit {
            Who::Program => format!("{update} To see the call: gdb -ex run -ex bt --args PROGRAM"),
            _ => update,
        })
    }
}
