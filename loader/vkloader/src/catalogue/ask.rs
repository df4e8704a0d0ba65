//! Asks one driver for its extensions and devices, in a separate process.

use super::display::{self, Display};
use super::file::{Device, Extension, Outcome};
use super::shared::SharedFile;
use super::{Asking, Place, alone, closure};
use crate::carried;
use crate::child::{self, Ending, Finished, Watched};
use crate::commands::WRONG_USE;
use crate::events::{Event, Record};
use crate::probe::{self, Seen};
use crate::show::plain;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Multiple of the usual time limit within which a record must be complete. Recording takes far more calls than the first query. A driver
/// is recorded only if it answered the first query.
const LIMITS_OF_RECORD: u32 = 6;

/// Signals that report crashes. Other signals come from other processes, and show nothing about the driver.
const CRASHES: [i32; 7] = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS];
const SIGILL: i32 = 4;
const SIGTRAP: i32 = 5;
const SIGABRT: i32 = 6;
const SIGBUS: i32 = 7;
const SIGFPE: i32 = 8;
const SIGSEGV: i32 = 11;
const SIGSYS: i32 = 31;

/// Exit statuses that `vkloader` uses for wrong use and for a panic.
const OWN_FAILURES: [i32; 2] = [WRONG_USE as i32, 101];

/// Multiple of the usual time limit for the second query of a driver that crashed or hung. On a busy machine, an answer may take long.
const LIMITS_OF_SECOND: u32 = 2;

/// Number of attempts to run a process that another process kills. The kernel kills the processes that ask drivers first when memory is
/// short, and a later attempt may have enough memory.
const ATTEMPTS: usize = 3;

/// The information that a driver is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Instance extensions. Drivers do not open devices for this query.
    Extensions,
    /// Instance extensions and devices. Drivers may open devices for this query.
    Devices,
}

/// The answer of a driver, or the way in which its process ended.
pub(super) struct Answer {
    pub(super) outcome: Outcome,
    pub(super) took: Duration,
    /// The library's name in the manifest.
    pub(super) named: String,
    /// Path of the library that the loader opened.
    pub(super) path: Option<String>,
    pub(super) interface: Option<u32>,
    pub(super) api_version: Option<String>,
    pub(super) extensions: Option<Vec<Extension>>,
    pub(super) devices: Option<Vec<Device>>,
    /// Files that the driver needs, without its own library.
    pub(super) files: Option<Vec<SharedFile>>,
}

/// Runs the processes that query drivers for the facts in a catalogue.
pub(super) struct Asker<'a> {
    asking: &'a Asking,
    user: bool,
    /// The library that the processes use to ask drivers.
    library: PathBuf,
    /// Folders of `LD_LIBRARY_PATH` in the processes that ask drivers.
    search: Vec<String>,
    /// Home folder of the processes that query drivers for the system's catalogue.
    home: tempfile::TempDir,
}

impl<'a> Asker<'a> {
    pub(super) fn new(place: &Place, asking: &'a Asking) -> io::Result<Self> {
        alone::begin();
        Ok(Self {
            asking,
            user: place.user,
            library: probe::library(asking.library.as_deref()),
            search: if place.user {
                closure::in_variable().unwrap_or_default()
            } else {
                Vec::new()
            },
            home: crate::scratch::folder()?,
        })
    }

    /// Returns `true` if the answers are for a user's own catalogue.
    pub(super) fn is_of_user(&self) -> bool {
        self.user
    }

    /// Returns the library's version, and the paths of the driver manifests that the library would use. Does not open drivers. On a machine
    /// without a Vulkan loader, uses the library that came with this program.
    pub(super) fn manifests(&mut self) -> io::Result<(String, Vec<String>)> {
        let mut finished = self.run((Depth::Extensions, 1), None, None)?;
        let is_missing = || Seen::last(&finished.output).is_some_and(|seen| seen.not_opened.is_some());
        if self.asking.library.is_none()
            && is_missing()
            && let Some(own) = carried::library()
        {
            anstream::eprintln!(
                "vkloader: programs on this machine have no Vulkan loader, so {} asks the drivers",
                plain(&own.display().to_string())
            );
            self.library = own;
            finished = self.run((Depth::Extensions, 1), None, None)?;
        }
        // The trace of a process that ended early lacks drivers.
        let early = match finished.ending {
            Ending::Status(_) => None,
            Ending::Signal(signal) => Some(format!("signal {signal} ended the process that lists them")),
            Ending::TooLong(limit) => Some(format!("they are not listed within {} s", limit.as_secs())),
        };
        if let Some(words) = early {
            return Err(io::Error::other(format!("the drivers are unknown: {words}")));
        }
        let loaded = finished.records.iter().find_map(|record| match &record.event {
            Event::Loaded(loaded) => Some(loaded.version.clone()),
            _ => None,
        });
        let Some(version) = loaded else {
            let seen = Seen::last(&finished.output);
            let words = seen.and_then(|seen| seen.not_opened);
            return Err(io::Error::other(match words {
                Some(words) => format!("no Vulkan loader could be opened: {words}"),
                None => "programs on this machine get another Vulkan loader, or an older one; --library names the one to ask".into(),
            }));
        };
        let mut found = Vec::new();
        for decision in decisions(&finished.records) {
            let usable = decision.is_kept() || decision.code.as_deref() == Some("driver-manifest.disabled");
            if decision.subject == "driver-manifest" && usable && !found.contains(&decision.name) {
                found.push(decision.name.clone());
            }
        }
        Ok((version, found))
    }

    /// Asks the driver of a manifest. Asks a driver that crashes or hangs again before the result counts, because a single failure may have
    /// another reason, for example a busy machine. If this process is not in a session with a display, the second query has a
    /// display. The reason is that programs skip a driver that is recorded as failing, and most programs run in such sessions.
    ///
    /// # Errors
    ///
    /// The process cannot be run, its trace contains no answer, or the driver may answer only in a session with a display.
    pub(super) fn ask(&self, manifest: &str, depth: Depth) -> io::Result<Answer> {
        if manifest.contains(':') {
            return Err(io::Error::other("a path with a colon cannot be asked for alone"));
        }
        let first = self.ask_once(manifest, (depth, 1), None)?;
        if !is_broken(&first.outcome) {
            return Ok(first);
        }
        let is_in_session = self.user && display::is_here();
        let display = (!is_in_session)
            .then(|| Display::start(self.home.path()).ok())
            .flatten();
        let again = self.ask_once(manifest, (depth, LIMITS_OF_SECOND), display.as_ref())?;
        match display.map(Display::end) {
            None => Ok(again),
            Some(false) if is_broken(&again.outcome) => Ok(first),
            // Either the display made the difference, or the first query failed because the machine was busy.
            Some(_) => {
                let last = self.ask_once(manifest, (depth, LIMITS_OF_SECOND), None)?;
                let of_session = "it does not answer without a display, and may answer in a session; programs open it";
                Some(last)
                    .filter(|last| !is_broken(&last.outcome))
                    .ok_or_else(|| io::Error::other(of_session))
            }
        }
    }

    /// Asks the driver of a manifest in one process, for at most `limits` times the usual time limit. With a display, the process has the
    /// variables of a session.
    fn ask_once(&self, manifest: &str, (depth, limits): (Depth, u32), display: Option<&Display>) -> io::Result<Answer> {
        let since = Instant::now();
        let finished = self.run((depth, limits), Some(manifest), display)?;
        let mut answer = answer(&finished, since.elapsed(), (depth, &self.search))?;
        if answer.path.is_none() && !answer.named.contains('/') {
            // The driver crashed while the loader opened it by a name without a path, or the driver returned no functions. In these cases,
            // only the dynamic linker's log contains the path of the file.
            answer.path = searched(&finished.linker, &answer.named).filter(|path| Path::new(path).is_file());
        }
        Ok(answer)
    }

    /// Runs the process with the driver of a manifest; without drivers if there is no manifest.
    fn run(
        &self,
        (depth, limits): (Depth, u32),
        manifest: Option<&str>,
        display: Option<&Display>,
    ) -> io::Result<Finished> {
        self.finish(|| self.of_driver(depth, manifest, display), limits)
    }

    /// Returns the command for [`Self::run`].
    fn of_driver(&self, depth: Depth, manifest: Option<&str>, display: Option<&Display>) -> io::Result<Command> {
        let mut command = self.command()?;
        command.arg("--driver");
        if depth == Depth::Extensions {
            command.arg("--extensions-only");
        }
        command.arg("--").arg(&self.library);
        command
            .env("VK_LOADER_LAYERS_DISABLE", "~all~")
            .env("VK_LOADER_CATALOGUE", "off");
        match manifest {
            // An empty data folder hides the user's settings file, which could add layers and drivers.
            Some(manifest) => command
                .env("VK_DRIVER_FILES", manifest)
                .env("XDG_DATA_HOME", self.home.path()),
            None => command.env("VK_LOADER_DRIVERS_DISABLE", "*"),
        };
        if let Some(display) = display {
            display.show(&mut command);
        }
        Ok(command)
    }

    /// Starts a process that records the driver's answers about its devices. Returns the record, or the reason why there is no record.
    /// `library` is the name in the manifest.
    ///
    /// # Errors
    ///
    /// The process cannot be started, or a signal asked this process to end.
    pub(super) fn record(&self, library: &str) -> io::Result<Result<Vec<u8>, String>> {
        let command = || {
            let mut command = self.command()?;
            command.args(["--record", "--", library]);
            Ok(command)
        };
        let finished = self.finish(command, LIMITS_OF_RECORD)?;
        Ok(match finished.ending {
            Ending::Status(0) => Ok(finished.output),
            Ending::Status(status) if status == i32::from(crate::record::NO_RECORD) => {
                Err(String::from_utf8_lossy(&finished.output).into_owned())
            }
            Ending::Status(status) => Err(format!("the process that asks it ended with status {status}")),
            Ending::Signal(signal) => Err(format!("signal {signal} ended the process that asks it")),
            Ending::TooLong(limit) => Err(format!("it does not answer all queries within {} s", limit.as_secs())),
        })
    }

    /// Returns the command for a probe, with the environment in which drivers are asked.
    fn command(&self) -> io::Result<Command> {
        let mut command = Command::new(crate::itself::path()?);
        command.arg(probe::ARGUMENT);
        if self.user {
            let own = std::env::vars_os().map(|(name, _)| name);
            own.filter(|name| name.as_encoded_bytes().starts_with(b"VK_"))
                .for_each(|name| {
                    command.env_remove(name);
                });
        } else {
            // All users share the system's catalogue, so the variables in the administrator's shell must not affect the answers.
            command.env_clear().env("HOME", self.home.path());
            if let Some(path) = std::env::var_os("PATH") {
                command.env("PATH", path);
            }
        }
        command.stdin(std::process::Stdio::null());
        Ok(command)
    }

    /// Runs a command for at most `limits` times the time limit, and runs it again if another process killed it. Turns on the dynamic
    /// linker's log, which also contains libraries that a driver opened and closed again.
    fn finish(&self, command: impl Fn() -> io::Result<Command>, limits: u32) -> io::Result<Finished> {
        let watched = Watched {
            keeps_output: true,
            linker: true,
            ..Watched::default()
        };
        let limit = limits * Duration::from_secs(self.asking.timeout.into());
        let mut left = ATTEMPTS;
        loop {
            left -= 1;
            let finished = child::run(command()?, limit, watched);
            alone::end_orphans();
            let finished = finished?;
            if left == 0 || !is_killed(finished.ending) {
                return Ok(finished);
            }
        }
    }
}

/// Returns `true` if another process ended a process by a signal.
fn is_killed(ending: Ending) -> bool {
    matches!(ending, Ending::Signal(signal) if !CRASHES.contains(&signal))
}

/// Returns `true` if programs skip a driver with this outcome.
fn is_broken(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Crashed { .. } | Outcome::Ended { .. } | Outcome::Hung { .. }
    )
}

/// Returns the last file that the dynamic linker tried when it searched for a library by the name `name` without a path.
fn searched(told: &[String], name: &str) -> Option<String> {
    let begin = format!("find library={name} ");
    let mut is_it = false;
    let mut found = None;
    for line in told.iter().flat_map(|text| text.lines()) {
        match line.split_once("trying file=") {
            Some((_, path)) if is_it => found = Some(path.trim().to_owned()),
            Some(_) => {}
            None => is_it = line.contains(&begin) || is_it && !line.contains("find library="),
        }
    }
    found
}

fn decisions(records: &[Record]) -> impl Iterator<Item = &crate::events::TracedDecision> {
    records.iter().filter_map(|record| match &record.event {
        Event::Decision(decision) => Some(decision),
        _ => None,
    })
}

/// Returns the step during which the process ended, which is the last step without a record of the step's end.
fn unfinished(records: &[Record]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for record in records {
        match &record.event {
            Event::Begin(step) => open.push(&step.name),
            Event::End(step) => {
                if let Some(at) = open.iter().rposition(|name| *name == step.name) {
                    open.remove(at);
                }
            }
            _ => {}
        }
    }
    open.last().map(|&name| name.to_owned())
}

fn answer(finished: &Finished, took: Duration, (depth, search): (Depth, &[String])) -> io::Result<Answer> {
    let events = || finished.records.iter().map(|record| &record.event);
    let mut named: Vec<&str> = events()
        .filter_map(|event| match event {
            Event::Begin(step) if step.step == "open" => Some(step.name.as_str()),
            _ => None,
        })
        .collect();
    // The loader opens the driver for the query and again for the instance, so a kind of event can occur twice, and the last event counts.
    // Between these two times, the loader opens the library by its path, to keep the library open. Therefore, `named` can also contain this
    // path.
    let offers = events().rev().find_map(|event| match event {
        Event::Offers(offers) => Some(offers),
        _ => None,
    });
    let driver = events().rev().find_map(|event| match event {
        Event::Driver(driver) => Some(driver),
        _ => None,
    });
    named.dedup();
    let first = *named
        .first()
        .ok_or_else(|| io::Error::other("the loader did not open its library"))?;
    let path = offers.map(|offers| offers.library.clone());
    let is_of_it = |name: &&str| *name == first || path.as_deref() == Some(name);
    if !named.iter().all(is_of_it) {
        return Err(io::Error::other(
            "a settings file adds drivers or layers, so that none can be asked alone",
        ));
    }
    let seen = Seen::last(&finished.output);
    let dropped = decisions(&finished.records).find(|decision| decision.subject == "driver" && !decision.is_kept());
    let within = || unfinished(&finished.records);
    let outcome = match finished.ending {
        Ending::TooLong(limit) => Outcome::Hung {
            seconds: limit.as_secs(),
            within: within(),
        },
        Ending::Signal(signal) if CRASHES.contains(&signal) => Outcome::Crashed {
            signal,
            within: within(),
        },
        Ending::Signal(signal) => return Err(io::Error::other(format!("its process was ended by signal {signal}"))),
        // If the process exited without results, the driver ended it, unless the exit status is one that `vkloader` itself uses.
        Ending::Status(status) if seen.is_none() && !OWN_FAILURES.contains(&status) => Outcome::Ended {
            status,
            within: within(),
        },
        Ending::Status(_) => match (driver, dropped, offers) {
            (Some(driver), _, _) if driver.result != 0 => Outcome::Failed {
                code: driver.result,
                reason: "vkCreateInstance".into(),
            },
            (_, Some(dropped), _) => Outcome::Failed {
                code: 0,
                reason: dropped.code.clone().unwrap_or_default(),
            },
            (Some(_), None, Some(_)) if seen.is_some() => Outcome::Answered,
            (None, None, Some(_)) if depth == Depth::Extensions => Outcome::Answered,
            _ => Outcome::Failed {
                code: 0,
                reason: "its answer was lost".into(),
            },
        },
    };
    // A settings file may hide devices from this process but show them to other programs. The list of devices is then not recorded.
    let hides = decisions(&finished.records).any(|decision| decision.subject == "device" && !decision.is_kept());
    let has_devices = depth == Depth::Devices && outcome == Outcome::Answered && !hides;
    let library = path.as_deref().unwrap_or(first);
    Ok(Answer {
        files: closure::of(seen.as_ref(), (first, library), &finished.linker, search),
        named: first.into(),
        path,
        interface: offers.map(|offers| offers.interface_version),
        api_version: driver.map(|driver| driver.api_version.clone()),
        extensions: offers.map(|offers| offers.extensions.iter().map(extension).collect()),
        devices: seen
            .filter(|_| has_devices)
            .map(|seen| seen.devices.iter().map(device).collect()),
        outcome,
        took,
    })
}

fn extension(offered: &crate::events::Extension) -> Extension {
    Extension {
        name: offered.name.clone(),
        version: offered.version,
    }
}

fn device(seen: &probe::Device) -> Device {
    Device {
        name: seen.name.clone(),
        kind: seen.kind.clone(),
        vendor: seen.vendor,
        device: seen.device,
        driver_id: seen.driver_id,
        pci: seen.pci.clone(),
        uuid: seen.uuid.clone(),
    }
}
