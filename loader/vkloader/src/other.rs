//! The loader that programs on this machine use, if it is not the examined library.

mod layers;
mod requests;

use crate::carried;
use crate::causes;
use crate::causes::elf::{Identity, locate};
use crate::child::{self, Ending, Finished, Watched};
use crate::commands::Library;
use crate::events::{Event, Record};
use crate::explain::tell_of_tries;
use crate::names;
use crate::probe::{self, Seen};
use crate::regular;
use crate::report::ActiveLayer;
use crate::untraced;
use serde_json::Value;
use std::cell::OnceCell;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use layers::Culprits;

/// A run of the probe with the loader that programs use.
pub(crate) struct Other {
    /// Name or path by which the probe opened the loader.
    pub(crate) asked: PathBuf,
    pub(crate) finished: Finished,
    pub(crate) seen: Seen,
    /// Manifests that make programs fail with the loader that programs use.
    pub(crate) refused: Vec<Refused>,
    /// Layers that make the loader that programs use crash.
    pub(crate) culprits: Option<Culprits>,
    /// Layers and extensions that the program asked for, and that the loader that programs use does not list.
    pub(crate) lacking: Vec<String>,
    /// Content of the file of the loader that programs use.
    bytes: OnceCell<Vec<u8>>,
}

/// A driver manifest that makes a loader fail, even without other manifests.
pub(crate) struct Refused {
    pub(crate) manifest: String,
    /// Variable that names the manifest, if a variable does.
    pub(crate) variable: Option<String>,
    /// The failure that occurs if this manifest is the only one.
    pub(crate) how: String,
}

/// Upper bound on the number of manifests that are tested one by one.
const MOST_TRIED: usize = 16;

/// Variables that replace the search for drivers. Older loaders only support the second variable.
const REPLACING: [&str; 2] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];

/// Variables that list manifests of drivers.
const NAMING: [&str; 3] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"];

/// Upper bound on the number of bytes of a loader's file that this program searches for words.
const MOST_BYTES: u64 = 64 << 20;

impl Other {
    /// Returns the file of the loader that programs use. A loader that ends each process while it is opened did not name its file.
    pub(crate) fn file(&self) -> Option<String> {
        let is_crash = matches!(self.finished.ending, Ending::Signal(_)) && self.seen.not_opened.is_none();
        let found = || {
            let path = locate(self.asked.to_str()?, Identity::of_this_process())?;
            let real = std::fs::canonicalize(&path).unwrap_or(path);
            Some(real.display().to_string())
        };
        self.seen.library.clone().or_else(|| found().filter(|_| is_crash))
    }

    /// Returns `true` if the loader that programs use may know a word, for example the name of a variable. The result is also `true` if the
    /// loader's file cannot be read.
    pub(crate) fn knows(&self, word: &str) -> bool {
        let bytes = self.bytes.get_or_init(|| {
            let file = self.file();
            file.and_then(|file| read(Path::new(&file))).unwrap_or_default()
        });
        bytes.is_empty() || bytes.windows(word.len()).any(|part| part == word.as_bytes())
    }

    /// If the loader that programs use fails, repeats the probe without layers, and then tests each driver manifest alone. Keeps the layers or
    /// manifests that cause the failure. `own` has the results with the library of this program, `records` has the trace of that library, and
    /// `layers` has the layers that are active in it.
    ///
    /// # Errors
    ///
    /// The probe cannot be run.
    pub(crate) fn find_cause(
        &mut self,
        library: &Library,
        (records, layers): (&[Record], &[ActiveLayer]),
        own: Option<&Seen>,
    ) -> io::Result<()> {
        self.try_layers(library, layers)?;
        if self.culprits.is_some() {
            return Ok(());
        }
        self.try_manifests(library, records, own)
    }

    /// Tests each driver manifest alone.
    fn try_manifests(&mut self, library: &Library, records: &[Record], own: Option<&Seen>) -> io::Result<()> {
        let is_crash = matches!(self.finished.ending, Ending::Signal(_));
        let works_here = own.is_some_and(|own| own.instance == Some(0));
        let is_refused = works_here && self.seen.instance.is_some_and(|code| code < 0);
        if !(is_crash || is_refused) {
            return Ok(());
        }
        let usual = probe::library(None);
        let Alone::Answered(without_drivers) = alone(library, &usual, "/nowhere/none.json")? else {
            // The loader also crashes without a driver, so no manifest is the reason.
            return Ok(());
        };
        for (manifest, variable) in manifests(records).into_iter().take(MOST_TRIED) {
            let how = match alone(library, &usual, manifest)? {
                Alone::Crashed(signal) => format!("{} ends a process with that loader", names::signal(signal)),
                // If the answer is the same as without drivers, the loader skipped the manifest, or fails with every manifest.
                Alone::Answered(code) if code == without_drivers && !causes::is_odd_manifest(manifest) => continue,
                // The library of this program skips an invalid manifest. Another loader may fail instead, with a result that differs from
                // the result without drivers.
                Alone::Answered(code)
                    if code < 0
                        && (code != without_drivers && causes::is_odd_manifest(manifest)
                            || works_alone(library, manifest)?) =>
                {
                    format!("vkCreateInstance gives {} under that loader", names::result(code))
                }
                _ => continue,
            };
            self.refused.push(Refused {
                manifest: manifest.into(),
                variable: variable.map(String::from),
                how: format!("{how} if this is the only manifest"),
            });
        }
        Ok(())
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let is_small = std::fs::metadata(path).is_ok_and(|status| status.len() <= MOST_BYTES);
    is_small.then(|| regular::read(path).ok()).flatten()
}

/// Result of the probe with a single manifest.
enum Alone {
    /// A signal ended the probe. The field is the number of the signal.
    Crashed(i32),
    /// `vkCreateInstance` returned this result.
    Answered(i32),
    Unknown,
}

/// Runs the probe with a loader and one manifest.
fn alone(library: &Library, loader: &Path, manifest: &str) -> io::Result<Alone> {
    tell_of_tries();
    let mut command = Command::new(crate::itself::path()?);
    command
        .arg(probe::ARGUMENT)
        .arg(loader)
        .env_remove("VK_ADD_DRIVER_FILES");
    for name in REPLACING {
        command.env(name, manifest);
    }
    let finished = child::run(command, library.limit(), KEPT)?;
    let seen = Seen::last(&finished.output).unwrap_or_default();
    Ok(match (finished.ending, seen.instance) {
        (Ending::Signal(signal), _) => Alone::Crashed(signal),
        (_, Some(code)) => Alone::Answered(code),
        _ => Alone::Unknown,
    })
}

/// Returns `true` if the library of this program can create an instance with only this manifest.
fn works_alone(library: &Library, manifest: &str) -> io::Result<bool> {
    Ok(matches!(alone(library, &library.path(), manifest)?, Alone::Answered(0)))
}

/// Returns the driver manifests in a trace. Each one has the variable that names it, if a variable does.
fn manifests(records: &[Record]) -> Vec<(&str, Option<&str>)> {
    let mut found: Vec<(&str, Option<&str>)> = Vec::new();
    for record in records {
        let Event::Decision(decision) = &record.event else {
            continue;
        };
        let is_new = found.iter().all(|(known, _)| *known != decision.name);
        if decision.subject == "driver-manifest" && decision.name.starts_with('/') && is_new {
            let variable = decision.source.variable.as_deref();
            found.push((&decision.name, variable.filter(|name| NAMING.contains(name))));
        }
    }
    found
}

impl Library {
    /// Selects the library that came with this program, unless the command line names a library or the programs' loader writes a trace. If
    /// this function selects a library, it returns the results with the programs' loader. `compares` makes the probe run all steps of a
    /// program. `program` is a program of the user, which may have a loader in its own folder.
    ///
    /// # Errors
    /// The probe cannot be run.
    pub(crate) fn use_carried(&mut self, compares: bool, program: Option<&OsStr>) -> io::Result<Option<Other>> {
        let (None, Some(own)) = (&self.library, carried::library()) else {
            return Ok(None);
        };
        let mut opening = Command::new(crate::itself::path()?);
        let of_program = program.and_then(untraced::own_loader);
        let loader = of_program.clone().unwrap_or_else(|| self.path());
        opening.arg(probe::ARGUMENT).arg(&loader).arg("--open-only");
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
        if let Some(loader) = of_program.filter(|_| opened) {
            let mut whole = Command::new(crate::itself::path()?);
            whole.arg(probe::ARGUMENT).arg(loader);
            let whole = child::run(whole, self.limit(), KEPT)?;
            let is_whole = Seen::last(&whole.output).is_some_and(|seen| seen.library.is_some());
            finished = if is_whole { whole } else { finished };
        }
        let seen = Seen::last(&finished.output).unwrap_or_default();
        self.library = Some(own);
        self.is_carried = true;
        Ok(Some(Other {
            asked: loader,
            finished,
            seen,
            refused: Vec::new(),
            culprits: None,
            lacking: Vec::new(),
            bytes: OnceCell::new(),
        }))
    }
}

/// Runs the 32-bit `vkloader`, if it is installed and this machine can run it. Returns its report.
///
/// # Errors
/// Returns `Interrupted` if a signal asked this process to end.
pub(crate) fn report_of_32_bits(library: &Library) -> io::Result<Option<Value>> {
    let Some(program) = carried::program_of_32_bits() else {
        return Ok(None);
    };
    let mut command = Command::new(program);
    command.args(["explain", "--json"]);
    match child::run(command, library.limit(), KEPT) {
        Ok(finished) => Ok(serde_json::from_slice(&finished.output).ok()),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
        // An error usually means that the system has no 32-bit dynamic linker, and therefore no 32-bit programs.
        Err(_) => Ok(None),
    }
}

/// Options for a run whose output is stored.
const KEPT: Watched = Watched {
    keeps_output: true,
    linker: false,
    descriptor: false,
    is_program: false,
    is_supervised: false,
};
