//! Finds the errors of processes that end themselves with a status: handlers of faults that exit, and sanitizers.

use super::capture::{self, Snapshot, described};
use super::maps::{History, Maps};
use super::memory::Memory;
use super::processes::folder;
use super::registers::Registers;
use super::runtime::Runtime;
use super::unwind::Walk;
use super::{Crash, Frame, callee, code, sanitizer};
use rustix::process::Pid;
use std::path::Path;

/// Describes the error because of which a thread ends its process with a status that means failure. `signals` has the last signals of the
/// thread. Returns `None` if no fault and no sanitizer led to the end.
pub(super) fn crash(thread: Pid, signals: &[Snapshot], registers: &Registers, history: &History) -> Option<Crash> {
    let faults = || signals.iter().filter(|signal| signal.is_fault());
    let maps = Maps::of(thread).ok()?;
    let program = std::fs::read_link(folder(thread).join("exe")).unwrap_or_default();
    let is_shared = maps.files().any(|file| sanitizer(file).is_some());
    let linked = Runtime::of(&program).filter(|_| !is_shared);
    if faults().next().is_none() && !is_shared && linked.is_none() {
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
    let process = capture::group(&capture::status(thread), thread);
    let mut found = described((thread, process), &places[begin..], &walk, history);
    let inner = described(
        (thread, process),
        &places[..places.len().min(MOST_OUTSIDE)],
        &walk,
        history,
    );
    let by = by.or_else(|| {
        let runtime = linked.as_ref().filter(|linked| linked.is_in(&inner.frames, &program))?;
        without_runtime(&mut found.frames, runtime, &program);
        Some(runtime.name)
    });
    if fault.is_none() && by.is_none() {
        return None;
    }
    Some(Crash {
        signal: fault.map_or(0, |fault| fault.signal),
        address: fault.and_then(Snapshot::address),
        instruction: fault
            .map(|fault| code::instruction(&memory, &fault.registers, fault.signal))
            .unwrap_or_default(),
        system_call: fault
            .filter(|fault| fault.is_of(libc::SIGSYS))
            .and_then(|fault| fault.registers.system_call),
        is_of_fractions: fault.is_some_and(Snapshot::is_of_fractions),
        sanitizer: by,
        ..found
    })
}

/// Returns the index of the function `exit` of the C library.
pub(super) fn place(frames: &[Frame]) -> Option<usize> {
    const OF_C: [&str; 3] = ["libc.so", "libc-2", "libc.musl"];
    let is_exit = |frame: &Frame| {
        let path = frame.file.as_deref().map(Path::new)?;
        let name = path.file_name()?.to_str()?;
        let is_it = OF_C.iter().any(|library| name.starts_with(library));
        is_it
            .then(|| callee::containing(path, frame.offset))?
            .filter(|name| name == "exit")
    };
    frames.iter().position(|frame| is_exit(frame).is_some())
}

/// Removes the innermost functions up to those of the runtime in a program, because they only report an error of their caller.
fn without_runtime(frames: &mut Vec<Frame>, runtime: &Runtime, program: &Path) {
    let is_in = |frame: &Frame| runtime.is_in(std::slice::from_ref(frame), program);
    let first = frames.iter().take(MOST_OUTSIDE).position(is_in);
    if let Some(first) = first {
        let count = frames[first..].iter().take_while(|frame| is_in(frame)).count();
        frames.drain(..first + count);
    }
}

/// Number of functions of the C library that a runtime calls to end the process, and one more.
const MOST_OUTSIDE: usize = 4;
/// Number of innermost functions of which one belongs to the sanitizer that ends a process.
const MOST_INNER: usize = 8;
