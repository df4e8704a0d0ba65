//! Runs a child process with a time limit, and collects its output.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::system::{self, processor_seconds};

/// Exit status and output of a child.
pub(crate) struct Ended {
    /// Exit status, or `None` if the child was killed at the time limit.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns the processor time of `work` in this process, in seconds. Other processes do not affect the result.
pub fn processor_time(work: impl FnOnce()) -> f64 {
    let begin = processor_seconds();
    work();
    processor_seconds() - begin
}

/// Runs the command, and kills the child after `limit`.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Ended {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = spawn(command).unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let status = system::wait(&mut child, limit).expect("a started child can be waited for");
    if status.is_none() {
        child.kill().expect("a running child can be killed");
        child.wait().expect("a killed child can be waited for");
    }
    let text = |reader: thread::JoinHandle<String>| reader.join().expect("reading a pipe does not panic");
    Ended {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

/// Starts a process. On a busy machine, Wine sometimes fails with an internal error and succeeds at the next attempt.
fn spawn(command: &mut Command) -> io::Result<Child> {
    const INTERNAL_ERROR: i32 = 1359;
    let begin = Instant::now();
    loop {
        match command.spawn() {
            Err(error)
                if cfg!(windows) && error.raw_os_error() == Some(INTERNAL_ERROR) && begin.elapsed() < steady::HANG =>
            {
                thread::sleep(Duration::from_millis(100));
            }
            other => return other,
        }
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A read error ends the text early, and the assertions on the text then fail.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
