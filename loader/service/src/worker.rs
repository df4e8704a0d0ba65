//! The thread that reads packages, so that reading a library of a gigabyte does not delay replies. The thread sends its results through a
//! channel, and wakes up the main loop.

use crate::drivers::{Job, Read};
use crate::library::Library;
use crate::package::Fault;
use crate::reader::{Reader, Stamps};
use crate::watch::FolderWatch;
use rustix::event::EventfdFlags;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The name of a package, and the result of its job; `None` if the package has not changed.
pub type Report = (String, Option<Read<Library>>);

/// Handle of the thread, for the main loop.
pub struct Worker {
    jobs: Sender<Job>,
    reports: Receiver<Report>,
    bell: Arc<OwnedFd>,
}

impl Worker {
    /// Starts the thread. The thread watches the folders of packages before it reads files in them.
    ///
    /// # Errors
    /// Returns the error that the system reported.
    pub fn start(reader: Reader, watch: Arc<FolderWatch>) -> io::Result<Self> {
        let bell = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let (bell, known) = (Arc::new(bell), BTreeMap::new());
        let (sender, reports) = channel();
        let (jobs, job) = channel::<Job>();
        let mut packages = Packages { reader, watch, known };
        let (thread, ring) = (std::thread::Builder::new().name("packages".to_owned()), bell.clone());
        thread.spawn(move || {
            for job in job {
                let read = packages.work(&job);
                // An error is ignored, because the channel is closed only when the process ends. `write` fails only if the counter of the
                // eventfd is full. In that case, the eventfd already wakes up the loop.
                let _ = sender.send((job.package, read));
                let _ = rustix::io::write(&ring, &1_u64.to_ne_bytes());
            }
        })?;
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

impl AsFd for Worker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

struct Packages {
    reader: Reader,
    watch: Arc<FolderWatch>,
    /// State of each package after its last job.
    known: BTreeMap<String, Result<Stamps, Fault>>,
}

impl Packages {
    fn work(&mut self, job: &Job) -> Option<Read<Library>> {
        let package = &job.package;
        let before = self.known.get(package).filter(|_| job.is_recheck);
        if let Some(Ok(stamps)) = before
            && self.reader.stamp(package).is_some_and(|now| now.are_same(stamps))
        {
            return None;
        }
        let read = self.reader.read(package, &mut |folder| self.watch.add(folder));
        let (read, state) = match read {
            Ok((loaded, stamps)) => (Ok(loaded), Ok(stamps)),
            Err(fault) => (Err(fault.clone()), Err(fault)),
        };
        let is_same = match (before, &state) {
            // The next attempt to read a file that changed may succeed.
            (_, Err(Fault::Changed(_))) => false,
            (Some(Err(before)), Err(fault)) => before == fault,
            _ => false,
        };
        self.known.insert(package.clone(), state);
        (!is_same).then_some(read)
    }
}
