//! The drivers for programs of another word size, and the faults of their files.

use super::super::sentence;
use crate::causes;
use crate::causes::elf::{Closure, Fault as OfFile, Identity, locate, usual_folders};
use crate::events::{Event, Record};
use crate::manifests;
use crate::report::Card;
use std::path::{Path, PathBuf};
use std::slice;

/// A driver for programs with a given identity.
pub(super) struct Driver {
    pub(super) manifest: String,
    pub(super) library: PathBuf,
    pub(super) fault: Option<Fault>,
    /// The variable that leaves out the manifest, if one does.
    pub(super) variable: Option<String>,
}

/// A fault because of which a library cannot be opened.
pub(super) struct Fault {
    /// The fault, as one sentence.
    pub(super) finding: String,
    pub(super) advice: String,
}

impl Fault {
    /// Returns the fault of the library at a path for programs with the identity `its`, or of a library that it needs.
    pub(super) fn of(library: &Path, its: Identity) -> Option<Self> {
        if let Some(fault) = OfFile::of(library, its) {
            let path = library.display().to_string();
            let whole = || match causes::to_reinstall(&path) {
                Some(words) => format!("{}.", sentence(&words)),
                None => format!("Replace {path} by a whole file for {its}, or remove it."),
            };
            return Some(Self {
                advice: fault.advice.unwrap_or_else(whole),
                finding: fault.finding,
            });
        }
        let missing = Closure::of(library, its).missing;
        let (name, by) = missing.first()?;
        let names: Vec<&str> = missing.iter().map(|(name, _)| name.as_str()).collect();
        Some(Self {
            finding: format!("{name} is missing, which {} needs", by.display()),
            advice: causes::install(&names, its),
        })
    }
}

impl Driver {
    /// Returns the driver that a manifest names, if its library is for programs with the identity `its`.
    fn of(manifest: &str, its: Identity) -> Option<Self> {
        let path = Path::new(manifest);
        let named = manifests::found(path, &manifests::named(path)?);
        let library = file(named.to_str()?, its)?;
        Some(Self {
            manifest: manifest.into(),
            fault: Fault::of(&library, its),
            library,
            variable: None,
        })
    }

    /// Returns the path of the library.
    pub(super) fn shown(&self) -> String {
        self.library.display().to_string()
    }

    /// Returns one line about the driver.
    pub(super) fn words(&self) -> String {
        let (library, manifest) = (self.library.display(), &self.manifest);
        match &self.fault {
            Some(fault) => format!("{library} of {manifest} cannot be opened: {}", fault.finding),
            None => format!("its driver: {library} of {manifest}"),
        }
    }
}

/// Returns the drivers for programs with the identity `its` in a trace. Without a trace, because the loader is another one, returns those in the usual
/// folders.
pub(super) fn all(records: &[Record], its: Identity) -> Vec<Driver> {
    let has_trace = records.iter().any(|record| matches!(record.event, Event::Loaded(_)));
    if !has_trace {
        return installed(its);
    }
    let mut found: Vec<Driver> = Vec::new();
    for record in records {
        let Event::Decision(decision) = &record.event else {
            continue;
        };
        let is_new = found.iter().all(|known| known.manifest != decision.name);
        if decision.subject == "driver-manifest"
            && is_new
            && let Some(driver) = Driver::of(&decision.name, its)
        {
            let variable = decision.details.get("variable").and_then(|word| word.as_str());
            found.push(Driver {
                variable: variable.filter(|_| !decision.is_kept()).map(String::from),
                ..driver
            });
        }
    }
    found
}

/// Returns the drivers for programs with the identity `its` in the usual folders.
pub(super) fn installed(its: Identity) -> Vec<Driver> {
    let all = causes::usual_manifests();
    all.iter().filter_map(|manifest| Driver::of(manifest, its)).collect()
}

/// Words in the path of a library that the dynamic linker replaces by the name of a folder, and the names of such folders.
const LIB: [&str; 2] = ["${LIB}", "$LIB"];
const FOLDERS_OF_LIB: [&str; 6] = [
    "lib/i386-linux-gnu",
    "lib/x86_64-linux-gnu",
    "lib/aarch64-linux-gnu",
    "lib32",
    "lib64",
    "lib",
];

/// Returns the file that programs with the identity `its` find for the name or path of a library. The file may be broken, so that its identity is unknown;
/// it then counts if its folder is only for such programs.
pub(super) fn file(name: &str, its: Identity) -> Option<PathBuf> {
    let is_meant = |path: &Path| {
        let folder = path.parent().and_then(Path::to_str).unwrap_or_default();
        path.symlink_metadata().is_ok() && Identity::of(path).is_none() && is_only_for(folder, its)
    };
    if let Some(token) = LIB.iter().find(|token| name.contains(*token)) {
        let mut folders = FOLDERS_OF_LIB.iter();
        return folders.find_map(|folder| file(&name.replace(token, folder), its));
    }
    if name.contains('/') {
        let path = PathBuf::from(name);
        return (Identity::of(&path) == Some(its) || is_meant(&path)).then_some(path);
    }
    // On many systems, /lib is a link to /usr/lib.
    let real = |folder: &str| std::fs::canonicalize(folder).unwrap_or_else(|_| folder.into());
    let mut folders = usual_folders().map(|folder| real(folder).join(name));
    locate(name, its)
        .filter(|path| Identity::of(path) == Some(its))
        .or_else(|| folders.find(|path| is_meant(path)))
}

/// Returns `true` for a folder with libraries for programs with the identity `its`, and for no others.
fn is_only_for(folder: &str, its: Identity) -> bool {
    let is_of_debian = folder.ends_with("-linux-gnu") && its.searches(folder);
    is_of_debian || its.is_x86_32() && folder.ends_with("/lib32")
}

/// Returns the first card for which this system has a driver for other programs, but none in `whole` and none for programs with the identity
/// `its` in the usual folders. Also returns the path of that driver.
pub(super) fn only_for_others<'a>(cards: &'a [Card], whole: &[&Driver], its: Identity) -> Option<(&'a Card, String)> {
    let own = installed(Identity::of_this_process());
    let theirs = installed(its);
    cards.iter().find_map(|card| {
        let is_for_it = |driver: &Driver| causes::is_for_any(&driver.shown(), slice::from_ref(card));
        if whole.iter().copied().chain(&theirs).any(is_for_it) {
            return None;
        }
        let other = own.iter().find(|driver| driver.fault.is_none() && is_for_it(driver))?;
        Some((card, other.shown()))
    })
}
