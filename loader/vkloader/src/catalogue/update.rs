//! Creates a catalogue.

use super::ask::{Answer, Asker, Depth};
use super::file::{self, Catalogue, Driver, Extension, Library, Manifest, Outcome, Variable};
use super::here::Here;
use super::identify::{build_id, identity, still};
use super::machine::Machine;
use super::shared::SharedFile;
use super::{Asking, Place, closure, records};
use crate::causes::elf;
use crate::show::plain;
use catalogue::{Hardware, LinkerCacheSum};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The entry of a driver, and the files that the driver depends on; `None` if these are unknown.
type AskedDriver = (Driver, Option<Vec<SharedFile>>);

/// Upper bound on the attempts for a driver whose files change while it is asked.
const ATTEMPTS: usize = 3;

/// The drivers that an update asks, and the actions that it may take.
pub(super) struct Extent<'a> {
    /// The previous catalogue. The update can keep its valid entries.
    pub(super) before: Option<Catalogue>,
    /// `true` if the update keeps every valid entry. With `false`, the update keeps valid entries only while a card is suspended, because
    /// it cannot ask the card's driver for devices.
    pub(super) changed: bool,
    /// `true` if the update may wake suspended cards.
    pub(super) wake: bool,
    /// The folder for records of devices; `None` if no devices are recorded.
    pub(super) records: Option<&'a Path>,
}

/// Asks the drivers and returns their entries. Reports and skips drivers that cannot be asked.
///
/// # Errors
/// The library that asks the drivers cannot be found or run.
pub(super) fn make(place: &Place, asking: &Asking, extent: Extent<'_>) -> io::Result<Catalogue> {
    let machine = Machine::observe(&place.root);
    // The linker's cache is read before drivers are asked, so that a change of the cache during the update makes this catalogue stale.
    let linker_cache = file::linker_cache();
    let linker_cache_sum = LinkerCacheSum::of(&Here).to_string();
    let mut asker = Asker::new(place, asking)?;
    let (loader, manifests) = asker.manifests()?;
    let variables = if place.user { variables()? } else { Vec::new() };
    let search = if place.user { searched() } else { Vec::new() };
    let before = extent.before.filter(|before| {
        before.loader == loader
            && before.variables == variables
            && before.search == search
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
        search,
        machine: machine.record.clone(),
        files: Vec::new(),
        drivers: Vec::new(),
    };
    report_surplus(manifests.len());
    for manifest in manifests.into_iter().take(catalogue::MOST_ENTRIES) {
        let known = before
            .as_ref()
            .filter(|_| extent.changed || !wakes)
            .and_then(|before| still_known(before, &made, &manifest, (wakes, extent.records)));
        match known.map_or_else(|| ask(&asker, &machine, &manifest, (wakes, extent.records)), Ok) {
            Ok((driver, files)) => {
                if !made.add(driver, files) {
                    report_left_out(&manifest);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => anstream::eprintln!("vkloader: {}: this driver has no entry: {error}", plain(&manifest)),
        }
    }
    let same = Machine::observe(&place.root).record.fingerprint == machine.record.fingerprint;
    if !same {
        made.forget_machine();
    }
    Ok(made)
}

/// Reports the number of drivers that do not fit into a catalogue.
fn report_surplus(manifests: usize) {
    if let Some(more) = manifests.checked_sub(catalogue::MOST_ENTRIES).filter(|more| *more > 0) {
        anstream::eprintln!(
            "vkloader: {more} drivers are not asked: a catalogue holds {}, and programs open all others",
            catalogue::MOST_ENTRIES
        );
    }
}

/// Reports a driver whose files do not fit into the catalogue.
fn report_left_out(manifest: &str) {
    anstream::eprintln!(
        "vkloader: {}: this driver is left out: with its files, the catalogue would exceed its limit of {} files",
        plain(manifest),
        catalogue::MOST_FILES
    );
}

/// Returns the time in seconds since 1970.
fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// Returns the variables that change the answers of drivers, and the variables that affect the list of a driver's files.
///
/// # Errors
/// A value is not valid text, or there are too many variables. Programs could not compare these variables, and would use answers that
/// depend on the variables.
fn variables() -> io::Result<Vec<Variable>> {
    // Records `LD_LIBRARY_PATH` only if a folder in it is relative, contains `$`, or is not valid text. Otherwise, the catalogue marks the
    // files that the linker found through this variable.
    let has_odd_search = closure::in_variable().is_none();
    let is_of_linker = |name: &[u8]| name == b"LD_PRELOAD" || name == b"LD_LIBRARY_PATH" && has_odd_search;
    let set = std::env::vars_os()
        .filter(|(name, value)| {
            let (name, value) = (name.as_bytes(), value.as_bytes());
            catalogue::variables::matters(name, value) || is_of_linker(name)
        })
        .map(|(name, value)| {
            let name = name.to_string_lossy().into_owned();
            let value = value.into_string();
            let value = value.map_err(|_| {
                let name = plain(&name);
                io::Error::other(format!(
                    "the value of {name} is not text, so programs could not compare it; unset {name} first"
                ))
            })?;
            Ok(Variable { name, value })
        });
    let mut set = set.collect::<io::Result<Vec<Variable>>>()?;
    if set.len() > catalogue::MOST_VARIABLES {
        let most = catalogue::MOST_VARIABLES;
        return Err(io::Error::other(format!(
            "more than {most} variables that concern drivers are set, and programs compare at most that many"
        )));
    }
    set.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(set)
}

/// Returns the previous entry of a driver with the present identities of its files, if it is still valid. Drivers that failed, crashed or hung are asked again. If suspended cards
/// may be woken now, drivers that were not asked for devices are also asked again, and drivers without a device whose hardware is present.
fn still_known(
    before: &Catalogue,
    made: &Catalogue,
    manifest: &str,
    (wakes, records): (bool, Option<&Path>),
) -> Option<AskedDriver> {
    let driver = before.drivers.iter().find(|driver| driver.manifest.path == manifest)?;
    let is_kept = |sum: &String| records.is_none_or(|folder| records::is_there(folder, sum));
    let is_due = driver.devices.is_none() || driver.lacks_device();
    let complete = !(is_due && wakes) && driver.record.as_ref().is_none_or(is_kept);
    let files = before.files_of(driver)?;
    let is_searched = !driver.library.named.contains('/') || !files.is_empty();
    let same_search = !is_searched
        || before.linker_cache == made.linker_cache
        || !made.linker_cache.is_empty() && before.linker_cache_sum == made.linker_cache_sum;
    if driver.outcome != Outcome::Answered || !complete || !same_search {
        return None;
    }
    let mut driver = driver.clone();
    let library = &mut driver.library;
    let path = Path::new(library_file(&library.named, &library.path));
    library.identity = still(path, &library.identity, library.build_id.as_deref())?;
    driver.manifest.identity = still(Path::new(manifest), &driver.manifest.identity, None)?;
    let files = files.iter().map(SharedFile::still).collect::<Option<_>>()?;
    Some((driver, Some(files)))
}

/// Returns the path of the library file whose identity is compared.
pub(super) fn library_file<'a>(named: &'a str, opened: &'a str) -> &'a str {
    if named.contains('/') { named } else { opened }
}

/// Asks a driver. Repeats the query if files of the driver changed in the meantime, because during an installation either the old or the
/// new driver may have answered. Also repeats the query if files changed just before the query, because a further change could leave the
/// same file time. A new hard link to a file changes its time too, but not the file.
fn ask(
    asker: &Asker<'_>,
    machine: &Machine,
    manifest: &str,
    (wakes, records): (bool, Option<&Path>),
) -> io::Result<AskedDriver> {
    let (mut file, mut last) = (library_of(manifest), Vec::new());
    let own = |library: &Option<PathBuf>| {
        let paths = library.iter().map(PathBuf::as_path).chain([Path::new(manifest)]);
        paths.map(SharedFile::at).collect::<Vec<_>>()
    };
    closure::wait_for(&own(&file));
    for _ in 0..ATTEMPTS {
        let before = own(&file);
        let since = SystemTime::now();
        let (mut driver, files) = ask_once(asker, machine, manifest, wakes)?;
        let asked = Some(PathBuf::from(library_file(&driver.library.named, &driver.library.path)));
        let compared = [own(&asked), files.clone().unwrap_or_default()].concat();
        // A file whose change time is after the start of this attempt is treated as unchanged if it was the same before this attempt. Its
        // time may be in the future, or another process added a hard link.
        let was_before = |file: &SharedFile| last.iter().any(|one: &SharedFile| one.agrees_with(file));
        let changes =
            |file: &SharedFile| file.has_changed_since(since) && !(was_before(file) && file.still().is_some());
        let is_same = || asked == file && SharedFile::agree(&own(&asked), &before) && !compared.iter().any(changes);
        if is_same() {
            if let Some(folder) = records.filter(|_| driver.devices.as_ref().is_some_and(|all| !all.is_empty())) {
                driver.record = match asker.record(&driver.library.named)? {
                    Ok(content) => records::write(folder, manifest, &content),
                    Err(reason) => {
                        anstream::eprintln!(
                            "vkloader: {}: its devices are not recorded: {}",
                            plain(manifest),
                            plain(&reason)
                        );
                        None
                    }
                };
            }
            if is_same() {
                return Ok((driver, files));
            }
        }
        closure::wait_for(&compared);
        (file, last) = (asked, compared);
    }
    Err(io::Error::other("its files change while it is asked"))
}

/// Returns the library that a manifest names by a path, or the file that the dynamic linker finds for a name. If the loader opens another
/// file, [`ask`] asks the driver once more.
fn library_of(manifest: &str) -> Option<PathBuf> {
    let known: serde_json::Value = serde_json::from_slice(&std::fs::read(manifest).ok()?).ok()?;
    let named = known["ICD"]["library_path"].as_str()?;
    if !named.contains('/') {
        return elf::locate(named, elf::Identity::of_this_process());
    }
    Some(Path::new(manifest).parent()?.join(named))
}

/// Asks a driver for as many facts as possible without waking a suspended card.
fn ask_once(asker: &Asker<'_>, machine: &Machine, manifest: &str, wakes: bool) -> io::Result<AskedDriver> {
    let first = if wakes {
        asker.ask(manifest, Depth::Devices)?
    } else {
        asker.ask(manifest, Depth::Extensions)?
    };
    let library = first.path.clone().unwrap_or_else(|| first.named.clone());
    let mut hardware = machine.hardware(&library);
    // A software driver has no card, so the query wakes no card.
    let mut answer = if !wakes && hardware == Hardware::Software {
        asker.ask(manifest, Depth::Devices)?
    } else {
        first
    };
    // A driver without hardware has no device. Asking such a driver could make it open the nodes of other cards.
    if !wakes && hardware == Hardware::Absent && answer.outcome == Outcome::Answered {
        answer.devices = Some(Vec::new());
    }
    let found = answer.devices.as_ref().is_some_and(|devices| !devices.is_empty());
    if wakes && hardware == Hardware::Present && !found && !machine.is_open_to(&library) {
        // The catalogue does not compare permissions, so the entry would stay valid after this user gets permission to open the node.
        // Therefore, the entry must not claim that the hardware answered.
        hardware = Hardware::Pending;
    }
    entry(manifest, answer, hardware).map_err(|error| match error {
        Unknown::Manifest => not_a_file(manifest),
        Unknown::Library(named) if named.contains('/') => not_a_file(&named),
        Unknown::Library(named) => not_found(&named, if asker.is_of_user() { Vec::new() } else { searched() }),
    })
}

/// Reason why a driver has no entry: one of its files has no identity.
enum Unknown {
    Manifest,
    /// A library without an identity. Contains the library's path, or its name in the manifest.
    Library(String),
}

/// Returns the folders of `LD_LIBRARY_PATH` that this process uses.
fn searched() -> Vec<String> {
    closure::in_variable().unwrap_or_default()
}

fn not_a_file(path: &str) -> io::Error {
    io::Error::other(format!("{} does not exist, or is not a regular file", plain(path)))
}

/// Returns the error for a library that the dynamic linker did not find by its name. `search` lists folders that programs may search, but
/// that an update of the system's catalogue skips.
fn not_found(named: &str, search: Vec<String>) -> io::Error {
    let mut folders = search.iter();
    let folder = folders.find(|folder| Path::new(folder).join(named).exists());
    let more = folder.map(|folder| {
        format!(
            " without LD_LIBRARY_PATH, which leads to it in {}. Run 'vkloader catalogue update --user', or add this folder to a file in \
             /etc/ld.so.conf.d and run ldconfig",
            plain(folder)
        )
    });
    io::Error::other(format!(
        "the dynamic linker does not find {}{}",
        plain(named),
        more.unwrap_or_default()
    ))
}

/// Returns `true` if the list of extensions is complete and programs accept the list. A replacement character in a name means that the name
/// was not valid UTF-8.
fn is_readable(extensions: &[Extension]) -> bool {
    let is_name = |name: &str| {
        (1..=catalogue::LONGEST_NAME).contains(&name.len()) && !name.contains([char::REPLACEMENT_CHARACTER, ' '])
    };
    extensions.len() <= catalogue::MOST_EXTENSIONS && extensions.iter().all(|one| is_name(&one.name))
}

fn entry(manifest: &str, answer: Answer, hardware: Hardware) -> Result<AskedDriver, Unknown> {
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
    // If the driver crashed while the loader opened it, only the library's name in the manifest is known.
    let path = path.unwrap_or_else(|| named.clone());
    let file = Path::new(library_file(&named, &path));
    let driver = Driver {
        manifest: Manifest {
            identity: identity(Path::new(manifest)).ok_or(Unknown::Manifest)?,
            path: manifest.into(),
        },
        library: Library {
            identity: identity(file).ok_or_else(|| Unknown::Library(file.display().to_string()))?,
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
        record: None,
    };
    Ok((driver, files))
}
