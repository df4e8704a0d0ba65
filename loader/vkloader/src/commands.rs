//! The commands of `vkloader`, and their exit statuses.

#[cfg(target_os = "linux")]
use crate::child::{self, Finished, Watched};
use crate::explain;
use crate::layers;
use crate::probe::{self, Extent};
use crate::run;
#[cfg(target_os = "linux")]
use crate::{crash, files, service, show};
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command as Process, ExitCode};
use std::time::Duration;

/// Exit status if a device is usable.
pub(crate) const USABLE: u8 = 0;
/// Exit status if no device is usable.
pub(crate) const NONE: u8 = 1;
/// Exit status for an invalid command line, and for errors of the system.
pub(crate) const WRONG_USE: u8 = 2;

/// Default time limit for a process that this program starts.
const USUAL_LIMIT: Duration = Duration::from_secs(30);

/// Commands of the program.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Explains why a driver, layer or device is available or missing, with a remedy.
    ///
    /// Without a program, a child process takes its place: it opens the library, lists the devices and creates a logical device on each.
    Explain(explain::Explain),
    /// Lists the devices, each with the words that select it.
    ///
    /// Use the words in VK_LOADER_VISIBLE_DEVICES, which shows only these devices, or in VK_LOADER_DEVICE_SELECT, which lists a device
    /// first.
    Devices(Library),
    /// Prints the chain of layers from the program to the drivers, with the reason why each layer is active.
    ///
    /// A child process creates an instance. Prints warnings about widely used layers that are in the wrong order.
    Layers(layers::Layers),
    /// Runs a program with selected devices, drivers and layers.
    ///
    /// Each option sets a variable of the library for the program. The exit status is that of the program, or 128 plus the number of the
    /// signal that ended the program.
    Run(Box<run::Run>),
    /// Lists the files that a sandbox needs for a driver: manifests, libraries, device nodes, data files.
    ///
    /// A child process uses each driver and runs an empty shader. The list contains the files that the driver opened, and the files that
    /// its libraries need. Without --driver, the list is for all drivers with a device that works on this machine. The list does not
    /// contain the program and its loader.
    #[cfg(target_os = "linux")]
    Files(Files),
    /// Prints the state of the driver service on this machine.
    ///
    /// The state contains the devices with their drivers, and the drivers that the service hands out. Root and the user of the service also
    /// see each package, with the reason of a failure, and the number of clients.
    #[cfg(target_os = "linux")]
    Service(Service),
    /// Manages the driver catalogue, which allows programs to open only the drivers that they need.
    #[cfg(target_os = "linux")]
    #[command(subcommand)]
    Catalogue(crate::catalogue::Command),
    /// Makes the calls of a program, for the other commands.
    #[command(hide = true)]
    Probe {
        /// Asks the driver that the variables select, whatever its kind, and uses no layers.
        #[arg(long)]
        driver: bool,
        /// Creates an instance of Vulkan 1.0.
        #[arg(long)]
        old_program: bool,
        /// Creates no instance.
        #[arg(long)]
        extensions_only: bool,
        /// Opens the library and makes no calls.
        #[arg(long)]
        open_only: bool,
        /// Queries the version and the lists of layers and extensions.
        #[arg(long)]
        lists_only: bool,
        /// Opens a driver's library instead of a loader, and prints the record of its devices.
        #[arg(long)]
        record: bool,
        /// Enables this layer.
        #[arg(long)]
        layer: Vec<String>,
        /// The library to open.
        library: OsString,
    },
    /// Adds libraries to a container that starts; for `files --format cdi`.
    #[command(hide = true)]
    #[cfg(target_os = "linux")]
    IntoContainer {
        /// The libraries, under the paths that they need in the container.
        libraries: Vec<std::path::PathBuf>,
    },
    /// Stops this process, and then executes a program under supervision; for `explain`.
    #[command(hide = true)]
    #[cfg(target_os = "linux")]
    Start {
        /// The program and its arguments.
        #[arg(last = true)]
        program: Vec<OsString>,
    },
    /// Uses the devices of a driver, as a program does; for `files`.
    #[command(hide = true)]
    #[cfg(target_os = "linux")]
    Use {
        /// The library to open.
        library: OsString,
    },
}

/// Options that select the library to test.
#[derive(Args)]
pub(crate) struct Library {
    /// The library to test, instead of the one that programs on this machine use.
    #[arg(long, value_name = "PATH")]
    pub(crate) library: Option<PathBuf>,
    /// The time limit of a process in seconds. The default is 30; your own program has none.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    timeout: Option<u32>,
    /// `true` if this program selected the library that came with it, because programs use another loader.
    #[arg(skip)]
    pub(crate) is_carried: bool,
}

/// Options of `vkloader files`.
#[derive(Args)]
#[cfg(target_os = "linux")]
pub(crate) struct Files {
    #[command(flatten)]
    library: Library,
    /// The driver: its own name, or the name of its manifest or library, such as lvp. It may begin or end with *, as in lvp_icd*.
    #[arg(long, value_name = "NAME")]
    driver: Option<String>,
    /// Adds the layers that are active in programs, with their files.
    #[arg(long)]
    layers: bool,
    /// Output format of the list.
    #[arg(long, value_enum, default_value_t = files::Format::List)]
    format: files::Format,
}

/// Options of `vkloader service`.
#[derive(Args)]
#[cfg(target_os = "linux")]
pub(crate) struct Service {
    /// The socket of the service, instead of the one that programs use.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Prints the whole state as JSON.
    #[arg(long)]
    json: bool,
}

impl Command {
    /// Runs the command.
    pub(crate) fn run(self) -> io::Result<ExitCode> {
        match self {
            Self::Explain(explain) => explain.run(),
            Self::Devices(mut library) => explain::devices(&mut library),
            Self::Layers(layers) => layers.run(),
            Self::Run(run) => run.run(),
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
            Self::IntoContainer { libraries } => {
                files::hook(&libraries, io::stdin())?;
                Ok(ExitCode::SUCCESS)
            }
            #[cfg(target_os = "linux")]
            Self::Start { program } => crash::start(&program).map(|()| ExitCode::SUCCESS),
            #[cfg(target_os = "linux")]
            Self::Catalogue(command) => command.run(),
            Self::Probe {
                driver,
                old_program,
                extensions_only,
                open_only,
                lists_only,
                record,
                layer,
                library,
            } => {
                if record {
                    return crate::record::print(&library);
                }
                let extent = match driver {
                    _ if open_only => Extent::Nothing,
                    _ if lists_only => Extent::Lists,
                    _ if extensions_only => Extent::Extensions,
                    true => Extent::Driver,
                    false if old_program => Extent::OldProgram,
                    false => Extent::Program,
                };
                if driver {
                    probe::be_expendable();
                }
                let mut answers = probe::answers()?;
                probe::run(&library, extent, &layer, &mut |seen| {
                    let mut line = serde_json::to_vec(seen).map_err(io::Error::other)?;
                    line.push(b'\n');
                    heard(answers.write_all(&line))
                })?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

/// Converts the error of a closed pipe to success.
pub(crate) fn heard(printed: io::Result<()>) -> io::Result<()> {
    match printed {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Prints a text and a newline.
pub(crate) fn print(text: impl AsRef<[u8]>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_ref())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Returns a value as JSON text.
pub(crate) fn json(value: &impl serde::Serialize) -> io::Result<String> {
    serde_json::to_string_pretty(value).map_err(io::Error::other)
}

impl Library {
    pub(crate) fn limit(&self) -> Duration {
        self.own_limit().unwrap_or(USUAL_LIMIT)
    }

    /// Returns the time limit that the command line sets.
    pub(crate) fn own_limit(&self) -> Option<Duration> {
        self.timeout.map(|seconds| Duration::from_secs(seconds.into()))
    }

    /// Returns the command that runs the probe.
    pub(crate) fn probe(&self) -> io::Result<Process> {
        let mut command = Process::new(crate::itself::path()?);
        command.arg(probe::ARGUMENT).arg(self.path());
        Ok(command)
    }

    pub(crate) fn path(&self) -> PathBuf {
        probe::library(self.library.as_deref())
    }
}

#[cfg(target_os = "linux")]
impl Files {
    fn run(mut self) -> io::Result<ExitCode> {
        self.library.use_carried(false, None)?;
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

    /// Runs the probe without the drivers whose manifests have the file names in `without`.
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
        heard(if self.json { print(json(&told)?) } else { told.show() })?;
        Ok(ExitCode::from(if told.has_drivers() { USABLE } else { NONE }))
    }
}
