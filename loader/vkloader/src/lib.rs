//! `vkloader` reports the Vulkan drivers, layers and devices of a program, the causes of missing ones, and remedies.
//!
//! The library writes its decisions to a trace (docs/trace.md). This program runs a child process that writes a trace, and reads the trace.
//! The program also searches for causes that a loader cannot detect: missing libraries, device nodes, kernel drivers.
//!
//! The crate has a library so that `loader/pages` can write manual pages and completions from its command line.

mod beside;
mod c_library;
mod carried;
#[cfg(target_os = "linux")]
mod catalogue;
mod causes;
mod child;
mod commands;
mod crash;
mod events;
mod explain;
mod features;
#[cfg(target_os = "linux")]
mod files;
mod filters;
mod inside;
mod installed;
mod interrupt;
mod introduced;
mod itself;
mod layers;
mod levels;
mod library_folder;
mod manifests;
mod mounts;
mod names;
mod objects;
mod other;
mod paths;
mod probe;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod record;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
#[path = "no_record.rs"]
mod record;
mod regular;
mod remedy;
mod report;
mod requested;
mod required;
mod run;
mod scratch;
#[cfg(target_os = "linux")]
mod service;
mod shell;
mod show;
mod signals;
#[cfg(target_os = "linux")]
mod single;
mod superuser;
mod suspects;
mod system_calls;
mod unstarted;
mod untraced;
mod variables;
mod vulkan;
mod without;

use clap::{CommandFactory, Parser};
#[cfg(target_os = "linux")]
pub use single::{Set, become_program_of};
use std::process::ExitCode;

/// Shows which Vulkan drivers, layers and devices programs use, and why.
#[derive(Parser)]
#[command(name = "vkloader", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

/// Returns the definition of the command line.
#[must_use]
pub fn command_line() -> clap::Command {
    Arguments::command()
}

/// Runs the command that the command line names.
#[must_use]
pub fn run() -> ExitCode {
    // Code after this line must not end the process, because the temporary folder with the unpacked files would then remain.
    #[cfg(target_os = "linux")]
    let _unpacked = single::Unpacked::of_this_process();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // If the standard streams are closed, the error cannot be printed.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(commands::WRONG_USE));
        }
    };
    arguments.command.run().unwrap_or_else(|error| {
        let end = causes::Limits::end_of_message(&error);
        anstream::eprintln!("vkloader: {error}{end}");
        ExitCode::from(commands::WRONG_USE)
    })
}
