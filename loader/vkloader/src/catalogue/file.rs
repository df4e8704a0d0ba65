//! The file of a driver catalogue: its members, and the functions that read and replace the file.

use super::identify;
use super::shared::SharedFile;
use crate::child::naming;
use crate::show::plain;
use catalogue::{MOST_BYTES, MOST_FILES, Problem};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tempfile::NamedTempFile;

/// A driver catalogue. `loader/catalogue` documents how the library uses each member.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Catalogue {
    pub(super) schema: u64,
    /// Version of the library that asked the drivers.
    pub(super) loader: String,
    pub(super) architecture: String,
    /// Time of the update in seconds since 1970.
    pub(super) made: u64,
    /// Identity of the dynamic linker's cache when the drivers were asked; empty if there was no cache.
    pub(super) linker_cache: String,
    /// Checksum of the dynamic linker's cache.
    pub(super) linker_cache_sum: String,
    /// The variables that affect the answers of drivers and that were set, with their values.
    pub(super) variables: Vec<Variable>,
    /// Folders of `LD_LIBRARY_PATH` when the drivers were asked. Programs need not have the same folders.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) search: Vec<String>,
    pub(super) machine: Machine,
    /// Files that drivers depend on. The entries refer to these files by index.
    pub(super) files: Vec<SharedFile>,
    pub(super) drivers: Vec<Driver>,
}

impl Catalogue {
    /// Clears the facts that identify the machine's devices. Called if devices changed while drivers were asked.
    pub(super) fn forget_machine(&mut self) {
        self.machine.fingerprint.clear();
        self.machine.boot.clear();
    }

    /// Adds a driver and the files that it depends on. Returns `false`, and adds nothing, if the table would then have too many files,
    /// because the library would ignore the whole catalogue.
    pub(super) fn add(&mut self, mut driver: Driver, files: Option<Vec<SharedFile>>) -> bool {
        let before = self.files.len();
        driver.files = files.map(|files| self.places(files));
        let fits = self.files.len() <= MOST_FILES;
        if fits {
            self.drivers.push(driver)
        } else {
            self.files.truncate(before)
        }
        fits
    }

    /// Returns the indices of the files in the table. Adds missing files to the table.
    fn places(&mut self, files: Vec<SharedFile>) -> Vec<usize> {
        let mut place = |file: SharedFile| {
            let known = self.files.iter().position(|known| *known == file);
            known.unwrap_or_else(|| {
                self.files.push(file);
                self.files.len() - 1
            })
        };
        files.into_iter().map(&mut place).collect()
    }

    /// Sorts the files by folder, so that the files of a folder follow each other and readers open each folder only once.
    fn sort_files(&mut self) {
        let key = |&place: &usize| {
            let path = Path::new(&self.files[place].path);
            (path.parent(), path)
        };
        let mut order: Vec<usize> = (0..self.files.len()).collect();
        order.sort_by(|one, other| key(one).cmp(&key(other)));
        let mut places = vec![0; order.len()];
        for (place, &before) in order.iter().enumerate() {
            places[before] = place;
        }
        self.files = order.iter().map(|&before| self.files[before].clone()).collect();
        let used = self.drivers.iter_mut().filter_map(|driver| driver.files.as_mut());
        used.flatten().for_each(|place| *place = places[*place]);
    }

    /// Returns the files that a driver depends on; `None` if they are unknown.
    pub(super) fn files_of(&self, driver: &Driver) -> Option<Vec<SharedFile>> {
        let places = driver.files.as_ref()?;
        places.iter().map(|&place| self.files.get(place).cloned()).collect()
    }

    /// Returns `true` if the machine's devices did not change while the drivers were asked. Otherwise,
    /// [`forget_machine`](Self::forget_machine) has cleared the checksum.
    pub(super) fn is_of_one_machine(&self) -> bool {
        !self.machine.fingerprint.is_empty()
    }
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
}

/// Facts about the machine from the kernel's lists of devices.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Machine {
    /// Checksum of all facts that the library compares.
    pub(super) fingerprint: String,
    /// Text that the kernel chose when the machine booted.
    #[serde(default)]
    pub(super) boot: String,
    /// Checksum of the facts that may change before the machine boots again.
    #[serde(default)]
    pub(super) devices: String,
    pub(super) kernel: String,
    pub(super) nodes: Vec<Node>,
    pub(super) cards: Vec<Card>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Node {
    pub(super) path: String,
    /// Kernel driver, if the kernel reports it.
    pub(super) driver: Option<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Card {
    /// PCI domain, bus, device and function.
    pub(super) address: String,
    pub(super) vendor: u16,
    pub(super) device: u16,
    pub(super) driver: Option<String>,
    /// `true` if the kernel had suspended the card when it was recorded.
    pub(super) sleeps: bool,
}

/// Entry of one driver.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Driver {
    pub(super) manifest: Manifest,
    pub(super) library: Library,
    /// Time at which the driver was asked, in seconds since 1970.
    pub(super) asked: u64,
    #[serde(flatten)]
    pub(super) outcome: Outcome,
    pub(super) milliseconds: u64,
    pub(super) interface: Option<u32>,
    pub(super) api_version: Option<String>,
    /// Instance extensions; `None` if the driver did not answer.
    pub(super) extensions: Option<Vec<Extension>>,
    pub(super) hardware: String,
    /// Devices; `None` if the driver was not asked for them.
    pub(super) devices: Option<Vec<Device>>,
    /// Indices of the files that the driver depends on; `None` if they are unknown.
    pub(super) files: Option<Vec<usize>>,
    /// Checksum of the record of the driver's devices, which is part of the record's file name; `None` if there is no record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<String>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Manifest {
    pub(super) path: String,
    pub(super) identity: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Library {
    /// The library's name in the manifest.
    pub(super) named: String,
    /// Path of the file that the loader opened.
    pub(super) path: String,
    pub(super) identity: String,
    /// Build ID of the file, if it has one.
    pub(super) build_id: Option<String>,
}

/// Result of asking a driver.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(super) enum Outcome {
    /// The driver created an instance, or only listed its extensions if it was not asked for more.
    Answered,
    /// The driver returned an error.
    Failed {
        /// The driver's `VkResult`, or 0 if no command was called.
        code: i32,
        /// The error in words.
        reason: String,
    },
    /// A signal ended the process in which the driver was asked.
    Crashed { signal: i32, within: Option<String> },
    /// The driver ended its process with this exit status.
    Ended { status: i32, within: Option<String> },
    /// The process did not end within this time limit, in seconds.
    Hung { seconds: u64, within: Option<String> },
}

/// An instance extension. The catalogue stores its name and version in one text, separated by a blank.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(from = "String", into = "String")]
pub(super) struct Extension {
    pub(super) name: String,
    pub(super) version: u32,
}

impl From<String> for Extension {
    fn from(text: String) -> Self {
        let (name, version) = text.split_once(' ').unwrap_or((&text, ""));
        Self {
            name: name.into(),
            version: version.parse().unwrap_or_default(),
        }
    }
}

impl From<Extension> for String {
    fn from(extension: Extension) -> Self {
        format!("{} {}", extension.name, extension.version)
    }
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Device {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) vendor: u32,
    pub(super) device: u32,
    pub(super) driver_id: Option<i32>,
    pub(super) pci: Option<String>,
    pub(super) uuid: Option<String>,
}

/// Reads a catalogue of any age.
///
/// # Errors
/// The file cannot be read, or is not a valid catalogue.
pub(super) fn read(path: &Path) -> io::Result<Catalogue> {
    let name = |error| naming(path, error);
    let mut bytes = Vec::new();
    // Without `O_NONBLOCK`, opening a pipe could block the process.
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .map_err(name)?;
    if !file.metadata().map_err(name)?.is_file() {
        return Err(name(io::Error::other("it is not a file")));
    }
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(name)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(name(io::Error::other("it is too large for a catalogue")));
    }
    let value = catalogue::unpack(&bytes).map_err(|problem| {
        name(io::Error::other(match problem {
            Problem::OtherSchema => "it has the form of another version; an update replaces it",
            _ => "it is not a catalogue",
        }))
    })?;
    serde_json::from_value(value).map_err(|error| name(io::Error::other(error)))
}

/// Returns `true` if the owner and the permissions of a file are such that programs trust the file. The owner must be root, or this user
/// for the user's own catalogue.
pub(super) fn is_kept(path: &Path, is_own: bool) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| {
        let is_owner = found.uid() == 0 || is_own && found.uid() == rustix::process::geteuid().as_raw();
        found.is_file() && is_owner && found.mode() & 0o022 == 0
    })
}

/// Returns the content of the file. If the content exceeds a limit, drops the driver with the largest entry, and tries again. Programs then
/// open the dropped driver.
fn content(made: &mut Catalogue) -> io::Result<Vec<u8>> {
    loop {
        let content = catalogue::pack(&serde_json::to_value(&*made).map_err(io::Error::other)?);
        if content.len() as u64 <= MOST_BYTES {
            return Ok(content);
        }
        let room = |driver: &Driver| serde_json::to_string(driver).map_or(0, |text| text.len());
        let largest = (0..made.drivers.len()).max_by_key(|&place| room(&made.drivers[place]));
        let Some(largest) = largest else {
            return Err(io::Error::other(
                "the facts about this machine exceed the limits of a catalogue",
            ));
        };
        let driver = made.drivers.remove(largest);
        anstream::eprintln!(
            "vkloader: {}: this driver is left out: its entry exceeds the limits of a catalogue",
            plain(&driver.manifest.path)
        );
    }
}

/// Returns the folder of a catalogue. Creates the folder if it is missing.
fn folder(path: &Path) -> io::Result<&Path> {
    let folder = path
        .parent()
        .ok_or_else(|| io::Error::other("a catalogue must be in a folder"))?;
    let make = || {
        if folder.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(folder)?;
        // All users must be able to read the catalogue, regardless of the umask.
        fs::set_permissions(folder, Permissions::from_mode(0o755))
    };
    make().map_err(|error| naming(folder, error))?;
    Ok(folder)
}

/// Creates a temporary file. Dropping the value deletes the file unless it was renamed.
fn beside(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".catalogue-")
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(folder)
}

/// Checks that a catalogue can be written. Called before any driver is asked. `is_own` is `true` for the user's own catalogue.
///
/// # Errors
/// The folder cannot be created or written to. The error includes a remedy.
pub(super) fn check(path: &Path, is_own: bool) -> io::Result<()> {
    let checked = folder(path).and_then(|folder| beside(folder).map_err(|error| naming(folder, error)));
    match checked {
        Err(error) if [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem].contains(&error.kind()) => {
            let remedy = if is_own {
                "set XDG_CACHE_HOME to a folder that can be written to, also for programs"
            } else {
                "only root can write the system's catalogue, and --user writes the user's own"
            };
            Err(io::Error::new(error.kind(), format!("{error}; {remedy}")))
        }
        checked => checked.map(drop),
    }
}

/// Replaces the catalogue. Concurrent readers see either the old or the new catalogue, never a part of a catalogue.
///
/// # Errors
/// The file cannot be written. The old catalogue then remains.
pub(super) fn write(path: &Path, made: &mut Catalogue) -> io::Result<()> {
    made.sort_files();
    let content = content(made)?;
    replace(path, &content)?;
    remove_older(path)
}

/// Removes the catalogue of older loaders, which wrote JSON text that no current loader reads.
///
/// # Errors
///
/// The file cannot be removed.
pub(super) fn remove_older(path: &Path) -> io::Result<()> {
    let older = path.with_extension("json");
    match fs::remove_file(&older) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(naming(&older, error)),
        _ => Ok(()),
    }
}

/// Replaces a file in one step.
///
/// # Errors
/// The file cannot be written. The old file then remains.
pub(super) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = folder(path)?;
    let replace = || {
        let mut file = beside(folder)?;
        file.write_all(content)?;
        // All users must be able to read the file, regardless of the umask.
        file.as_file().set_permissions(Permissions::from_mode(0o644))?;
        // After a power failure, the complete old file or the complete new file exists.
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    };
    replace().map_err(|error| naming(path, error))
}

/// Returns the identity of the dynamic linker's cache.
pub(super) fn linker_cache() -> String {
    identify::identity(Path::new(OsStr::from_bytes(catalogue::LINKER_CACHE))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn files(numbers: std::ops::Range<usize>) -> Option<Vec<SharedFile>> {
        let file = |number| SharedFile::from(vec![format!("/lib{number}.so"), "1".into()]);
        Some(numbers.map(file).collect())
    }

    /// Returns a catalogue without drivers, and an entry of a driver.
    fn parts() -> (Catalogue, Driver) {
        let empty = json!({"schema": catalogue::SCHEMA, "loader": "", "architecture": "", "made": 0, "linker-cache": "", "linker-cache-sum": "",
            "variables": [], "machine": {"fingerprint": "", "kernel": "", "nodes": [], "cards": []}, "files": [], "drivers": []});
        let driver = json!({"manifest": {"path": "/a.json", "identity": "1"},
            "library": {"named": "/a.so", "path": "/a.so", "identity": "1"}, "asked": 0, "outcome": "answered", "milliseconds": 0,
            "hardware": "present"});
        let made = serde_json::from_value(empty).expect("a catalogue");
        (made, serde_json::from_value(driver).expect("a driver"))
    }

    /// The files of a folder are consecutive, so a reader opens each folder once.
    #[test]
    fn the_files_of_a_folder_follow_each_other() {
        let (mut made, driver) = parts();
        let file = |path: &str| SharedFile::from(vec![path.to_owned(), "1".into(), String::new()]);
        let lists = [["/a/x", "/a/b/y"], ["/a/z", "/a/x"]].map(|paths| Some(paths.map(file).to_vec()));
        for files in lists.clone() {
            assert!(made.add(driver.clone(), files));
        }
        made.sort_files();
        let paths: Vec<&str> = made.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["/a/x", "/a/z", "/a/b/y"]);
        let kept = made.drivers.iter().map(|driver| made.files_of(driver));
        assert_eq!(kept.collect::<Vec<_>>(), lists);
    }

    #[test]
    fn a_driver_whose_files_do_not_fit_costs_no_other_one_its_place() {
        let (mut made, driver) = parts();
        let mut add = |files| made.add(driver.clone(), files);
        assert!(add(files(0..MOST_FILES - 1)) && add(files(0..10)) && add(None));
        assert!(!add(files(5..MOST_FILES + 1)), "two more than there is room for");
        assert!(add(files(MOST_FILES - 3..MOST_FILES)), "one more");
        assert!(!add(files(MOST_FILES..MOST_FILES + 1)));
        assert_eq!((made.drivers.len(), made.files.len()), (4, MOST_FILES));
        let last = made.files_of(&made.drivers[3]);
        assert_eq!(last, files(MOST_FILES - 3..MOST_FILES));
    }
}
