//! A process that writes a trace, with a time limit.

#[cfg(target_os = "linux")]
use crate::crash::Supervisor;
use crate::crash::{Crash, Outcome, Unsupervised};
use crate::events::{self, Record};
use crate::{scratch, signals};
use rustix::io::FdFlags;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How often a running process is looked at.
const STEP: Duration = Duration::from_millis(5);

/// How long a process that was killed is waited for.
const MOST_OF_AN_END: Duration = Duration::from_secs(2);

/// Bytes that are read of what a process wrote into one file.
const MOST: u64 = 256 << 20;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// It ran longer than allowed, and was ended.
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

/// What a process left.
pub(crate) struct Finished {
    pub(crate) ending: Ending,
    /// What the loader wrote in it; of all processes that it started too.
    pub(crate) records: Vec<Record>,
    /// What it printed, where that was kept.
    pub(crate) output: Vec<u8>,
    /// What the dynamic linker wrote, where that was asked for.
    pub(crate) linker: Vec<String>,
    /// The processes that a signal ended.
    pub(crate) crashes: Vec<Crash>,
    /// Why no place of a crash is known, where that is so.
    pub(crate) unsupervised: Option<Unsupervised>,
}

/// What is to be known of a process.
#[derive(Clone, Copy, Default)]
pub(crate) struct Watched {
    /// Its output is kept instead of shown, and its errors stand between the records.
    pub(crate) keeps_output: bool,
    /// The dynamic linker tells what it looks for.
    pub(crate) linker: bool,
    /// It gets the trace as an open descriptor instead of a path.
    pub(crate) descriptor: bool,
    /// It is a user's program: the terminal is its own, and signals from there are for it alone.
    pub(crate) is_program: bool,
}

/// Runs a command with the trace on, for at most `limit`. A user's program keeps the terminal, and gets the signals that are sent from
/// there. Any other command has its own process group, which does not receive such signals. A signal that asks this process to end
/// ends the command too, with all that it started.
///
/// # Errors
/// Returns the system's error if the command cannot be started or its files cannot be read, and `Interrupted` if a signal asked
/// this process to end.
pub(crate) fn run(mut command: Command, limit: impl Into<Option<Duration>>, watched: Watched) -> io::Result<Finished> {
    let limit = limit.into();
    let folder = scratch::folder()?;
    let (trace, output) = (folder.path().join("trace"), folder.path().join("output"));
    command.env("VK_LOADER_TRACE", &trace);
    match watched.is_program {
        true => adopt_all(),
        false => drop(command.process_group(0)),
    }
    let inherited = watched.descriptor.then(|| inherited(&trace)).transpose()?;
    if let Some(file) = &inherited {
        command.env("VK_LOADER_TRACE", format!("fd:{}", file.as_raw_fd()));
    }
    if watched.keeps_output {
        // What drivers print stands in the trace then, in the step in which they printed it.
        let errors = File::options().append(true).create(true).open(&trace)?;
        command.stdout(File::create(&output)?).stderr(errors);
    }
    if watched.linker {
        command
            .env("LD_DEBUG", "libs,files")
            .env("LD_DEBUG_OUTPUT", folder.path().join("linker"));
    }
    let mut child = Running::start(command, watched, &folder)?;
    let ended = wait(&mut child, limit, watched)?;
    let linker = std::fs::read_dir(folder.path())?
        .filter_map(|entry| entry.ok())
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"linker"))
        .map(|entry| String::from_utf8_lossy(&read(&entry.path())).into_owned())
        .collect();
    Ok(Finished {
        ending: ended.ending,
        // A process that never loaded the library leaves none.
        records: events::parse(&read(&trace)),
        output: read(&output),
        linker,
        crashes: ended.crashes,
        unsupervised: ended.unsupervised,
    })
}

/// A process that was started.
enum Running {
    /// By itself.
    Alone(Child),
    /// Under a supervisor, with the file of the trace.
    #[cfg(target_os = "linux")]
    Supervised(Supervisor, PathBuf),
}

impl Running {
    fn start(mut command: Command, watched: Watched, folder: &TempDir) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if watched.is_program {
            let trace = folder.path().join("trace");
            return Ok(Self::Supervised(Supervisor::start(command, folder.path())?, trace));
        }
        let _ = (watched, folder);
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
                unsupervised: None,
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

/// Waits until a process ends, and ends it where it takes too long or a signal asks for that.
fn wait(child: &mut Running, limit: Option<Duration>, watched: Watched) -> io::Result<Outcome> {
    let since = Instant::now();
    loop {
        if let Some(ended) = child.try_wait()? {
            return Ok(ended);
        }
        let unwanted = signals::is_unwanted();
        let over = limit.filter(|limit| since.elapsed() >= *limit);
        if unwanted || over.is_some() {
            end_group(child.id());
            // It may have left the group that it was started in.
            child.kill()?;
            reap(child)?;
            if watched.is_program {
                end_adopted();
            }
        }
        match (unwanted, over) {
            (true, _) => return Err(io::Error::new(io::ErrorKind::Interrupted, "ended by a signal")),
            (_, Some(limit)) => return Ok(Outcome::too_long(limit)),
            _ => std::thread::sleep(STEP),
        }
    }
}

/// Makes this process the parent of processes that outlive its children, so that it can end them too.
fn adopt_all() {
    // Where the system does not let it be so, what leaves its group goes on.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    signals::leave_those_of_the_terminal();
}

/// Ends the children that were adopted, and those that are adopted meanwhile.
fn end_adopted() {
    let since = Instant::now();
    loop {
        let children = children();
        if children.is_empty() || since.elapsed() >= MOST_OF_AN_END {
            return;
        }
        for child in children {
            // It may have ended just now.
            let _ = rustix::process::kill_process(child, rustix::process::Signal::KILL);
            let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::NOHANG);
        }
        std::thread::sleep(STEP);
    }
}

/// The children of this process.
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

/// Waits for a process that was killed, but not long: one that the kernel holds in a call ends when that does.
fn reap(child: &mut Running) -> io::Result<()> {
    let since = Instant::now();
    while child.try_wait()?.is_none() && since.elapsed() < MOST_OF_AN_END {
        std::thread::sleep(STEP);
    }
    Ok(())
}

/// An empty file that processes get which are started from here.
fn inherited(path: &Path) -> io::Result<File> {
    let file = File::options().append(true).create(true).open(path)?;
    rustix::io::fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file)
}

/// The beginning of a file; nothing where it is none, or something that may be waited for.
fn read(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if std::fs::symlink_metadata(path).is_ok_and(|status| status.is_file())
        && let Ok(file) = File::open(path)
    {
        // What could be read counts.
        let _ = file.take(MOST).read_to_end(&mut bytes);
    }
    bytes
}

/// An error about a file, with its name.
pub(crate) fn naming(file: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", file.display()))
}

/// Ends a process with all that it started.
fn end_group(process: u32) {
    let number = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = number {
        // It may have ended just now.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}
