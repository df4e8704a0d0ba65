//! Prints catalogues in a readable form.

use super::file::{self, Catalogue, Driver, Library, Outcome};
use super::here::{Judge, Seen};
use super::machine::Machine;
use super::shared::SharedFile;
use super::{Place, identify, mark};
use crate::show::plain;
use catalogue::{Problem, Reader};
use serde_json::Value;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// Prints a text. Ignores the error of a pipe that the reader has closed.
fn print(text: &str) -> io::Result<()> {
    crate::commands::heard(crate::commands::print(text.trim_end()))
}

/// Prints the message that there is no catalogue.
pub(super) fn none(path: &Path) -> io::Result<()> {
    let mut text = format!(
        "There is no catalogue at {}: programs open every driver.",
        path.display()
    );
    let older = path.with_extension("json");
    if older.exists() {
        let _ = write!(
            text,
            "\n{} is the catalogue of an older version, which no program reads any more; an update replaces it.",
            older.display()
        );
    }
    print(&text)
}

/// Prints the catalogue as JSON.
pub(super) fn json(known: &Catalogue) -> io::Result<()> {
    print(&crate::commands::json(known)?)
}

/// Prints a summary of an update.
pub(super) fn summary(path: &Path, made: &Catalogue) -> io::Result<()> {
    let mut text = String::new();
    drivers(&mut text, made, |_| None);
    let sleeping = made.drivers.iter().filter(|driver| driver.devices.is_none()).count();
    if made.machine.cards.iter().any(|card| card.sleeps) && sleeping > 0 {
        let _ = writeln!(
            text,
            "A graphics card sleeps: {sleeping} drivers were not asked for devices, and are opened. --wake asks them."
        );
    }
    let _ = writeln!(text, "Written: {}", path.display());
    print(&text)
}

/// Writes the entries. For an entry that programs would not use, also writes the reason.
fn drivers(text: &mut String, known: &Catalogue, doubt: impl Fn(&Driver) -> Option<String>) {
    if known.drivers.is_empty() {
        text.push_str("No driver is known.\n");
    }
    for driver in &known.drivers {
        line(text, driver);
        if let Some(doubt) = doubt(driver) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "    does not count: {}", plain(&doubt));
        }
    }
}

fn line(text: &mut String, driver: &Driver) {
    let extensions = match &driver.extensions {
        Some(all) => format!("{} instance extensions", all.len()),
        None => "instance extensions unknown".into(),
    };
    let has_devices = driver.devices.as_ref().is_some_and(|all| !all.is_empty());
    let recorded = if has_devices && driver.record.is_none() {
        " (not recorded)"
    } else {
        ""
    };
    let said = format!("{}, {extensions}, {}{recorded}", outcome(driver), devices(driver));
    // The names come from drivers, and may contain any character.
    let _ = writeln!(text, "{}\n    {}", plain(&driver.manifest.path), plain(&said));
}

fn outcome(driver: &Driver) -> String {
    let step = |within: &Option<String>| within.as_ref().map(|step| format!(" in {step}")).unwrap_or_default();
    match &driver.outcome {
        Outcome::Answered => format!("answered within {} ms", driver.milliseconds),
        Outcome::Failed { code: 0, reason } => format!("failed ({reason})"),
        Outcome::Failed { code, reason } => format!("failed with {code} ({reason})"),
        Outcome::Ended { status, within } => {
            format!(
                "ENDED its process with code {status}{}: programs leave it out",
                step(within)
            )
        }
        Outcome::Crashed { signal, within } => {
            format!("CRASHED with signal {signal}{}: programs leave it out", step(within))
        }
        Outcome::Hung { seconds, within } => {
            format!("HUNG for {seconds} s{}: programs leave it out", step(within))
        }
    }
}

fn devices(driver: &Driver) -> String {
    match driver.devices.as_deref() {
        None => "devices unknown".into(),
        Some([]) => format!("no device (hardware {})", driver.hardware),
        Some(all) => all
            .iter()
            .map(|device| device.name.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Prints a catalogue. If a program in this environment would not use the catalogue or one of its entries, also prints the reasons.
pub(super) fn all(path: &Path, known: &Catalogue, place: &Place, machine: &Machine) -> io::Result<()> {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: loader {}, {}",
        path.display(),
        known.loader,
        known.architecture
    );
    let same_machine = known.machine.fingerprint == machine.record.fingerprint;
    let value = serde_json::to_value(known).map_err(io::Error::other)?;
    match judge(&value) {
        Ok(judge) => {
            if let Some(why) = ignored(path, place, &judge) {
                let _ = writeln!(text, "A program in this environment ignores it: {}", plain(&why));
            }
            drivers(&mut text, known, |driver| judge.doubt(&driver.manifest.path));
        }
        Err(why) => {
            let _ = writeln!(text, "Programs ignore it: {why}");
            drivers(&mut text, known, |_| None);
        }
    }
    for variable in &known.variables {
        let _ = writeln!(text, "Only where {}={}", plain(&variable.name), plain(&variable.value));
    }
    if !same_machine {
        text.push_str("The devices or the kernel have changed: no driver is left out for lack of a device.\n");
    } else if known.machine.boot != machine.record.boot && known.drivers.iter().any(Driver::lacks_device) {
        text.push_str(
            "The machine has booted since: a driver whose hardware is present is not left out for lack of a device.\n",
        );
    }
    print(&text)
}

/// Reads a catalogue in the same way as a program.
///
/// # Errors
///
/// Returns the reason why programs ignore the whole file.
fn judge(value: &Value) -> Result<Judge<'_>, &'static str> {
    let reader = Reader {
        loader: env!("CARGO_PKG_VERSION"),
        architecture: catalogue::ARCHITECTURE,
    };
    let read = catalogue::Catalogue::read(Seen(value), reader);
    read.map(Judge::new).map_err(|problem| match problem {
        Problem::OtherLoader => "it belongs to another loader than this vkloader",
        Problem::OtherSchema => "it has the form of another version",
        Problem::OtherArchitecture => "it is for another architecture",
        Problem::NotACatalogue => "it exceeds a limit, or lacks a required member",
    })
}

/// Returns `true` if a program in this environment would use at least one entry of a catalogue.
pub(super) fn has_valid_entry(path: &Path) -> bool {
    let value = file::read(path).ok().and_then(|known| {
        let value = serde_json::to_value(&known).ok()?;
        Some((known, value))
    });
    value.is_some_and(|(known, value)| {
        let counts = |judge: Judge<'_>| {
            let mut drivers = known.drivers.iter();
            drivers.any(|driver| judge.doubt(&driver.manifest.path).is_none())
        };
        judge(&value).is_ok_and(counts)
    })
}

/// Returns the reason why a program in this environment would ignore the whole file. Returns `None` if the program would read the file.
fn ignored(path: &Path, place: &Place, judge: &Judge<'_>) -> Option<String> {
    let mode = std::env::var("VK_LOADER_CATALOGUE").unwrap_or_default();
    match mode.as_str() {
        "off" => return Some("VK_LOADER_CATALOGUE is off".into()),
        "verify" => return Some("VK_LOADER_CATALOGUE is verify, so every driver is opened".into()),
        _ => {}
    }
    let unread = if place.user && mode != "on" {
        mark::unread(place)
    } else {
        None
    };
    unread.or_else(|| {
        if file::is_kept(path, place.user) {
            judge
                .variable()
                .map(|name| format!("{name} has another value than when the catalogue was made"))
        } else {
            Some("it is a link, belongs to another user, or others may write to it".into())
        }
    })
}

/// Returns a line for each difference between a catalogue and the drivers' new answers.
pub(super) fn differences(known: &Catalogue, found: &Catalogue) -> Vec<String> {
    let mut all = Vec::new();
    if known.loader != found.loader {
        all.push(format!("the loader is {} and not {}", found.loader, known.loader));
    }
    if !known.machine.is_like(&found.machine) {
        all.push("the devices or the kernel have changed".into());
    }
    for driver in &found.drivers {
        let name = &driver.manifest.path;
        let Some(before) = known.drivers.iter().find(|before| before.manifest.path == *name) else {
            all.push(format!("{name}: not in the catalogue"));
            continue;
        };
        let differs = [
            ("library", !is_same_library(&before.library, &driver.library)),
            ("manifest", before.manifest != driver.manifest),
            ("outcome", before.outcome != driver.outcome),
            ("interface version", before.interface != driver.interface),
            (
                "API version",
                before.api_version != driver.api_version && before.devices.is_some(),
            ),
            ("instance extensions", before.extensions != driver.extensions),
            ("hardware", before.hardware != driver.hardware),
            ("files", !are_same_files(known.files_of(before), found.files_of(driver))),
            ("devices", before.devices != driver.devices && before.devices.is_some()),
        ];
        let words = differs.iter().filter(|(_, differs)| *differs).map(|(what, _)| *what);
        all.extend(words.map(|what| format!("{name}: {what}")));
    }
    let gone = known.drivers.iter().filter(|before| {
        let is = |driver: &&Driver| driver.manifest.path == before.manifest.path;
        !found.drivers.iter().any(|driver| is(&driver))
    });
    all.extend(gone.map(|before| format!("{}: gone", before.manifest.path)));
    all
}

/// Returns `true` if both entries are about the same library with the same content. The number of hard links may differ.
fn is_same_library(one: &Library, other: &Library) -> bool {
    let identity = other.identity.clone();
    *other
        == Library {
            identity,
            ..one.clone()
        }
        && identify::agree(&one.identity, &other.identity)
}

/// Returns `true` if both lists contain the same files with the same content. The numbers of hard links may differ.
fn are_same_files(one: Option<Vec<SharedFile>>, other: Option<Vec<SharedFile>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => SharedFile::agree(&one, &other),
        (one, other) => one == other,
    }
}

/// Prints the result of `vkloader catalogue verify`.
pub(super) fn verified(path: &Path, known: &Catalogue, place: &Place, differences: &[String]) -> io::Result<()> {
    let mut text = match differences {
        [] => format!("{}: agrees with the drivers\n", path.display()),
        _ => format!("{}:\n", path.display()),
    };
    for difference in differences {
        let _ = writeln!(text, "    {}", plain(difference));
    }
    if !differences.is_empty() {
        text.push_str("vkloader catalogue update corrects it.\n");
    }
    let value = serde_json::to_value(known).map_err(io::Error::other)?;
    match judge(&value) {
        Err(why) => {
            let _ = writeln!(text, "Programs ignore it: {why}");
        }
        Ok(judge) => {
            if let Some(why) = ignored(path, place, &judge) {
                let _ = writeln!(text, "A program in this environment ignores it: {}", plain(&why));
            }
            for driver in &known.drivers {
                let manifest = &driver.manifest.path;
                if let Some(why) = judge.doubt(manifest) {
                    let _ = writeln!(text, "{} does not count: {}", plain(manifest), plain(&why));
                }
            }
        }
    }
    print(&text)
}
