//! The program: see the library for what it does.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use vkgen::error::Error;
use vkgen::{command_line, verbs};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match command_line::parse(&arguments).and_then(|options| verbs::run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !matches!(error, Error::Reported(_)) {
                eprintln!("{error}");
            }
            ExitCode::from(error.exit_code())
        }
    }
}
