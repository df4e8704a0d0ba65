//! Ends all processes that a query of drivers started, including the processes that a driver starts.

use rustix::process::{Pid, Signal, WaitOptions};
use std::time::Duration;
use std::{fs, io};

/// How often what is left is ended: a process may start another one while it is looked for, and the kernel may hold one in a call.
const ROUNDS: usize = 100;

/// The time between two of these.
const STEP: Duration = Duration::from_millis(2);

/// Makes this process the parent of orphaned descendants from now on.
pub(super) fn begin() {
    // A kernel that does not know it leaves them to the first process.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
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
