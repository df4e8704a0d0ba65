//! Starts a program under a supervisor. A process of `vkloader` stops itself. When the supervisor continues this process, the process
//! executes the program.

use crate::causes::elf;
use crate::child::naming;
use crate::itself;
use crate::regular;
use crate::shell::word;
use crate::unstarted;
use rustix::fs::{Access, access};
use rustix::process::{Signal, getpid, kill_process, set_parent_process_death_signal};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Hidden command of `vkloader` that runs [`start`].
const COMMAND: &str = "start";

/// Variable with the path of a file. If the program cannot be executed, the process writes the error number to this file.
pub(super) const FAILURE: &str = "VKLOADER_START_FAILURE";

/// Returns a command that runs this program's hidden command [`COMMAND`], which calls [`start`]. A supervisor must run the returned
/// command, because `start` stops its process.
///
/// # Errors
/// The path of this program cannot be found.
pub(crate) fn command(program: &OsString, arguments: &[OsString]) -> io::Result<Command> {
    let mut command = Command::new(crate::itself::path()?);
    command.arg(COMMAND).arg("--").arg(program).args(arguments);
    Ok(command)
}

/// Stops this process. When the supervisor continues the process, executes a program. If the program cannot be executed, writes the reason
/// to a file for the supervisor, and returns.
///
/// # Errors
/// The process cannot stop, or cannot write the file.
pub(crate) fn start(program: &[OsString]) -> io::Result<()> {
    let failure = std::env::var_os(FAILURE);
    let (Some((program, arguments)), Some(failure)) = (program.split_first(), failure) else {
        return Err(io::Error::other("only vkloader itself uses this command"));
    };
    // After the end of the supervisor, no other process could continue this stopped process.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    kill_process(getpid(), Signal::STOP)?;
    set_parent_process_death_signal(None)?;
    let mut command = Command::new(program);
    command.args(arguments).env_remove(FAILURE);
    if let Some(options) = without_leaks(std::env::var_os(LEAKS)) {
        command.env(LEAKS, options);
    }
    let error = command.exec();
    let number = error.raw_os_error().unwrap_or(libc::EINVAL);
    let mut text = format!("{number} ").into_bytes();
    text.extend(program.as_encoded_bytes());
    std::fs::write(failure, text)
}

/// Variable with options of LeakSanitizer.
const LEAKS: &str = "LSAN_OPTIONS";

/// Returns the options with which LeakSanitizer, a part of AddressSanitizer, searches for no leaks. The search fails in supervised processes
/// and ends the program with a failure, because it uses `ptrace` itself.
fn without_leaks(options: Option<OsString>) -> Option<OsString> {
    const OFF: &str = "detect_leaks=0";
    let mut options = options.unwrap_or_default();
    if options.to_string_lossy().contains("detect_leaks") {
        return None;
    }
    if !options.is_empty() {
        options.push(":");
    }
    options.push(OFF);
    Some(options)
}

/// Returns the error from executing the program, if the process wrote one.
pub(super) fn failure(file: &Path) -> Option<io::Error> {
    let text = regular::read(file).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (number, program) = text.split_once(' ')?;
    let error = io::Error::from_raw_os_error(number.parse().ok()?);
    // A name without a folder stands for a file in the folders of PATH.
    let found = itself::find(OsStr::new(program));
    let program = found.as_deref().unwrap_or(Path::new(program));
    if error.raw_os_error() == Some(libc::ENOEXEC) && regular::read(program).is_ok_and(|bytes| bytes.starts_with(b"MZ"))
    {
        let words = "a program for Windows, which Wine runs: vkloader explain -- wine PROGRAM";
        return Some(naming(program, io::Error::other(words)));
    }
    Some(match unstarted::why(program, &error) {
        Some(words) => naming(program, io::Error::other(words)),
        None if error.kind() == io::ErrorKind::PermissionDenied => naming(program, refused(program, &error)),
        None => naming(program, error),
    })
}

/// Adds to an error the reason why this user may not execute a program, and the remedy.
fn refused(program: &Path, error: &io::Error) -> io::Error {
    let shown = |path: &Path| word(&path.display().to_string());
    let may_be_executed = |path: &Path| access(path, Access::EXEC_OK).is_ok();
    let closed = elf::closed_folder(program);
    let interpreter = unstarted::interpreter(program).filter(|path| path.is_file() && !may_be_executed(path));
    let words = match (closed, elf::forbidding_mount(program), interpreter) {
        (Some(folder), ..) => format!(
            "this user may not search the folder {}; to permit it: chmod o+x {}",
            folder.display(),
            shown(folder)
        ),
        (_, Some(mount), _) => format!(
            "its file system is mounted with noexec, so none of its programs may run; to permit it: mount -o remount,exec {}, with exec after the \
             option user in /etc/fstab",
            word(&mount)
        ),
        _ if program.is_dir() => "it is a folder: name a program in it".into(),
        _ if program.is_file() && !may_be_executed(program) => {
            format!("{error}; to let it be executed: chmod +x {}", shown(program))
        }
        (_, _, Some(interpreter)) => format!(
            "this user may not execute its interpreter {}; to let it be executed: chmod +x {}",
            interpreter.display(),
            shown(&interpreter)
        ),
        _ => error.to_string(),
    };
    io::Error::new(error.kind(), words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn programs_that_may_not_run_come_with_a_remedy() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("a file");
            fs::set_permissions(&path, Permissions::from_mode(mode)).expect("the owner may");
            path
        };
        let error = io::Error::from_raw_os_error(libc::EACCES);
        let words = |path: &Path| refused(path, &error).to_string();
        if elf::forbidding_mount(folder.path()).is_none() {
            let closed = file("closed", "", 0o644);
            let expected = format!("chmod +x {}", closed.display());
            assert!(words(&closed).ends_with(&expected), "{}", words(&closed));
            let script = file("script", &format!("#!{}\n", closed.display()), 0o755);
            assert!(words(&script).ends_with(&expected), "{}", words(&script));
            assert!(words(&script).contains("its interpreter"), "{}", words(&script));
            assert!(words(folder.path()).contains("it is a folder"));
        }
        // The kernel mounts this file system without the permission to execute files.
        if let Some(mount) = elf::forbidding_mount(Path::new("/proc/self/status")) {
            let words = words(Path::new("/proc/self/status"));
            assert!(words.contains(&format!("mount -o remount,exec {mount}")), "{words}");
        }
    }
}
