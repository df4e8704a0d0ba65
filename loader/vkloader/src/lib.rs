//! `vkloader`: which Vulkan drivers, layers and devices a program gets, why, and what to do about the others.
//!
//! The library tells what it does in a trace (docs/trace.md). This program lets a child process write one, reads it, and looks for
//! causes that no loader can know: libraries that a driver needs, device nodes, kernel drivers.
//!
//! It is a library so that its manual pages and completions can be written from its command line without being part of it
//! (`loader/pages`).

#[cfg(target_os = "linux")]
mod catalogue;
mod causes;
mod child;
mod commands;
mod events;
#[cfg(target_os = "linux")]
mod files;
mod installed;
mod library_folder;
mod probe;
mod report;
#[cfg(target_os = "linux")]
mod service;
mod show;
mod signals;
mod vulkan;

use clap::{CommandFactory, Parser};
use std::process::ExitCode;

/// Tells which Vulkan drivers, layers and devices programs get, and why.
#[derive(Parser)]
#[command(name = "vkloader", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

/// The definition of the command line.
#[must_use]
pub fn command_line() -> clap::Command {
    Arguments::command()
}

/// Does what the command line asks for.
#[must_use]
pub fn run() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("vkloader: {error}");
            ExitCode::from(commands::WRONG_USE)
        }
    }
}
