//! Finds the location at which a process crashed.
//!
//! A [`Supervisor`] follows a program and its descendants through ptrace. The supervisor stops a thread only when the thread receives a
//! signal, starts, ends or executes a program, so the program runs at full speed. When a signal ends a process, the supervisor reads the
//! stack of the thread that received the signal, and finds the library of each address.
//!
//! The supervisor delivers every signal, so the program's handlers run. The crash is the last signal before the process ends. If a handler
//! ended the process, the location of the crash is the code that the handler interrupted.

#[cfg(target_os = "linux")]
mod arguments;
#[cfg(target_os = "linux")]
mod background;
pub(crate) mod callee;
#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod cfi;
#[cfg(target_os = "linux")]
mod code;
#[cfg(target_os = "linux")]
mod exception;
#[cfg(target_os = "linux")]
mod executed;
#[cfg(target_os = "linux")]
mod exit;
#[cfg(target_os = "linux")]
mod mapped;
#[cfg(target_os = "linux")]
mod maps;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod preload;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod ptrace;
#[cfg(target_os = "linux")]
mod registers;
#[cfg(target_os = "linux")]
mod runtime;
#[cfg(target_os = "linux")]
mod stands;
#[cfg(target_os = "linux")]
mod start;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod unwind;
#[cfg(target_os = "linux")]
mod watch;

#[cfg(target_os = "linux")]
pub(crate) use preload::Preloaded;
#[cfg(target_os = "linux")]
pub(crate) use start::{command, start};
#[cfg(target_os = "linux")]
pub(crate) use supervisor::Supervisor;

use crate::causes::Limits;
use crate::child::Ending;
use crate::inside::Inside;
use crate::paths::file_name;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
#[cfg(not(target_os = "linux"))]
use std::{ffi::OsString, io, process::Command};

/// The way in which a child process ended.
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    /// Crashes of processes, in the order in which the processes ended.
    pub(crate) crashes: Vec<Crash>,
    /// Places of processes that signals asked to end, in the order in which the processes ended.
    pub(crate) stands: Vec<Stand>,
    /// Reason why the locations of crashes are unknown; `None` if they are known.
    pub(crate) unsupervised: Option<Unsupervised>,
    /// Graphics libraries that processes had open when they ended; `None` if not all processes were supervised.
    pub(crate) graphics: Option<Vec<String>>,
    /// Variables of processes that were supervised, in the order in which the processes ended.
    pub(crate) environments: Vec<Environment>,
}

/// Variable that turns on the trace. The value is the path of the trace, or `fd:` with the number of an open descriptor.
pub(crate) const TRACE: &str = "VK_LOADER_TRACE";

/// The variables with which a process was started, and its limits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Environment {
    /// Process ID in the namespace of the process, as in the trace.
    pub(crate) process: u32,
    /// Names and values. Bytes that are not UTF-8 are replaced. `None` if the process overwrote its variables, for example with a title.
    pub(crate) variables: Option<Vec<(String, String)>>,
    pub(crate) limits: Limits,
    /// `true` if the process had a Vulkan loader open when it ended.
    pub(crate) has_loader: bool,
    /// `true` if the process had as many files open as its limit permits when it ended.
    pub(crate) is_full: bool,
    /// `true` if the process could not write the file of the trace, because a sandbox hides it or made it read-only.
    pub(crate) is_trace_closed: bool,
    /// Path of the program that the process executed.
    pub(crate) executable: Option<String>,
    /// The files of the process, if they may differ from those of this process.
    pub(crate) inside: Option<Arc<Inside>>,
}

impl Environment {
    /// Returns the variables of a process that wrote a trace. Returns `None` if they lack the variable that turns on the trace, because the
    /// process then overwrote a part of its variables.
    pub(crate) fn of_traced(&self) -> Option<&[(String, String)]> {
        let known = self.variables.as_deref()?;
        known.iter().any(|(name, _)| name == TRACE).then_some(known)
    }

    /// Returns `true` if the process was started without the variable that turns on the trace. Returns `false` if the variables are
    /// unknown.
    pub(crate) fn lacks_trace(&self) -> bool {
        self.variables.is_some() && self.of_traced().is_none()
    }
}

impl Outcome {
    /// Returns the outcome of a process that was killed because it exceeded its time limit. `killed` is the outcome of the kill, if the process
    /// has ended.
    pub(crate) fn too_long(limit: Duration, killed: Option<Self>) -> Self {
        Self {
            ending: Ending::TooLong(limit),
            crashes: Vec::new(),
            stands: killed.map(|killed| killed.stands).unwrap_or_default(),
            unsupervised: None,
            graphics: None,
            environments: Vec::new(),
        }
    }
}

/// Signals that report a fault of the process itself.
const FAULTS: [i32; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGSYS,
];

/// Beginnings of the file names of the libraries of sanitizers, with the names of the sanitizers.
const SANITIZERS: [(&str, &str); 9] = [
    ("libasan.so", "AddressSanitizer"),
    ("libclang_rt.asan", "AddressSanitizer"),
    ("libhwasan.so", "HWAddressSanitizer"),
    ("libclang_rt.hwasan", "HWAddressSanitizer"),
    ("liblsan.so", "LeakSanitizer"),
    ("libtsan.so", "ThreadSanitizer"),
    ("libclang_rt.tsan", "ThreadSanitizer"),
    ("libubsan.so", "UndefinedBehaviorSanitizer"),
    ("libclang_rt.ubsan", "UndefinedBehaviorSanitizer"),
];

/// Returns the name of the sanitizer to which a library belongs.
pub(crate) fn sanitizer(file: &str) -> Option<&'static str> {
    let name = file_name(file);
    let row = SANITIZERS.iter().find(|(library, _)| name.starts_with(library));
    row.map(|(_, sanitizer)| *sanitizer)
}

/// Returns `true` if a signal reports a fault of the process itself.
pub(crate) fn is_fault(signal: i32) -> bool {
    FAULTS.contains(&signal)
}

/// The place of a process when a signal asked it to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stand {
    /// The process, its program, the signal, and the functions on the stack of its first thread.
    pub(crate) stack: Crash,
    /// Time for which the first thread had not run.
    pub(crate) still: Duration,
}

/// A process that a signal ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crash {
    pub(crate) process: u32,
    /// `true` for the process that this program started, `false` for a descendant of that process.
    pub(crate) is_first: bool,
    /// Path of the program that the process executed.
    pub(crate) executable: Option<String>,
    pub(crate) signal: i32,
    /// Address that could not be accessed, if the kernel reported an address.
    pub(crate) address: Option<u64>,
    pub(crate) instruction: Instruction,
    /// Number of the system call that a filter did not permit.
    pub(crate) system_call: Option<u64>,
    /// Process that sent the signal; `None` if the signal came from the kernel or the process itself.
    pub(crate) sender: Option<u32>,
    /// `true` if the process sent the signal to itself, and no fault came before. Some programs do so to end like a process that they started.
    pub(crate) is_raised: bool,
    /// `true` if another thread of the process sent the signal, so that the code on the stack is not its cause.
    pub(crate) is_from_thread: bool,
    /// `true` if the thread used up its stack.
    pub(crate) is_stack_overflow: bool,
    /// `true` for a fault of numbers with a fraction. Such faults happen only in processes that switched them on.
    pub(crate) is_of_fractions: bool,
    /// `true` if a function returned to an address without code, because its stack was overwritten.
    pub(crate) is_lost_return: bool,
    /// `true` if the process was ending: its first thread was in `exit` of the C library.
    pub(crate) is_exiting: bool,
    /// `true` if the first thread of the process received the signal.
    pub(crate) is_of_first_thread: bool,
    /// The place of the first thread, if another thread crashed.
    pub(crate) first_thread: Option<Box<Stand>>,
    /// Index of the function `exit` of the C library on the stack.
    pub(crate) exit: Option<usize>,
    /// `true` if the process executed no program after its start as a copy of another process.
    pub(crate) is_forked: bool,
    /// The file at the address of the fault, which the process had mapped, if the file system of the file has no space left.
    pub(crate) full: Option<String>,
    /// The file that ends before the address of the fault, to which the process had mapped it.
    pub(crate) short_file: Option<ShortFile>,
    /// Functions on the stack, innermost first.
    pub(crate) frames: Vec<Frame>,
    /// Libraries that the dynamic linker added to the process before those of the program.
    pub(crate) preloaded: Vec<Preloaded>,
    /// Files that the process had mapped, if it crashed in the dynamic linker.
    pub(crate) mapped: Vec<String>,
    /// The C++ exception that the thread handled when the process ended itself by SIGABRT.
    pub(crate) exception: Option<Exception>,
    /// Name of the sanitizer that ended the process because it found an error; `signal` is then 0.
    pub(crate) sanitizer: Option<&'static str>,
    /// For each of the innermost functions, the argument that was the address of the fault. Functions without an entry did not get the address as
    /// an argument, or their code is not known here.
    pub(crate) arguments: Vec<Option<Argument>>,
    /// Index of the function whose own code or variables contained the address of the fault; `None` if the address came from elsewhere, or its
    /// origin is unknown.
    pub(crate) own: Option<usize>,
    /// For each of the innermost functions, the name of the function of Vulkan in another file that it called, if the process had the name.
    pub(crate) called: Vec<Option<String>>,
    /// For each of the innermost functions, the file that its call reached. The file need not be on the stack, because the last step of the called
    /// function may have been a jump.
    pub(crate) reached: Vec<Option<String>>,
    /// For each of the innermost functions, the arguments of the function that it called. Unknown ones are `None`.
    pub(crate) passed: Vec<Vec<Option<u64>>>,
}

/// A file that is shorter than a mapping of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShortFile {
    pub(crate) path: String,
    /// Size of the file in bytes.
    pub(crate) size: u64,
}

/// An argument of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    /// Place among the arguments, beginning with 0.
    pub(crate) place: usize,
    /// Value of the argument; `None` if the value is unknown.
    pub(crate) value: Option<u64>,
    /// `true` if the address of the fault was not the argument itself, but was read from memory to which the argument leads.
    pub(crate) is_behind: bool,
}

/// A C++ exception.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Exception {
    /// Type of the exception, for example `std::runtime_error`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Message of the exception, if it has one.
    pub(crate) message: Option<String>,
}

impl fmt::Display for Exception {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(out, "{} (\"{message}\")", self.kind),
            None => write!(out, "{}", self.kind),
        }
    }
}

/// Kind of the instruction at which the kernel detected a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// The kernel detected no fault, or the instruction cannot be read.
    #[default]
    Unknown,
    /// An instruction with which code ends its process on purpose, for example after a failed check.
    Trap,
    Other,
}

/// A function on the stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// File that contains the code; `None` for code without a file, and for addresses without code.
    pub(crate) file: Option<String>,
    /// Address within the file; for code without a file, the address in memory.
    pub(crate) offset: u64,
    /// `true` if the address contains code. The addresses of an unmapped library contain no code.
    pub(crate) is_mapped: bool,
}

/// Returns a command that runs a program, without supervision.
///
/// # Errors
///
/// On this system, the function never returns an error.
#[cfg(not(target_os = "linux"))]
pub(crate) fn command(program: &OsString, arguments: &[OsString]) -> io::Result<Command> {
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

/// Reasons why the location of a crash is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unsupervised {
    /// The system does not permit the supervision.
    NotPermitted,
    /// The program has privileges that supervision would remove.
    RaisedPrivileges,
    /// The program calls `ptrace`, which fails under supervision.
    UsesPtrace,
    /// This kind of processor or system is not supported.
    Unsupported,
}

impl Unsupervised {
    /// Returns the reason in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::NotPermitted => {
                "the system does not permit vkloader to supervise it (kernel.yama.ptrace_scope, a container or a security policy)"
            }
            Self::RaisedPrivileges => "it has raised privileges, which it would lose under a supervisor",
            Self::UsesPtrace => "it supervises other processes itself, as debuggers do",
            Self::Unsupported => "vkloader cannot read the stacks of programs on this kind of system",
        }
    }
}
