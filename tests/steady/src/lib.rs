//! Provides functions that make tests reliable on a busy machine, for any user and with any umask.
//!
//! See section "Rules for cases" in `tests/README.md`.

use std::io::{self, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

mod system;

pub use system::{is_superuser, retried, usual_umask};

/// Time after which a test reports that something hangs. The limit is long, so that a slow machine never causes this report.
pub const HANG: Duration = Duration::from_secs(60);

/// Creates a folder in the folder for temporary files. The caller removes the folder.
///
/// The name is short, because the path of a socket has space for about a hundred bytes. The function skips a name that exists, because an
/// earlier process with the same process ID can have been killed before it removed the folder.
///
/// # Panics
/// Panics if the folder cannot be created.
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

/// Waits until a condition is true.
///
/// # Panics
/// Panics after [`HANG`].
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
/// Kills the child and panics after [`HANG`]. Also panics if the system cannot report the child's status.
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

/// Repeats a step that can fail on a busy machine, until one attempt shows the expected fact.
///
/// Use this function only for facts that are impossible without the tested feature, because repeated attempts hide other failures that are
/// rare.
///
/// # Panics
/// Panics if 20 attempts do not show the fact.
#[track_caller]
pub fn once_in_some_attempts(what: &str, mut shows: impl FnMut() -> bool) {
    assert!((0..20).any(|_| shows()), "in none of 20 attempts: {what}");
}

/// Runs a test whose time limits a busy machine can exceed. If the test fails, runs it again with limits that are three times and nine times
/// as long. `test` receives this factor.
///
/// Use this function only where the limits belong to the tested program, for example because the test is about a driver that hangs. As for
/// [`once_in_some_attempts`], the tested facts must be impossible without the tested feature.
///
/// # Panics
/// Panics if all three attempts fail, with the message of the last attempt.
pub fn with_more_time(test: impl Fn(u32)) {
    for factor in [1, 3] {
        if panic::catch_unwind(AssertUnwindSafe(|| test(factor))).is_ok() {
            return;
        }
    }
    test(9);
}

/// Reports a skipped test on its own line. `make test` counts and repeats these lines.
pub fn skip(reason: &str) {
    // The function writes directly to standard error, because the test runner hides the output of passing tests. The text begins with a
    // line break, because a runner with one thread has already begun a line.
    let _ = io::stderr().write_all(format!("\nSKIPPED: {reason}\n").as_bytes());
}

/// Copies a program, and sets the permissions of the copy. The test can then execute the copy.
///
/// A process with threads must not write an executable file itself. If another thread starts a child at the same time, the child inherits
/// the open file. The system refuses to execute a file that is open for writing ("Text file busy").
///
/// # Panics
/// Panics if the copy cannot be made.
#[track_caller]
pub fn copy_program(from: &Path, to: &Path, mode: u32) {
    system::copy_program(from, to);
    system::set_mode(to, mode);
}

/// Writes an executable script. Another process writes the file, for the same reason as in [`copy_program`].
///
/// # Panics
/// Panics if the file cannot be written.
#[track_caller]
pub fn write_script(path: &Path, text: &str) {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".text");
    std::fs::write(&beside, text).expect("a script can be written");
    copy_program(beside.as_ref(), path, 0o755);
    std::fs::remove_file(&beside).expect("a file that was just written can be removed");
}
