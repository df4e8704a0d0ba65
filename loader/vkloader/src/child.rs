//! Runs a process that writes a trace, with a time limit.

#[cfg(target_os = "linux")]
use crate::crash::Supervisor;
use crate::crash::{Crash, Environment, Outcome, Stand, Unsupervised};
use crate::events::{self, Record};
use crate::interrupt::Interrupt;
use crate::scratch::{self, Files};
use crate::signals;
use rustix::io::FdFlags;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Delay between two checks of a running process.
const STEP: Duration = Duration::from_millis(5);

/// Upper bound on the wait for a killed process to end.
const MOST_OF_AN_END: Duration = Duration::from_secs(2);

/// Names of the temporary files: the trace, the output of the process, and the reason why a program could not be executed.
const TRACE: &str = "trace";
const OUTPUT: &str = "output";
#[cfg(target_os = "linux")]
const FAILURE: &str = "failure";

/// Upper bound on the number of bytes that are read from each file that a process wrote.
const MOST: u64 = 256 << 20;

/// The way in which a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The process exited with this status.
    Status(i32),
    /// A signal ended the process. The field is the number of the signal.
    Signal(i32),
    /// The process exceeded this time limit and was killed.
    TooLong(Duration),
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Status(code),
            (None, signal) => Self::Signal(signal.unwrap_or_default()),
        }
    }
}

/// Results of a process that has ended.
pub(crate) struct Finished {
    pub(crate) ending: Ending,
    /// Records that the loader wrote in the process and in its descendants.
    pub(crate) records: Vec<Record>,
    /// Output of the process, if it was stored.
    pub(crate) output: Vec<u8>,
    /// Logs of the dynamic linker, one for each process, if logs were turned on. The first log belongs to the process that the command
    /// started.
    pub(crate) linker: Vec<String>,
    /// Crashes of processes that a signal ended.
    pub(crate) crashes: Vec<Crash>,
    /// Places of processes that signals asked to end.
    pub(crate) stands: Vec<Stand>,
    /// Reason why the locations of crashes are unknown; `None` if they are known.
    pub(crate) unsupervised: Option<Unsupervised>,
    /// Graphics libraries that processes had open when they ended; `None` if not all processes were supervised.
    pub(crate) graphics: Option<Vec<String>>,
    /// Variables of processes that were supervised.
    pub(crate) environments: Vec<Environment>,
}

impl Finished {
    /// Returns the variables and limits of the process with the most records, if it was supervised.
    pub(crate) fn started(&self) -> Option<&Environment> {
        let process = crate::report::busiest(&self.records).first()?.process;
        of_process(&self.environments, process)
    }
}

/// Returns the environment of the process with the ID `process`. Processes of two PID namespaces may have this same ID. In that case,
/// prefers processes that had a loader open, and returns `None` if their environments differ.
fn of_process(environments: &[Environment], process: u32) -> Option<&Environment> {
    let of_number = || environments.iter().rev().filter(|one| one.process == process);
    let first = of_number().find(|one| one.has_loader).or(of_number().next())?;
    let mut others = of_number().filter(|one| one.has_loader == first.has_loader);
    others.all(|one| one == first).then_some(first)
}

/// Options for running a process.
#[derive(Clone, Copy, Default)]
pub(crate) struct Watched {
    /// Stores the output instead of showing it, and adds the lines on standard error to the records.
    pub(crate) keeps_output: bool,
    /// Turns on the log of the dynamic linker.
    pub(crate) linker: bool,
    /// Passes the trace as an open descriptor instead of a path.
    pub(crate) descriptor: bool,
    /// Treats the command as the user's program, which uses the terminal and receives the terminal's signals.
    pub(crate) is_program: bool,
    /// Finds the locations of crashes. The command must come from `crash::command`.
    pub(crate) is_supervised: bool,
}

/// Runs a command for at most `limit`, and makes its loader write a trace.
///
/// A user's program uses the terminal and receives its signals. Any other command runs in a separate process group, which does not receive
/// these signals. A signal that asks this process to end also ends the command and its descendants.
///
/// # Errors
/// Returns the system's error if the command cannot be started or its files cannot be read. Returns `Interrupted` if a signal asked this
/// process to end.
pub(crate) fn run(mut command: Command, limit: impl Into<Option<Duration>>, watched: Watched) -> io::Result<Finished> {
    let limit = limit.into();
    let mut files = Files::new();
    let trace = files.create(TRACE)?;
    command.env("VK_LOADER_TRACE", files.path(TRACE));
    if watched.is_program {
        adopt_all();
    } else {
        command.process_group(0);
    }
    if watched.is_program && rustix::process::geteuid().is_root() {
        // The program may run as another user, so all users must be able to write to the trace.
        files.share(&trace)?;
    }
    if watched.descriptor || files.folder().is_none() {
        rustix::io::fcntl_setfd(&trace, FdFlags::empty())?;
        command.env("VK_LOADER_TRACE", format!("fd:{}", trace.as_raw_fd()));
    }
    if watched.keeps_output {
        // Redirects the lines that drivers print into the trace, where they follow the record of the step that printed them.
        command.stdout(files.create(OUTPUT)?).stderr(trace.try_clone()?);
    }
    if let Some(folder) = files.folder().filter(|_| watched.linker) {
        command
            .env("LD_DEBUG", "libs,files")
            .env("LD_DEBUG_OUTPUT", folder.join("linker"));
    }
    let mut child = Running::start(command, watched, &mut files)?;
    let ended = wait(&mut child, limit, watched)?;
    let own = format!("linker.{}", child.id());
    let entries = files.folder().map(std::fs::read_dir).transpose()?;
    let mut logs: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(b"linker"))
        })
        .collect();
    logs.sort_by_key(|path| !path.ends_with(&own));
    let linker = logs
        .iter()
        .map(|path| String::from_utf8_lossy(&scratch::read(path, MOST)).into_owned())
        .collect();
    Ok(Finished {
        ending: ended.ending,
        // If the process never loaded the library, the trace is empty.
        records: events::parse(&files.read(TRACE, MOST)),
        output: files.read(OUTPUT, MOST),
        linker,
        crashes: ended.crashes,
        stands: ended.stands,
        unsupervised: ended.unsupervised,
        graphics: ended.graphics,
        environments: ended.environments,
    })
}

/// A running process.
enum Running {
    /// The process runs without a supervisor.
    Alone(Child),
    /// The process runs under a supervisor. The `PathBuf` is the path of the trace.
    #[cfg(target_os = "linux")]
    Supervised(Supervisor, PathBuf),
}

impl Running {
    fn start(mut command: Command, watched: Watched, files: &mut Files) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if watched.is_supervised {
            drop(files.create(FAILURE)?);
            let trace = files.path(TRACE);
            return Ok(Self::Supervised(
                Supervisor::start(command, &files.path(FAILURE))?,
                trace,
            ));
        }
        let _ = (watched, files);
        let child = command.spawn();
        child
            .map(Self::Alone)
            .map_err(|error| naming(Path::new(command.get_program()), error))
    }

    fn try_wait(&mut self) -> io::Result<Option<Outcome>> {
        match self {
            Self::Alone(child) => Ok(child.try_wait()?.map(|status| Outcome {
                ending: status.into(),
                crashes: Vec::new(),
                stands: Vec::new(),
                unsupervised: None,
                graphics: None,
                environments: Vec::new(),
            })),
            #[cfg(target_os = "linux")]
            Self::Supervised(child, trace) => child.try_wait(trace),
        }
    }

    fn id(&self) -> u32 {
        match self {
            Self::Alone(child) => child.id(),
            #[cfg(target_os = "linux")]
            Self::Supervised(child, _) => child.id(),
        }
    }

    fn kill(&mut self) -> io::Result<()> {
        match self {
            Self::Alone(child) => child.kill(),
            #[cfg(target_os = "linux")]
            Self::Supervised(child, _) => {
                child.kill();
                Ok(())
            }
        }
    }
}

/// Waits until a process ends. Kills the process if it exceeds its time limit, or if a signal asks this process to end.
fn wait(child: &mut Running, limit: Option<Duration>, watched: Watched) -> io::Result<Outcome> {
    let since = Instant::now();
    let mut interrupt = Interrupt::default();
    loop {
        if let Some(ended) = child.try_wait()? {
            // A signal that ended the program must not end the runs that search for its causes.
            let _ = watched.is_program && signals::takes_interrupt();
            return Ok(ended);
        }
        let unwanted = interrupt.is_final(watched.is_program) || signals::is_unwanted();
        let over = limit.filter(|limit| since.elapsed() >= *limit);
        let mut killed = None;
        if unwanted || over.is_some() {
            end_group(child.id());
            // The process may have left its original process group, so it is also killed separately.
            child.kill()?;
            killed = reap(child)?;
            if watched.is_program {
                end_adopted();
            }
        }
        match (unwanted, over) {
            (true, _) => return Err(io::Error::new(io::ErrorKind::Interrupted, "ended by a signal")),
            (_, Some(limit)) => return Ok(Outcome::too_long(limit, killed)),
            _ => std::thread::sleep(STEP),
        }
    }
}

/// Makes this process the parent of orphaned descendants, so that it can kill the descendants too.
fn adopt_all() {
    // If the request fails, descendants that leave their process group continue to run.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    signals::leave_those_of_the_terminal();
    signals::note_interrupts();
}

/// Kills the orphaned descendants, including those that appear in the meantime.
fn end_adopted() {
    let since = Instant::now();
    loop {
        let children = children();
        if children.is_empty() || since.elapsed() >= MOST_OF_AN_END {
            return;
        }
        for child in children {
            // The process may already have ended.
            let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
            let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::NOHANG);
        }
        std::thread::sleep(STEP);
    }
}

/// Returns the child processes of this process.
fn children() -> Vec<rustix::process::Pid> {
    let own = format!("PPid:\t{}", std::process::id());
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter(|number| {
            let status = std::fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
            status.lines().any(|line| line == own)
        })
        .filter_map(rustix::process::Pid::from_raw)
        .collect()
}

/// Waits for a killed process to end, for at most [`MOST_OF_AN_END`]. A system call may delay the end. Returns the outcome of the process if
/// it has ended.
fn reap(child: &mut Running) -> io::Result<Option<Outcome>> {
    let since = Instant::now();
    while since.elapsed() < MOST_OF_AN_END {
        if let Some(outcome) = child.try_wait()? {
            return Ok(Some(outcome));
        }
        std::thread::sleep(STEP);
    }
    Ok(None)
}

/// Adds the path of a file to an error.
pub(crate) fn naming(file: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", file.display()))
}

/// Kills a process group.
fn end_group(process: u32) {
    let number = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = number {
        // The group may already have ended.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes::Limits;

    #[test]
    fn of_two_processes_with_one_number_the_one_with_the_loader_counts() {
        let environment = |process, value: &str, has_loader| Environment {
            process,
            variables: Some(vec![("A".into(), value.into())]),
            limits: Limits::default(),
            has_loader,
            is_full: false,
            is_trace_closed: false,
            executable: None,
            inside: None,
        };
        let with_loader = environment(7, "1", true);
        let all = [
            environment(7, "2", false),
            with_loader.clone(),
            environment(7, "3", false),
            environment(8, "4", false),
        ];
        assert_eq!(of_process(&all, 7), Some(&with_loader));
        assert_eq!(of_process(&all[..1], 7), Some(&all[0]));
        assert_eq!(of_process(&all[..1], 8), None);
        assert_eq!(
            of_process(&[with_loader.clone(), with_loader.clone()], 7),
            Some(&with_loader)
        );
        assert_eq!(of_process(&[environment(7, "5", true), with_loader], 7), None);
    }
}
