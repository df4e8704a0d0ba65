//! Compares what a program asked for with the lists of the loader that programs use.

use super::{KEPT, Other};
use crate::child::{self, Finished};
use crate::commands::Library;
use crate::events::{Event, Record};
use crate::probe::{self, Seen};
use crate::requested::Requested;
use crate::variables::Variables;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Time limit for a process that only queries lists.
const ENOUGH: Duration = Duration::from_secs(10);

impl Other {
    /// Finds the layers and extensions that the user's program asked for, and that only the library of this program lists. Omits layers if the
    /// program listed layers, and extensions if it listed extensions. Also finds the version of the loader of programs. `finished` is the run of the
    /// program. Without a program, finds nothing.
    ///
    /// # Errors
    ///
    /// The probe cannot be run.
    pub(crate) fn compare_requests(
        &mut self,
        library: &Library,
        program: &[OsString],
        finished: &Finished,
    ) -> io::Result<()> {
        let mut all = Requested::of(&finished.records);
        if self.seen.library.is_none() || program.is_empty() {
            return Ok(());
        }
        let variables = Variables::of(finished);
        let lists = |loader: &Path| lists(library, loader, &variables);
        let Some(other) = lists(&self.asked)? else {
            return Ok(());
        };
        let is_listed = |seen: &Seen, name: &str| {
            let names = seen.extensions.iter().filter_map(|line| line.split_once(' '));
            seen.layers.iter().any(|layer| layer == name) || names.map(|(name, _)| name).any(|one| one == name)
        };
        // A program that reads a list may ask for a name only because the list of this loader has it.
        if calls(&finished.records, "vkEnumerateInstanceLayerProperties") {
            all.layers.clear();
        }
        if calls(&finished.records, "vkEnumerateInstanceExtensionProperties") {
            all.extensions.clear();
        }
        let all = all.layers.into_iter().chain(all.extensions);
        let mut lacking: Vec<String> = all.filter(|name| !is_listed(&other, name)).collect();
        if !lacking.is_empty() {
            // An extension of a layer that the program asks for is in neither list.
            let own = lists(&library.path())?.unwrap_or_default();
            lacking.retain(|name| is_listed(&own, name));
        }
        self.lacking = lacking;
        self.seen.version = other.version;
        Ok(())
    }
}

/// Returns `true` if the program called the function `name`.
fn calls(records: &[Record], name: &str) -> bool {
    let mut events = records.iter().map(|record| &record.event);
    events.any(|event| matches!(event, Event::Begin(step) if step.step == "call" && step.name == name))
}

/// Returns the lists of a loader in a process with the variables of a program; `None` if the process did not end by itself.
fn lists(library: &Library, loader: &Path, variables: &Variables) -> io::Result<Option<Seen>> {
    let mut command = Command::new(crate::itself::path()?);
    command.arg(probe::ARGUMENT).arg(loader).arg("--lists-only");
    variables.give_to(&mut command);
    let finished = child::run(command, library.limit().min(ENOUGH), KEPT)?;
    Ok(Seen::last(&finished.output).filter(|seen| seen.version.is_some()))
}
