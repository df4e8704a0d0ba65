//! The commands `vkloader explain` and `vkloader devices`.

mod untold;

use crate::beside::Beside;
use crate::causes::elf::{Fault, Identity};
use crate::child::{self, Finished, Watched};
use crate::commands::{Library, NONE, USABLE, heard, json, print};
use crate::filters::leave_out;
use crate::library_folder::LibraryFolder;
use crate::other::{self, Other};
use crate::probe::Seen;
use crate::report::{self, Again, Crashed, Received, Report, Switch, Verdict};
use crate::{causes, crash, remedy, show, superuser, untraced};
use clap::Args;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::{Command as Process, ExitCode};
use std::sync::Once;
use untold::Untraced;

/// Exit status if the devices of the program are unknown.
const UNANSWERED: u8 = 2;

/// Options of `vkloader explain`.
#[derive(Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    library: Library,
    /// Prints the whole report as JSON.
    #[arg(long)]
    json: bool,
    /// Prints at most fifteen lines for a bug report, without the name of the user.
    #[arg(long, conflicts_with = "json")]
    summary: bool,
    /// Also writes the report as one self-contained page with a picture.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Exits with 0 only if a usable device matches, such as type:discrete, name:*NVIDIA* or driver:radv.
    #[arg(long, value_name = "CONDITION")]
    check: Option<show::Condition>,
    /// Passes the trace to the program as an open descriptor, for a program in a sandbox that cannot see the trace file.
    #[arg(long, requires = "program")]
    descriptor: bool,
    /// If a driver or layer crashed the program, runs the program once more without it, and reports the result.
    #[arg(long, requires = "program")]
    retry: bool,
    /// Leaves out further runs, which try remedies and search for causes: reports what the first run shows.
    #[arg(long, conflicts_with = "retry")]
    no_try: bool,
    /// A program to run, and its arguments.
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Explain {
    pub(crate) fn run(mut self) -> io::Result<ExitCode> {
        if let Some(program) = self.program.first() {
            untraced::become_32_bits(program);
        }
        let of_user = self.program.first().map(OsString::as_os_str);
        let mut other = self.library.use_carried(of_user.is_none(), of_user)?;
        let folder = match (&self.library.library, self.program.is_empty()) {
            (Some(library), false) => Some(LibraryFolder::of(library)?),
            _ => None,
        };
        let mut finished = self.watch(folder.as_ref(), Purpose::Run(None))?;
        finished = self.pass_descriptor(finished, folder.as_ref())?;
        let tries_probe = self.program.is_empty() && !self.no_try;
        if tries_probe {
            finished = self.library.locate_crash(finished)?;
        }
        let (seen, mut report) = self.report(&finished)?;
        if let Some(other) = &mut other {
            if !self.no_try {
                other.compare_requests(&self.library, &self.program, &finished)?;
                other.find_cause(&self.library, (&finished.records, &report.layers), seen.as_ref())?;
            }
            self.add_other(other, &finished, seen.as_ref(), &mut report);
        }
        if self.program.is_empty()
            && let Some(of_32_bits) = other::report_of_32_bits(&self.library)?
        {
            report::other::add_word_size(&mut report, &of_32_bits);
        }
        let is_watched =
            !self.no_try && !report.is_usable() && !report.is_ended_in_call() && causes::worth_watching(&report);
        if is_watched && !self.program.is_empty() {
            tell(AGAIN);
        }
        let watch = || self.watch(folder.as_ref(), Purpose::Linker);
        let watched = is_watched.then(watch).transpose()?;
        report.executed.extend(untraced::programs(&self.program));
        causes::find(&mut report, &finished, watched.as_ref(), !self.program.is_empty());
        self.check_trace(&mut report, &finished, folder.as_ref(), seen.as_ref())?;
        if tries_probe {
            self.library.name_layer(&mut report, None)?;
            self.library.try_variables(&mut report)?;
        } else if !self.no_try {
            let beside = Beside::of(&self.library, &finished, &report);
            self.library.name_layer(&mut report, Some(&beside))?;
        }
        if let Some(other) = &other {
            remedy::for_loader(&mut report, &finished.records, other);
        }
        if !self.no_try {
            self.library
                .try_remedy(&mut report, other.as_ref(), !self.program.is_empty())?;
        }
        if self.retry {
            self.run_without_culprit(&mut report, folder.as_ref())?;
        }
        superuser::complete(&mut report);
        self.show(&report)
    }

    /// Checks that the program wrote a trace. If not, adds a finding with the reason to the report, unless a crash explains it.
    ///
    /// # Errors
    ///
    /// Returns an error if the probe left no trace, or if the program used another library than the user named.
    fn check_trace(
        &self,
        report: &mut Report,
        finished: &Finished,
        folder: Option<&LibraryFolder>,
        seen: Option<&Seen>,
    ) -> io::Result<()> {
        if report.loader.is_none()
            && let Some(program) = self.program.first()
            && let Some(other) = untraced::OfOtherSize::of(program, &finished.environments)
        {
            let mut command = self.library.probe()?;
            other.variables.give_to(&mut command);
            let probe = child::run(command, self.library.limit(), KEPT)?;
            other.add(report, &probe.records);
            return Ok(());
        }
        let program = self.program.first().map_or(OsStr::new(""), OsString::as_os_str);
        match self.why_untraced(report, finished, folder, seen)? {
            Some(Untraced::Early(lines)) => {
                untraced::add_early(report, program, finished.ending, lines.as_deref());
                causes::display_before_loader(report);
            }
            Some(Untraced::Because(why)) => {
                untraced::add(report, program, &why);
                self.add_devices_beside(report, finished)?;
                self.add_cause_beside(report, finished)?;
            }
            None => {}
        }
        Ok(())
    }

    /// Prints the report and returns the exit status.
    fn show(&self, report: &Report) -> io::Result<ExitCode> {
        if let Some(file) = &self.html {
            std::fs::write(file, show::html(report)).map_err(|error| child::naming(file, error))?;
        }
        heard(match (self.json, self.summary) {
            (true, _) => print(json(report)?),
            (_, true) => print(show::summary(report)),
            _ => show::text(report),
        })?;
        let fits = match &self.check {
            Some(condition) => report
                .devices
                .iter()
                .any(|device| device.is_usable && condition.fits(device)),
            None => report.is_usable(),
        };
        if report.lacks_trace() || report.is_unknown() {
            return Ok(ExitCode::from(UNANSWERED));
        }
        let fits = fits && !report.lacks_loader();
        Ok(ExitCode::from(if fits { USABLE } else { NONE }))
    }

    /// Adds to the report the loader that programs use, and its differences from the examined library.
    fn add_other(&self, other: &Other, finished: &Finished, seen: Option<&Seen>, report: &mut Report) {
        let nothing = Seen::default();
        if self.program.is_empty() {
            report::other::compare(report, &finished.records, seen.unwrap_or(&nothing), other)
        } else {
            report::other::name(report, &finished.records, other)
        }
    }

    /// Returns the report about a run. Also returns the results of the probe, if the run was a probe.
    fn report(&self, finished: &Finished) -> io::Result<(Option<Seen>, Report)> {
        if self.program.is_empty() {
            let seen = Seen::last(&finished.output);
            let mut report = of_probe(&self.library, finished, seen.as_ref())?;
            if let Some(seen) = &seen {
                let beside = Beside::of(&self.library, finished, &report);
                if !self.no_try {
                    beside.blame_layers(seen, &mut report)?;
                }
            }
            return Ok((seen, report));
        }
        let mut alone = report::build(finished, Received::default());
        alone.note_unasked(finished);
        let is_failing = alone.verdict != Verdict::Hardware;
        let needs_probe = !alone.layers.is_empty() || is_failing;
        if !needs_probe || self.no_try || alone.is_ended_in_call() || alone.loader.is_none() {
            return Ok((None, alone));
        }
        // The trace does not contain the changes that layers made to the list of devices, so a probe runs with the same layers.
        let beside = Beside::of(&self.library, finished, &alone);
        let own = beside.run("")?;
        alone.take_devices(&own);
        if alone.layers.is_empty() {
            alone.take_printed(&own);
            return Ok((None, alone));
        }
        let seen = Seen::last(&own.output).filter(|_| report::build(&own, Received::default()).has_layers_of(&alone));
        let Some(seen) = seen else { return Ok((None, alone)) };
        let seen = beside.arranged(seen, "")?;
        if !alone.is_unasked && (!alone.devices.is_empty() || !alone.hidden.is_empty()) {
            alone = of_devices(finished, &seen, |layer| beside.received(layer))?;
        }
        beside.blame_layers(&seen, &mut alone)?;
        beside.compare_extensions(&seen, &mut alone)?;
        alone.take_printed(&own);
        Ok((None, alone))
    }

    /// Runs the program, or the probe if no program was named. The program finds the library in `folder`, if `folder` is not `None`.
    fn watch(&self, folder: Option<&LibraryFolder>, purpose: Purpose<'_>) -> io::Result<Finished> {
        let linker = matches!(purpose, Purpose::Linker);
        let Some((program, arguments)) = self.program.split_first() else {
            let watched = Watched { linker, ..KEPT };
            return child::run(self.library.probe()?, self.library.limit(), watched);
        };
        let mut command = match purpose {
            Purpose::Linker => plain(program, arguments),
            Purpose::Run(_) => crash::command(program, arguments)?,
        };
        if let Some(folder) = folder {
            folder.search_first(&mut command);
        }
        if let Purpose::Run(Some(switch)) = purpose {
            leave_out(&mut command, &switch.variable, &switch.value);
        }
        if self.json || self.summary {
            // Standard output is reserved for the report.
            command.stdout(io::stderr());
        }
        let watched = Watched {
            keeps_output: linker,
            linker,
            descriptor: self.descriptor,
            is_program: !linker,
            is_supervised: !linker,
        };
        let limit = if linker {
            Some(self.library.limit())
        } else {
            self.library.own_limit()
        };
        let mut finished = child::run(command, limit, watched)?;
        if let Some(folder) = folder {
            folder.name_library(&mut finished.records);
        }
        Ok(finished)
    }

    /// Runs the program again without the driver or layer that crashed it, and adds the result to the report. If a layer may be at fault in place
    /// of a driver, the first run is without the layer.
    fn run_without_culprit(&self, report: &mut Report, folder: Option<&LibraryFolder>) -> io::Result<()> {
        let layer = report.crash.as_ref().and_then(Crashed::suspected_layer);
        if let Some(layer) = layer {
            let again = report::retried(&self.watch(folder, Purpose::Run(Some(layer)))?);
            if !report.conclude_without_layer(again) {
                return Ok(());
            }
        }
        let suspects = report
            .crash
            .as_ref()
            .map_or(Vec::new(), |crash| crash.suspects().to_vec());
        for suspect in &suspects {
            let again = report::retried(&self.watch(folder, Purpose::Run(Some(&suspect.switch)))?);
            if report.conclude_without(suspect, again) {
                break;
            }
        }
        if !suspects.is_empty() {
            return Ok(());
        }
        let Some(crash) = &report.crash else { return Ok(()) };
        let again = match &crash.switch {
            None => Again::impossible(crash),
            Some(switch) => report::retried(&self.watch(folder, Purpose::Run(Some(switch)))?),
        };
        report.conclude(again);
        Ok(())
    }

    /// Returns the message of the error for a run that wrote no trace.
    fn no_trace(&self, seen: Option<&Seen>, finished: &Finished) -> String {
        match seen {
            _ if !self.program.is_empty() => {
                let why = || untraced::why(&self.program, finished.graphics.as_deref(), &self.library.path());
                untraced::cut_short(&self.program, finished).unwrap_or_else(why)
            }
            Some(Seen {
                not_opened: Some(words),
                ..
            }) => self.library.why_not_opened(words),
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

/// Line about a run of the program with the log of the dynamic linker.
const AGAIN: &str = "runs the program a second time, to record the searches of the dynamic linker";

/// Prints a line about further runs on standard error.
fn tell(words: &str) {
    anstream::eprintln!("vkloader: {words} (--no-try leaves this out)");
}

/// Prints, once, that this program starts processes to try remedies.
pub(crate) fn tell_of_tries() {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| tell("starts processes of its own, to try remedies"));
}

/// Purpose of a run of the program.
#[derive(Clone, Copy)]
enum Purpose<'a> {
    /// An ordinary run, or a run without the driver or layer that caused a crash.
    Run(Option<&'a Switch>),
    /// A run with the log of the dynamic linker. The program's output is hidden, because the first run already showed it.
    Linker,
}

fn plain(program: &OsString, arguments: &[OsString]) -> Process {
    let mut command = Process::new(program);
    command.args(arguments);
    command
}

/// Options for a run whose output is stored.
pub(crate) const KEPT: Watched = Watched {
    keeps_output: true,
    linker: false,
    descriptor: false,
    is_program: false,
    is_supervised: false,
};

impl Library {
    /// Returns the reason why the library could not be opened. `words` is the message of the dynamic linker.
    fn why_not_opened(&self, words: &str) -> String {
        let Some(path) = &self.library else {
            return format!(
                "no Vulkan loader could be opened: {words}{}",
                untraced::to_install_loader(words)
            );
        };
        // The dynamic linker searches its folders for a name without a folder.
        let file = Some(self.path()).filter(|path| path.is_absolute() || path.components().count() > 1);
        let fault = file.and_then(|file| Fault::of(&file, Identity::of_this_process()));
        let words = fault.map_or_else(|| words.to_owned(), |fault| fault.finding);
        let path = path.display().to_string();
        let about = if words.contains(&path) {
            words
        } else {
            format!("{path}: {words}")
        };
        let whose = if self.is_carried {
            "the library that came with vkloader"
        } else {
            "the library that --library names"
        };
        format!("{whose} is no Vulkan loader that can be opened: {about}")
    }

    /// Returns the results of a probe without the layer `layer`.
    fn looks_without(&self, layer: &str) -> io::Result<Option<Seen>> {
        let mut command = self.probe()?;
        leave_out(&mut command, report::WITHOUT_LAYERS, layer);
        Ok(Seen::last(&child::run(command, self.limit(), KEPT)?.output))
    }
}

/// Returns the report about a run of the probe.
pub(crate) fn of_probe(library: &Library, finished: &Finished, seen: Option<&Seen>) -> io::Result<Report> {
    let nothing = Seen::default();
    of_devices(finished, seen.unwrap_or(&nothing), |layer| library.looks_without(layer))
}

/// Returns the report about a run that received the devices in `seen`. If several layers may have changed the list, calls `without`, which
/// runs the probe without one layer, for one layer at a time.
fn of_devices(
    finished: &Finished,
    seen: &Seen,
    without: impl Fn(&str) -> io::Result<Option<Seen>>,
) -> io::Result<Report> {
    let devices = Some(&seen.devices[..]);
    let is_whole = seen.enumeration == Some(0);
    let report = report::build(
        finished,
        Received {
            devices,
            is_whole,
            changer: None,
        },
    );
    if !report.is_changed_by_layer() {
        return Ok(report);
    }
    let changer = match &report.layers[..] {
        [only] => Some(only.name.clone()),
        several => culprit(several.iter().map(|layer| layer.name.as_str()), seen, without)?,
    };
    let changer = changer.as_deref();
    Ok(report::build(
        finished,
        Received {
            devices,
            is_whole,
            changer,
        },
    ))
}

/// Returns the first layer whose removal changes the list of devices.
fn culprit<'a>(
    layers: impl Iterator<Item = &'a str>,
    seen: &Seen,
    without: impl Fn(&str) -> io::Result<Option<Seen>>,
) -> io::Result<Option<String>> {
    let names = |seen: &Seen| -> Vec<(String, u32)> {
        let devices = seen.devices.iter();
        devices.map(|device| (device.name.clone(), device.device)).collect()
    };
    for layer in layers {
        if without(layer)?.is_some_and(|other| names(&other) != names(seen)) {
            return Ok(Some(layer.into()));
        }
    }
    Ok(None)
}

/// Prints the devices, each with the words that select it.
pub(crate) fn devices(library: &mut Library) -> io::Result<ExitCode> {
    let other = library.use_carried(true, None)?;
    let finished = child::run(library.probe()?, library.limit(), KEPT)?;
    let is_whole = |seen: &Seen| seen.instance.is_some() || seen.not_opened.is_some();
    let seen = Seen::last(&finished.output).filter(is_whole).ok_or_else(|| {
        io::Error::other("the process that lists devices did not end by itself; see vkloader explain")
    })?;
    if let Some(words) = &seen.not_opened {
        return Err(io::Error::other(library.why_not_opened(words)));
    }
    // The report combines the devices that the probe received with the drivers in the trace.
    let mut report = of_probe(library, &finished, Some(&seen))?;
    if let Some(other) = &other {
        report::other::compare(&mut report, &finished.records, &seen, other);
    }
    let received = other.as_ref().map_or(&seen, |other| &other.seen);
    heard(show::devices(&received.devices, &report.devices))?;
    Ok(ExitCode::from(if report.is_usable() { USABLE } else { NONE }))
}
