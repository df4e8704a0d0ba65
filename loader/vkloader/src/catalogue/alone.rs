//! Nothing of what asks drivers outlives the asking: neither what a driver starts, nor files of a command that a signal ends.

use rustix::process::{Pid, Signal, WaitOptions};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, io};

/// How often what is left is ended: a process may start another one while it is looked for, and the kernel may hold one in a call.
const ROUNDS: usize = 100;

/// The time between two of these.
const STEP: Duration = Duration::from_millis(2);

/// A signal came that asks this process to end.
static UNWANTED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_: libc::c_int) {
    UNWANTED.store(true, Ordering::Relaxed);
}

/// From here on signals that ask this process to end are noted, and processes that lose their parent become its children.
pub(super) fn begin() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the function stores one atomic word, which any signal handler may.
        let before = unsafe { libc::signal(signal, note as extern "C" fn(libc::c_int) as libc::sighandler_t) };
        if before == libc::SIG_IGN {
            // Who started this process wants it to go on.
            // SAFETY: back to what it was.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
    }
    // A kernel that does not know it leaves them to the first process.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Whether a signal asked this process to end.
pub(super) fn is_unwanted() -> bool {
    UNWANTED.load(Ordering::Relaxed)
}

/// Ends what a process that has ended left behind.
pub(super) fn end_orphans() {
    for _ in 0..ROUNDS {
        let Ok(orphans) = children() else { return };
        if orphans.is_empty() {
            return;
        }
        for orphan in orphans {
            // Nobody else waits for a child of this process, so the number is still its own.
            let _ = rustix::process::kill_process(orphan, Signal::KILL);
            let _ = rustix::process::waitpid(Some(orphan), WaitOptions::NOHANG);
        }
        std::thread::sleep(STEP);
    }
}

/// The processes whose parent this one is.
fn children() -> io::Result<Vec<Pid>> {
    let mut all = Vec::new();
    for thread in fs::read_dir("/proc/self/task")? {
        let listed = fs::read_to_string(thread?.path().join("children"))?;
        let numbers = listed.split_whitespace().filter_map(|number| number.parse().ok());
        all.extend(numbers.filter_map(Pid::from_raw));
    }
    Ok(all)
}
