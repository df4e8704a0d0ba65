//! The thread that supervises a program and its descendants.

use super::background::Background;
use super::maps::{History, Maps};
use super::stands::Still;
use super::watch::Watch;
use super::{Outcome, Unsupervised, capture, ptrace, start};
use crate::signals;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// A running program, and the thread that supervises it. If this process ends, the program continues without a supervisor.
pub(crate) struct Supervisor {
    process: Pid,
    thread: Option<JoinHandle<io::Result<Outcome>>>,
    shared: Arc<Shared>,
    /// Length of the trace when the mapped libraries were last recorded.
    seen: u64,
    /// Processes that continue after the end of the first process.
    background: Background,
}

/// State that is shared with the supervising thread.
#[derive(Default)]
pub(super) struct Shared {
    history: Mutex<History>,
    still: Mutex<Still>,
    /// `true` after the first process has ended.
    pub(super) is_over: AtomicBool,
    /// `true` if the supervision must end although processes are still running.
    pub(super) is_enough: AtomicBool,
}

impl Shared {
    pub(super) fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn still(&self) -> MutexGuard<'_, Still> {
        self.still.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Supervisor {
    /// Starts a command from [`start::command`]. If the program cannot be executed, the reason is written to the file `failure`.
    ///
    /// # Errors
    /// The command cannot be started.
    pub(crate) fn start(mut command: Command, failure: &Path) -> io::Result<Self> {
        let failure = failure.to_owned();
        command.env(start::FAILURE, &failure);
        let shared = Arc::new(Shared::default());
        let (tell, told) = channel();
        let thread = std::thread::Builder::new().name("supervisor".into()).spawn({
            let shared = Arc::clone(&shared);
            move || {
                let started = command.spawn().and_then(|child| number(child.id()));
                let process = started.as_ref().ok().copied();
                // The receiver waits for this message, so the message can always be sent.
                let _ = tell.send(started);
                match process {
                    Some(process) => supervise(process, &failure, &shared),
                    None => Err(io::Error::other("not started")),
                }
            }
        })?;
        Ok(Self {
            process: received(&told)?,
            thread: Some(thread),
            shared,
            seen: 0,
            background: Background::default(),
        })
    }

    /// Returns the process ID.
    pub(crate) fn id(&self) -> u32 {
        self.process.as_raw_nonzero().get().unsigned_abs()
    }

    /// Returns the outcome of the program after its end, or `None` while the program runs. Processes that use Vulkan in the background are
    /// treated as part of the program. `trace` is the path of the trace that the program's loader writes.
    ///
    /// # Errors
    /// The program cannot be executed, or waiting for the program fails.
    pub(crate) fn try_wait(&mut self, trace: &Path) -> io::Result<Option<Outcome>> {
        if self.thread.as_ref().is_some_and(JoinHandle::is_finished)
            && let Some(thread) = self.thread.take()
        {
            return match thread.join() {
                Ok(outcome) => outcome.map(Some),
                Err(_) => Err(io::Error::other("the supervisor failed")),
            };
        }
        if self.shared.is_over.load(Ordering::Acquire) && !self.background.goes_on(trace) {
            self.shared.is_enough.store(true, Ordering::Release);
        }
        self.remember(trace);
        let processes = self.shared.history().processes();
        self.shared.still().look(&processes);
        Ok(None)
    }

    pub(crate) fn kill(&self) {
        // Does not kill the process after its end, because another process may then have the same ID.
        let is_over = self.shared.is_over.load(Ordering::Acquire);
        self.shared.is_enough.store(true, Ordering::Release);
        if !is_over && self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            // The process may already have ended.
            let _ = kill_process(self.process, Signal::KILL);
        }
    }

    /// Records the mapped libraries of the program if its loader has written to the trace since the last call.
    fn remember(&mut self, trace: &Path) {
        let length = std::fs::metadata(trace).map_or(0, |status| status.len());
        if length == self.seen {
            return;
        }
        self.seen = length;
        let mut history = self.shared.history();
        for process in history.processes() {
            if let Some(number) = Pid::from_raw(process)
                && let Ok(maps) = Maps::of(number)
            {
                history.add(process, &maps);
            }
        }
    }
}

/// Receives the process ID from the supervising thread.
fn received(told: &Receiver<io::Result<Pid>>) -> io::Result<Pid> {
    told.recv()
        .unwrap_or_else(|_| Err(io::Error::other("the supervisor failed")))
}

fn number(process: u32) -> io::Result<Pid> {
    let number = i32::try_from(process).ok().and_then(Pid::from_raw);
    number.ok_or_else(|| io::Error::other("not a process"))
}

/// Supervises a process until its end. The process stops itself at its start.
fn supervise(process: Pid, failure: &Path, shared: &Arc<Shared>) -> io::Result<Outcome> {
    let mut watch = Watch::of(process, failure, shared);
    // The process either stops, or ends because it cannot stop itself.
    let first = waitpid(Some(process), WaitOptions::UNTRACED)?;
    if let Some((_, status)) = first.filter(|(_, status)| !status.stopped()) {
        return watch.ended(status);
    }
    if !capture::is_supported() {
        watch.leave(Unsupervised::Unsupported);
    } else if ptrace::seize(process).is_err() {
        watch.leave(Unsupervised::NotPermitted);
    } else {
        signals::note_stops();
    }
    kill_process(process, Signal::CONT)?;
    let outcome = watch.run();
    signals::stop_as_usual();
    outcome
}
