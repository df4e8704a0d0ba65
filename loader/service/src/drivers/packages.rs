//! The packages that devices need, each with its instance. All devices that name a package share its instance (LSV-10), and instance
//! numbers are never reused (LSV-29).

use crate::package::{Class, Described, Fault, Published, class_of};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Time for which the service keeps an instance that no device needs, because the device may reappear soon (LSV-56).
pub const KEPT: Duration = Duration::from_secs(10);
/// The time for which the service collects changes on disk before it reads packages again.
pub const COLLECT: Duration = Duration::from_millis(200);
/// The time after which the service reads a package again whose files changed while it read them. The change may leave no event in the
/// folders of the package, for example if another process removed a hard link to a file.
const CHANGING: Duration = Duration::from_secs(1);

/// A driver that the service can send to clients. `L` is the type of a library.
#[derive(Debug)]
pub struct Driver<L> {
    /// Manifest of the driver, in the form that clients receive.
    pub published: Published,
    /// Word size of the programs that can use the package.
    pub class: Class,
    /// The driver's library, followed by the libraries that the driver needs. Each library has the key that clients use to request it.
    pub libraries: Vec<(String, Rc<Handed<L>>)>,
}

/// A library that the service can send to clients.
#[derive(Debug)]
pub struct Handed<L> {
    /// Description of the library in the package.
    pub about: Described,
    /// The library that the service sends to clients.
    pub library: L,
}

/// The progress of an instance (LSV-44).
#[derive(Debug)]
pub enum State<L> {
    /// The service has not finished reading the package.
    Uninitialized,
    /// The driver is ready for clients.
    Initialized(Rc<Driver<L>>),
    /// The package cannot be used.
    Failed(Fault),
}

impl<L> State<L> {
    /// Returns the name of the state, for logs and state files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Uninitialized => "uninitialized",
            Self::Initialized(_) => "initialized",
            Self::Failed(_) => "failed",
        }
    }
}

/// An instance of a package: the result of reading the package once.
#[derive(Debug)]
pub struct Instance<L> {
    /// Number of the instance, which is never reused while the service runs.
    pub number: u64,
    /// Current state of the instance.
    pub state: State<L>,
}

impl<L> Instance<L> {
    /// Returns the driver, if it is ready for clients.
    pub fn driver(&self) -> Option<&Rc<Driver<L>>> {
        if let State::Initialized(driver) = &self.state {
            Some(driver)
        } else {
            None
        }
    }
}

/// A job for the thread that reads packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Name of the package.
    pub package: String,
    /// `true` if the package is only read if it has changed since it was last read.
    pub is_recheck: bool,
}

/// The result of reading a package: its content, or the reason why the folder is not a valid package.
pub type Read<L> = Result<Box<Loaded<L>>, Fault>;

/// A package that was read but has no instance number yet.
#[derive(Debug)]
pub struct Loaded<L> {
    /// Manifest of the package.
    pub manifest: crate::package::Manifest,
    /// The driver's library, followed by the libraries that the driver needs.
    pub libraries: Vec<Handed<L>>,
}

impl<L> Loaded<L> {
    fn numbered(self, number: u64, class: Class) -> Driver<L> {
        let published = self.manifest.published(number);
        let libraries = self.libraries.into_iter().enumerate().map(|(index, handed)| {
            let key = match index {
                0 => published.key.clone(),
                _ => format!("{number}-{}", handed.about.name),
            };
            (key, Rc::new(handed))
        });
        Driver {
            libraries: libraries.collect(),
            class,
            published,
        }
    }
}

/// The number of an instance that serves a device, and its driver.
type Active<L> = (u64, Rc<Driver<L>>);

/// The reason why the driver of a device is not known: a package is still being read.
pub(super) struct StillRead;

/// A package that a device needs now or needed recently.
#[derive(Debug)]
struct Entry<L> {
    instance: Instance<L>,
    /// `true` while a job for the package runs.
    is_busy: bool,
    /// `true` if files have changed since the job for the package started.
    is_stale: bool,
    /// Time since which no device needs the package; `None` while a device needs it.
    unneeded: Option<Instant>,
}

/// All packages that are needed now or were needed recently.
#[derive(Debug)]
pub(super) struct Packages<L> {
    entries: BTreeMap<String, Entry<L>>,
    next_number: u64,
    jobs: Vec<Job>,
    /// Time at which the service checks the packages for changes; `None` if no change was reported.
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

/// Returns a number, and increments it for the next call.
fn take_number(number: &mut u64) -> u64 {
    *number += 1;
    *number - 1
}

impl<L> Packages<L> {
    /// Returns the first package of a list that can serve a device: the number of its instance, and its driver. A package that failed is
    /// skipped (LSV-11). Adds each visited package to `needed`.
    ///
    /// # Errors
    /// A package that is still being read may serve the device later.
    pub(super) fn first_usable(
        &mut self,
        packages: &[String],
        needed: &mut BTreeSet<String>,
    ) -> Result<Option<Active<L>>, StillRead> {
        for package in packages {
            needed.insert(package.clone());
            let instance = self.need(package);
            match &instance.state {
                State::Initialized(driver) => return Ok(Some((instance.number, driver.clone()))),
                State::Failed(_) => {}
                State::Uninitialized => return Err(StillRead),
            }
        }
        Ok(None)
    }

    /// Returns the instance of a package that a device needs now. Creates the instance if the package has none.
    fn need(&mut self, package: &str) -> &Instance<L> {
        let is_full = self.entries.len() >= wire::MOST_PACKAGES;
        let entry = self.entries.entry(package.to_owned()).or_insert_with(|| {
            let state = if is_full {
                State::Failed(Fault::TooMany(wire::MOST_PACKAGES))
            } else {
                self.jobs.push(Job {
                    package: package.to_owned(),
                    is_recheck: false,
                });
                State::Uninitialized
            };
            let number = take_number(&mut self.next_number);
            Entry {
                instance: Instance { number, state },
                is_busy: !is_full,
                is_stale: false,
                unneeded: None,
            }
        });
        entry.unneeded = None;
        &entry.instance
    }

    fn drivers(&self) -> impl Iterator<Item = &Rc<Driver<L>>> {
        self.entries.values().filter_map(|entry| entry.instance.driver())
    }

    /// Returns the library with a key, even if its driver is not published (LSV-3).
    pub(super) fn by_key(&self, key: &str) -> Option<&Rc<Handed<L>>> {
        let mut libraries = self.drivers().flat_map(|driver| &driver.libraries);
        libraries.find(|(own, _)| own == key).map(|(_, library)| library)
    }

    /// Returns each package and its instance.
    pub(super) fn instances(&self) -> impl Iterator<Item = (&str, &Instance<L>)> {
        self.entries
            .iter()
            .map(|(package, entry)| (package.as_str(), &entry.instance))
    }

    /// Records since when no device has needed a package, and removes each package that no device has needed for [`KEPT`].
    pub(super) fn release(&mut self, now: Instant, needed: &dyn Fn(&str) -> bool) {
        for (package, entry) in &mut self.entries {
            if !needed(package) {
                entry.unneeded.get_or_insert(now);
            }
        }
        // A package whose job is running is kept, because the result of the job refers to the package.
        self.entries
            .retain(|_, entry| entry.is_busy || entry.unneeded.is_none_or(|since| now < since + KEPT));
    }

    /// Records that files in the folders of packages changed.
    pub(super) fn touched(&mut self, now: Instant) {
        self.recheck_at.get_or_insert(now + COLLECT);
        for entry in self.entries.values_mut() {
            entry.is_stale |= entry.is_busy;
        }
    }

    /// Creates the jobs for changed files, when the time for collecting changes is over.
    pub(super) fn recheck(&mut self, now: Instant) {
        if self.recheck_at.is_none_or(|at| at > now) {
            return;
        }
        self.recheck_at = None;
        for (package, entry) in &mut self.entries {
            if !entry.is_busy {
                entry.is_busy = true;
                self.jobs.push(Job {
                    package: package.clone(),
                    is_recheck: true,
                });
            }
        }
    }

    /// Removes and returns the jobs that were added since the last call.
    pub(super) fn take_jobs(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.jobs)
    }

    /// Records the result of a job. If the package already had an instance, a new instance with a new number replaces it (LSV-31).
    pub(super) fn finished(&mut self, now: Instant, package: &str, read: Option<Read<L>>) {
        let Some(entry) = self.entries.get_mut(package) else {
            return;
        };
        entry.is_busy = false;
        if std::mem::take(&mut entry.is_stale) {
            self.recheck_at.get_or_insert(now + COLLECT);
        }
        let Some(read) = read else { return };
        if matches!(read, Err(Fault::Changed(_))) {
            self.recheck_at.get_or_insert(now + CHANGING);
        }
        let number = match entry.instance.state {
            State::Uninitialized => entry.instance.number,
            _ => take_number(&mut self.next_number),
        };
        let state = match read {
            Ok(loaded) => State::Initialized(Rc::new(loaded.numbered(number, class_of(package)))),
            Err(fault) => State::Failed(fault),
        };
        entry.instance = Instance { number, state };
    }

    /// Returns `true` if a package is still being read, or will be read again (LSV-4).
    pub(super) fn are_pending(&self) -> bool {
        self.recheck_at.is_some() || self.entries.values().any(|entry| entry.is_busy)
    }

    /// Returns the time at which work for the packages becomes due.
    pub(super) fn next(&self) -> Option<Instant> {
        let released = self.entries.values().filter(|entry| !entry.is_busy);
        let released = released.filter_map(|entry| entry.unneeded).map(|since| since + KEPT);
        released.chain(self.recheck_at).min()
    }
}
