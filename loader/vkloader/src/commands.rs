//! The commands, and what they end with.

use crate::child::{self, Finished, Watched};
use crate::library_folder::LibraryFolder;
use crate::probe::{self, Extent, Seen};
use crate::{causes, report, show};
#[cfg(target_os = "linux")]
use crate::{files, service};
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command as Process, ExitCode};
use std::time::Duration;

/// A device can be used.
const USABLE: u8 = 0;
/// No device can be used.
const NONE: u8 = 1;
/// The command line is wrong, or the machine did not let it be done.
pub(crate) const WRONG_USE: u8 = 2;

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Why a driver, a layer or a device is there or not, and what to do.
    ///
    /// Without a program, a child process opens the library and does what every Vulkan program does first. Ends with 0 when a device can
    /// be used, with 1 when none can.
    Explain(Explain),
    /// The devices, with the words by which VK_LOADER_DEVICE_SELECT chooses each.
    Devices(Library),
    /// Everything that a sandbox must see for a driver to work in it: manifests, libraries, device nodes, data files.
    ///
    /// Each driver is used by a child process, an empty shader included, and what that opens is in the list beside what the libraries
    /// need. Without --driver these are the drivers with a device that works here. The program in the sandbox and its own loader are
    /// not in the list. Ends with 0 when a device of the drivers works, with 1 when none does.
    #[cfg(target_os = "linux")]
    Files(Files),
    /// What a driver service that runs on this machine tells of itself.
    ///
    /// Its devices with the driver that serves each, and the drivers that it hands out; for root and the user of the service also the
    /// state of each package with the reason where one failed, and how many clients there are. Ends with 0 when there is a driver to
    /// hand out, with 1 when there is none, with 2 when no service answers.
    #[cfg(target_os = "linux")]
    Service(Service),
    /// What is known of drivers, so that programs need not open them all.
    #[cfg(target_os = "linux")]
    #[command(subcommand)]
    Catalogue(crate::catalogue::Command),
    /// Stands for a program; for the other commands.
    #[command(hide = true)]
    Probe {
        /// Asks for one driver, whatever it is, and no layers.
        #[arg(long)]
        driver: bool,
        /// Makes no instance.
        #[arg(long)]
        extensions_only: bool,
        /// The library to open.
        library: OsString,
    },
    /// Stands for a program that uses its devices; for `files`.
    #[command(hide = true)]
    #[cfg(target_os = "linux")]
    Use {
        /// The library to open.
        library: OsString,
    },
}

/// Which library to open.
#[derive(Args)]
pub(crate) struct Library {
    /// The library to ask, instead of the one that programs on this machine get.
    #[arg(long, value_name = "PATH")]
    library: Option<PathBuf>,
    /// How long a program may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    timeout: u32,
}

/// What to explain, and how.
#[derive(Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    library: Library,
    /// Print the whole report as JSON.
    #[arg(long)]
    json: bool,
    /// Write the report as one page with a picture, which needs nothing else.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// End with 0 only when a device fits, such as type:discrete, name:*NVIDIA* or driver:radv.
    #[arg(long, value_name = "CONDITION")]
    check: Option<show::Condition>,
    /// Hand the trace to the program as an open descriptor: a program in a sandbox does not see the file of that name.
    #[arg(long, requires = "program")]
    descriptor: bool,
    /// A program to run, and its arguments.
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// What a sandbox is for, and in which form its files are told.
#[derive(Args)]
#[cfg(target_os = "linux")]
pub(crate) struct Files {
    #[command(flatten)]
    library: Library,
    /// The driver: what it calls itself, or a name of its manifest or library, such as lvp or lvp_icd*. * stands for any text.
    #[arg(long, value_name = "NAME")]
    driver: Option<String>,
    /// The layers that programs get are wanted too, with their files.
    #[arg(long)]
    layers: bool,
    /// How the files are told.
    #[arg(long, value_enum, default_value_t = files::Format::List)]
    format: files::Format,
}

/// Which service to ask.
#[derive(Args)]
#[cfg(target_os = "linux")]
pub(crate) struct Service {
    /// The socket of the service, instead of the one that programs use.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Print all that it tells as JSON.
    #[arg(long)]
    json: bool,
}

impl Command {
    /// Does it.
    pub(crate) fn run(self) -> io::Result<ExitCode> {
        match self {
            Self::Explain(explain) => explain.run(),
            Self::Devices(library) => devices(&library),
            #[cfg(target_os = "linux")]
            Self::Files(files) => files.run(),
            #[cfg(target_os = "linux")]
            Self::Service(service) => service.run(),
            #[cfg(target_os = "linux")]
            Self::Use { library } => {
                heard(files::work(&library))?;
                Ok(ExitCode::SUCCESS)
            }
            #[cfg(target_os = "linux")]
            Self::Catalogue(command) => command.run(),
            Self::Probe {
                driver,
                extensions_only,
                library,
            } => {
                let extent = match driver {
                    _ if extensions_only => Extent::Extensions,
                    true => Extent::Driver,
                    false => Extent::Program,
                };
                if driver {
                    probe::be_expendable();
                }
                let mut answers = probe::answers()?;
                let seen = probe::run(&library, extent);
                heard(answers.write_all(json(&seen)?.as_bytes()))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// A reader that has seen enough and is gone, as in a pipe, is no failure.
pub(crate) fn heard(printed: io::Result<()>) -> io::Result<()> {
    match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Writes a text and the end of its line.
pub(crate) fn print(text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_ref())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// As text in JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> io::Result<String> {
    serde_json::to_string_pretty(value).map_err(io::Error::other)
}

impl Library {
    fn limit(&self) -> Duration {
        Duration::from_secs(self.timeout.into())
    }

    /// A command that runs the probe.
    fn probe(&self) -> io::Result<Process> {
        let mut command = Process::new(std::env::current_exe()?);
        command.arg(probe::ARGUMENT).arg(self.path());
        Ok(command)
    }

    fn path(&self) -> PathBuf {
        probe::library(self.library.as_deref())
    }
}

impl Explain {
    fn run(&self) -> io::Result<ExitCode> {
        let folder = match (&self.library.library, self.program.is_empty()) {
            (Some(library), false) => Some(LibraryFolder::of(library)?),
            _ => None,
        };
        let finished = self.watch(folder.as_ref(), false)?;
        let seen: Option<Seen> = serde_json::from_slice(&finished.output).ok();
        let mut report = report::build(&finished);
        let watched = match !report.is_usable() && causes::worth_watching(&report) {
            true => Some(self.watch(folder.as_ref(), true)?),
            false => None,
        };
        causes::find(&mut report, &finished, watched.as_ref());
        if let (Some(folder), Some(program)) = (&folder, self.program.first())
            && let Some(why) = folder.missed_by(program, &finished.records)
        {
            return Err(io::Error::other(why));
        }
        if report.loader.is_none() {
            return Err(io::Error::other(self.no_trace(seen.as_ref())));
        }
        if let Some(file) = &self.html {
            std::fs::write(file, show::html(&report)).map_err(|error| child::naming(file, error))?;
        }
        heard(match self.json {
            true => print(json(&report)?),
            false => show::text(&report),
        })?;
        let fits = match &self.check {
            Some(condition) => report.devices.iter().any(|device| condition.fits(device)),
            None => report.is_usable(),
        };
        Ok(ExitCode::from(if fits { USABLE } else { NONE }))
    }

    /// Runs the program, or the probe if no program was named. The program finds the library in `folder`, if given.
    fn watch(&self, folder: Option<&LibraryFolder>, linker: bool) -> io::Result<Finished> {
        let mut watched = Watched {
            keeps_output: true,
            linker,
            descriptor: self.descriptor,
        };
        let command = match self.program.split_first() {
            None => self.library.probe()?,
            Some((program, arguments)) => {
                // Its output is its user's, the first time.
                watched.keeps_output = linker || self.json;
                let mut command = Process::new(program);
                command.args(arguments);
                if let Some(folder) = folder {
                    folder.search_first(&mut command);
                }
                command
            }
        };
        let mut finished = child::run(command, self.library.limit(), watched)?;
        if let Some(folder) = folder {
            folder.name_library(&mut finished.records);
        }
        Ok(finished)
    }

    /// Why there is no trace to explain.
    fn no_trace(&self, seen: Option<&Seen>) -> String {
        match seen {
            _ if !self.program.is_empty() => {
                "the program did not load this loader, or runs with raised privileges, where no trace is \
                                              written, or in a sandbox, where --descriptor helps"
                    .into()
            }
            Some(Seen {
                not_opened: Some(words),
                ..
            }) => format!("no Vulkan loader could be opened: {words}"),
            Some(_) if self.library.library.is_some() => {
                "the library is another loader, or an older one, and writes no trace".into()
            }
            Some(Seen {
                library: Some(path), ..
            }) => format!(
                "programs on this machine get {path}, which is another loader, or an older one, and writes no trace; \
                 --library names the one to ask"
            ),
            _ => "the loader left no trace".into(),
        }
    }
}

#[cfg(target_os = "linux")]
impl Files {
    fn run(&self) -> io::Result<ExitCode> {
        let wanted = files::Wanted {
            library: &self.library.path(),
            limit: self.library.limit(),
            driver: self.driver.as_deref(),
            layers: self.layers,
        };
        let found = files::Files::find(&wanted, |without| self.look(without))?;
        for note in &found.notes {
            anstream::eprintln!("vkloader: {}", show::plain(note));
        }
        if let Some(text) = found.text(self.format)? {
            heard(print(&text))?;
        }
        Ok(ExitCode::from(if found.are_usable() { USABLE } else { NONE }))
    }

    /// Lets the probe look for drivers, but for those of these file names.
    fn look(&self, without: &str) -> io::Result<Finished> {
        let watched = Watched {
            keeps_output: true,
            ..Watched::default()
        };
        let mut command = self.library.probe()?;
        if !without.is_empty() {
            let disabled = std::env::var("VK_LOADER_DRIVERS_DISABLE").unwrap_or_default();
            command.env("VK_LOADER_DRIVERS_DISABLE", format!("{without},{disabled}"));
        }
        child::run(command, self.library.limit(), watched)
    }
}

#[cfg(target_os = "linux")]
impl Service {
    fn run(&self) -> io::Result<ExitCode> {
        let told = service::ask(&service::socket(self.socket.as_deref())?)?;
        heard(match self.json {
            true => print(json(&told)?),
            false => told.show(),
        })?;
        Ok(ExitCode::from(if told.has_drivers() { USABLE } else { NONE }))
    }
}

/// Lists the devices, with the words that choose each.
fn devices(library: &Library) -> io::Result<ExitCode> {
    let watched = Watched {
        keeps_output: true,
        ..Watched::default()
    };
    let finished = child::run(library.probe()?, library.limit(), watched)?;
    let seen: Seen = serde_json::from_slice(&finished.output)
        .map_err(|_| io::Error::other("the process that lists devices did not end by itself; see vkloader explain"))?;
    if let Some(words) = &seen.not_opened {
        return Err(io::Error::other(format!("no Vulkan loader could be opened: {words}")));
    }
    // The trace knows the file of each driver, the probe what the driver calls itself.
    let files: Vec<String> = report::build(&finished)
        .devices
        .into_iter()
        .map(|device| device.driver)
        .collect();
    heard(show::devices(&seen.devices, &files))?;
    Ok(ExitCode::from(if seen.devices.is_empty() { NONE } else { USABLE }))
}
