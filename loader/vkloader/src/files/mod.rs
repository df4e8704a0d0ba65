//! Finds the files that a sandbox must contain so that a driver works in it.
//!
//! The list combines three sources:
//!
//! - the libraries that other files need, according to the rules of the dynamic linker
//! - the files that a process opens, queries, maps and keeps open while it uses the driver ([`watch`], [`mod@work`])
//! - a short table of files that drivers are known to open ([`known`])

mod bwrap;
mod cdi;
mod choose;
mod entry;
mod gather;
mod hook;
mod known;
mod list;
mod observe;
mod tree;
mod watch;
mod work;

pub(crate) use hook::run as hook;
pub(crate) use work::run as work;

use crate::child::Finished;
use crate::events::Event;
use crate::paths::file_name;
use crate::report;
use choose::{Candidate, Found};
use clap::ValueEnum;
use entry::{Entry, Kind};
use gather::Gathered;
use observe::Observed;
use serde::Serialize;
use std::io;
use std::path::Path;
use std::time::Duration;
use tree::Placed;

/// Upper bound on the number of drivers that may crash the process that searches for drivers.
const MOST_DEADLY: usize = 8;

/// Formats in which the files can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One path on each line.
    List,
    /// All known facts about each file.
    Json,
    /// Arguments of bubblewrap, quoted for a shell.
    Bwrap,
    /// A specification for the Container Device Interface.
    Cdi,
}

/// Options of the search.
pub(crate) struct Wanted<'a> {
    pub(crate) library: &'a Path,
    /// Time limit of a process.
    pub(crate) limit: Duration,
    /// Pattern that selects drivers.
    pub(crate) driver: Option<&'a str>,
    /// `true` if the files of layers are included.
    pub(crate) layers: bool,
}

/// A driver, and the results of using it.
#[derive(Debug, Serialize)]
struct Driver {
    manifest: String,
    library: Option<String>,
    /// Names of the devices that worked.
    devices: Vec<String>,
    /// `true` if the observation covered every file that the driver opened.
    watched: bool,
    nodes: Vec<String>,
    #[serde(skip)]
    is_out_of_the_way: bool,
}

/// The results to print.
pub(crate) struct Files {
    drivers: Vec<Driver>,
    placed: Vec<Placed>,
    /// Problems and hints for the user.
    pub(crate) notes: Vec<String>,
}

impl Files {
    /// Finds the files of the wanted drivers. `look` runs a process that searches for drivers. The argument of `look` lists the file names
    /// of the manifests of drivers to exclude.
    ///
    /// # Errors
    /// The process cannot be run, or no loader that writes a trace was found.
    pub(crate) fn find(wanted: &Wanted<'_>, look: impl Fn(&str) -> io::Result<Finished>) -> io::Result<Self> {
        let mut notes = Vec::new();
        let found = survey(look, &mut notes)?;
        tell_what_is_left_out(&found, wanted, &mut notes);
        let meant = |candidate: &&Candidate| wanted.driver.is_none_or(|name| choose::means(name, candidate));
        let by_file: Vec<&Candidate> = found.candidates.iter().filter(meant).collect();
        // If the pattern matches no file name, it may match the name that the driver reports for its devices.
        let by_name = by_file.is_empty();
        let tried = if by_name {
            found.candidates.iter().collect()
        } else {
            by_file
        };
        let mut files = Self {
            drivers: Vec::new(),
            placed: Vec::new(),
            notes,
        };
        let mut entries: Vec<Entry> = Vec::new();
        for candidate in tried {
            let observed = observe::observe(wanted.library, wanted.limit, candidate, wanted.layers)?;
            if by_name && !observed.is_called(wanted.driver.unwrap_or_default()) {
                continue;
            }
            let mut gathered = gather::gather(candidate, &observed);
            let notes = files.take(candidate, &observed, &mut gathered, wanted.driver.is_some());
            if let Some(notes) = notes {
                entries.extend(gathered.entries());
                files.notes.extend(notes);
            }
        }
        let (placed, failed) = tree::place(&entries);
        files.placed = placed;
        let failed = failed
            .into_iter()
            .map(|(path, error)| format!("{}: {error}", path.display()));
        files.notes.extend(failed);
        if files.drivers.is_empty() {
            files.notes.push(match wanted.driver {
                Some(name) => format!("no driver is called {name}"),
                None => "no driver offers a device that works; vkloader explain tells why".into(),
            });
        }
        files.notes.dedup();
        Ok(files)
    }

    /// Adds a driver that was used to the results, and returns notes about the driver. Returns `None` if the driver is left out, because it
    /// has no working device and the user did not name it.
    fn take(
        &mut self,
        candidate: &Candidate,
        observed: &Observed,
        gathered: &mut Gathered,
        is_named: bool,
    ) -> Option<Vec<String>> {
        let manifest = &candidate.manifest;
        let mut notes = std::mem::take(&mut gathered.notes);
        let ended = report::how_ended(&observed.finished);
        let devices = observed.devices.iter();
        let works = devices.clone().filter(|device| device.failed.is_none());
        let driver = Driver {
            manifest: manifest.clone(),
            library: candidate.library.clone(),
            devices: works.map(|device| device.name.clone()).collect(),
            watched: observed.not_watched.is_none(),
            nodes: gathered.nodes().map(|node| node.display().to_string()).collect(),
            is_out_of_the_way: candidate.is_out_of_the_way,
        };
        notes.extend(ended.map(|words| format!("{manifest}: {words} What it opens after that is not known.")));
        notes.extend(devices.filter_map(|device| {
            let result = device.failed?;
            Some(format!("{manifest}: {} does not work, VkResult {result}", device.name))
        }));
        if driver.devices.is_empty() {
            notes.push(if is_named {
                format!("{manifest}: no device works, so the files that it opens for a device are not known")
            } else {
                format!("{manifest}: left out, because none of its devices works here")
            });
        }
        if !is_named && driver.devices.is_empty() {
            self.notes.extend(notes);
            return None;
        }
        notes.extend(observed.not_watched.as_ref().map(|words| {
            format!("{manifest}: could not be watched ({words}); files that it opens and closes at once may be missing")
        }));
        self.drivers.push(driver);
        Some(notes)
    }

    /// Returns `true` if at least one listed driver has a working device.
    pub(crate) fn are_usable(&self) -> bool {
        self.drivers.iter().any(|driver| !driver.devices.is_empty())
    }

    /// Returns the variables that the loader in a sandbox needs to find the listed drivers and layers.
    fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = Vec::new();
        if self.drivers.iter().any(|driver| driver.is_out_of_the_way) {
            variables.push(("VK_DRIVER_FILES", self.manifests()));
        }
        let folders = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
        let is_used = |folder: &str| {
            let libraries = self.placed.iter().filter(|placed| placed.kind == Kind::Library);
            !folder.is_empty() && libraries.clone().any(|placed| placed.path.starts_with(folder))
        };
        let used: Vec<&str> = folders.split([':', ';']).filter(|folder| is_used(folder)).collect();
        if !used.is_empty() {
            variables.push(("LD_LIBRARY_PATH", used.join(":")));
        }
        variables
    }

    /// Returns the paths of the manifests, in the form of a variable's value.
    fn manifests(&self) -> String {
        let manifests: Vec<&str> = self.drivers.iter().map(|driver| driver.manifest.as_str()).collect();
        manifests.join(":")
    }

    /// Returns the text in a format, without the last newline. Returns `None` if no driver was found and the format is not JSON.
    ///
    /// # Errors
    /// The format cannot express a path.
    pub(crate) fn text(&self, format: Format) -> io::Result<Option<Vec<u8>>> {
        if self.drivers.is_empty() && format != Format::Json {
            return Ok(None);
        }
        match format {
            Format::List => Ok(list::paths(self)),
            Format::Json => list::json(self),
            Format::Bwrap => Ok(bwrap::arguments(self)),
            Format::Cdi => cdi::specification(self),
        }
        .map(Some)
    }
}

/// Returns the installed drivers. If a driver crashes the process, repeats the search without this driver, to find the other drivers too.
fn survey(look: impl Fn(&str) -> io::Result<Finished>, notes: &mut Vec<String>) -> io::Result<Found> {
    let mut without: Vec<String> = Vec::new();
    loop {
        let finished = look(&without.join(","))?;
        if !finished
            .records
            .iter()
            .any(|record| matches!(record.event, Event::Loaded(_)))
        {
            return Err(io::Error::other(
                "no Vulkan loader that writes a trace could be asked; see vkloader explain",
            ));
        }
        let mut found = choose::find(&finished.records);
        found
            .left_out
            .retain(|(path, _)| !without.iter().any(|name| name == file_name(path)));
        let ended = report::how_ended(&finished);
        let deadly = choose::deadly(&finished.records).filter(|_| ended.is_some());
        match deadly.map(|manifest| file_name(manifest).to_owned()) {
            Some(name) if without.len() < MOST_DEADLY && !without.contains(&name) => {
                let words = ended.unwrap_or_default();
                notes.push(format!(
                    "{}: left out, because it ends every process. {words}",
                    deadly.unwrap_or_default()
                ));
                without.push(name);
            }
            _ => return Ok(found),
        }
    }
}

/// Adds notes about drivers that the loader did not use, and about drivers without files. If there is a pattern, only adds notes about
/// matching drivers.
fn tell_what_is_left_out(found: &Found, wanted: &Wanted<'_>, notes: &mut Vec<String>) {
    for (path, why) in &found.left_out {
        let candidate = Candidate {
            manifest: path.clone(),
            library: None,
            is_out_of_the_way: false,
        };
        if wanted.driver.is_none_or(|name| choose::means(name, &candidate)) {
            notes.push(format!("{path}: left out by the loader: {why}"));
        }
    }
    for name in &found.of_a_service {
        notes.push(format!(
            "{name} comes from the driver service: a sandbox that contains its socket needs no files of this driver"
        ));
    }
}

impl Observed {
    /// Returns `true` if a device reports `name` as the name of its driver.
    fn is_called(&self, name: &str) -> bool {
        let drivers = self.devices.iter().filter_map(|device| device.driver.as_deref());
        drivers.into_iter().any(|driver| crate::show::matches(name, driver))
    }
}
