//! Replacement for the module `isolated` on a system without `fork`. `windows/left_out.txt` contains the reason.

/// End of a forked copy of the process, and its output on standard error.
#[derive(Debug)]
pub struct Ending {
    /// Signal that ended the copy, or 0 if the copy exited by itself.
    pub signal: i32,
    /// Standard error of the copy.
    pub stderr: String,
}

impl Ending {
    /// Returns `true` if the copy of the process called `abort`, and not because of a panic.
    pub fn aborted(&self) -> bool {
        self.signal != 0 && !self.stderr.contains("panicked at")
    }
}

/// Fails, because this system lacks `fork`.
pub fn isolated(_: impl FnOnce()) -> Ending {
    panic!("a process cannot be copied on this system")
}
