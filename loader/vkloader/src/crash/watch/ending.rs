//! Records the state of processes that are about to end.

use super::{MOST_CRASHES, MOST_ENVIRONMENTS, MOST_GRAPHICS, NOT_SEEN, Watch, is_for_graphics};
use crate::crash::capture::{self, Snapshot};
use crate::crash::maps::Maps;
use crate::crash::registers::Registers;
use crate::crash::{Crash, FAULTS, Stand, exit, ptrace, stands};
use rustix::process::Pid;

impl Watch {
    /// Records the graphics libraries and the variables of a process that ends.
    fn note_graphics(&mut self, process: Pid) {
        let Some(maps) = Maps::of(process).ok() else {
            self.graphics = None;
            return;
        };
        let paths: Vec<&str> = maps.files().filter(|path| is_for_graphics(path)).collect();
        // The process may have closed its loader already. Therefore, processes without graphics libraries are recorded too, up to a limit.
        if !paths.is_empty() || self.environments.len() < MOST_ENVIRONMENTS {
            let has_loader = paths.iter().any(|path| path.contains("/libvulkan.so"));
            capture::add_environment(process, has_loader, &mut self.environments);
        }
        let Some(known) = &mut self.graphics else { return };
        for path in paths {
            if known.len() < MOST_GRAPHICS && known.iter().all(|known| known != path) {
                known.push(path.into());
            }
        }
    }

    /// Records a crash if a signal is about to end the thread's process.
    pub(super) fn ending(&mut self, thread: Pid) {
        self.note_thread(thread);
        let status = ptrace::end_status(thread).unwrap_or_default();
        let signal = status & 0x7F;
        let number = thread.as_raw_nonzero().get();
        if self.group(thread) == number {
            self.note_graphics(thread);
            if stands::asks(signal) && self.stands.len() < MOST_CRASHES {
                let still = self.shared.still().time(number);
                let stand = stands::stand(thread, signal, &self.history(), still);
                self.stands.extend(stand);
            }
        }
        let is_failure = signal == 0 && status != 0;
        if !FAULTS.contains(&signal) && !is_failure || self.crashes.len() >= MOST_CRASHES {
            return;
        }
        let process = self.group(thread);
        if process == number && !is_failure {
            self.note_first_thread(thread, signal);
        }
        if self.judged.contains(&process) {
            return;
        }
        let crash = if is_failure {
            self.exit(thread)
        } else {
            self.by_signal(thread, signal)
        };
        if crash.is_some() || !is_failure {
            self.judged.insert(process);
        }
        let is_first = process == self.process.as_raw_nonzero().get();
        let is_forked = !self.executed.contains(&process);
        let is_threaded = self.threaded.contains(&process);
        let mut crash = crash.map(|crash| Crash {
            is_first,
            is_forked,
            is_from_thread: crash.is_from_thread && is_threaded,
            ..crash
        });
        if let Some(crash) = &mut crash {
            add_first_thread(crash, self.first_threads.get(&process));
        }
        self.crashes.extend(crash);
    }

    /// Records the place of the first thread of a process that a signal ends.
    fn note_first_thread(&mut self, thread: Pid, signal: i32) {
        let process = thread.as_raw_nonzero().get();
        let still = self.shared.still().time(process);
        let Some(stand) = stands::stand(thread, signal, &self.history(), still) else {
            return;
        };
        let is_own = |crash: &&mut Crash| i64::from(crash.process) == i64::from(process);
        for crash in self.crashes.iter_mut().filter(is_own) {
            add_first_thread(crash, Some(&stand));
        }
        self.first_threads.insert(process, stand);
    }

    /// Returns the crash of a thread that a signal ends.
    fn by_signal(&mut self, thread: Pid, signal: i32) -> Option<Crash> {
        if !self.snapshots.contains_key(&thread.as_raw_nonzero().get()) {
            // Some signals, for example those of seccomp, end the process without a stop.
            self.note_ending(thread, signal);
        }
        capture::crash(thread, signal, &self.snapshots, &self.history())
    }

    /// Returns the error because of which a thread ends with a status that means failure.
    fn exit(&self, thread: Pid) -> Option<Crash> {
        let signals = self.snapshots.get(&thread.as_raw_nonzero().get());
        let registers = Registers::of_exiting(&ptrace::registers(thread).ok()?)?;
        exit::crash(thread, signals.map_or(&[], Vec::as_slice), &registers, &self.history())
    }

    /// Records the state of a thread that a signal ended without a stop, unless a state for this signal is already recorded.
    fn note_ending(&mut self, thread: Pid, signal: i32) {
        let mut information = [0; 12];
        information[..4].copy_from_slice(&signal.to_ne_bytes());
        information[8..].copy_from_slice(&NOT_SEEN.to_ne_bytes());
        if self.snapshots.values().flatten().any(|snapshot| snapshot.is_of(signal)) {
            return;
        }
        if let Ok(registers) = ptrace::registers(thread)
            && let Some(snapshot) = Snapshot::of(0, &information, &registers)
        {
            self.keep(thread, snapshot);
        }
    }
}

/// Adds the place of the first thread of a process to the crash of another thread.
fn add_first_thread(crash: &mut Crash, stand: Option<&Stand>) {
    if let Some(stand) = stand.filter(|_| !crash.is_of_first_thread) {
        crash.is_exiting = stand.stack.exit.is_some();
        crash.first_thread = Some(Box::new(stand.clone()));
    }
}
