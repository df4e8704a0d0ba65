//! The file: its form, reading it, and replacing it.

use super::identify;
use crate::child::naming;
use crate::show::plain;
use catalogue::{MOST_BYTES, SCHEMA};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use tempfile::NamedTempFile;

/// A catalogue. What each member means to the library is said in `loader/catalogue`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Catalogue {
    pub(super) schema: u64,
    /// The version of the library that asked.
    pub(super) loader: String,
    pub(super) architecture: String,
    /// Seconds since 1970.
    pub(super) made: u64,
    /// The identity of the dynamic linker's cache; empty where there was none.
    pub(super) linker_cache: String,
    /// Its content, as one number.
    pub(super) linker_cache_sum: String,
    /// Variables that make drivers answer otherwise, and were set.
    pub(super) variables: Vec<Variable>,
    pub(super) machine: Machine,
    /// What drivers depend on; entries refer to these by their places.
    pub(super) files: Vec<SharedFile>,
    pub(super) drivers: Vec<Driver>,
}

impl Catalogue {
    /// Forgets which devices the machine had: they changed while drivers were asked.
    pub(super) fn forget_machine(&mut self) {
        self.machine.fingerprint.clear();
    }

    /// Returns the places of files in the table, where those are added that it has not.
    pub(super) fn places(&mut self, files: Vec<SharedFile>) -> Vec<usize> {
        let mut place = |file: SharedFile| {
            let known = self.files.iter().position(|known| *known == file);
            known.unwrap_or_else(|| {
                self.files.push(file);
                self.files.len() - 1
            })
        };
        files.into_iter().map(&mut place).collect()
    }

    /// Returns the files that a driver depends on; `None` where they are not known.
    pub(super) fn files_of(&self, driver: &Driver) -> Option<Vec<SharedFile>> {
        let places = driver.files.as_ref()?;
        places.iter().map(|&place| self.files.get(place).cloned()).collect()
    }

    /// Whether all drivers were asked on the same devices.
    pub(super) fn is_of_one_machine(&self) -> bool {
        !self.machine.fingerprint.is_empty()
    }
}

/// A variable and its value.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
}

/// The devices that the kernel told of.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Machine {
    /// All that the library compares, as one number.
    pub(super) fingerprint: String,
    pub(super) kernel: String,
    pub(super) nodes: Vec<Node>,
    pub(super) cards: Vec<Card>,
}

/// A device node.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Node {
    pub(super) path: String,
    /// Its kernel driver, where the kernel says so.
    pub(super) driver: Option<String>,
}

/// A graphics card on the PCI bus.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Card {
    /// Domain, bus, device and function.
    pub(super) address: String,
    pub(super) vendor: u16,
    pub(super) device: u16,
    pub(super) driver: Option<String>,
    /// It was suspended by the kernel.
    pub(super) sleeps: bool,
}

/// What is known of one driver.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Driver {
    pub(super) manifest: Manifest,
    pub(super) library: Library,
    /// Seconds since 1970.
    pub(super) asked: u64,
    #[serde(flatten)]
    pub(super) outcome: Outcome,
    pub(super) milliseconds: u64,
    pub(super) interface: Option<u32>,
    pub(super) api_version: Option<String>,
    /// `None` where it could not say.
    pub(super) extensions: Option<Vec<Extension>>,
    pub(super) hardware: String,
    /// `None` where it was not asked.
    pub(super) devices: Option<Vec<Device>>,
    /// The places of the files that the driver depends on; `None` where they are not known.
    pub(super) files: Option<Vec<usize>>,
}

/// A manifest.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(super) struct Manifest {
    pub(super) path: String,
    pub(super) identity: String,
}

/// A library.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Library {
    /// As the manifest names it.
    pub(super) named: String,
    /// The file that opened.
    pub(super) path: String,
    pub(super) identity: String,
    /// What its linker wrote into it.
    pub(super) build_id: Option<String>,
}

/// A file that drivers depend on, or a folder that the dynamic linker searches for them. Written as a list of its members, since every
/// process reads all of them.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub(super) struct SharedFile {
    pub(super) path: String,
    /// Empty where nothing was there.
    pub(super) identity: String,
    /// By which it is asked for, with a blank between them.
    pub(super) names: String,
    /// The build ID, for file systems whose times prove nothing.
    pub(super) build_id: Option<String>,
}

impl From<Vec<String>> for SharedFile {
    fn from(members: Vec<String>) -> Self {
        let mut members = members.into_iter();
        let mut next = || members.next().unwrap_or_default();
        Self {
            path: next(),
            identity: next(),
            names: next(),
            build_id: members.next(),
        }
    }
}

impl From<SharedFile> for Vec<String> {
    fn from(file: SharedFile) -> Self {
        let mut members = vec![file.path, file.identity, file.names];
        members.extend(file.build_id);
        members
    }
}

/// How it ended.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(super) enum Outcome {
    /// It made an instance, or listed its extensions where no more was asked.
    Answered,
    /// It did not.
    Failed {
        /// What Vulkan says, or 0 where it did not come so far.
        code: i32,
        /// For people.
        reason: String,
    },
    /// The process ended by this signal.
    Crashed { signal: i32, within: Option<String> },
    /// The driver ended its process with this status.
    Ended { status: i32, within: Option<String> },
    /// The process did not end within this time.
    Hung { seconds: u64, within: Option<String> },
}

/// An instance extension. Written as its name and its version, with a blank between them.
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

/// A device.
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

/// What all forms have.
#[derive(Deserialize)]
struct Form {
    schema: u64,
}

/// Reads a catalogue, whatever its age.
///
/// # Errors
/// The system's, or that it is none.
pub(super) fn read(path: &Path) -> io::Result<Catalogue> {
    let name = |error| naming(path, error);
    let mut bytes = Vec::new();
    // What is a pipe would be waited for.
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)
        .map_err(name)?;
    if !file.metadata().map_err(name)?.is_file() {
        return Err(name(io::Error::other("it is no file")));
    }
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(name)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(name(io::Error::other("it is too large for a catalogue")));
    }
    // Another form may have other members.
    let form: Form = serde_json::from_slice(&bytes).map_err(|error| name(io::Error::other(error)))?;
    match form.schema {
        SCHEMA => serde_json::from_slice(&bytes).map_err(|error| name(io::Error::other(error))),
        other => Err(name(io::Error::other(format!(
            "it has the form {other}, and this program reads {SCHEMA}"
        )))),
    }
}

/// Returns `true` if programs believe who wrote a file: the superuser, or this user where it is the user's own.
pub(super) fn is_kept(path: &Path, is_own: bool) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| {
        let is_owner = found.uid() == 0 || is_own && found.uid() == rustix::process::geteuid().as_raw();
        found.is_file() && is_owner && found.mode() & 0o022 == 0
    })
}

/// What a catalogue is written as. A driver that has too much to say costs no other one its place: it is left out, and opened by
/// programs.
fn text(made: &mut Catalogue) -> io::Result<String> {
    loop {
        let text = serde_json::to_string(made).map_err(io::Error::other)? + "\n";
        if text.len() as u64 <= MOST_BYTES {
            return Ok(text);
        }
        let room = |driver: &Driver| serde_json::to_string(driver).map_or(0, |text| text.len());
        let largest = (0..made.drivers.len()).max_by_key(|&place| room(&made.drivers[place]));
        let Some(largest) = largest else {
            return Err(io::Error::other(
                "there is more to say of this machine than a catalogue may hold",
            ));
        };
        let driver = made.drivers.remove(largest);
        anstream::eprintln!(
            "vkloader: {}: nothing is written of this driver: it says more than a catalogue may hold",
            plain(&driver.manifest.path)
        );
    }
}

/// The folder of a catalogue, which is made where there is none.
fn folder(path: &Path) -> io::Result<&Path> {
    let folder = path
        .parent()
        .ok_or_else(|| io::Error::other("a catalogue lies in a folder"))?;
    let make = || {
        if folder.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(folder)?;
        // The umask has no say in who may look into it.
        fs::set_permissions(folder, Permissions::from_mode(0o755))
    };
    make().map_err(|error| naming(folder, error))?;
    Ok(folder)
}

/// A new file that goes when it is not put anywhere.
fn beside(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".catalogue-")
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(folder)
}

/// Looks whether a catalogue can be written, before any driver is asked for it.
///
/// # Errors
/// The system's, with what may help.
pub(super) fn check(path: &Path) -> io::Result<()> {
    let checked = folder(path).and_then(|folder| beside(folder).map_err(|error| naming(folder, error)));
    match checked {
        Err(error) if [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem].contains(&error.kind()) => {
            Err(io::Error::new(
                error.kind(),
                format!("{error}; only root can write the system's catalogue, and --user writes the user's own"),
            ))
        }
        checked => checked.map(drop),
    }
}

/// Puts a catalogue in the place of the one before. Who reads meanwhile sees the one or the other, whole.
///
/// # Errors
/// The system's; the one before stays then.
pub(super) fn write(path: &Path, made: &mut Catalogue) -> io::Result<()> {
    let text = text(made)?;
    let folder = folder(path)?;
    let replace = || {
        let mut file = beside(folder)?;
        file.write_all(text.as_bytes())?;
        // The umask has no say in who may read it.
        file.as_file().set_permissions(Permissions::from_mode(0o644))?;
        // A machine that loses power keeps the old one or has the whole new one.
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    };
    replace().map_err(|error| naming(path, error))
}

/// The identity of the dynamic linker's cache.
pub(super) fn linker_cache() -> String {
    identify::identity(Path::new(OsStr::from_bytes(catalogue::LINKER_CACHE))).unwrap_or_default()
}
