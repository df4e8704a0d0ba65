//! Records where a process stood when a signal asked it to end, because users end programs that hang.

use super::capture::{self, described};
use super::maps::{History, Maps};
use super::memory::Memory;
use super::registers::Registers;
use super::unwind::Walk;
use super::{Stand, exit, ptrace};
use rustix::process::Pid;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Signals that users and other programs send to end a process.
const ASKING: [i32; 5] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGKILL];
/// Delay between two looks at the same process.
const STEP: Duration = Duration::from_millis(500);
/// Upper bound on the number of processes that are looked at.
const MOST: usize = 64;

/// Returns `true` for a signal that asks a process to end.
pub(super) fn asks(signal: i32) -> bool {
    ASKING.contains(&signal)
}

/// The first threads of processes, and the times since when they have not run.
#[derive(Default)]
pub(super) struct Still {
    looked: Option<Instant>,
    /// For each process, the number of times that its first thread gave up the processor, and the time when that number last changed.
    known: HashMap<i32, (i64, Instant)>,
}

impl Still {
    /// Looks whether the first threads of processes have run since the last look. Does nothing if the last look was less than [`STEP`] ago.
    pub(super) fn look(&mut self, processes: &[i32]) {
        let now = Instant::now();
        if self.looked.is_some_and(|looked| now.duration_since(looked) < STEP) {
            return;
        }
        self.looked = Some(now);
        self.known.retain(|process, _| processes.contains(process));
        for &process in processes.iter().take(MOST) {
            let Some(number) = Pid::from_raw(process) else { continue };
            let status = capture::status(number);
            let count = ["voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"]
                .iter()
                .filter_map(|name| status.get(*name))
                .sum();
            let known = self.known.entry(process).or_insert((count, now));
            if known.0 != count {
                *known = (count, now);
            }
        }
    }

    /// Returns the time for which the first thread of a process has not run.
    pub(super) fn time(&self, process: i32) -> Duration {
        self.known
            .get(&process)
            .map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }
}

/// Returns the functions on the stack of `thread`, the first thread of a process that `signal` ends. `still` is the time for which the thread
/// has not run.
pub(super) fn stand(thread: Pid, signal: i32, history: &History, still: Duration) -> Option<Stand> {
    let registers = Registers::of(&ptrace::registers(thread).ok()?)?;
    let maps = Maps::of(thread).ok()?;
    let memory = Memory::of(thread).ok()?;
    let mut walk = Walk::new(&memory, &maps);
    let places = walk.places(registers);
    let status = capture::status(thread);
    let process = capture::group(&status, thread);
    let number = status.get("NStgid").copied().unwrap_or(process);
    let mut stack = described((thread, process), &places, &walk, history);
    // The trace has the numbers of processes in their own namespaces.
    stack.process = u32::try_from(number).unwrap_or(stack.process);
    stack.signal = signal;
    stack.exit = exit::place(&stack.frames);
    Some(Stand { stack, still })
}
