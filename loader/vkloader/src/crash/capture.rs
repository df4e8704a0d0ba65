//! Captures the state of a process when a signal ends it.

use super::callee;
use super::cfi;
use super::code;
use super::mapped::{full, short_file};
use super::maps::{History, Maps};
use super::memory::Memory;
use super::preload;
use super::processes::{self, folder};
use super::registers::{Machine, Registers, Signalling, number};
use super::unwind::{Place, Walk};
use super::{Crash, Environment, Frame, Instruction, TRACE, arguments, exception, exit};
use crate::causes::Limits;
use crate::inside::Inside;
use crate::paths::file_name;
use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::process::Pid;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Upper bound on the distance in bytes between the stack pointer and an address that a function uses for its variables.
const NEAR_STACK: u64 = 1 << 20;
/// Functions of C libraries that can send a signal to the thread that calls them.
const RAISING: [&str; 6] = ["abort", "gsignal", "kill", "pthread_kill", "raise", "tgkill"];

/// The state of a thread at the moment when it received a signal.
#[derive(Clone)]
pub(super) struct Snapshot {
    /// Sequence number among all captured states.
    pub(super) order: u64,
    pub(super) signal: i32,
    /// Value of `si_code`, which is positive for faults that the kernel detected.
    cause: i32,
    /// The word of `siginfo_t` that contains the address of a fault, or the ID of the process that sent the signal.
    detail: u64,
    pub(super) registers: Registers,
}

impl Snapshot {
    /// Decodes the bytes of a `siginfo_t` and of the registers; `None` for an unknown processor.
    pub(super) fn of(order: u64, information: &[u8], registers: &[u8]) -> Option<Self> {
        let word = size_of::<usize>();
        // The structure begins with three `int` values and a union, which is aligned to a word.
        let union = 12_usize.next_multiple_of(word);
        let small = |at: usize| i32::from_ne_bytes([0, 1, 2, 3].map(|byte| information[at + byte]));
        Some(Self {
            order,
            signal: small(0),
            cause: small(8),
            detail: information.get(union..union + word).map_or(0, number),
            registers: Registers::of(registers)?,
        })
    }

    /// Returns `true` if the kernel detected a fault.
    pub(super) fn is_fault(&self) -> bool {
        self.cause > 0
    }

    /// Returns the address that the thread accessed, for a fault of memory. The inner value is `None` if the kernel did not tell the address.
    fn fault_of_memory(&self) -> Option<Option<u64>> {
        let is_of_memory = self.is_fault() && matches!(self.signal, libc::SIGSEGV | libc::SIGBUS);
        is_of_memory.then(|| self.address())
    }

    /// Returns `true` if the thread received the signal `signal`.
    pub(super) fn is_of(&self, signal: i32) -> bool {
        self.signal == signal
    }

    /// Returns `true` if a filter for system calls sent the signal.
    fn is_filtered(&self) -> bool {
        self.is_of(libc::SIGSYS) && self.is_fault()
    }

    /// Returns `true` for a fault of numbers with a fraction.
    pub(super) fn is_of_fractions(&self) -> bool {
        // The values of `si_code` from `FPE_FLTDIV` to `FPE_FLTINV`. Smaller values stand for integers.
        self.signal == libc::SIGFPE && (3..=7).contains(&self.cause)
    }

    /// Returns `true` if the thread had the instruction pointer `pc` and the stack pointer `sp` in the captured state.
    pub(super) fn is_at(&self, (pc, sp): (u64, u64)) -> bool {
        (self.registers.pc, self.registers.sp()) == (pc, sp)
    }

    /// Returns the process that sent the signal; `None` if the kernel sent the signal.
    fn sender(&self) -> Option<u32> {
        let is_sent = matches!(self.cause, libc::SI_USER | libc::SI_QUEUE | libc::SI_TKILL);
        is_sent.then_some(self.detail as u32)
    }

    /// Returns the address of a fault; `None` if the kernel does not report the address.
    pub(super) fn address(&self) -> Option<u64> {
        let has_address = matches!(self.signal, libc::SIGSEGV | libc::SIGBUS) && self.cause > 0;
        (has_address && self.cause != libc::SI_KERNEL).then_some(self.detail)
    }
}

/// Describes the crash of a process. `thread` received a signal that is about to end the process. `snapshots` has the last signals of all
/// supervised threads. Returns `None` if the registers or the memory cannot be read.
pub(super) fn crash(
    thread: Pid,
    signal: i32,
    snapshots: &HashMap<i32, Vec<Snapshot>>,
    history: &History,
) -> Option<Crash> {
    let own = status(thread);
    let process = group(&own, thread);
    let known = of_process(thread, snapshots);
    let (receiver, last) = *known
        .iter()
        .rev()
        .find(|(_, snapshot)| snapshot.signal == signal)
        .or(known.last())?;
    let place = handled(&known, last).unwrap_or(last);
    let maps = Maps::of(thread).ok()?;
    let memory = Memory::of(thread).ok()?;
    let mut walk = Walk::new(&memory, &maps);
    let places = walk.places(place.registers.clone());
    let begin = beginning(&places, |at| known.iter().any(|(_, one)| one.is_at(at)));
    let interrupted = places[..begin].iter().rev().find_map(|place| place.interrupts);
    let found = match begin {
        0 => arguments::find(&mut walk, &place.registers, place.fault_of_memory()),
        _ => arguments::Found::default(),
    };
    let filtered = interrupted
        .and_then(|at| filtered(&known, at))
        .or(place.registers.system_call.filter(|_| place.is_filtered()));
    let sp = interrupted.map_or_else(|| place.registers.sp(), |(_, sp)| sp);
    let own_number = own.get("NStgid").copied().unwrap_or(process);
    let is_raised = !place.is_fault() && last.sender().is_some_and(|sender| i64::from(sender) == own_number);
    let described = at_place(
        described((thread, process), &places[begin..], &walk, history),
        (place, thread),
        &maps,
    );
    Some(Crash {
        signal: filtered.map_or(signal, |_| libc::SIGSYS),
        address: place.address().filter(|_| filtered.is_none()),
        instruction: if place.is_fault() && filtered.is_none() {
            code::instruction(&memory, &place.registers, place.signal)
        } else {
            Instruction::Unknown
        },
        system_call: filtered.or(place.registers.system_call.filter(|_| signal == libc::SIGSYS)),
        sender: last.sender().filter(|sender| i64::from(*sender) != own_number),
        is_raised,
        is_from_thread: is_raised && is_of_other(&known, last, &described.frames),
        is_of_first_thread: i64::from(receiver) == process,
        is_lost_return: begin == 0 && code::is_lost_return(&memory, &place.registers, place.fault_of_memory()),
        arguments: found.arguments,
        own: found.own,
        called: found.called,
        reached: found.reached,
        passed: found.passed,
        mapped: files_of_linker(&maps, place.registers.pc),
        exception: exception_of(place, signal, sp, &memory),
        ..described
    })
}

/// Returns the captured states of all threads of the process of `thread`, in their order.
fn of_process(thread: Pid, snapshots: &HashMap<i32, Vec<Snapshot>>) -> Vec<(i32, &Snapshot)> {
    let of_thread = |&number: &i32| {
        let all = snapshots.get(&number).into_iter().flatten();
        all.map(move |snapshot| (number, snapshot))
    };
    let mut known: Vec<(i32, &Snapshot)> = threads(thread).iter().flat_map(of_thread).collect();
    known.sort_by_key(|(_, snapshot)| snapshot.order);
    known
}

/// Adds to a crash what the state `place` of `thread` and the mappings tell.
fn at_place(crash: Crash, (place, thread): (&Snapshot, Pid), maps: &Maps) -> Crash {
    Crash {
        is_stack_overflow: is_stack_overflow(place, maps),
        is_of_fractions: place.is_of_fractions(),
        exit: exit::place(&crash.frames),
        short_file: short_file(place, thread, maps),
        full: full(place, thread, maps),
        ..crash
    }
}

/// Returns the system call that a filter did not permit, if the handler of the filter's signal was interrupted at `at`.
fn filtered(known: &[(i32, &Snapshot)], at: (u64, u64)) -> Option<u64> {
    let is_it = |one: &&(i32, &Snapshot)| one.1.is_filtered() && one.1.is_at(at);
    known.iter().rev().find(is_it)?.1.registers.system_call
}

/// Returns `true` for a fault at an address near the stack pointer, and not above the stack. Such addresses are invalid only if the thread used up
/// its stack.
fn is_stack_overflow(fault: &Snapshot, maps: &Maps) -> bool {
    let sp = fault.registers.sp();
    let is_below = |address: u64| maps.find(sp).is_none_or(|stack| address < stack.end);
    let is_near = |address: u64| address.abs_diff(sp) < NEAR_STACK && is_below(address);
    fault.signal == libc::SIGSEGV && fault.address().is_some_and(is_near)
}

/// Returns the files of a process if an address is in the code of its dynamic linker, and no files otherwise.
fn files_of_linker(maps: &Maps, at: u64) -> Vec<String> {
    let path = maps.find(at).and_then(|mapping| mapping.path.as_deref());
    let name = path.map_or("", file_name);
    if name.starts_with("ld-") || name.starts_with("ld.so") {
        maps.all_files()
    } else {
        Vec::new()
    }
}

/// Returns `true` if another thread of the process sent the signal of `last`, whose thread has the functions `frames` on its stack. A handler that
/// sent the signal of a fault again has returned to the fault.
fn is_of_other(known: &[(i32, &Snapshot)], last: &Snapshot, frames: &[Frame]) -> bool {
    let end = (last.registers.pc, last.registers.sp());
    let is_repeated = || known.iter().any(|(_, one)| one.order != last.order && one.is_at(end));
    let is_sender = match last.registers.signalling {
        Signalling::Sends => true,
        // The names of functions are read from files for x86-64 only.
        Signalling::Unblocks => last.registers.machine != Machine::X64 || is_raising(frames),
        Signalling::Neither => false,
    };
    !is_sender && !is_repeated()
}

/// Returns `true` if one of the innermost functions on a stack sends a signal. Some C libraries block all signals while they send one.
fn is_raising(frames: &[Frame]) -> bool {
    let name = |frame: &Frame| callee::containing(Path::new(frame.file.as_deref()?), frame.offset);
    let mut names = frames.iter().take(4).filter_map(name);
    names.any(|name| RAISING.contains(&name.as_str()))
}

/// Returns the C++ exception of a 64-bit program that ended itself with SIGABRT at `place`.
fn exception_of(place: &Snapshot, signal: i32, sp: u64, memory: &Memory) -> Option<super::Exception> {
    let is_own = signal == libc::SIGABRT && is_of_64_bits(&place.registers);
    is_own.then(|| exception::find(memory, sp)).flatten()
}

/// Returns `true` for a thread of a 64-bit process.
fn is_of_64_bits(registers: &Registers) -> bool {
    registers.machine.word() == 8
}

/// Returns a crash with the process `process`, its program, and the functions on the stack of `thread`.
pub(super) fn described((thread, process): (Pid, i64), places: &[Place], walk: &Walk<'_>, history: &History) -> Crash {
    Crash {
        process: u32::try_from(process).unwrap_or_default(),
        executable: executable(thread),
        preloaded: preload::of(thread, &variables(thread).unwrap_or_default(), walk.maps),
        frames: places
            .iter()
            .map(|place| frame(place.at, process as i32, walk, history))
            .collect(),
        ..Crash::default()
    }
}

/// Returns the path of the program that a process executed.
fn executable(process: Pid) -> Option<String> {
    let path = std::fs::read_link(folder(process).join("exe")).ok()?;
    let path = path.display().to_string();
    Some(path.strip_suffix(" (deleted)").unwrap_or(&path).into())
}

/// Adds the variables, limits and files of a process to those of other processes, if they can be read.
pub(super) fn add_environment(process: Pid, has_loader: bool, known: &mut Vec<Environment>) {
    let new = environment(process, has_loader, known);
    known.extend(new);
}

/// Returns the variables with which a process was started, and its limits; `None` if the limits cannot be read. `known` has the environments of
/// other processes, which may have the same files.
fn environment(process: Pid, has_loader: bool, known: &[Environment]) -> Option<Environment> {
    let own = status(process).get("NStgid").copied();
    let number = own.unwrap_or_else(|| process.as_raw_nonzero().get().into());
    let folder = folder(process);
    let limits = Limits::parse(&std::fs::read_to_string(folder.join("limits")).ok()?);
    let files = std::fs::read_dir(folder.join("fd"));
    let variables = variables(process);
    Some(Environment {
        has_loader,
        process: u32::try_from(number).ok()?,
        is_trace_closed: variables
            .as_deref()
            .is_some_and(|known| is_trace_closed(process, known)),
        variables,
        limits,
        is_full: files.is_ok_and(|files| limits.is_full(files.count())),
        executable: executable(process),
        inside: Inside::of(&folder).map(|inside| shared(inside, known)),
    })
}

/// Returns the files of a sandbox, shared with a process of the same sandbox.
fn shared(inside: Inside, known: &[Environment]) -> Arc<Inside> {
    let mut same = known.iter().filter_map(|one| one.inside.as_ref());
    let same = same.find(|known| ***known == inside).map(Arc::clone);
    same.unwrap_or_else(|| Arc::new(inside))
}

/// Returns `true` if the trace is a file that the process cannot write: below the root folder of the process, it does not exist or is
/// read-only. A sandbox with folders of its own has this effect.
fn is_trace_closed(process: Pid, variables: &[(String, String)]) -> bool {
    let value = variables.iter().find(|(name, _)| name == TRACE).map(|(_, value)| value);
    let Some(path) = value.filter(|value| value.starts_with('/')) else {
        return false;
    };
    match statvfs(format!("{}/root{path}", folder(process).display())) {
        Ok(status) => status.f_flag.contains(StatVfsMountFlags::RDONLY),
        Err(error) => error == rustix::io::Errno::NOENT,
    }
}

fn variables(process: Pid) -> Option<Vec<(String, String)>> {
    pairs(&std::fs::read(folder(process).join("environ")).ok()?)
}

/// Returns the names and values in the text of `/proc/PID/environ`. Returns `None` if the text is not empty but contains no variables,
/// because the process then overwrote the text.
fn pairs(bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let texts = bytes.split(|&byte| byte == 0).map(String::from_utf8_lossy);
    let pair = |text: std::borrow::Cow<'_, str>| text.split_once('=').map(|(name, value)| (name.into(), value.into()));
    let all: Vec<(String, String)> = texts.filter_map(pair).collect();
    // The title of a process may contain `=` too, but the text before `=` is then not the name of a variable.
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_whole = bytes.is_empty() || all.iter().any(|(name, _)| is_name(name));
    is_whole.then_some(all)
}

/// Returns the fault whose handler was running when another signal ended the process. The thread of that fault blocks the fault's signal
/// until the handler returns.
fn handled<'a>(known: &[(i32, &'a Snapshot)], last: &Snapshot) -> Option<&'a Snapshot> {
    if last.is_fault() {
        return None;
    }
    let mut others = known
        .iter()
        .rev()
        .filter(|(_, one)| one.order != last.order && one.is_fault());
    others
        .find(|(number, one)| is_blocked(*number, one.signal))
        .map(|(_, one)| *one)
}

/// Returns the index of the function that the outermost handler of a fault interrupted. The search for the crashing library starts at this
/// function.
pub(super) fn beginning(places: &[Place], is_fault: impl Fn((u64, u64)) -> bool) -> usize {
    let handler = places.iter().rposition(|place| place.interrupts.is_some_and(&is_fault));
    handler.map_or(0, |at| (at + 1).min(places.len().saturating_sub(1)))
}

fn frame(at: u64, process: i32, walk: &Walk<'_>, history: &History) -> Frame {
    let now = walk.maps.find(at).filter(|mapping| mapping.is_executable);
    let mapping = now.or_else(|| {
        walk.maps
            .find(at)
            .is_none()
            .then(|| history.find(process, at))
            .flatten()
    });
    let file = mapping.and_then(|mapping| mapping.path.clone());
    let bias = walk.maps.base(at).and_then(|base| cfi::bias(walk.memory, base));
    let start = bias.or(mapping.map(|mapping| mapping.start));
    Frame {
        offset: match (&file, start) {
            (Some(_), Some(start)) => at.wrapping_sub(start),
            _ => at,
        },
        file,
        is_mapped: now.is_some(),
    }
}

/// Returns the process to which `thread` belongs. `status` has the status of the thread.
pub(super) fn group(status: &HashMap<String, i64>, thread: Pid) -> i64 {
    let own = || thread.as_raw_nonzero().get().into();
    status.get("Tgid").copied().unwrap_or_else(own)
}

/// Returns all threads of the process to which `thread` belongs.
fn threads(thread: Pid) -> Vec<i32> {
    let entries = std::fs::read_dir(folder(thread).join("task"))
        .into_iter()
        .flatten()
        .flatten();
    let number = |folder: std::path::PathBuf| {
        let text = std::fs::read_to_string(folder.join("status")).ok()?;
        processes::own_level(&text, "NSpid").or_else(|| folder.file_name()?.to_str()?.parse().ok())
    };
    let numbers = entries.filter_map(|entry| number(entry.path()));
    numbers.filter_map(|number| number.try_into().ok()).collect()
}

/// Returns a map from the name of each line in `/proc/PID/status` to the last number of the line. The number of `Tgid` is that in the namespace of
/// this process.
pub(super) fn status(thread: Pid) -> HashMap<String, i64> {
    let text = std::fs::read_to_string(folder(thread).join("status")).unwrap_or_default();
    let own = processes::own_level(&text, "NStgid").map(|number| ("Tgid".to_owned(), number));
    let line = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.into(), value.split_whitespace().next_back()?.parse().ok()?))
    };
    text.lines().filter_map(line).chain(own).collect()
}

/// Returns `true` if this program can read stacks on this kind of processor.
pub(super) const fn is_supported() -> bool {
    cfg!(any(
        target_arch = "x86_64",
        target_arch = "x86",
        target_arch = "aarch64"
    ))
}

/// Returns `true` if a thread blocks a signal.
fn is_blocked(thread: i32, signal: i32) -> bool {
    let folder = Pid::from_raw(thread).map(folder).unwrap_or_default();
    let text = std::fs::read_to_string(folder.join("status")).unwrap_or_default();
    let mask = text.lines().find_map(|line| line.strip_prefix("SigBlk:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_story_begins_after_the_outermost_handler_of_a_fault() {
        let place = |interrupts| Place { at: 0, interrupts };
        let (fault, timer, plain) = (place(Some((1, 1))), place(Some((2, 2))), place(None));
        let beginning = |places: &[Place]| beginning(places, |at| at == (1, 1));
        assert_eq!(beginning(&[plain, plain]), 0);
        assert_eq!(beginning(&[plain, fault, plain]), 2);
        assert_eq!(beginning(&[plain, fault, plain, fault, plain, plain]), 4);
        assert_eq!(beginning(&[plain, timer, plain]), 0);
        assert_eq!(beginning(&[plain, fault]), 1);
    }

    #[test]
    fn variables_that_a_process_overwrote_are_unknown() {
        let environment = |bytes| Environment {
            process: 7,
            variables: pairs(bytes),
            limits: Limits::default(),
            has_loader: true,
            is_full: false,
            is_trace_closed: false,
            executable: None,
            inside: None,
        };
        for (bytes, is_traced, lacks_trace) in [
            (&b""[..], false, true),
            (b"PATH=/bin\0HOME=/\0", false, true),
            (b"PATH=/bin\0VK_LOADER_TRACE=fd:3\0", true, false),
            (b"\0\0\0\0", false, false),
            (b"worker 3\0\0", false, false),
            (b"job: --size=3\0\0", false, false),
        ] {
            let one = environment(bytes);
            assert_eq!((one.of_traced().is_some(), one.lacks_trace()), (is_traced, lacks_trace));
            let words = crate::untraced::cleared(&[one], &[]);
            assert_eq!(words.is_some(), lacks_trace, "{words:?}");
        }
    }
}
