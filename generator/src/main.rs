//! The program `vkgen`. The documentation of the program is in the library of this crate.
#![forbid(unsafe_code)]

use std::io::Write;
use std::process::ExitCode;
use vkgen::command_line::{self, Asked};
use vkgen::error::Error;
use vkgen::verbs;

fn main() -> ExitCode {
    let done = command_line::parse(std::env::args_os()).and_then(|asked| match asked {
        Asked::Run(options) => verbs::run(&options),
        Asked::Text(text) => verbs::print(&text),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !matches!(error, Error::Reported(_)) {
                // Ignores a write error, because standard error is the only place to report it.
                let _ = writeln!(std::io::stderr(), "{error}");
            }
            ExitCode::from(error.exit_code())
        }
    }
}
