//! The threads that may have to wait: one reads packages, so that a library of a gigabyte holds up no reply; one looks at the
//! programs of clients, which may lie on a file system that never answers; one closes what clients sent, which may be sockets that
//! linger. They report through a channel, and wake the loop.

use crate::client::{discard, is_harmless};
use crate::drivers::{Job, Loaded, Outcome};
use crate::library::Library;
use crate::package::{Class, Elf, Fault, HEADER_BYTES};
use crate::reader::{Package, Reader, Stamps, Step};
use crate::watch::FolderWatch;
use rustix::event::EventfdFlags;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Clients whose programs wait to be looked at. There are no more clients than that.
const PROBES: usize = crate::limits::CLIENTS;

/// The most that waits to be closed while connections are accepted.
const UNWANTED: usize = 1024;

/// What a thread has to say.
#[derive(Debug)]
pub enum Report {
    /// How far a package is.
    Step {
        /// Its name.
        package: String,
        /// What is done now.
        step: Step,
    },
    /// What became of a job.
    Finished {
        /// The name of the package.
        package: String,
        /// The result.
        outcome: Outcome<Library>,
    },
    /// What the program of a client is.
    Class {
        /// The number of the client.
        client: u64,
        /// Nothing if it is unknown.
        class: Option<Class>,
    },
    /// The packet with descriptors of a client is gone.
    Discarded {
        /// The number of the client.
        client: u64,
    },
}

/// Where reports go.
#[derive(Clone)]
struct Reports {
    sender: Sender<Report>,
    bell: Arc<OwnedFd>,
}

impl Reports {
    /// The loop is gone only when the process ends.
    fn send(&self, report: Report) {
        if self.sender.send(report).is_ok() {
            // It cannot fail but for a counter that is full, and then it rings already.
            let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        }
    }
}

/// What is closed where waiting does not matter.
enum Unwanted {
    /// The next packet of a client.
    Packet(u64, Arc<OwnedFd>),
    /// A connection, with whatever is unread in it.
    Connection(Arc<OwnedFd>),
}

/// The threads, as the loop sees them.
pub struct Workers {
    unwanted: Sender<Unwanted>,
    /// How many of those are not closed yet.
    piled: Arc<AtomicUsize>,
    jobs: Sender<Job>,
    probes: SyncSender<(u64, i32)>,
    reports: Receiver<Report>,
    bell: Arc<OwnedFd>,
}

impl Workers {
    /// Starts them. Folders of packages are watched before anything in them is read.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(reader: Reader, watch: Arc<FolderWatch>) -> io::Result<Self> {
        let bell = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let bell = Arc::new(bell);
        let (sender, reports) = channel();
        let (jobs, job) = channel();
        let (probes, probe) = sync_channel(PROBES);
        let to_loop = Reports {
            sender,
            bell: bell.clone(),
        };
        let mut packages = Packages {
            reader,
            watch,
            reports: to_loop.clone(),
            known: BTreeMap::new(),
        };
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        named("packages").spawn(move || job.into_iter().for_each(|job| packages.work(job)))?;
        let classes = to_loop.clone();
        named("programs").spawn(move || {
            for (client, process) in probe {
                let class = class_of(process);
                classes.send(Report::Class { client, class });
            }
        })?;
        let (unwanted, closed) = channel();
        let piled = Arc::new(AtomicUsize::new(0));
        let pile = piled.clone();
        named("unwanted").spawn(move || {
            for one in closed {
                match one {
                    Unwanted::Packet(client, socket) => {
                        discard(&socket);
                        to_loop.send(Report::Discarded { client });
                    }
                    Unwanted::Connection(socket) => drop(socket),
                }
                pile.fetch_sub(1, Relaxed);
            }
        })?;
        Ok(Self {
            unwanted,
            piled,
            jobs,
            probes,
            reports,
            bell,
        })
    }

    /// Gives a job to who reads packages.
    pub fn give(&self, job: Job) {
        // That thread ends only with the process.
        let _ = self.jobs.send(job);
    }

    /// Asks what the program of a client is; false if that cannot be asked now.
    pub fn ask_class(&self, client: u64, process: i32) -> bool {
        self.probes.try_send((client, process)).is_ok()
    }

    /// Takes the next packet of a client away.
    pub fn discard(&self, client: u64, socket: Arc<OwnedFd>) {
        self.pile_up(Unwanted::Packet(client, socket));
    }

    /// Closes a connection, once nobody else has it: at once if that takes no time, as else those of all wait for who makes one wait.
    pub fn close(&self, socket: Arc<OwnedFd>) {
        if !is_harmless(&socket) {
            self.pile_up(Unwanted::Connection(socket));
        }
    }

    fn pile_up(&self, one: Unwanted) {
        self.piled.fetch_add(1, Relaxed);
        // That thread ends only with the process.
        let _ = self.unwanted.send(one);
    }

    /// Whether so much waits to be closed that no more connections should be accepted: they would take the last descriptors.
    pub fn is_crowded(&self) -> bool {
        self.piled.load(Relaxed) >= UNWANTED
    }

    /// The reports since the last time.
    pub fn reports(&self) -> Vec<Report> {
        let mut count = [0; 8];
        // Empty if somebody else was woken: then there is nothing to take either.
        let _ = rustix::io::read(&self.bell, &mut count);
        self.reports.try_iter().collect()
    }
}

impl AsFd for Workers {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

/// What a package was the last time.
enum Known {
    Loaded(Stamps),
    Failed(Fault),
}

struct Packages {
    reader: Reader,
    watch: Arc<FolderWatch>,
    reports: Reports,
    known: BTreeMap<String, Known>,
}

impl Packages {
    fn work(&mut self, job: Job) {
        let (package, outcome) = match job {
            Job::Load { package } => {
                let outcome = self.load(&package, true);
                (package, outcome)
            }
            Job::Recheck { package } => {
                let outcome = self.recheck(&package);
                (package, outcome)
            }
        };
        self.reports.send(Report::Finished { package, outcome });
    }

    fn load(&mut self, package: &str, is_first: bool) -> Outcome<Library> {
        let mut step = |step| {
            if is_first {
                self.reports.send(Report::Step {
                    package: package.to_owned(),
                    step,
                });
            }
        };
        let watch = &self.watch;
        let read = self.reader.read(package, &mut |folder| watch.add(folder), &mut step);
        match read {
            Ok(read) => {
                self.known.insert(package.to_owned(), Known::Loaded(read.stamp.clone()));
                Outcome::Loaded(Box::new(loaded(read)))
            }
            Err(fault) => {
                self.known.insert(package.to_owned(), Known::Failed(fault.clone()));
                Outcome::Failed(fault)
            }
        }
    }

    fn recheck(&mut self, package: &str) -> Outcome<Library> {
        match self.known.get(package) {
            Some(Known::Loaded(stamp)) if self.reader.stamp(package).as_ref() == Some(stamp) => Outcome::Unchanged,
            Some(Known::Failed(before)) => {
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

fn loaded(package: Package) -> Loaded<Library> {
    let library = package.library;
    Loaded {
        manifest: package.manifest,
        class: library.elf.class,
        machine: library.elf.machine,
        file_path: package.file_path,
        size: library.size,
        sha256: library.sha256.clone(),
        library,
    }
}

/// What the program of a process is, if the system lets this one see (LSV-50).
fn class_of(process: i32) -> Option<Class> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let program = rustix::fs::open(format!("/proc/{process}/exe"), flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&program).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut header = [0; HEADER_BYTES];
    let count = rustix::io::pread(&program, &mut header, 0).ok()?;
    Some(Elf::read(&header[..count]).ok()?.class)
}
