//! The loader that programs on this machine get, where that is another one than the library that is asked.

use crate::carried;
use crate::child::{self, Finished, Watched};
use crate::commands::Library;
use crate::events::Event;
use crate::probe::Seen;
use serde_json::Value;
use std::io;
use std::process::Command;

/// A run of the probe under the loader that programs get.
pub(crate) struct Other {
    pub(crate) finished: Finished,
    pub(crate) seen: Seen,
}

impl Library {
    /// Asks the library that this program carries from now on, unless the command line names one, or programs get one that writes a
    /// trace. Returns what programs get then. `compares` tells whether the probe is to do all that a program does.
    ///
    /// # Errors
    /// The system's.
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

/// Asks the program of 32 bits, where it is installed and this machine runs it. Returns its report.
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
        // A system without the dynamic linker of 32 bits has no programs that need an answer.
        Err(_) => Ok(None),
    }
}

/// The output of a process is kept, and nothing more is to be known of it.
const KEPT: Watched = Watched {
    keeps_output: true,
    linker: false,
    descriptor: false,
    is_program: false,
};
