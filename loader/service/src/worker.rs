//! The thread that reads packages, so that reading a library of a gigabyte does not delay replies. The thread sends reports through a
//! channel, and wakes up the main loop.

use crate::drivers::{Job, Outcome};
use crate::library::Library;
use crate::package::Fault;
use crate::reader::{Reader, Stamps, Step};
use crate::watch::FolderWatch;
use rustix::event::EventfdFlags;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A message of a worker thread.
#[derive(Debug)]
pub enum Report {
    /// A package has reached a further step.
    Step {
        /// Name of the package.
        package: String,
        /// Step that the reader has reached.
        step: Step,
    },
    /// A job has ended.
    Finished {
        /// The name of the package.
        package: String,
        /// The result of the job.
        outcome: Outcome<Library>,
    },
}

/// Handle of the thread, for the main loop.
pub struct Workers {
    jobs: Sender<Job>,
    reports: Receiver<Report>,
    bell: Arc<OwnedFd>,
}

impl Workers {
    /// Starts the thread. The thread watches the folders of packages before it reads files in them.
    ///
    /// # Errors
    /// Returns the error that the system reported.
    pub fn start(reader: Reader, watch: Arc<FolderWatch>) -> io::Result<Self> {
        let bell = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let bell = Arc::new(bell);
        let (sender, reports) = channel();
        let (jobs, job) = channel();
        let mut packages = Packages {
            reader,
            watch,
            reports: sender,
            bell: bell.clone(),
            known: BTreeMap::new(),
        };
        let thread = std::thread::Builder::new().name("packages".to_owned());
        thread.spawn(move || job.into_iter().for_each(|job| packages.work(job)))?;
        Ok(Self { jobs, reports, bell })
    }

    /// Sends a job to the thread.
    pub fn give(&self, job: Job) {
        // The thread never ends before the process, so the channel is open.
        let _ = self.jobs.send(job);
    }

    /// Returns the reports since the last call.
    pub fn reports(&self) -> Vec<Report> {
        let mut count = [0; 8];
        // Resets the counter of the eventfd. The counter may already be zero, because an earlier call may have received the reports.
        let _ = rustix::io::read(&self.bell, &mut count);
        self.reports.try_iter().collect()
    }
}

impl AsFd for Workers {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

/// State of a package after the last job.
enum PackageState {
    Loaded(Stamps),
    Failed(Fault),
}

struct Packages {
    reader: Reader,
    watch: Arc<FolderWatch>,
    /// The channel to the main loop, and the descriptor that wakes up the loop.
    reports: Sender<Report>,
    bell: Arc<OwnedFd>,
    known: BTreeMap<String, PackageState>,
}

impl Packages {
    fn work(&mut self, job: Job) {
        let outcome = match &job {
            Job::Load(package) => self.load(package, true),
            Job::Recheck(package) => self.recheck(package),
        };
        let (Job::Load(package) | Job::Recheck(package)) = job;
        self.send(Report::Finished { package, outcome });
    }

    /// Sends a report and wakes up the main loop. Errors are ignored, because the channel is closed only when the process ends.
    fn send(&self, report: Report) {
        if self.reports.send(report).is_ok() {
            // `write` fails only if the counter of the eventfd is full. In that case, the eventfd already wakes up the loop.
            let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        }
    }

    fn load(&mut self, package: &str, is_first: bool) -> Outcome<Library> {
        let mut step = |step| {
            if is_first {
                let package = package.to_owned();
                self.send(Report::Step { package, step });
            }
        };
        let watch = &self.watch;
        let read = self.reader.read(package, &mut |folder| watch.add(folder), &mut step);
        match read {
            Ok((loaded, stamp)) => {
                self.known.insert(package.to_owned(), PackageState::Loaded(stamp));
                Outcome::Loaded(Box::new(loaded))
            }
            Err(fault) => {
                self.known
                    .insert(package.to_owned(), PackageState::Failed(fault.clone()));
                Outcome::Failed(fault)
            }
        }
    }

    fn recheck(&mut self, package: &str) -> Outcome<Library> {
        match self.known.get(package) {
            Some(PackageState::Loaded(stamp)) if self.reader.stamp(package).as_ref() == Some(stamp) => {
                Outcome::Unchanged
            }
            Some(PackageState::Failed(before)) => {
                let before = before.clone();
                match self.load(package, false) {
                    Outcome::Failed(fault) if fault == before => Outcome::Unchanged,
                    outcome => outcome,
                }
            }
            _ => self.load(package, false),
        }
    }
}
