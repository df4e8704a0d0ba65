//! Collects the files of one driver from two sources: a process that was observed while it used the driver, and the files themselves.

use super::choose::Candidate;
use super::entry::{Because, Entry, Kind};
use super::known;
use super::observe::Observed;
use super::watch::Touch;
use crate::causes::elf::{Closure, Identity, interpreter, locate, named_path};
use crate::events::Event;
use crate::regular;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Device nodes that sandboxes always contain.
const USUAL_NODES: [&str; 9] = [
    "null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "shm",
];
/// Cache of the dynamic linker, which every program reads.
const LINKER_CACHE: &str = "/etc/ld.so.cache";
/// Parts of `/sys` that connect a device node with its device. A sandbox needs all of these parts or none.
const OF_DEVICES: [&str; 4] = ["/sys/bus", "/sys/class/drm", "/sys/dev/char", "/sys/devices"];
/// Parts of `/sys` about the process or the kernel.
const OF_THE_KERNEL: [&str; 2] = ["/sys/fs", "/sys/kernel"];

/// The files of a driver.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    entries: BTreeMap<PathBuf, Entry>,
    /// Problems to report to the user.
    pub(super) notes: Vec<String>,
}

impl Gathered {
    fn add(&mut self, path: impl Into<PathBuf>, kind: Kind, because: Because) {
        let path = path.into();
        self.entries
            .entry(path.clone())
            .and_modify(|known| known.because = known.because.min(because))
            .or_insert(Entry { path, kind, because });
    }

    /// Returns all entries.
    pub(super) fn entries(self) -> impl Iterator<Item = Entry> {
        self.entries.into_values()
    }

    /// Returns the device nodes among the entries.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &PathBuf> {
        let nodes = self.entries.values().filter(|entry| entry.kind == Kind::Node);
        nodes.map(|entry| &entry.path)
    }
}

/// Collects the files of a driver.
pub(super) fn gather(candidate: &Candidate, observed: &Observed) -> Gathered {
    let mut gathered = Gathered::default();
    gathered.add(&candidate.manifest, Kind::Manifest, Because::Chosen);
    let loader = observed.loader();
    let own = loader
        .as_deref()
        .and_then(Identity::of)
        .unwrap_or_else(Identity::of_this_process);
    let mut linked = Linked {
        own,
        observed,
        inside: BTreeSet::new(),
    };
    linked.start(&mut gathered);
    match candidate.library.as_deref() {
        Some(library) => {
            linked.add(&mut gathered, library);
            linked.add_name(&mut gathered, Path::new(&candidate.manifest));
        }
        None => gathered
            .notes
            .push(format!("{}: the loader did not reach its library", candidate.manifest)),
    }
    for layer in observed.layers() {
        gathered.add(&layer.manifest, Kind::Manifest, Because::Chosen);
        linked.add(&mut gathered, &layer.library);
    }
    linked.rest(&mut gathered, loader.as_deref());
    gathered
}

/// The libraries among the entries, and the observations of the driver's process.
struct Linked<'a> {
    own: Identity,
    observed: &'a Observed,
    /// Libraries and other files among the entries, as paths in which symbolic links are resolved.
    inside: BTreeSet<PathBuf>,
}

impl Linked<'_> {
    /// Adds the files that every dynamically linked program needs.
    fn start(&mut self, gathered: &mut Gathered) {
        // Adds this program's dynamic linker, because the observed process uses the same one.
        if let Some(linker) = interpreter(Path::new("/proc/self/exe")) {
            self.inside.extend(fs::canonicalize(&linker));
            gathered.add(linker, Kind::Linker, Because::Needed);
        }
        if Path::new(LINKER_CACHE).exists() {
            gathered.add(LINKER_CACHE, Kind::LinkerCache, Because::Opened);
        }
    }

    /// Adds a library and all libraries that it needs.
    fn add(&mut self, gathered: &mut Gathered, library: &str) {
        let Some(path) = locate(library, self.own).filter(|path| path.is_file()) else {
            let note = format!("{library} was not found, or is not a file");
            gathered.notes.push(note);
            return;
        };
        if regular::open(&path).is_err() {
            gathered
                .notes
                .push(format!("{}: this user may not read it", path.display()));
        }
        let closure = Closure::of(&path, self.own);
        for (name, needed_by) in &closure.missing {
            let note = format!("{name} is missing, which {} needs", needed_by.display());
            gathered.notes.push(note);
        }
        for known in known::files(&path) {
            let kind = self.kind(&known);
            gathered.add(known, kind, Because::Known);
        }
        self.insert(gathered, path, Because::Chosen);
        for found in closure.found {
            let used = self.observed.used_as(&found).unwrap_or(found);
            self.insert(gathered, used, Because::Needed);
        }
    }

    /// Adds the path of the library in the manifest. Symbolic links may lead from this path to the library that the loader reported.
    fn add_name(&mut self, gathered: &mut Gathered, manifest: &Path) {
        let text = regular::read(manifest).unwrap_or_default();
        let manifested: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        let Some(name) = manifested["ICD"]["library_path"].as_str() else {
            return;
        };
        let path = if name.contains('/') {
            // A relative library path starts at the manifest's folder.
            Some(manifest.parent().unwrap_or(Path::new("/")).join(name))
        } else {
            locate(name, self.own)
        };
        if let Some(path) = path
            && fs::canonicalize(&path).is_ok_and(|real| self.inside.contains(&real))
        {
            self.insert(gathered, path, Because::Needed);
        }
    }

    fn insert(&mut self, gathered: &mut Gathered, path: PathBuf, because: Because) {
        self.inside.extend(fs::canonicalize(&path));
        gathered.add(path, Kind::Library, because);
    }

    /// Adds other files that the process mapped, opened or queried.
    fn rest(&self, gathered: &mut Gathered, loader: Option<&Path>) {
        let mut mine = BTreeSet::new();
        for library in loader.into_iter().chain([Path::new("/proc/self/exe")]) {
            mine.extend(fs::canonicalize(library));
            let needed = Closure::of(library, self.own).found;
            mine.extend(needed.iter().filter_map(|path| fs::canonicalize(path).ok()));
        }
        let folders = self.observed.searched();
        let is_the_loaders = |path: &Path| {
            let folder = path.parent().unwrap_or(Path::new("/"));
            folders.contains(folder) || folder.ends_with("loader_settings.d")
        };
        for (path, touch) in self.observed.touched() {
            if path.starts_with("/proc") || is_the_loaders(&path) {
                continue;
            }
            if path.starts_with("/sys") {
                part_of_system(&path, gathered);
            } else if touch == Touch::Asked {
                continue;
            } else if path.starts_with("/dev") {
                node(path, gathered);
            } else if touch == Touch::Read && path.is_file() {
                self.file(path, &mine, gathered);
            }
        }
    }

    /// Adds a file that the process opened, unless it is already an entry.
    fn file(&self, path: PathBuf, mine: &BTreeSet<PathBuf>, gathered: &mut Gathered) {
        let Ok(real) = fs::canonicalize(&path) else { return };
        let kind = self.kind(&path);
        if self.inside.contains(&real) {
            // The file is already an entry under another path. The dynamic linker used the path `path`, so both paths are needed.
            let known = gathered.entries.values().find(|entry| {
                entry.because <= Because::Needed && fs::canonicalize(&entry.path).is_ok_and(|known| known == real)
            });
            let kind = known.map_or(kind, |entry| entry.kind);
            gathered.add(path, kind, Because::Needed);
        } else if !mine.contains(&real) && path != Path::new(LINKER_CACHE) {
            // The list of mapped files does not contain the symbolic link that the linker used to find the library.
            let named = (kind == Kind::Library).then(|| named_path(&path)).flatten();
            for path in [Some(path), named].into_iter().flatten() {
                gathered.add(path, kind, Because::Opened);
            }
        }
    }

    fn kind(&self, path: &Path) -> Kind {
        match Identity::of(path) {
            Some(found) if found == self.own => Kind::Library,
            _ => Kind::Data,
        }
    }
}

/// Adds a path in `/dev` that the process opened.
fn node(path: PathBuf, gathered: &mut Gathered) {
    let below = path.strip_prefix("/dev").unwrap_or(&path);
    if USUAL_NODES.iter().any(|usual| below.starts_with(usual)) || below.starts_with("pts") {
        return;
    }
    let is_node = |kind: fs::FileType| kind.is_char_device() || kind.is_block_device();
    if fs::metadata(&path).is_ok_and(|status| is_node(status.file_type())) {
        gathered.add(path, Kind::Node, Because::Opened);
    }
}

/// Adds a path in `/sys` that the process queried.
fn part_of_system(path: &Path, gathered: &mut Gathered) {
    let parts: Vec<PathBuf> = if OF_THE_KERNEL.iter().any(|part| path.starts_with(part)) {
        Vec::new()
    } else if path.starts_with("/sys/devices/system") {
        vec![path.components().take(5).collect()]
    } else if OF_DEVICES.iter().any(|part| path.starts_with(part)) {
        OF_DEVICES.iter().map(PathBuf::from).collect()
    } else {
        vec![path.components().take(4).collect()]
    };
    for part in parts {
        // Skips `/sys` itself.
        if part.components().count() > 2 && part.exists() {
            gathered.add(part, Kind::System, Because::Asked);
        }
    }
}

impl Observed {
    /// Returns the file of the loader that the process used.
    fn loader(&self) -> Option<PathBuf> {
        self.finished.records.iter().find_map(|record| match &record.event {
            Event::Loaded(loaded) => loaded.library.as_ref().map(PathBuf::from),
            _ => None,
        })
    }

    /// Returns the folders that the loader searched for manifests.
    fn searched(&self) -> BTreeSet<&Path> {
        let folders = self.finished.records.iter().filter_map(|record| match &record.event {
            Event::Searched(searched) => Some(Path::new(&searched.folder)),
            _ => None,
        });
        folders.collect()
    }
}
