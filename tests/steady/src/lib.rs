//! Helpers that let tests pass on a busy machine, for any user and with any umask.
//!
//! The rules that they are for are in `tests/README.md`, section "Rules for cases".

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

mod system;

pub use system::{is_superuser, retried, usual_umask};

/// Time after which something counts as hanging. It must never tell a slow machine from a wrong result.
pub const HANG: Duration = Duration::from_secs(60);

/// Makes a new folder in that for temporary files; the caller removes it.
///
/// Its name is short: the path of a socket has room for about a hundred bytes. A process that was killed may have left a folder
/// with the number of this one, which is passed over.
///
/// # Panics
/// When no folder can be made.
#[track_caller]
pub fn new_folder(name: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("{name}-{}-{number}", std::process::id()));
        match std::fs::create_dir(&path) {
            Ok(()) => return path,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => panic!("{}: {error}", path.display()),
        }
    }
}

/// Waits until a condition holds.
///
/// # Panics
/// After [`HANG`].
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < HANG, "not within {} s: {what}", HANG.as_secs());
        thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a child has ended.
///
/// # Panics
/// After [`HANG`], when the child is killed, and where the system cannot tell of it.
#[track_caller]
pub fn ending(child: &mut Child) -> ExitStatus {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status;
        }
        if begin.elapsed() > HANG {
            let _ = child.kill();
            let _ = child.wait();
            panic!("still running after {} s", HANG.as_secs());
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Repeats a step that a busy machine can spoil, until one attempt shows the expected fact.
///
/// Only for facts that cannot come about where the feature is missing, as the attempts would hide a rare failure of any other.
///
/// # Panics
/// When 20 attempts do not show it.
#[track_caller]
pub fn once_in_some_attempts(what: &str, mut shows: impl FnMut() -> bool) {
    assert!((0..20).any(|_| shows()), "in none of 20 attempts: {what}");
}

/// Reports that a case is skipped, in a line of its own that `make test` counts and repeats.
pub fn skip(reason: &str) {
    // Written past the test runner, which hides what a passing test prints. A runner with one thread has begun a line by then.
    let _ = io::stderr().write_all(format!("\nSKIPPED: {reason}\n").as_bytes());
}

/// Copies a program that is to be executed, with these permissions.
///
/// A process with threads must not write such a file itself: a child that another thread starts meanwhile inherits the open file,
/// and the system does not execute a file that is open for writing ("Text file busy").
///
/// # Panics
/// When the copy cannot be made.
#[track_caller]
pub fn copy_program(from: &Path, to: &Path, mode: u32) {
    system::copy_program(from, to);
    system::set_mode(to, mode);
}

/// Writes a script that is to be executed, for the reason of [`copy_program`] through another process.
///
/// # Panics
/// When the file cannot be written.
#[track_caller]
pub fn write_script(path: &Path, text: &str) {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".text");
    std::fs::write(&beside, text).expect("a script can be written");
    copy_program(beside.as_ref(), path, 0o755);
    std::fs::remove_file(&beside).expect("a file that was just written can be removed");
}
