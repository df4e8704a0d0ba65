//! Finds all libraries that a library needs, directly and indirectly, by the rules of the dynamic linker.
#![forbid(unsafe_code)]

mod cache;
mod identity;
mod musl;
mod order;
mod segments;

pub use identity::Identity;
pub use musl::list_of;
pub use order::{is_of_c_library, needs_in_order};

use segments::in_segments;
use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// Upper bound on the number of names that are searched for. A driver needs at most a few hundred libraries.
const MOST: usize = 5_000;
/// Upper bound on the missing names in a report.
const MOST_MISSING: usize = 20;
/// Upper bound on the size of a library in bytes.
const LARGEST: u64 = 1 << 30;

/// Number of bytes that usually contain all program headers of a library.
const BEGINNING: u64 = 1 << 16;

/// Entries of a library's dynamic section about the library itself and the libraries that it needs.
#[derive(Default)]
pub struct Needs {
    /// Name that the library states for itself (`DT_SONAME`).
    pub own: Option<String>,
    /// Names of the libraries that the library needs (`DT_NEEDED`).
    pub names: Vec<String>,
    /// Newest version of the GNU C library that the library requests, for example `2.38`.
    pub c_library: Option<String>,
    rpath: Vec<String>,
    runpath: Vec<String>,
}

/// All libraries that a library needs, directly and indirectly.
#[derive(Default)]
pub struct Closure {
    /// Paths by which the dynamic linker opens the needed libraries, without the library itself.
    pub found: Vec<PathBuf>,
    /// Names of missing libraries, each with the library that needs it.
    pub missing: Vec<(String, PathBuf)>,
}

/// A library whose needs are still to be read.
struct Waiting {
    path: PathBuf,
    /// `DT_RPATH` folders of the libraries through which this library is needed. The dynamic linker also searches these folders for the
    /// needs of this library.
    inherited: Vec<String>,
}

impl Closure {
    /// Finds all libraries that a library needs, level by level like the dynamic linker: the first library found for a name is used.
    pub fn of(library: &Path, own: Identity) -> Self {
        let mut closure = Self::default();
        let mut seen = HashSet::new();
        let mut names = HashSet::new();
        let mut waiting = VecDeque::from([Waiting {
            path: library.to_path_buf(),
            inherited: Vec::new(),
        }]);
        let mut room = MOST;
        while let Some(Waiting { path, inherited }) = waiting.pop_front() {
            // One file may have many paths, for example paths with `$ORIGIN`.
            if !seen.insert(std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
                continue;
            }
            let mut needs = read(&path).unwrap_or_default();
            if needs.runpath.is_empty() {
                needs.rpath = needs.rpath.iter().map(|folder| from(&path, folder)).collect()
            } else {
                needs.rpath.clear()
            }
            needs.rpath.extend(inherited);
            for name in needs.names.iter().take(room) {
                match search(name, &path, &needs, own) {
                    Some(found) => {
                        if names.insert(name.clone()) {
                            closure.found.push(found.clone());
                        }
                        waiting.push_back(Waiting {
                            path: found,
                            inherited: needs.rpath.clone(),
                        });
                    }
                    None if closure.missing.len() < MOST_MISSING => closure.missing.push((name.clone(), path.clone())),
                    None => {}
                }
            }
            room = room.saturating_sub(needs.names.len());
        }
        closure
    }
}

/// Returns the size that a library must have to contain all that its program headers describe. A smaller file was truncated.
pub fn whole_size(library: &Path) -> Option<u64> {
    let mut beginning = Vec::new();
    let mut file = std::io::Read::take(open(library)?, BEGINNING);
    std::io::Read::read_to_end(&mut file, &mut beginning).ok()?;
    size_of_segments(&beginning).or_else(|| size_of_segments(&bytes_of(library)?))
}

/// Returns the size that [`whole_size`] finds, for a library that begins with the bytes `beginning`; `None` if these bytes end before the
/// last program header.
pub fn size_of_segments(beginning: &[u8]) -> Option<u64> {
    in_segments!(beginning, size)
}

/// Returns the path that consists of the library's folder and its `DT_SONAME`, often a symbolic link. Returns `None` if that path leads to
/// another file.
pub fn named_path(library: &Path) -> Option<PathBuf> {
    let path = library.parent()?.join(read(library)?.own?);
    (std::fs::canonicalize(&path).ok()? == std::fs::canonicalize(library).ok()?).then_some(path)
}

/// Returns the folders that the dynamic linker searches for a program's libraries before the folders in `LD_LIBRARY_PATH`.
pub fn folders_before_variable(program: &Path) -> Vec<PathBuf> {
    let needs = read(program)
        .filter(|needs| needs.runpath.is_empty())
        .unwrap_or_default();
    needs.rpath.iter().map(|folder| from(program, folder).into()).collect()
}

/// Replaces `$ORIGIN` in the name of a folder by the folder of the library.
fn from(library: &Path, folder: &str) -> String {
    let origin = library.parent().unwrap_or(Path::new("/")).display().to_string();
    let below = ["$ORIGIN", "${ORIGIN}"]
        .into_iter()
        .find_map(|token| folder.strip_prefix(token))
        .filter(|below| below.is_empty() || below.starts_with('/'));
    below.map_or_else(|| folder.into(), |below| origin + below)
}

/// Returns `true` if the dynamic linker's cache has the name.
pub fn is_cached(name: &str) -> bool {
    !cache::paths(name).is_empty()
}

/// Returns `true` if the dynamic linker finds the file at a path by its name, because of its cache or because it is in a usual folder.
pub fn is_found_by_name(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    cache::paths(name).iter().any(|cached| cached == path) || path.parent().is_some_and(is_usual)
}

/// Returns the folders of `DT_RPATH` and `DT_RUNPATH` of a library.
pub fn folders(library: &Path, needs: &Needs) -> Vec<String> {
    let all = needs.rpath.iter().chain(&needs.runpath);
    all.map(|folder| from(library, folder)).collect()
}

/// Returns the dynamic linker that a program requests.
pub fn interpreter(program: &Path) -> Option<PathBuf> {
    interpreter_in(&bytes_of(program)?)
}

/// Returns the dynamic linker that a program requests. `data` contains the bytes of the program.
pub fn interpreter_in(data: &[u8]) -> Option<PathBuf> {
    let name = in_segments!(data, interpreter)?;
    Some(String::from_utf8_lossy(name).into_owned().into())
}

/// Variables of the dynamic linker in another process.
#[derive(Clone)]
struct Examined {
    /// Value of `LD_LIBRARY_PATH`.
    folders: String,
    /// Value of `LD_PRELOAD`.
    preloaded: String,
}

/// The process whose libraries are examined, if it is not this process.
static EXAMINED: RwLock<Option<Examined>> = RwLock::new(None);

/// Sets the values of `LD_LIBRARY_PATH` and `LD_PRELOAD` that all later searches use, in place of the values of this process.
pub fn examine(folders: Option<String>, preloaded: Option<String>) {
    let examined = Examined {
        folders: folders.unwrap_or_default(),
        preloaded: preloaded.unwrap_or_default(),
    };
    *EXAMINED.write().unwrap_or_else(PoisonError::into_inner) = Some(examined);
}

/// Returns the variables of the process whose libraries are examined; `None` if it is this process.
fn examined() -> Option<Examined> {
    EXAMINED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns the value of a variable of this process; empty if it is not set.
fn own(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Returns the folders in `LD_LIBRARY_PATH`.
fn folders_in_variable() -> Vec<String> {
    let variable = examined().map_or_else(|| own("LD_LIBRARY_PATH"), |examined| examined.folders.clone());
    let folders = variable.split([':', ';']).filter(|folder| !folder.is_empty());
    folders.map(String::from).collect()
}

/// Returns `true` if `LD_LIBRARY_PATH` names the folder.
pub fn is_in_variable(folder: &Path) -> bool {
    folders_in_variable().iter().any(|one| Path::new(one) == folder)
}

/// Returns the first needed library that `LD_PRELOAD` or `LD_LIBRARY_PATH` replaces by another file. Returns the path of the other file,
/// and a text that advises the user how to avoid the replacement.
pub fn replaced_by_variable(library: &Path, own: Identity) -> Option<(PathBuf, String)> {
    let needs = read(library)?;
    let preloaded = preloaded();
    needs.names.iter().find_map(|name| {
        let usual = search_in(Vec::new(), name, library, &needs, own)?;
        let other = |path: &PathBuf| is_other(path, &usual);
        if let Some(path) = preloaded
            .iter()
            .find(|path| is_named(path, name))
            .filter(|path| other(path))
        {
            let advice = format!("Take {} out of LD_PRELOAD.", path.display());
            return Some((path.clone(), advice));
        }
        let found = search(name, library, &needs, own).filter(other)?;
        let folder = found.parent().filter(|folder| is_in_variable(folder))?;
        let advice = format!(
            "Take {} out of LD_LIBRARY_PATH: its {name} is another one.",
            folder.display()
        );
        Some((found, advice))
    })
}

/// Finds the first library that `library` needs and that the program replaces by a copy of its own. Returns the paths of the copy and of
/// the system's file. The copy stays open under its name, so a driver would get the copy too.
pub fn replaced_by_program(library: &Path, program: &Path, own: Identity) -> Option<(PathBuf, PathBuf)> {
    let needs = read(library)?;
    let folders = folders(program, &read(program)?);
    needs.names.iter().find_map(|name| {
        let usual = search_in(Vec::new(), name, library, &needs, own)?;
        let paths = folders.iter().map(|folder| Path::new(folder).join(name));
        let found = paths.into_iter().find(|path| path.exists() && is_other(path, &usual))?;
        Some((found, usual))
    })
}

/// Returns the system's file with the name of a library, if that file differs from the library.
pub fn usual_of(library: &Path, own: Identity) -> Option<PathBuf> {
    let name = library.file_name()?.to_str()?;
    let usual = search_in(Vec::new(), name, Path::new("/"), &Needs::default(), own)?;
    is_other(library, &usual).then_some(usual)
}

/// Returns the file that the dynamic linker would use in place of `library` if `LD_LIBRARY_PATH` lacked the library's folder. `asking` is
/// the library that needs `library`. Returns `None` if the variable does not name that folder, or if there is no other file.
pub fn replacement(library: &Path, asking: &Path, own: Identity) -> Option<PathBuf> {
    let (folder, name) = (library.parent()?, library.file_name()?.to_str()?);
    let (left_out, rest): (Vec<String>, Vec<String>) = folders_in_variable()
        .into_iter()
        .partition(|one| Path::new(one) == folder);
    if left_out.is_empty() {
        return None;
    }
    let needs = read(asking).unwrap_or_default();
    search_in(rest, name, asking, &needs, own).filter(|found| is_other(library, found))
}

/// Returns the libraries that `LD_PRELOAD` lists by path.
fn preloaded() -> Vec<PathBuf> {
    let variable = examined().map_or_else(|| own("LD_PRELOAD"), |examined| examined.preloaded.clone());
    let paths = variable.split([':', ' ']).filter(|path| path.contains('/'));
    paths.map(PathBuf::from).collect()
}

/// Returns `true` if the dynamic linker uses a loaded library for this name.
fn is_named(library: &Path, name: &str) -> bool {
    library.file_name().is_some_and(|file| file == name)
        || read(library).is_some_and(|needs| needs.own.as_deref() == Some(name))
}

/// Returns `true` if two paths lead to different files.
fn is_other(path: &Path, usual: &Path) -> bool {
    path.canonicalize().ok() != usual.canonicalize().ok()
}

/// Returns the file that `dlopen` finds for a name.
pub fn locate(name: &str, own: Identity) -> Option<PathBuf> {
    if name.contains('/') {
        return Path::new(name).exists().then(|| name.into());
    }
    search(name, Path::new("/"), &Needs::default(), own)
}

fn search(name: &str, asking: &Path, needs: &Needs, own: Identity) -> Option<PathBuf> {
    search_in(folders_in_variable(), name, asking, needs, own)
}

/// Returns the file that the dynamic linker finds for a name, if `LD_LIBRARY_PATH` contains the folders in `variable`.
fn search_in(variable: Vec<String>, name: &str, asking: &Path, needs: &Needs, own: Identity) -> Option<PathBuf> {
    if name.contains('/') {
        return Path::new(name).exists().then(|| name.into());
    }
    let replaced = |folder: &String| from(asking, folder);
    let rpath = if needs.runpath.is_empty() {
        &needs.rpath[..]
    } else {
        &[]
    };
    let folders = rpath
        .iter()
        .map(replaced)
        .chain(variable)
        .chain(needs.runpath.iter().map(replaced));
    let fits = |path: &PathBuf| Identity::of(path).is_some_and(|found| found == own);
    folders
        .map(|folder| Path::new(&folder).join(name))
        .chain(cache::paths(name))
        .chain(usual_folders().map(|folder| Path::new(folder).join(name)))
        .find(fits)
}

/// Returns a file with this name that the user may not read, in the folders that the dynamic linker searches for the library `asking`.
pub fn unreadable(name: &str, asking: &Path) -> Option<PathBuf> {
    if name.contains('/') {
        return None;
    }
    let own = read(asking).map_or_else(Vec::new, |needs| folders(asking, &needs));
    let folders = folders_in_variable()
        .into_iter()
        .chain(own)
        .chain(usual_folders().map(String::from));
    let is_there = |path: &PathBuf| std::fs::symlink_metadata(path).is_ok();
    // The cache also lists files in folders that the user may not search.
    let is_known = |path: &PathBuf| is_there(path) || is_forbidden(std::fs::symlink_metadata(path).err());
    let paths = folders
        .map(|folder| Path::new(&folder).join(name))
        .filter(is_there)
        .chain(cache::paths(name).into_iter().filter(is_known));
    let is_closed = |path: &PathBuf| {
        // Opening a pipe without a writer would block.
        let is_other = std::fs::metadata(path).is_ok_and(|status| !status.is_file());
        !is_other && is_forbidden(std::fs::File::open(path).err())
    };
    paths.into_iter().find(is_closed)
}

/// Returns a file with this name that is for a processor of another family than `own`, in the folders that the dynamic linker searches. The
/// dynamic linker skips such a file, and reports it as missing.
pub fn of_other_processor(name: &str, own: Identity) -> Option<PathBuf> {
    if name.contains('/') {
        return None;
    }
    let fits = |path: &PathBuf| Identity::of(path).is_some_and(|found| !found.is_of_family(own));
    folders_in_variable()
        .into_iter()
        .chain(usual_folders().filter(|folder| own.searches(folder)).map(String::from))
        .map(|folder| Path::new(&folder).join(name))
        .find(fits)
}

fn is_forbidden(error: Option<std::io::Error>) -> bool {
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

/// Returns `true` if the dynamic linker searches the folder for every library.
pub fn is_usual(folder: &Path) -> bool {
    usual_folders().any(|usual| Path::new(usual) == folder)
}

/// Returns the folders that the dynamic linker searches last.
pub fn usual_folders() -> impl Iterator<Item = &'static str> {
    [
        "/lib/x86_64-linux-gnu",
        "/usr/lib/x86_64-linux-gnu",
        "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/lib/i386-linux-gnu",
        "/usr/lib/i386-linux-gnu",
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
    ]
    .into_iter()
}

/// Opens a regular file. Other files, such as pipes, could block or never end.
fn open(path: &Path) -> Option<std::fs::File> {
    let is_file = std::fs::metadata(path).is_ok_and(|status| status.is_file() && status.len() <= LARGEST);
    is_file.then(|| std::fs::File::open(path).ok()).flatten()
}

/// Returns the content of a regular file.
fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    std::io::Read::read_to_end(&mut open(path)?, &mut data).ok()?;
    Some(data)
}

/// Reads the [`Needs`] of a library; `None` for a file that is not a library.
pub fn read(path: &Path) -> Option<Needs> {
    in_segments!(&bytes_of(path)?, needs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::elf::START_BYTES;

    #[test]
    fn lsv_52_a_library_that_is_cut_off_is_noticed() {
        let own = std::fs::read("/proc/self/exe").expect("this program can be read");
        let whole = size_of_segments(&own[..1 << 16]).expect("the headers come first");
        assert!(whole > 1 << 16 && whole <= own.len() as u64);
        assert_eq!(whole_size(Path::new("/proc/self/exe")), Some(whole));
        assert_eq!(size_of_segments(&own[..63]), None);
        for place in 0..64 {
            let mut odd = own[..1 << 12].to_vec();
            odd[place] ^= 0xff;
            let _ = size_of_segments(&odd);
        }
        // The required size of a library without segments is zero.
        let mut empty = own[..64].to_vec();
        empty[32..40].fill(0);
        empty[56..58].fill(0);
        assert_eq!(size_of_segments(&empty), Some(0));
    }

    #[test]
    fn a_file_for_another_processor_is_known_by_the_folder_of_the_program() {
        let own = Identity::of_this_process();
        let folder = std::env::temp_dir().join(format!("linked-other-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let mut head = std::fs::read("/proc/self/exe").expect("this program can be read")[..START_BYTES].to_vec();
        head[18] = 0xF7;
        std::fs::write(folder.join("libother.so"), &head).expect("a file");
        assert_eq!(
            of_other_processor("libother.so", own),
            None,
            "no linker searches the folder"
        );
        let path = folder.join("libother.so");
        assert_eq!(of_other_processor(path.to_str().expect("plain"), own), None, "a path");
        std::fs::remove_dir_all(&folder).expect("the folder was made");
        let searched: Vec<&str> = usual_folders().filter(|folder| own.searches(folder)).collect();
        assert!(searched.contains(&"/usr/lib") && searched.len() < usual_folders().count());
    }

    #[test]
    fn a_file_of_an_unknown_word_size_is_for_another_processor() {
        let own = std::fs::read("/proc/self/exe").expect("this program can be read");
        let path = std::env::temp_dir().join(format!("linked-{}", std::process::id()));
        for (place, is_elf) in [(0, false), (4, true), (5, true)] {
            let mut odd = own[..START_BYTES].to_vec();
            odd[place] = 9;
            std::fs::write(&path, &odd).expect("a file");
            let found = Identity::of(&path);
            assert_eq!(found.is_some(), is_elf, "{place}");
            assert!(found != Some(Identity::of_this_process()), "{place}");
        }
        std::fs::remove_file(&path).expect("the file was written");
    }
}
