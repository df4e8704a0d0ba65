//! The beginning of a program that is supervised: a process of this program that stops itself, and executes the program when the
//! supervisor lets it go on.

use crate::child::naming;
use rustix::process::{Signal, getpid, kill_process, set_parent_process_death_signal};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The hidden command of this program.
const COMMAND: &str = "start";

/// The file that gets the number of the error if the program cannot be executed.
pub(super) const FAILURE: &str = "VKLOADER_START_FAILURE";

/// A command that runs a program so that it can be supervised.
///
/// # Errors
/// The system's, if this program does not find itself.
pub(crate) fn command(program: &OsString, arguments: &[OsString]) -> io::Result<Command> {
    let mut command = Command::new(crate::itself::path()?);
    command.arg(COMMAND).arg("--").arg(program).args(arguments);
    Ok(command)
}

/// Stops, and executes a program when the supervisor lets this process go on. Returns if the program cannot be executed; the supervisor
/// finds the reason in a file.
///
/// # Errors
/// The system's, where this process cannot stop itself or write the file.
pub(crate) fn start(program: &[OsString]) -> io::Result<()> {
    let failure = std::env::var_os(FAILURE);
    let (Some((program, arguments)), Some(failure)) = (program.split_first(), failure) else {
        return Err(io::Error::other("only vkloader itself uses this command"));
    };
    // Nobody would let a stopped process go on whose supervisor is gone.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    kill_process(getpid(), Signal::STOP)?;
    set_parent_process_death_signal(None)?;
    let error = Command::new(program).args(arguments).env_remove(FAILURE).exec();
    let number = error.raw_os_error().unwrap_or(libc::EINVAL);
    let mut text = format!("{number} ").into_bytes();
    text.extend(program.as_encoded_bytes());
    std::fs::write(failure, text)
}

/// Why the program was not executed, if it was not.
pub(super) fn failure(file: &Path) -> Option<io::Error> {
    let text = std::fs::read(file).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (number, program) = text.split_once(' ')?;
    let error = io::Error::from_raw_os_error(number.parse().ok()?);
    Some(naming(Path::new(program), error))
}
