//! The loader that programs on this machine use, if it is another file than the examined library.

use crate::carried;
use crate::child::{self, Finished, Watched};
use crate::commands::Library;
use crate::events::Event;
use crate::probe::Seen;
use serde_json::Value;
use std::io;
use std::process::Command;

/// A run of the probe under the loader that programs use.
pub(crate) struct Other {
    pub(crate) finished: Finished,
    pub(crate) seen: Seen,
}

impl Library {
    /// Selects the library that came with this program, unless the command line names a library or the programs' loader writes a trace. Returns the
    /// results under the programs' loader if another library was selected. `compares` makes the probe do everything that a program does.
    ///
    /// # Errors
    /// The probe cannot be run.
    pub(crate) fn use_carried(&mut self, compares: bool) -> io::Result<Option<Other>> {
        let (None, Some(own)) = (&self.library, carried::library()) else {
            return Ok(None);
        };
        let mut opening = self.probe()?;
        opening.arg("--open-only");
        let mut finished = child::run(opening, self.limit(), KEPT)?;
        let is_known = |finished: &Finished| {
            let mut events = finished.records.iter().map(|record| &record.event);
            events.any(|event| matches!(event, Event::Loaded(_)))
        };
        if is_known(&finished) {
            return Ok(None);
        }
        let opened = Seen::last(&finished.output).is_some_and(|seen| seen.not_opened.is_none());
        if compares && opened {
            finished = child::run(self.probe()?, self.limit(), KEPT)?;
        }
        let seen = Seen::last(&finished.output).unwrap_or_default();
        self.library = Some(own);
        self.is_carried = true;
        Ok(Some(Other { finished, seen }))
    }
}

/// Runs the 32-bit `vkloader`, if it is installed and this machine can run it. Returns its report.
///
/// # Errors
/// `Interrupted` if a signal asked this process to end.
pub(crate) fn report_of_32_bits(library: &Library) -> io::Result<Option<Value>> {
    let Some(program) = carried::program_of_32_bits() else {
        return Ok(None);
    };
    let mut command = Command::new(program);
    command.args(["explain", "--json"]);
    match child::run(command, library.limit(), KEPT) {
        Ok(finished) => Ok(serde_json::from_slice(&finished.output).ok()),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
        // A system without the 32-bit dynamic linker has no 32-bit programs.
        Err(_) => Ok(None),
    }
}

/// Options that keep the output of a process.
const KEPT: Watched = Watched {
    keeps_output: true,
    linker: false,
    descriptor: false,
    is_program: false,
};
