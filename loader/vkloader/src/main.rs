//! `vkloader`: which Vulkan drivers, layers and devices a program gets, why, and what to do about the others.
//!
//! The library tells what it does in a trace (docs/trace.md). This program lets a child process write one, reads it, and looks for
//! causes that no loader can know: libraries that a driver needs, device nodes, kernel drivers.

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

use clap::Parser;
use std::process::ExitCode;

/// Tells which Vulkan drivers, layers and devices programs get, and why.
#[derive(Parser)]
#[command(name = "vkloader", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("vkloader: {error}");
            ExitCode::from(commands::WRONG_USE)
        }
    }
}
