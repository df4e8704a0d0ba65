//! Finds the files that a driver consists of.

use super::file::SharedFile;
use super::identify;
use crate::causes::elf::{self, Needs};
use crate::probe::Seen;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The facts known about one library.
struct Known {
    needs: Needs,
    names: BTreeSet<String>,
}

impl Known {
    fn of(path: &str) -> Self {
        let needs = elf::read(Path::new(path)).unwrap_or_default();
        let last = Path::new(path).file_name().and_then(|name| name.to_str());
        let names = last.map(String::from).into_iter().chain(needs.own.clone()).collect();
        Self { needs, names }
    }
}

/// Returns the files that the dynamic linker maps for a driver, and the folders that it searches for them. If the manifest names the library by a
/// path, the driver's own library is not included. `None` if a name cannot be written into a catalogue.
pub(super) fn of(seen: Option<&Seen>, named: &str, path: &str) -> Option<Vec<SharedFile>> {
    let (before, mut all) = match seen {
        Some(seen) => (seen.before.clone(), [&seen.before[..], &seen.objects].concat()),
        // A driver that ended its process did not report its libraries, so they are computed from its file.
        None => (Vec::new(), needed(path)),
    };
    all.push(path.into());
    let known: BTreeMap<&str, Known> = all.iter().map(|path| (path.as_str(), Known::of(path))).collect();
    let mut waiting: Vec<&str> = known
        .keys()
        .copied()
        .filter(|path| !before.iter().any(|one| one == path))
        .collect();
    let mut belongs = BTreeSet::new();
    while let Some(path) = waiting.pop() {
        if belongs.insert(path) {
            let needed =
                |(_, other): &(&&str, &Known)| known[path].needs.names.iter().any(|name| other.names.contains(name));
            waiting.extend(known.iter().filter(needed).map(|(path, _)| *path));
        }
    }
    // The functions of a driver may lie in a library that its own library needs.
    let own = identify::state(Path::new(named)).filter(|_| named.contains('/'));
    let is_own = |path: &str| own.is_some() && identify::state(Path::new(path)) == own;
    let mut files = Vec::new();
    let mut folders = BTreeSet::new();
    // Without a cache the linker searches its usual folders each time, and may find a new file there first.
    let has_cache = Path::new(OsStr::from_bytes(catalogue::LINKER_CACHE)).exists();
    for one in &belongs {
        let Known { needs, names } = &known[one];
        folders.extend(elf::folders(Path::new(one), needs));
        if !is_own(one) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if names.iter().any(|name| name.contains(' ')) {
                return None;
            }
            files.push(SharedFile::of(one, names.join(" ")));
            let folder = Path::new(one).parent().filter(|_| !has_cache);
            folders.extend(folder.and_then(Path::to_str).map(String::from));
        }
    }
    let folders: BTreeSet<String> = folders.iter().flat_map(|folder| with_hardware(folder)).collect();
    files.extend(folders.iter().map(|folder| SharedFile::of(folder, String::new())));
    (files.len() <= catalogue::MOST_FILES).then_some(files)
}

/// Returns a folder, and the folders below it for kinds of processors, which the dynamic linker searches first.
fn with_hardware(folder: &str) -> Vec<String> {
    let below = format!("{folder}/glibc-hwcaps");
    let kinds = fs::read_dir(&below).into_iter().flatten().flatten();
    let kinds = kinds.filter_map(|kind| kind.path().to_str().map(String::from));
    let mut all = vec![folder.into()];
    all.extend(kinds);
    all.extend(Some(below).filter(|below| Path::new(below).exists()));
    all
}

/// Returns all libraries that a library needs, directly and indirectly.
fn needed(path: &str) -> Vec<String> {
    let found = elf::Closure::of(Path::new(path), elf::Identity::of_this_process()).found;
    found
        .iter()
        .filter_map(|path| path.to_str().map(String::from))
        .collect()
}

impl SharedFile {
    fn of(path: &str, names: String) -> Self {
        let found = identify::state(Path::new(path));
        let proves = found.is_none_or(|found| found.proves());
        Self {
            path: path.into(),
            identity: found.map(|found| found.to_string()).unwrap_or_default(),
            build_id: if proves {
                None
            } else {
                identify::build_id(Path::new(path))
            },
            names,
        }
    }

    /// Returns `true` if the file has not changed.
    pub(super) fn is_same(&self) -> bool {
        let now = Self::of(&self.path, self.names.clone());
        let proves = identify::state(Path::new(&self.path)).is_none_or(|found| found.proves());
        now == *self && (proves || self.build_id.is_some())
    }
}
