//! The state of the supervised threads, which their events change.

mod ending;

use super::capture::{self, Snapshot};
use super::maps::{History, Maps};
use super::ptrace::{self, Event};
use super::supervisor::Shared;
use super::{Crash, Environment, FAULTS, Outcome, Stand, Unsupervised, executed, processes, start};
use crate::paths::file_name;
use crate::signals;
use executed::{Debuggers, Executed};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Upper bound on the number of crashes that are recorded.
const MOST_CRASHES: usize = 16;
/// Number of thread starts after which the mapped libraries are recorded less often: at most once in each `PAUSE`.
const MOST_STARTS: u32 = 256;
const PAUSE: Duration = Duration::from_millis(100);
/// `__WALL`: also waits for threads.
const THREADS: WaitOptions = WaitOptions::from_bits_retain(libc::__WALL as u32);
/// Signals that stop a process until another signal continues it.
const STOPS: [i32; 4] = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
/// Delay between two checks of processes that continue after the end of the first process.
const STEP: Duration = Duration::from_millis(5);
/// Upper bound on the number of graphics libraries that are recorded.
const MOST_GRAPHICS: usize = 16;
/// Upper bound on the processes without graphics libraries whose variables are recorded.
const MOST_ENVIRONMENTS: usize = 64;
/// Beginnings of the names of graphics libraries: libraries of Vulkan and of OpenGL.
const GRAPHICS: [&str; 6] = [
    "libvulkan.so",
    "libvk_swiftshader.so",
    "libGL.so",
    "libEGL.so",
    "libGLESv2.so",
    "libOpenGL.so",
];
/// Upper bound on the number of signals that are stored for a thread.
const MOST_SIGNALS: usize = 8;
/// An `si_code` that no signal has. Marks the state of a thread that a signal ended without a stop.
const NOT_SEEN: i32 = -1000;

/// State of the supervised threads.
pub(super) struct Watch {
    /// The process that this program started.
    process: Pid,
    /// For each thread, the last captured signals that report a fault.
    snapshots: HashMap<i32, Vec<Snapshot>>,
    order: u64,
    /// For each thread, the process that it belongs to.
    groups: HashMap<i32, i32>,
    /// Processes whose crash has already been recorded.
    judged: HashSet<i32>,
    /// For each process that a signal ends, the place of its first thread.
    first_threads: HashMap<i32, Stand>,
    /// Processes that started a second thread.
    threaded: HashSet<i32>,
    /// Processes that executed a program. Other processes are copies of such a process.
    executed: HashSet<i32>,
    crashes: Vec<Crash>,
    stands: Vec<Stand>,
    starts: u32,
    remembered: Instant,
    shared: Arc<Shared>,
    unsupervised: Option<Unsupervised>,
    /// Graphics libraries that processes had open when they ended; `None` if a process is not supervised.
    graphics: Option<Vec<String>>,
    environments: Vec<Environment>,
    failure: PathBuf,
    known: Debuggers,
}

impl Watch {
    /// Returns the state before the first event of the process `process`.
    pub(super) fn of(process: Pid, failure: &Path, shared: &Arc<Shared>) -> Self {
        Self {
            process,
            snapshots: HashMap::new(),
            order: 0,
            groups: HashMap::new(),
            judged: HashSet::new(),
            first_threads: HashMap::new(),
            threaded: HashSet::new(),
            executed: HashSet::new(),
            crashes: Vec::new(),
            stands: Vec::new(),
            starts: 0,
            remembered: Instant::now(),
            shared: Arc::clone(shared),
            unsupervised: None,
            graphics: processes::are_visible().then(Vec::new),
            environments: Vec::new(),
            failure: failure.into(),
            known: Debuggers::default(),
        }
    }

    /// Handles all events until the first process has ended. After that, continues until no other process runs, or until the supervision
    /// must end.
    pub(super) fn run(&mut self) -> io::Result<Outcome> {
        let mut first = None;
        loop {
            let options = match first {
                None => THREADS,
                Some(_) => THREADS | WaitOptions::NOHANG,
            };
            match (wait(options), first) {
                (Ok(Some((thread, status))), _) if status.stopped() => self.stopped(thread, status.as_raw()),
                (Ok(Some((thread, status))), _) => {
                    self.forget(thread);
                    if thread == self.process {
                        first = Some(status);
                        self.shared.is_over.store(true, Ordering::Release);
                    }
                }
                (Ok(None), None) | (Err(rustix::io::Errno::INTR), _) => {}
                (Ok(None), Some(_)) => std::thread::sleep(STEP),
                (Err(rustix::io::Errno::CHILD), Some(status)) => return self.ended(status),
                (Err(error), _) => return Err(error.into()),
            }
            if let Some(status) = first.filter(|_| self.shared.is_enough.load(Ordering::Acquire)) {
                return self.ended(status);
            }
        }
    }

    /// Returns the outcome after the first process has ended.
    pub(super) fn ended(&mut self, status: WaitStatus) -> io::Result<Outcome> {
        match start::failure(&self.failure) {
            Some(error) => Err(error),
            None => Ok(Outcome {
                ending: ExitStatus::from_raw(status.as_raw()).into(),
                crashes: std::mem::take(&mut self.crashes),
                stands: std::mem::take(&mut self.stands),
                unsupervised: self.unsupervised,
                graphics: self.graphics.take(),
                environments: std::mem::take(&mut self.environments),
            }),
        }
    }

    /// Records the reason why the first process is not supervised.
    pub(super) fn leave(&mut self, why: Unsupervised) {
        self.unsupervised = Some(why);
        self.graphics = None;
    }

    fn forget(&mut self, thread: Pid) {
        let number = thread.as_raw_nonzero().get();
        self.snapshots.remove(&number);
        self.judged.remove(&number);
        self.first_threads.remove(&number);
        self.threaded.remove(&number);
        self.executed.remove(&number);
        if self.groups.remove(&number) == Some(number) {
            self.history().forget(number);
        }
    }

    fn history(&self) -> std::sync::MutexGuard<'_, History> {
        self.shared.history()
    }

    /// Handles a stop of a thread and continues the thread. Ignores errors, because the thread may already have ended.
    fn stopped(&mut self, thread: Pid, status: i32) {
        let signal = status >> 8 & 0xFF;
        let _ = match Event::of_status(status) {
            None => {
                self.note(thread, signal);
                ptrace::go_on(thread, signal)
            }
            Some(Event::Stopped) if STOPS.contains(&signal) => {
                let stays = ptrace::stay_stopped(thread);
                // The shell waits for this process. If this process also stops, the shell gets control of the terminal.
                if thread == self.process && signals::takes_stop() {
                    let _ = kill_process(getpid(), Signal::STOP);
                }
                stays
            }
            Some(Event::Executed) => {
                if self.executed(thread) {
                    ptrace::go_on(thread, 0)
                } else {
                    ptrace::release(thread)
                }
            }
            Some(Event::Ending) => {
                self.ending(thread);
                ptrace::go_on(thread, 0)
            }
            Some(Event::Started) => {
                self.remember(thread);
                ptrace::go_on(thread, 0)
            }
            Some(Event::Stopped | Event::Other) => {
                self.note_thread(thread);
                ptrace::go_on(thread, 0)
            }
        };
    }

    /// Records that a process has a second thread, if `thread` is one.
    fn note_thread(&mut self, thread: Pid) {
        let process = self.group(thread);
        if process != thread.as_raw_nonzero().get() {
            self.threaded.insert(process);
        }
    }

    /// Records the state of a thread that received a fault.
    fn note(&mut self, thread: Pid, signal: i32) {
        if !FAULTS.contains(&signal) {
            return;
        }
        self.order += 1;
        let snapshot = ptrace::signal(thread)
            .and_then(|information| Ok(Snapshot::of(self.order, &information, &ptrace::registers(thread)?)));
        if let Ok(Some(snapshot)) = snapshot {
            self.keep(thread, snapshot);
        }
    }

    fn keep(&mut self, thread: Pid, snapshot: Snapshot) {
        let known = self.snapshots.entry(thread.as_raw_nonzero().get()).or_default();
        if known.len() >= MOST_SIGNALS {
            known.remove(0);
        }
        known.push(snapshot);
    }

    /// Handles a process that has executed another program. Returns `true` if the process remains under supervision.
    fn executed(&mut self, thread: Pid) -> bool {
        let number = thread.as_raw_nonzero().get();
        self.forget(thread);
        let why = match executed::look(thread, &mut self.known) {
            Executed::Usual => {
                self.executed.insert(number);
                self.groups.insert(number, number);
                self.remember(thread);
                return true;
            }
            Executed::Debugger => Unsupervised::UsesPtrace,
            Executed::Privileged => Unsupervised::RaisedPrivileges,
        };
        self.graphics = None;
        if thread == self.process {
            self.leave(why);
            signals::stop_as_usual();
        }
        false
    }

    /// Records the mappings of a thread's process. After [`MOST_STARTS`] calls, records mappings at most once in each [`PAUSE`].
    fn remember(&mut self, thread: Pid) {
        self.starts = self.starts.saturating_add(1);
        if self.starts > MOST_STARTS && self.remembered.elapsed() < PAUSE {
            return;
        }
        self.remembered = Instant::now();
        let process = self.group(thread);
        if let Ok(maps) = Maps::of(thread) {
            self.history().add(process, &maps);
        }
    }

    /// Returns the process that a thread belongs to.
    fn group(&mut self, thread: Pid) -> i32 {
        let number = thread.as_raw_nonzero().get();
        let read = || {
            let group = capture::status(thread).get("Tgid").copied();
            group.and_then(|group| i32::try_from(group).ok()).unwrap_or(number)
        };
        *self.groups.entry(number).or_insert_with(read)
    }
}

fn is_for_graphics(path: &str) -> bool {
    let file = file_name(path);
    GRAPHICS.iter().any(|name| file.starts_with(name))
}
