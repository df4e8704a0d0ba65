//! Runs steps in a forked copy of the process, for calls that end the process.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd};

/// End of a forked copy of the process, and its output on standard error.
#[derive(Debug)]
pub struct Ending {
    /// Signal that ended the copy, or 0 if the copy exited without a signal.
    pub signal: i32,
    /// Standard error of the copy.
    pub stderr: String,
}

impl Ending {
    /// Returns `true` if the copy called `abort` deliberately. A panic in a debug build aborts too, but the result is then `false`.
    pub fn aborted(&self) -> bool {
        self.signal == libc::SIGABRT && !self.stderr.contains("panicked at")
    }
}

/// Runs `body` in a forked copy of this process. The copy has one thread, and is killed after a minute.
///
/// Other threads of the process, for example those of a service, must not hold a lock that `body` acquires.
pub fn isolated(body: impl FnOnce()) -> Ending {
    let mut ends = [0; 2];
    // SAFETY: the array has space for the two descriptors.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0, "a pipe can be made");
    // SAFETY: the descriptors are new and belong only to this process.
    let (mut reader, writer) = unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) };
    // SAFETY: the copy acquires only locks that no other thread holds, and the C library makes its own heap usable in a copy.
    let copy = unsafe { libc::fork() };
    assert!(copy >= 0, "the process can be copied");
    if copy == 0 {
        // SAFETY: the descriptor is open, and 2 is standard error. The alarm ends a copy that hangs.
        unsafe {
            libc::dup2(writer.as_raw_fd(), 2);
            libc::alarm(60);
        }
        body();
        // SAFETY: `_exit` ends this copy of the process immediately, without exit handlers that belong to the original process.
        unsafe { libc::_exit(0) };
    }
    drop(writer);
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).expect("the pipe can be read");
    let mut status = 0;
    // SAFETY: `copy` is the process ID of a child of this process, and `status` is writable.
    let waited = steady::retried(|| unsafe { libc::waitpid(copy, &mut status, 0) });
    assert_eq!(waited.expect("a child can be waited for"), copy);
    let signal = if libc::WIFSIGNALED(status) {
        libc::WTERMSIG(status)
    } else {
        0
    };
    Ending {
        signal,
        stderr: String::from_utf8_lossy(&bytes).into_owned(),
    }
}
