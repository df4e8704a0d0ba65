//! Finds the files of a driver.

use super::shared::SharedFile;
use super::{identify, reads, update};
use crate::causes::elf::{self, Needs};
use crate::probe::Seen;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Upper bound on the delay between the real time and the time that the kernel sets for files.
const TICK: Duration = Duration::from_millis(20);

/// Upper bound on the delay on file systems that store whole seconds, or multiples of two seconds. Two writes during that time can leave
/// the same identity.
const COARSE_TICK: Duration = Duration::from_millis(2020);

/// Upper bound on the time to wait until a file is old enough. Only a file whose time is in the future would need a longer wait.
const LONGEST_WAIT: Duration = Duration::from_secs(4);

/// Names that a library needs, and names under which other libraries need it.
struct LibraryNames {
    needs: Needs,
    names: BTreeSet<String>,
}

impl LibraryNames {
    fn of(path: &str) -> Self {
        let needs = elf::read(Path::new(path)).unwrap_or_default();
        let last = Path::new(path).file_name().and_then(|name| name.to_str());
        let names = last.map(String::from).into_iter().chain(needs.own.clone()).collect();
        Self { needs, names }
    }
}

/// Returns the files that the dynamic linker maps for a driver, the folders in which it searches for them, and the files that the driver is
/// known to read. Includes the names of libraries that the linker did not find. Excludes the driver's own library if the manifest names
/// that library by a path. Returns `None` if one of the names cannot be written to a catalogue.
pub(super) fn of(
    seen: Option<&Seen>,
    (named, path): (&str, &str),
    linker: &[String],
    search: &[String],
) -> Option<Vec<SharedFile>> {
    let (before, mut all) = match seen {
        Some(seen) => (
            seen.before.clone(),
            [&seen.before[..], &seen.objects, &mapped(linker)].concat(),
        ),
        // A driver that ended its process could not report its libraries. `vkloader` therefore computes the libraries from the driver's
        // file.
        None => (Vec::new(), needed(path)),
    };
    all.push(path.into());
    let known: BTreeMap<&str, LibraryNames> = all.iter().map(|path| (path.as_str(), LibraryNames::of(path))).collect();
    let belongs = belonging(&known, &before);
    // The library in the manifest may contain no functions of its own, and only need another library that contains the driver's functions.
    // Therefore, this code compares each file with the library in the manifest.
    let own = identify::state(Path::new(named)).filter(|_| named.contains('/'));
    let is_own = |path: &str| own.is_some() && identify::state(Path::new(path)) == own;
    let mut files = Vec::new();
    let (mut own_folders, mut folders) = (BTreeSet::new(), BTreeSet::new());
    for one in &belongs {
        let LibraryNames { needs, names } = &known[one];
        own_folders.extend(elf::folders(Path::new(one), needs));
        if !is_own(one) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if names.iter().any(|name| name.contains(' ')) {
                return None;
            }
            files.push(SharedFile {
                is_searched: search.iter().any(|folder| Path::new(one).starts_with(folder)),
                has_origin: has_origin(needs),
                ..SharedFile::of(one, names.join(" "))
            });
            folders.extend(searched_for(one, &names));
        }
    }
    files.extend(searched(own_folders, folders, &known, &belongs)?);
    files.extend(missing(linker, &known)?);
    files.extend(read_by(&belongs, (named, path)));
    (files.len() <= catalogue::MOST_FILES).then_some(files)
}

/// Returns `true` if the search path of a library depends on the folder of the library.
fn has_origin(needs: &Needs) -> bool {
    let [one, other] = ["/one/library", "/other/library"].map(|path| elf::folders(Path::new(path), needs));
    one != other
}

/// Returns the folders in which the linker searches for a driver's libraries, and the paths in these folders that the linker skipped. `own`
/// has the folders of `DT_RPATH` and `DT_RUNPATH`. Returns `None` if a folder depends on the process: its path is relative, or contains a
/// variable such as `$LIB` that the linker replaces.
fn searched(
    own: BTreeSet<String>,
    mut folders: BTreeSet<String>,
    known: &BTreeMap<&str, LibraryNames>,
    belongs: &BTreeSet<&str>,
) -> Option<Vec<SharedFile>> {
    if own
        .iter()
        .any(|folder| !folder.starts_with('/') || folder.contains('$'))
    {
        return None;
    }
    let unused = unused(&own, belongs.iter().map(|one| &known[one]), belongs);
    let list = list_of_folders();
    folders.extend(own);
    folders.extend(list.iter().flat_map(|(_, searched)| searched.clone()));
    let mut paths: BTreeSet<String> = folders.iter().flat_map(|folder| with_kinds(folder)).collect();
    paths.extend(unused);
    let list = list.map(|(path, _)| SharedFile::at(&path));
    let others = paths.iter().map(|path| SharedFile::of(path, String::new()));
    Some(others.chain(list).collect())
}

/// Returns the files that the libraries of a driver are known to read.
fn read_by(belongs: &BTreeSet<&str>, (named, path): (&str, &str)) -> Vec<SharedFile> {
    let own = [update::library_file(named, path), path].map(Path::new);
    let readers = belongs
        .iter()
        .map(Path::new)
        .filter(|library| reads::is_reader(library));
    let libraries: BTreeSet<_> = readers.chain(own).collect();
    let read: BTreeSet<_> = libraries.into_iter().flat_map(reads::of).collect();
    let read = read.iter().filter_map(|path| path.to_str());
    read.map(|path| SharedFile::of(path, String::new())).collect()
}

/// Returns the libraries that were loaded for a driver: the libraries that are not in `before`, and all libraries that they need.
fn belonging<'a>(known: &BTreeMap<&'a str, LibraryNames>, before: &[String]) -> BTreeSet<&'a str> {
    let is_new = |path: &&str| !before.iter().any(|one| one == path);
    let mut waiting: Vec<&str> = known.keys().copied().filter(is_new).collect();
    let mut belongs = BTreeSet::new();
    while let Some(path) = waiting.pop() {
        if belongs.insert(path) {
            let needs = &known[path].needs.names;
            let needed = |(_, other): &(&&str, &LibraryNames)| needs.iter().any(|name| other.names.contains(name));
            waiting.extend(known.iter().filter(needed).map(|(path, _)| *path));
        }
    }
    belongs
}

/// Returns the file that lists the folders that musl's dynamic linker searches, and the folders. Returns `None` if the system has the cache
/// of the GNU C library instead.
fn list_of_folders() -> Option<(PathBuf, Vec<String>)> {
    let has_cache = Path::new(OsStr::from_bytes(catalogue::LINKER_CACHE)).exists();
    let linker = (!has_cache).then(|| elf::interpreter(Path::new("/proc/self/exe")))??;
    elf::list_of(&linker)
}

/// Returns the default folders that the linker searches for the names of a file. The linker searches these folders if its cache lacks a
/// name, so it could find a new file in one of them.
fn searched_for(path: &str, names: &[&str]) -> Vec<String> {
    let folder = Path::new(path).parent();
    let has_cache = Path::new(OsStr::from_bytes(catalogue::LINKER_CACHE)).exists();
    let is_usual = !has_cache || folder.is_some_and(elf::is_usual);
    if !is_usual || names.iter().any(|name| elf::is_cached(name)) {
        return Vec::new();
    }
    let folder = folder.and_then(Path::to_str).map(String::from);
    let usual = elf::usual_folders().filter(|folder| Path::new(folder).exists());
    folder.into_iter().chain(usual.map(String::from)).collect()
}

/// Returns the folders of `LD_LIBRARY_PATH`. Returns `None` if the value is not valid UTF-8. Also returns `None` if a folder depends on the
/// process: a relative path, or a path with a variable such as `$ORIGIN`.
pub(super) fn in_variable() -> Option<Vec<String>> {
    let value = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    if value.is_empty() {
        return Some(Vec::new());
    }
    let folders = value.to_str()?.split([':', ';']);
    let plain = |folder: &str| folder.starts_with('/') && !folder.contains('$');
    folders
        .map(|folder| plain(folder).then(|| folder.trim_end_matches('/').into()))
        .collect()
}

/// Returns the libraries in the dynamic linker's log, including libraries that were closed again. Uses only the first log, which belongs to
/// the process that asked the driver. Only glibc writes a log.
fn mapped(linker: &[String]) -> Vec<String> {
    let lines = linker.iter().take(1).flat_map(|text| text.lines());
    let paths = lines.filter_map(|line| Some(line.split_once("\tcalling init: ")?.1.trim_end()));
    paths.filter(|path| path.contains('/')).map(String::from).collect()
}

/// Returns the names for which the dynamic linker found no library, each with the last path that it tried. If a library with such a name
/// appeared in a folder of `LD_LIBRARY_PATH`, the driver would use the library. Returns `None` if a name cannot be written to a catalogue.
fn missing(linker: &[String], known: &BTreeMap<&str, LibraryNames>) -> Option<Vec<SharedFile>> {
    let is_known = |name: &str| known.values().any(|one| one.names.contains(name));
    let mut missing: BTreeMap<String, String> = BTreeMap::new();
    let mut last = None;
    for line in linker.iter().take(1).flat_map(|text| text.lines()) {
        if let Some((_, rest)) = line.split_once("\tfind library=") {
            let name = rest.rsplit_once(" [").map_or(rest, |(name, _)| name);
            last = (!is_known(name)).then(|| missing.entry(name.into()).or_insert_with(|| format!("/lib/{name}")));
        } else if let Some((_, tried)) = line.split_once("trying file=")
            && let Some(path) = &mut last
        {
            **path = tried.trim_end().into();
        }
    }
    let is_plain = missing.keys().all(|name| !name.contains(' '));
    let files = missing.iter().map(|(name, path)| SharedFile::of(path, name.clone()));
    is_plain.then(|| files.collect())
}

/// Returns paths in a driver's own folders that have the name of a needed library, but that the dynamic linker skipped. Examples are broken
/// links and files for another processor.
fn unused<'a>(
    folders: &BTreeSet<String>,
    libraries: impl Iterator<Item = &'a LibraryNames>,
    used: &BTreeSet<&str>,
) -> BTreeSet<String> {
    let names: BTreeSet<&String> = libraries.flat_map(|known| &known.needs.names).collect();
    let paths = folders
        .iter()
        .flat_map(|folder| names.iter().map(move |name| format!("{folder}/{name}")));
    paths
        .filter(|path| !used.contains(path.as_str()) && fs::symlink_metadata(path).is_ok())
        .collect()
}

/// Returns a folder and its subfolders for certain processors, such as those in `glibc-hwcaps`. The dynamic linker searches these
/// subfolders before the folder.
fn with_kinds(folder: &str) -> Vec<String> {
    let mut all = with_hardware(folder);
    add_old(folder, &mut all);
    all
}

/// Adds existing subfolders that older versions of the GNU C library search, at any depth.
fn add_old(folder: &str, all: &mut Vec<String>) {
    for name in catalogue::closure::OLD_FOLDERS.split(|&byte| byte == b' ') {
        let below = format!("{folder}/{}", String::from_utf8_lossy(name));
        // Excludes links, because a link could lead back to the folder.
        let is_folder = fs::symlink_metadata(&below).is_ok_and(|status| status.is_dir());
        if is_folder && all.len() < catalogue::MOST_FILES {
            all.push(below.clone());
            add_old(&below, all);
        }
    }
}

/// Returns a folder, its subfolder `glibc-hwcaps`, and the entries of that subfolder.
fn with_hardware(folder: &str) -> Vec<String> {
    let below = format!("{folder}/glibc-hwcaps");
    let kinds = fs::read_dir(&below).into_iter().flatten().flatten();
    let kinds = kinds.filter_map(|kind| kind.path().to_str().map(String::from));
    let mut all = vec![folder.into()];
    all.extend(kinds);
    all.extend(Some(below).filter(|below| Path::new(below).exists()));
    all
}

/// Returns all libraries that a library needs, directly or indirectly.
fn needed(path: &str) -> Vec<String> {
    let found = elf::Closure::of(Path::new(path), elf::Identity::of_this_process()).found;
    found
        .iter()
        .filter_map(|path| path.to_str().map(String::from))
        .collect()
}

/// Returns the earliest time at which a further change of a file sets a different change time. The parameter is the present change time in
/// seconds and nanoseconds. Both times count from 1970.
fn settled((seconds, rest): (i64, i64)) -> Duration {
    let tick = if rest == 0 { COARSE_TICK } else { TICK };
    let changed = Duration::new(
        seconds.try_into().unwrap_or_default(),
        rest.try_into().unwrap_or_default(),
    );
    changed.saturating_add(tick)
}

/// Waits until each later change of the files results in a different identity. Does not wait for files whose time is in the future.
pub(super) fn wait_for(files: &[SharedFile]) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let states = files.iter().filter_map(|file| identify::state(Path::new(&file.path)));
    let waits = states.map(|state| settled(state.changed).saturating_sub(now));
    if let Some(longest) = waits.filter(|wait| !wait.is_zero() && *wait < LONGEST_WAIT).max() {
        thread::sleep(longest + TICK);
    }
}

impl SharedFile {
    /// Returns a file that is compared only by its identity.
    pub(super) fn at(path: &Path) -> Self {
        Self::of(&path.to_string_lossy(), String::new())
    }

    fn of(path: &str, names: String) -> Self {
        let build_id = identify::build_id(Path::new(path));
        let found = identify::state(Path::new(path));
        let is_written = |found| identify::written(Path::new(path), found, build_id.is_some());
        Self {
            path: path.into(),
            identity: found.map(is_written).unwrap_or_default(),
            build_id,
            names,
            is_searched: false,
            has_origin: false,
            has_list: identify::has_list(Path::new(path)),
        }
    }

    /// Returns `true` if the file may have changed at `time` or later and still have its identity. Two changes in quick succession can set
    /// the same change time, which is a part of the identity.
    pub(super) fn has_changed_since(&self, time: SystemTime) -> bool {
        let now = identify::state(Path::new(&self.path));
        now.is_some_and(|now| settled(now.changed) >= time.duration_since(UNIX_EPOCH).unwrap_or_default())
    }

    /// Returns the present state of the file, if it is the recorded file with the same content. Hard links may have been
    /// added or removed.
    pub(super) fn still(&self) -> Option<Self> {
        let now = Self {
            is_searched: self.is_searched,
            has_origin: self.has_origin,
            ..Self::of(&self.path, self.names.clone())
        };
        let path = Path::new(&self.path);
        let proves = identify::state(path).is_none_or(|found| !identify::is_of_image(path, &found));
        let is_still = now.agrees_with(self) && (proves || self.build_id.is_some() || path.is_dir());
        is_still.then_some(now)
    }

    /// Returns `true` if both are the same state of a file, apart from hard links that were added or removed.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        let linked = Self {
            identity: other.identity.clone(),
            ..self.clone()
        };
        linked == *other && identify::agree(&self.identity, &other.identity)
    }

    /// Returns `true` if both lists contain the same files in the same states, apart from hard links that were added or removed.
    pub(super) fn agree(one: &[Self], other: &[Self]) -> bool {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.agrees_with(other))
    }
}
