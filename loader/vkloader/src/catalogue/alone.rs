//! Kills all processes that a query of drivers started, including the processes that a driver starts.

use rustix::process::{Pid, Signal, WaitOptions};
use std::time::Duration;
use std::{fs, io};

/// Upper bound on the repetitions of the search for descendants. Repetitions can be necessary: a process may start another process during
/// the search, and the kernel may delay the end of a process.
const ROUNDS: usize = 100;

/// Delay between two repetitions.
const STEP: Duration = Duration::from_millis(2);

/// Makes this process the parent of all descendants whose parents end.
pub(super) fn begin() {
    // On kernels that do not support `PR_SET_CHILD_SUBREAPER`, orphans become children of process 1 and continue to run.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Kills the descendants whose parent has ended.
pub(super) fn end_orphans() {
    for _ in 0..ROUNDS {
        let Ok(orphans) = children() else { return };
        if orphans.is_empty() {
            return;
        }
        for orphan in orphans {
            // The process ID cannot belong to another process, because only this process waits for its children.
            let _ = rustix::process::kill_process(orphan, Signal::KILL);
            let _ = rustix::process::waitpid(Some(orphan), WaitOptions::NOHANG);
        }
        std::thread::sleep(STEP);
    }
}

/// Returns the child processes of this process.
fn children() -> io::Result<Vec<Pid>> {
    let mut all = Vec::new();
    for thread in fs::read_dir("/proc/self/task")? {
        let listed = fs::read_to_string(thread?.path().join("children"))?;
        let numbers = listed.split_whitespace().filter_map(|number| number.parse().ok());
        all.extend(numbers.filter_map(Pid::from_raw));
    }
    Ok(all)
}
