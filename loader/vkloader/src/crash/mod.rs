//! Places where processes crashed. A [`Supervisor`] follows a program and all that it starts through ptrace. It stops a thread only where
//! a signal comes, and where one begins, ends or executes a program, so the program runs as fast as without it. When a signal ends a process,
//! it reads the stack of the thread that the signal came to, from the fault outwards, and which library each address belongs to.
//!
//! A signal is always handed on, so the handlers of the program run. What counts is the last signal before the process ends by one; where a
//! handler ended the process, the place that the handler interrupted.

#[cfg(target_os = "linux")]
mod capture;
#[cfg(target_os = "linux")]
mod cfi;
#[cfg(target_os = "linux")]
mod code;
#[cfg(target_os = "linux")]
mod executed;
#[cfg(target_os = "linux")]
mod maps;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod ptrace;
#[cfg(target_os = "linux")]
mod registers;
#[cfg(target_os = "linux")]
mod start;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod unwind;

#[cfg(target_os = "linux")]
pub(crate) use start::{command, start};
#[cfg(target_os = "linux")]
pub(crate) use supervisor::Supervisor;

use crate::child::Ending;
use serde::Serialize;
use std::time::Duration;
#[cfg(not(target_os = "linux"))]
use std::{ffi::OsString, io, process::Command};

/// The way a child process ended.
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    /// Processes that a signal ended, in their order.
    pub(crate) crashes: Vec<Crash>,
    /// Why no place of a crash is known, where that is so.
    pub(crate) unsupervised: Option<Unsupervised>,
}

impl Outcome {
    /// The process ran longer than allowed, and was ended.
    pub(crate) fn too_long(limit: Duration) -> Self {
        Self {
            ending: Ending::TooLong(limit),
            crashes: Vec::new(),
            unsupervised: None,
        }
    }
}

/// Signals that say where something went wrong.
const FAULTS: [i32; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGSYS,
];

/// Returns `true` if a signal says where something went wrong.
pub(crate) fn is_fault(signal: i32) -> bool {
    FAULTS.contains(&signal)
}

/// A process that a signal ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crash {
    pub(crate) process: u32,
    /// `true` if it is the process that was started, and not one that it started.
    pub(crate) is_first: bool,
    /// The program that the process executed.
    pub(crate) executable: Option<String>,
    /// The signal that ended the process.
    pub(crate) signal: i32,
    /// The address that the fault is about, where the signal is a fault.
    pub(crate) address: Option<u64>,
    /// The process that sent the signal, if that is another one.
    pub(crate) sender: Option<u32>,
    /// The functions on the stack, innermost first. The first one is where the thread was.
    pub(crate) frames: Vec<Frame>,
}

/// A function on the stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The file whose code it is; `None` for code that no file has, and for addresses without code.
    pub(crate) file: Option<String>,
    /// The address, within the file if there is one.
    pub(crate) offset: u64,
    /// `true` if there is code. A library that is not mapped any more has none.
    pub(crate) is_mapped: bool,
}

/// A command that runs a program.
///
/// # Errors
/// This function does not fail on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn command(program: &OsString, arguments: &[OsString]) -> io::Result<Command> {
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

/// Why no place of a crash is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unsupervised {
    /// The system does not permit this process to supervise others.
    NotPermitted,
    /// The program has raised privileges, which it would lose.
    RaisedPrivileges,
    /// The program supervises others itself.
    UsesPtrace,
    /// The kind of processor or system is not supported.
    Unsupported,
}

impl Unsupervised {
    /// The same for people.
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
