//! The packages that some device needs, each with its instance: shared by all who name it (LSV-10), numbered once and for all (LSV-29).

use crate::package::{Class, Fault, Published};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How long an instance that no device needs is kept: the device may be back soon (LSV-56).
pub const KEPT: Duration = Duration::from_secs(10);
/// How long changes on disk are collected before packages are looked at again.
pub const COLLECT: Duration = Duration::from_millis(200);

/// A driver that can be handed out. `L` is its library.
#[derive(Debug)]
pub struct Driver<L> {
    /// Its manifest as clients see it.
    pub published: Published,
    /// Who can use it.
    pub class: Class,
    /// Its processor, as a number of the ELF specification.
    pub machine: u16,
    /// Where the library is in the package.
    pub file_path: String,
    /// Bytes of the library.
    pub size: u64,
    /// Hash of the library, in hexadecimal digits.
    pub sha256: String,
    /// What clients load.
    pub library: L,
}

/// How far an instance is (LSV-44).
#[derive(Debug)]
pub enum State<L> {
    /// Nothing was done yet.
    Uninitialized,
    /// `metadata.json` is read.
    Reading,
    /// The manifest is read.
    OpeningManifest,
    /// The library is read.
    OpeningLibrary,
    /// It can be handed out.
    Initialized(Rc<Driver<L>>),
    /// It cannot.
    Failed(Fault),
}

impl<L> State<L> {
    /// Its name for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Uninitialized => "uninitialized",
            Self::Reading => "reading from package",
            Self::OpeningManifest => "opening manifest",
            Self::OpeningLibrary => "opening VMO",
            Self::Initialized(_) => "initialized",
            Self::Failed(_) => "failed",
        }
    }

    fn is_loading(&self) -> bool {
        !matches!(self, Self::Initialized(_) | Self::Failed(_))
    }
}

/// An instance of a package.
#[derive(Debug)]
pub struct Instance<L> {
    /// Never used twice while the service runs.
    pub number: u64,
    /// How far it is.
    pub state: State<L>,
}

impl<L> Instance<L> {
    /// What can be handed out.
    pub fn driver(&self) -> Option<&Rc<Driver<L>>> {
        if let State::Initialized(driver) = &self.state {
            Some(driver)
        } else {
            None
        }
    }
}

/// What the core wants to have done by who reads files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// Read a package.
    Load {
        /// Its name.
        package: String,
    },
    /// Read it again if it changed since.
    Recheck {
        /// Its name.
        package: String,
    },
}

/// What became of a job.
#[derive(Debug)]
pub enum Outcome<L> {
    /// It was read. What depends on the number of the instance is made with the number.
    Loaded(Box<Loaded<L>>),
    /// It is none.
    Failed(Fault),
    /// It is as it was.
    Unchanged,
}

/// A package that was read, before it has a number.
#[derive(Debug)]
pub struct Loaded<L> {
    /// Its manifest.
    pub manifest: crate::package::Manifest,
    /// Who can use it.
    pub class: Class,
    /// Its processor.
    pub machine: u16,
    /// Where the library is in the package.
    pub file_path: String,
    /// Bytes of the library.
    pub size: u64,
    /// Hash of the library.
    pub sha256: String,
    /// What clients load.
    pub library: L,
}

impl<L> Loaded<L> {
    fn numbered(self, number: u64) -> Driver<L> {
        Driver {
            published: self.manifest.published(number),
            class: self.class,
            machine: self.machine,
            file_path: self.file_path,
            size: self.size,
            sha256: self.sha256,
            library: self.library,
        }
    }
}

/// A package that somebody needs or needed a moment ago.
#[derive(Debug)]
struct Entry<L> {
    instance: Instance<L>,
    /// A job for it is under way.
    is_busy: bool,
    /// Something changed on disk since the job was given out.
    is_stale: bool,
    /// Since when nobody needs it.
    unneeded: Option<Instant>,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Packages<L> {
    entries: BTreeMap<String, Entry<L>>,
    next_number: u64,
    jobs: Vec<Job>,
    /// When packages are looked at again.
    recheck_at: Option<Instant>,
}

impl<L> Default for Packages<L> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            next_number: 0,
            jobs: Vec::new(),
            recheck_at: None,
        }
    }
}

impl<L> Packages<L> {
    /// The instance of a package that is needed now; it is begun if there is none.
    pub(super) fn need(&mut self, package: &str) -> &Instance<L> {
        if !self.entries.contains_key(package) {
            self.begin(package);
        }
        let entry = self.entries.get_mut(package).expect("it is there or was begun");
        entry.unneeded = None;
        &entry.instance
    }

    fn begin(&mut self, package: &str) {
        let is_full = self.entries.len() >= wire::MOST_PACKAGES;
        let state = if is_full {
            State::Failed(Fault::TooMany(wire::MOST_PACKAGES))
        } else {
            self.jobs.push(Job::Load {
                package: package.to_owned(),
            });
            State::Uninitialized
        };
        let entry = Entry {
            instance: Instance {
                number: self.number(),
                state,
            },
            is_busy: !is_full,
            is_stale: false,
            unneeded: None,
        };
        self.entries.insert(package.to_owned(), entry);
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number - 1
    }

    fn drivers(&self) -> impl Iterator<Item = &Rc<Driver<L>>> {
        self.entries.values().filter_map(|entry| entry.instance.driver())
    }

    /// The driver with a key, whether it is published or not (LSV-3).
    pub(super) fn by_key(&self, key: &str) -> Option<&Rc<Driver<L>>> {
        self.drivers().find(|driver| driver.published.key == key)
    }

    /// Each package with its instance.
    pub(super) fn instances(&self) -> impl Iterator<Item = (&str, &Instance<L>)> {
        self.entries
            .iter()
            .map(|(package, entry)| (package.as_str(), &entry.instance))
    }

    /// Takes note of which packages nobody needs, and forgets those that nobody has needed for long.
    pub(super) fn release(&mut self, now: Instant, needed: &dyn Fn(&str) -> bool) {
        for (package, entry) in &mut self.entries {
            if !needed(package) {
                entry.unneeded.get_or_insert(now);
            }
        }
        // What is being read is waited for: its end must find it.
        self.entries
            .retain(|_, entry| entry.is_busy || entry.unneeded.is_none_or(|since| now < since + KEPT));
    }

    /// Something changed where packages are.
    pub(super) fn touched(&mut self, now: Instant) {
        self.recheck_at.get_or_insert(now + COLLECT);
        for entry in self.entries.values_mut() {
            entry.is_stale |= entry.is_busy;
        }
    }

    /// Gives out the jobs that changes on disk lead to, once they have been collected.
    pub(super) fn recheck(&mut self, now: Instant) {
        if self.recheck_at.is_none_or(|at| at > now) {
            return;
        }
        self.recheck_at = None;
        for (package, entry) in &mut self.entries {
            if !entry.is_busy {
                entry.is_busy = true;
                self.jobs.push(Job::Recheck {
                    package: package.clone(),
                });
            }
        }
    }

    /// The jobs since the last time.
    pub(super) fn take_jobs(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.jobs)
    }

    /// How far a package is that is read for the first time.
    pub(super) fn step(&mut self, package: &str, state: State<L>) {
        if let Some(entry) = self.entries.get_mut(package)
            && entry.instance.state.is_loading()
        {
            entry.instance.state = state;
        }
    }

    /// What became of a job. A package that was there before gets a new number, and the old instance is gone (LSV-31).
    pub(super) fn finished(&mut self, now: Instant, package: &str, outcome: Outcome<L>) {
        let Some(entry) = self.entries.get_mut(package) else {
            return;
        };
        entry.is_busy = false;
        if std::mem::take(&mut entry.is_stale) {
            self.recheck_at.get_or_insert(now + COLLECT);
        }
        let is_first = entry.instance.state.is_loading();
        if matches!(outcome, Outcome::Unchanged) {
            return;
        }
        let number = if is_first { entry.instance.number } else { self.number() };
        let state = match outcome {
            Outcome::Loaded(loaded) => State::Initialized(Rc::new(loaded.numbered(number))),
            Outcome::Failed(fault) => State::Failed(fault),
            Outcome::Unchanged => return,
        };
        if let Some(entry) = self.entries.get_mut(package) {
            entry.instance = Instance { number, state };
        }
    }

    /// Whether a package is still read, or will be looked at again (LSV-4).
    pub(super) fn are_pending(&self) -> bool {
        self.recheck_at.is_some() || self.entries.values().any(|entry| entry.is_busy)
    }

    /// When something is to be done without anything happening.
    pub(super) fn next(&self) -> Option<Instant> {
        let released = self.entries.values().filter(|entry| !entry.is_busy);
        let released = released.filter_map(|entry| entry.unneeded).map(|since| since + KEPT);
        released.chain(self.recheck_at).min()
    }
}
