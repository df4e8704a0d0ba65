//! Making a catalogue.

use super::ask::{Answer, Asker, Depth};
use super::file::{self, Catalogue, Driver, Extension, Library, Manifest, Outcome, SharedFile, Variable};
use super::here::Here;
use super::identify::{build_id, identity, is_same};
use super::machine::Machine;
use super::{Asking, Place};
use crate::show::plain;
use catalogue::{Hardware, LinkerCacheSum};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What is known of a driver, and the files that it depends on, where these are known.
type Known = (Driver, Option<Vec<SharedFile>>);

/// How often a driver is asked whose files change meanwhile.
const ATTEMPTS: usize = 3;

/// What is asked.
pub(super) struct Extent {
    /// What is known and need not be asked again.
    pub(super) before: Option<Catalogue>,
    /// Cards that sleep may be woken.
    pub(super) wake: bool,
}

/// Asks the drivers.
///
/// # Errors
/// When there is no library to ask with. A driver of which nothing can be said is told of, and left out.
pub(super) fn make(place: &Place, asking: &Asking, extent: Extent) -> io::Result<Catalogue> {
    let machine = Machine::observe(&place.root);
    // What changes from here on makes this catalogue one of before.
    let linker_cache = file::linker_cache();
    let linker_cache_sum = LinkerCacheSum::of(&Here).to_string();
    let asker = Asker::new(place, asking)?;
    let (loader, manifests) = asker.manifests()?;
    let variables = if place.user { variables() } else { Vec::new() };
    let before = extent.before.filter(|before| {
        before.loader == loader
            && before.variables == variables
            && before.machine.fingerprint == machine.record.fingerprint
    });
    let wakes = extent.wake || !machine.sleeps();
    let mut made = Catalogue {
        schema: catalogue::SCHEMA,
        loader,
        architecture: catalogue::ARCHITECTURE.into(),
        made: now(),
        linker_cache,
        linker_cache_sum,
        variables,
        machine: machine.record.clone(),
        files: Vec::new(),
        drivers: Vec::new(),
    };
    if let Some(more) = manifests
        .len()
        .checked_sub(catalogue::MOST_ENTRIES)
        .filter(|more| *more > 0)
    {
        anstream::eprintln!(
            "vkloader: {more} drivers are not asked: a catalogue holds {}, and programs open all others",
            catalogue::MOST_ENTRIES
        );
    }
    for manifest in manifests.into_iter().take(catalogue::MOST_ENTRIES) {
        let known = before
            .as_ref()
            .and_then(|before| still_known(before, &made, &manifest, wakes));
        match known.map_or_else(|| ask(&asker, &machine, &manifest, wakes), Ok) {
            Ok((mut driver, files)) => {
                driver.files = files.map(|files| made.places(files));
                made.drivers.push(driver);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => anstream::eprintln!(
                "vkloader: {}: nothing is known of this driver: {error}",
                plain(&manifest)
            ),
        }
    }
    let same = Machine::observe(&place.root).record.fingerprint == machine.record.fingerprint;
    if !same {
        made.forget_machine();
    }
    Ok(made)
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// The variables that make drivers answer otherwise, and those that decide of which files they were made when they were asked.
fn variables() -> Vec<Variable> {
    let is_of_linker = |name: &[u8]| [&b"LD_LIBRARY_PATH"[..], b"LD_PRELOAD"].contains(&name);
    let mut set: Vec<Variable> = std::env::vars_os()
        .filter(|(name, value)| {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            catalogue::variables::matters(name, value) || is_of_linker(name)
        })
        .filter_map(|(name, value)| {
            Some(Variable {
                name: name.into_string().ok()?,
                value: value.into_string().ok()?,
            })
        })
        .collect();
    set.sort_by(|one, other| one.name.cmp(&other.name));
    set
}

/// What is known of a driver and still holds. One that failed, crashed or hung is asked again, which is how to try again; so is one
/// whose devices were not asked for, where that can be made up for.
fn still_known(before: &Catalogue, made: &Catalogue, manifest: &str, wakes: bool) -> Option<Known> {
    let driver = before.drivers.iter().find(|driver| driver.manifest.path == manifest)?;
    let complete = driver.devices.is_some() || !wakes;
    let files = before.files_of(driver)?;
    let is_searched = !driver.library.named.contains('/') || !files.is_empty();
    let same_search = !is_searched
        || before.linker_cache == made.linker_cache
        || !made.linker_cache.is_empty() && before.linker_cache_sum == made.linker_cache_sum;
    let holds = driver.outcome == Outcome::Answered
        && complete
        && same_search
        && files.iter().all(SharedFile::is_same)
        && is_same(Path::new(manifest), &driver.manifest.identity, None)
        && is_same(
            Path::new(library_file(&driver.library.named, &driver.library.path)),
            &driver.library.identity,
            driver.library.build_id.as_deref(),
        );
    holds.then(|| (driver.clone(), Some(files)))
}

/// The path whose file says whether a library is the same.
pub(super) fn library_file<'a>(named: &'a str, opened: &'a str) -> &'a str {
    if named.contains('/') { named } else { opened }
}

/// Asks a driver, until its files are those of before: what is being installed may have answered as the one or as the other.
fn ask(asker: &Asker<'_>, machine: &Machine, manifest: &str, wakes: bool) -> io::Result<Known> {
    let mut file = library_of(manifest);
    for _ in 0..ATTEMPTS {
        let state = |file: &Option<PathBuf>| (identity(Path::new(manifest)), file.as_deref().and_then(identity));
        let before = state(&file);
        let (driver, files) = ask_once(asker, machine, manifest, wakes)?;
        let asked = Some(PathBuf::from(library_file(&driver.library.named, &driver.library.path)));
        if asked == file && state(&asked) == before {
            return Ok((driver, files));
        }
        file = asked;
    }
    Err(io::Error::other("its files change while it is asked"))
}

/// The library that a manifest names by a path. Where it is another one after all, the driver is asked once more.
fn library_of(manifest: &str) -> Option<PathBuf> {
    let known: serde_json::Value = serde_json::from_slice(&std::fs::read(manifest).ok()?).ok()?;
    let named = known["ICD"]["library_path"]
        .as_str()
        .filter(|named| named.contains('/'))?;
    Some(Path::new(manifest).parent()?.join(named))
}

/// Asks a driver, as far as no card that sleeps is woken.
fn ask_once(asker: &Asker<'_>, machine: &Machine, manifest: &str, wakes: bool) -> io::Result<Known> {
    let first = match wakes {
        true => asker.ask(manifest, Depth::Devices)?,
        false => asker.ask(manifest, Depth::Extensions)?,
    };
    let library = first.path.clone().unwrap_or_else(|| first.named.clone());
    let mut hardware = machine.hardware(&library);
    // What needs no hardware wakes none.
    let mut answer = match !wakes && hardware == Hardware::Software {
        true => asker.ask(manifest, Depth::Devices)?,
        false => first,
    };
    // To learn that from the driver would let it look at the nodes of others.
    if !wakes && hardware == Hardware::Absent && answer.outcome == Outcome::Answered {
        answer.devices = Some(Vec::new());
    }
    let found = answer.devices.as_ref().is_some_and(|devices| !devices.is_empty());
    if wakes && hardware == Hardware::Present && !found && !machine.is_open_to(&library) {
        // A right that is given later leaves no sign, as with a driver that makes its own nodes.
        hardware = Hardware::Pending;
    }
    entry(manifest, answer, hardware)
}

/// Whether programs would believe this list, and it is what the driver said: of a name that is no text there is a likeness only.
fn is_readable(extensions: &[Extension]) -> bool {
    let is_name = |name: &str| {
        (1..=catalogue::LONGEST_NAME).contains(&name.len()) && !name.contains([char::REPLACEMENT_CHARACTER, ' '])
    };
    extensions.len() <= catalogue::MOST_EXTENSIONS && extensions.iter().all(|one| is_name(&one.name))
}

fn entry(manifest: &str, answer: Answer, hardware: Hardware) -> io::Result<Known> {
    let Answer {
        outcome,
        took,
        named,
        path,
        interface,
        api_version,
        extensions,
        devices,
        files,
    } = answer;
    // Where it crashed while it was opened, nothing but the manifest says where it lies.
    let path = path.unwrap_or_else(|| named.clone());
    let file = Path::new(library_file(&named, &path));
    let unknown = |what: &str| io::Error::other(format!("{what} is no file"));
    let driver = Driver {
        manifest: Manifest {
            identity: identity(Path::new(manifest)).ok_or_else(|| unknown(manifest))?,
            path: manifest.into(),
        },
        library: Library {
            identity: identity(file).ok_or_else(|| unknown(&file.display().to_string()))?,
            build_id: build_id(file),
            named,
            path,
        },
        asked: now(),
        outcome,
        milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        interface,
        api_version,
        extensions: extensions.filter(|all| is_readable(all)),
        hardware: hardware.name().into(),
        devices: devices.filter(|all| all.len() <= catalogue::MOST_DEVICES),
        files: None,
    };
    Ok((driver, files))
}
