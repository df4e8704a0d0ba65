//! Finds the errors of processes that end themselves with a status: handlers of faults that exit, and sanitizers.

use super::capture::{self, Snapshot, described};
use super::maps::{History, Maps};
use super::memory::Memory;
use super::registers::Registers;
use super::unwind::Walk;
use super::{Crash, code, sanitizer};
use rustix::process::Pid;

/// Describes the error because of which a thread ends its process with a status that means failure. `signals` has the last signals of the
/// thread. Returns `None` if no fault and no sanitizer led to the end.
pub(super) fn crash(thread: Pid, signals: &[Snapshot], registers: &Registers, history: &History) -> Option<Crash> {
    let faults = || signals.iter().filter(|signal| signal.is_fault());
    let maps = Maps::of(thread).ok()?;
    if faults().next().is_none() && !maps.files().any(|file| sanitizer(file).is_some()) {
        return None;
    }
    let memory = Memory::of(thread).ok()?;
    let mut walk = Walk::new(&memory, &maps);
    let places = walk.places(registers.clone());
    let begin = capture::beginning(&places, |at| faults().any(|fault| fault.is_at(at)));
    let interrupted = places[..begin].iter().rev().find_map(|place| place.interrupts);
    let fault = interrupted.and_then(|at| faults().find(|fault| fault.is_at(at)));
    let files = places[..places.len().min(MOST_INNER)].iter();
    let mut files = files.filter_map(|place| maps.find(place.at)?.path.as_deref());
    let by = files.find_map(sanitizer);
    if fault.is_none() && by.is_none() {
        return None;
    }
    let process = capture::group(&capture::status(thread), thread);
    let found = described((thread, process), &places[begin..], &walk, history);
    Some(Crash {
        signal: fault.map_or(0, |fault| fault.signal),
        address: fault.and_then(Snapshot::address),
        instruction: fault
            .map(|fault| code::instruction(&memory, &fault.registers, fault.signal))
            .unwrap_or_default(),
        sanitizer: by,
        ..found
    })
}

/// Number of innermost functions of which one belongs to the sanitizer that ends a process.
const MOST_INNER: usize = 8;
