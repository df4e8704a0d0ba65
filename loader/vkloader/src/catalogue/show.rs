//! What people see of a catalogue.

use super::ask::ENDED;
use super::file::{Catalogue, Driver, LINKER_CACHE, Outcome, linker_cache};
use super::identify::{build_id, identity, proves};
use super::machine::Machine;
use super::update::library_file;
use crate::show::plain;
use std::fmt::Write;
use std::io;
use std::path::Path;

/// Prints it; a reader that is gone is no failure.
fn print(text: &str) -> io::Result<()> {
    crate::commands::heard(crate::commands::print(text.trim_end()))
}

/// Says that there is none.
pub(super) fn none(path: &Path) -> io::Result<()> {
    print(&format!(
        "There is no catalogue at {}: programs open every driver.",
        path.display()
    ))
}

/// The file itself.
pub(super) fn json(known: &Catalogue) -> io::Result<()> {
    print(&crate::commands::json(known)?)
}

/// What an update found.
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

/// The drivers, with why one does not count.
fn drivers(text: &mut String, known: &Catalogue, doubt: impl Fn(&Driver) -> Option<String>) {
    if known.drivers.is_empty() {
        text.push_str("No driver is known.\n");
    }
    for driver in &known.drivers {
        line(text, driver);
        if let Some(doubt) = doubt(driver) {
            // Writing to a text does not fail.
            let _ = writeln!(text, "    does not count: {}", plain(&doubt));
        }
    }
}

fn line(text: &mut String, driver: &Driver) {
    let extensions = match &driver.extensions {
        Some(all) => format!("{} instance extensions", all.len()),
        None => "instance extensions unknown".into(),
    };
    let said = format!("{}, {extensions}, {}", outcome(driver), devices(driver));
    // Names come from drivers, which may call themselves anything.
    let _ = writeln!(text, "{}\n    {}", plain(&driver.manifest.path), plain(&said));
}

fn outcome(driver: &Driver) -> String {
    let step = |within: &Option<String>| within.as_ref().map(|step| format!(" in {step}")).unwrap_or_default();
    match &driver.outcome {
        Outcome::Answered => format!("answered within {} ms", driver.milliseconds),
        Outcome::Failed { code: 0, reason } => format!("failed ({reason})"),
        Outcome::Failed { code, reason } => format!("failed with {code} ({reason})"),
        Outcome::Crashed { signal: ENDED, within } => {
            format!("ENDED its process{}: programs leave it out", step(within))
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

/// All of it, with what does not count now.
pub(super) fn all(path: &Path, known: &Catalogue, machine: &Machine) -> io::Result<()> {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: loader {}, {}",
        path.display(),
        known.loader,
        known.architecture
    );
    let same_machine = known.machine.fingerprint == machine.record.fingerprint;
    drivers(&mut text, known, |driver| doubt(driver, known));
    for variable in &known.variables {
        let _ = writeln!(text, "Only where {}={}", plain(&variable.name), plain(&variable.value));
    }
    if !same_machine {
        text.push_str("Devices or kernel are others now: no driver is left out for having none.\n");
    }
    print(&text)
}

/// Why an entry does not count.
fn doubt(driver: &Driver, known: &Catalogue) -> Option<String> {
    let library = &driver.library;
    let file = Path::new(library_file(&library.named, &library.path));
    let is_searched = !library.named.contains('/');
    match identity(file) {
        None => Some(format!("{} is gone", file.display())),
        Some(now) if now != library.identity => Some(format!("{} has changed", file.display())),
        Some(_) if is_searched && known.linker_cache != linker_cache() => {
            Some("the dynamic linker's cache has changed".into())
        }
        Some(_) if is_searched && !proves(Path::new(LINKER_CACHE)) => {
            Some("the times of the dynamic linker's cache prove nothing".into())
        }
        Some(_) if build_id(file) != library.build_id => Some(format!("{} has another build id", file.display())),
        Some(_) => (library.build_id.is_none() && !proves(file))
            .then(|| format!("the times of {} prove nothing, and it has no build id", file.display())),
    }
}

/// What a catalogue says otherwise than the drivers do, one line each.
pub(super) fn differences(known: &Catalogue, found: &Catalogue) -> Vec<String> {
    let mut all = Vec::new();
    if known.loader != found.loader {
        all.push(format!("the loader is {} and not {}", found.loader, known.loader));
    }
    if known.machine != found.machine {
        all.push("devices or kernel are others".into());
    }
    for driver in &found.drivers {
        let name = &driver.manifest.path;
        let Some(before) = known.drivers.iter().find(|before| before.manifest.path == *name) else {
            all.push(format!("{name}: not in the catalogue"));
            continue;
        };
        let differs = [
            ("library", before.library != driver.library),
            ("manifest", before.manifest != driver.manifest),
            ("outcome", before.outcome != driver.outcome),
            ("interface version", before.interface != driver.interface),
            (
                "API version",
                before.api_version != driver.api_version && before.devices.is_some(),
            ),
            ("instance extensions", before.extensions != driver.extensions),
            ("hardware", before.hardware != driver.hardware),
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

/// What verifying gave.
pub(super) fn verified(path: &Path, differences: &[String]) -> io::Result<()> {
    match differences {
        [] => print(&format!("{}: as the drivers say", path.display())),
        differences => print(&format!(
            "{}:\n    {}\nvkloader catalogue update mends it.",
            path.display(),
            differences
                .iter()
                .map(|one| plain(one))
                .collect::<Vec<_>>()
                .join("\n    ")
        )),
    }
}
