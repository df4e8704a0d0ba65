//! Everything that a sandbox must see for a driver to work in it.
//!
//! Three sources are put together: what libraries need, by the rules of the dynamic linker; what a process that uses the driver opens,
//! asks for, maps and holds ([`watch`], [`mod@work`]); and a short table of what drivers are known to open ([`known`]).

mod bwrap;
mod cdi;
mod choose;
mod entry;
mod gather;
mod known;
mod list;
mod observe;
mod tree;
mod watch;
mod work;

pub(crate) use work::run as work;

use crate::child::Finished;
use crate::events::Event;
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

/// Drivers that may end the process that looks for them, before it is given up.
const MOST_DEADLY: usize = 8;

/// How the files are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A path on each line.
    List,
    /// All that is known of each file.
    Json,
    /// Arguments of bubblewrap, quoted for a shell.
    Bwrap,
    /// A specification for the Container Device Interface.
    Cdi,
}

/// What is wanted.
pub(crate) struct Wanted<'a> {
    /// The loader to ask.
    pub(crate) library: &'a Path,
    /// How long a process may take.
    pub(crate) limit: Duration,
    /// What the driver is called.
    pub(crate) driver: Option<&'a str>,
    /// Whether layers are wanted too.
    pub(crate) layers: bool,
}

/// A driver, and what became of it.
#[derive(Debug, Serialize)]
struct Driver {
    manifest: String,
    library: Option<String>,
    /// The devices that worked.
    devices: Vec<String>,
    /// Whether each file that it opened was seen.
    watched: bool,
    nodes: Vec<String>,
    #[serde(skip)]
    is_out_of_the_way: bool,
}

/// All there is to print.
pub(crate) struct Files {
    drivers: Vec<Driver>,
    placed: Vec<Placed>,
    /// What is to be known beside the list, for people.
    pub(crate) notes: Vec<String>,
}

impl Files {
    /// Finds out what the wanted drivers take. `look` runs a process that looks for drivers, without those of these file names.
    ///
    /// # Errors
    /// The system's, and where no loader can be asked.
    pub(crate) fn find(wanted: &Wanted<'_>, look: impl Fn(&str) -> io::Result<Finished>) -> io::Result<Self> {
        let mut notes = Vec::new();
        let found = survey(look, &mut notes)?;
        tell_what_is_left_out(&found, wanted, &mut notes);
        let meant = |candidate: &&Candidate| wanted.driver.is_none_or(|name| choose::means(name, candidate));
        let by_file: Vec<&Candidate> = found.candidates.iter().filter(meant).collect();
        // Else it may be what the driver calls itself, which only its devices tell.
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

    /// Adds a driver that was tried, if it is wanted; what there is to say about it.
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
            notes.push(match is_named {
                true => format!("{manifest}: no device works, so what it opens for one is not known"),
                false => format!("{manifest}: left out, since no device of it works here"),
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

    /// Whether a device of these drivers can be used.
    pub(crate) fn are_usable(&self) -> bool {
        self.drivers.iter().any(|driver| !driver.devices.is_empty())
    }

    /// Variables that a sandbox needs for the loader in it to find what is in the list.
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

    /// The manifests, as a list for a variable.
    fn manifests(&self) -> String {
        let manifests: Vec<&str> = self.drivers.iter().map(|driver| driver.manifest.as_str()).collect();
        manifests.join(":")
    }

    /// The text in a format, without the end of the last line. Where there is no driver, only a report has something to say.
    ///
    /// # Errors
    /// Where a format cannot say it.
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

/// The drivers that there are. One that ends the process is passed over, so that those behind it are found too.
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
            .retain(|(path, _)| !without.iter().any(|name| name == choose::file_name(path)));
        let ended = report::how_ended(&finished);
        let deadly = choose::deadly(&finished.records).filter(|_| ended.is_some());
        match deadly.map(|manifest| choose::file_name(manifest).to_owned()) {
            Some(name) if without.len() < MOST_DEADLY && !without.contains(&name) => {
                let words = ended.unwrap_or_default();
                notes.push(format!(
                    "{}: left out, since no process survives it. {words}",
                    deadly.unwrap_or_default()
                ));
                without.push(name);
            }
            _ => return Ok(found),
        }
    }
}

/// Says of what the loader did not take, where its name is asked for or nothing is, and of what has no files.
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
            "{name} comes from the driver service: a sandbox that sees its socket needs no file of it"
        ));
    }
}

impl Observed {
    /// Whether the driver calls itself so.
    fn is_called(&self, name: &str) -> bool {
        let drivers = self.devices.iter().filter_map(|device| device.driver.as_deref());
        drivers.into_iter().any(|driver| crate::show::matches(name, driver))
    }
}
