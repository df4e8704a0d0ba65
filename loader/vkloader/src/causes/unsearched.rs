//! Finds installed driver manifests that the loader does not find. Either a variable excludes their folder from the search, or their names
//! do not end in `.json`.

use super::elf::closed_folder;
use super::multiarch;
use super::sandbox::{self, Sandbox};
use crate::regular;
use crate::shell::word;
use crate::variables::Variables;
use rustix::fs::{Access, access};
use rustix::io::Errno;
use std::fs;
use std::io::ErrorKind;
use std::iter;
use std::path::{Path, PathBuf};

/// Data folders in which systems keep manifests. The variable `XDG_DATA_DIRS` replaces this list.
const USUAL: [&str; 3] = ["/usr/local/share", "/usr/share", "/run/opengl-driver/share"];
/// Variable that replaces the list of data folders.
const DATA: &str = "XDG_DATA_DIRS";
/// Folder with driver manifests, below each data folder.
const BELOW: &str = "vulkan/icd.d";
/// Suffix of the names of manifests.
const ENDING: &str = ".json";

/// Remedy for a NixOS system without drivers.
pub(super) const ON_NIXOS: &str = "Install the drivers through the configuration of the system: hardware.graphics.enable = true; (before NixOS 24.11 \
    hardware.opengl.enable = true;), then: nixos-rebuild switch";

/// Remedies for sandboxes that have their own drivers.
const IN_SANDBOX: [(&str, &str); 2] = [
    (
        "flatpak",
        "Install the drivers of the runtime: flatpak update, and flatpak install org.freedesktop.Platform.GL.default; for NVIDIA, the \
         extension org.freedesktop.Platform.GL.nvidia of the version that the host has.",
    ),
    ("snap", IN_SNAP),
];
/// Files that exist where the driver service is installed: on this system, and on the host of a Flatpak sandbox.
const OF_SERVICE: [&str; 3] = [
    "usr/lib/systemd/system/vulkan-loader-service.socket",
    "lib/systemd/system/vulkan-loader-service.socket",
    "run/host/usr/lib/systemd/system/vulkan-loader-service.socket",
];
/// Remedy for Flatpak programs on a host with the driver service.
const THROUGH_SERVICE: &str = "The driver service of this machine hands its drivers to programs with this loader: flatpak override --user \
    --filesystem=/run/vulkan-loader --device=dri APPLICATION";

/// Returns the remedy for a sandbox without drivers of its own, with the word for the sandbox in [`IN_SANDBOX`]. `root` is the root folder of the system.
pub(super) fn in_sandbox_of(is_it: impl Fn(&str) -> bool, root: &Path) -> Option<String> {
    let (word, advice) = IN_SANDBOX.iter().find(|(word, _)| is_it(word))?;
    let service = for_flatpak(root).filter(|_| *word == "flatpak");
    Some(service.map_or_else(|| (*advice).into(), |service| format!("{advice} {service}")))
}

/// Returns the remedy for Flatpak programs if the driver service is installed on the host.
pub(crate) fn for_flatpak(root: &Path) -> Option<&'static str> {
    OF_SERVICE
        .iter()
        .any(|file| root.join(file).exists())
        .then_some(THROUGH_SERVICE)
}

/// Remedy for a snap without drivers. `NAME` stands for the name of the snap.
pub(super) const IN_SNAP: &str = "Connect the snap that contains drivers: snap connections NAME shows the plugs of graphics; then snap connect NAME:gpu-2404 \
    mesa-2404:gpu-2404, or snap connect NAME:graphics-core22 mesa-core22:graphics-core22.";

/// A finding and a remedy about manifests that the loader does not find.
pub(super) struct Unsearched {
    pub(super) finding: String,
    pub(super) advice: String,
    /// Variable that replaces the folder of the manifests.
    pub(super) variable: Option<&'static str>,
}

/// Finds manifests below `root` that the loader did not find. `searched` lists the folders that the loader searched, and `variables` has
/// the variables of the program.
pub(super) fn find(root: &Path, searched: &[&str], variables: &Variables) -> Vec<Unsearched> {
    let is_set = variables.get(DATA).is_some_and(|value| !value.is_empty());
    let elsewhere = USUAL.iter().filter_map(|usual| of_usual(root, usual, searched, is_set));
    let misnamed = searched.iter().filter_map(|folder| misnamed(Path::new(folder)));
    let at_home = homes(root, variables)
        .into_iter()
        .filter_map(|home| of_home(root, &home, searched));
    let at_home = at_home.chain(of_data_home(root, variables, searched));
    let dangling = searched.iter().filter_map(|folder| dangling(Path::new(folder)));
    let nested = searched.iter().filter_map(|folder| nested(Path::new(folder)));
    dangling
        .chain(misnamed)
        .chain(nested)
        .chain(at_home)
        .chain(elsewhere)
        .collect()
}

/// Returns a finding for a folder that the program could not find, although it exists here with manifests. The program then runs in a sandbox without
/// this folder.
pub(super) fn in_sandbox(missing: &[&str], sandbox: &Sandbox) -> Option<Unsearched> {
    let (folder, manifests) = missing.iter().find_map(|folder| {
        let mut manifests = names(Path::new(folder));
        manifests.retain(|name| name.ends_with(ENDING));
        (!manifests.is_empty()).then_some((*folder, manifests))
    })?;
    let (finding, advice) = sandbox::without_folder(folder, &manifests, sandbox);
    Some(Unsearched {
        finding,
        advice,
        variable: None,
    })
}

/// Returns a broken link on the path to a folder, and its target.
pub(super) fn broken_link(folder: &Path) -> Option<(&Path, PathBuf)> {
    let mut links = folder.ancestors().filter(|path| !path.exists());
    links.find_map(|path| Some((path, fs::read_link(path).ok()?)))
}

/// Returns a finding for a folder below a broken link, for example to a disk that is not mounted.
fn dangling(folder: &Path) -> Option<Unsearched> {
    let (folder, target) = broken_link(folder)?;
    let (folder, target) = (folder.display(), target.display());
    Some(Unsearched {
        finding: format!("{folder} is a link to {target}, which is not there"),
        advice: format!("Mount the file system that contains {target}, or correct the link {folder}"),
        variable: None,
    })
}

/// A user's home folder, with the remedy for manifests in it.
pub(super) struct Home {
    pub(super) folder: String,
    pub(super) advice: String,
}

/// Returns the home folders that differ from `HOME`: the folder of this process's user, and the folder of the user who called sudo.
fn homes(root: &Path, variables: &Variables) -> Vec<Home> {
    let named = variables.get("HOME").unwrap_or_default();
    let own = own_home(root, variables);
    let caller = variables.get("SUDO_USER");
    let callers = caller.and_then(|caller| home_of(&users(root), |fields| fields[0] == caller));
    let callers = callers.map(|folder| Home {
        advice: format!(
            "Start the program without sudo, because sudo makes it search the home folder of another user, and not {folder}"
        ),
        folder,
    });
    let callers = callers.filter(|home| Path::new(&home.folder) != Path::new(&named));
    own.into_iter().chain(callers).collect()
}

fn users(root: &Path) -> String {
    regular::text(root.join("etc/passwd")).unwrap_or_default()
}

/// Returns the home folder of this process's user, if it differs from `HOME`.
pub(super) fn own_home(root: &Path, variables: &Variables) -> Option<Home> {
    let number = rustix::process::geteuid().as_raw().to_string();
    let named = variables.get("HOME").unwrap_or_default();
    let folder = home_of(&users(root), |fields| fields[2] == number)?;
    (Path::new(&folder) != Path::new(&named)).then(|| Home {
        advice: other_home(&named, &folder),
        folder,
    })
}

/// Returns the advice for a user whose home folder is `folder`, while `HOME` is `named`.
fn other_home(named: &str, folder: &str) -> String {
    let value = if named.is_empty() { "not set" } else { named };
    format!(
        "HOME is {value}, but the home folder of this user is {folder}: HOME={} PROGRAM",
        word(folder)
    )
}

/// Returns the home folder of the first user in `passwd` for whom `fits` returns `true`.
fn home_of(passwd: &str, fits: impl Fn(&[&str]) -> bool) -> Option<String> {
    let mut lines = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let fields = lines.find(|fields| fields.len() > 5 && fits(fields))?;
    Some(fields[5].into())
}

/// Returns a finding for manifests in the usual data folder of a user if `XDG_DATA_HOME` replaces this folder.
fn of_data_home(root: &Path, variables: &Variables, searched: &[&str]) -> Option<Unsearched> {
    const NAME: &str = "XDG_DATA_HOME";
    let set = variables.nonempty(NAME)?;
    let home = Home {
        folder: variables.get("HOME")?,
        advice: format!(
            "{NAME} is {set}, which replaces the usual data folder: move the manifests to {}, or: unset {NAME}",
            word(&format!("{set}/{BELOW}"))
        ),
    };
    let found = of_home(root, &home, searched)?;
    Some(Unsearched {
        variable: Some(NAME),
        ..found
    })
}

fn of_home(root: &Path, home: &Home, searched: &[&str]) -> Option<Unsearched> {
    let place = format!("{}/.local/share/{BELOW}", home.folder.trim_end_matches('/'));
    let is_searched = searched.iter().any(|folder| Path::new(folder) == Path::new(&place));
    let names = names(&root.join(place.trim_start_matches('/')));
    let manifests: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| name.ends_with(ENDING))
        .collect();
    (!is_searched && !manifests.is_empty()).then(|| Unsearched {
        finding: format!("{place} is not searched, but has {}", manifests.join(", ")),
        advice: home.advice.clone(),
        variable: None,
    })
}

/// Folders in which drivers install their manifests.
const FOLDERS: [&str; 4] = [
    "/etc/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
    "/usr/share/vulkan/icd.d",
    "/run/opengl-driver/share/vulkan/icd.d",
];
/// Upper bound on the size of a manifest in bytes.
const LARGEST: u64 = 1 << 16;

/// Returns the manifests in the folders in which drivers install them.
pub(crate) fn usual_manifests() -> Vec<String> {
    let in_folder = |folder: &&str| {
        let folder = *folder;
        let manifests = names(Path::new(folder))
            .into_iter()
            .filter(|name| name.ends_with(ENDING));
        manifests.map(|name| format!("{folder}/{name}")).collect::<Vec<_>>()
    };
    FOLDERS.iter().flat_map(in_folder).collect()
}

/// Returns an existing manifest that probably replaced the manifest `missing`. Both manifests have the same name up to the first dot. The
/// existing manifest is in the same folder or in one of the usual folders.
pub(super) fn like(missing: &Path) -> Option<String> {
    let start = multiarch::stem(missing.to_str()?);
    let folder = missing.parent()?.to_str()?;
    let mut folders = iter::once(folder).chain(FOLDERS);
    folders.find_map(|folder| {
        let is_like = |name: &String| name.ends_with(ENDING) && multiarch::stem(name) == start;
        let alike = names(Path::new(folder)).into_iter().filter(is_like);
        let mut files = alike.map(|name| format!("{folder}/{name}"));
        // The missing manifest may be there as a folder or named pipe.
        files.find(|file| Path::new(file).is_file() && Path::new(file) != missing)
    })
}

/// Returns a finding about a file below `root` that names a library, but is not read as a manifest because of its own name or folder.
/// `library` is the library's name up to `.so`, and `searched` has the folders that the loader searched.
pub(super) fn leading_to(root: &Path, library: &str, searched: &[String]) -> Option<Unsearched> {
    let library = format!("{library}.so");
    let real = |folder: &str| fs::canonicalize(folder).unwrap_or_else(|_| folder.into());
    let searched: Vec<PathBuf> = searched.iter().map(|folder| real(folder)).collect();
    FOLDERS.iter().find_map(|folder| {
        let is_searched = searched.contains(&real(folder));
        let place = root.join(folder.trim_start_matches('/'));
        let leads = |name: &String| {
            if is_searched && name.ends_with(ENDING) {
                return false;
            }
            let path = place.join(name);
            let is_small = fs::metadata(&path).is_ok_and(|state| state.is_file() && state.len() <= LARGEST);
            is_small && regular::text(&path).is_ok_and(|text| text.contains(&library))
        };
        let name = names(&place).into_iter().find(leads)?;
        Some(if name.ends_with(ENDING) {
            Unsearched {
                finding: format!("{folder} is not searched, but has {name}"),
                advice: format!("Name the manifest: VK_ADD_DRIVER_FILES={} PROGRAM; or look at XDG_DATA_DIRS and XDG_CONFIG_DIRS, which \
                    replace the usual folders", word(&format!("{folder}/{name}"))),
                variable: None,
            }
        } else {
            of_name(&format!("{folder}/{name}"))
        })
    })
}

/// Returns the first folder on a path that this user may not search, or the folder at the end of the path if this user may not read it.
pub(super) fn closed(folder: &Path) -> Option<&Path> {
    let is_closed = || access(folder, Access::READ_OK | Access::EXEC_OK) == Err(Errno::ACCESS) && folder.is_dir();
    // A security policy refuses to open a folder that the system reports as accessible.
    let is_refused = || fs::read_dir(folder).is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    closed_folder(folder).or_else(|| (is_closed() || is_refused()).then_some(folder))
}

/// Returns a finding for manifests in a usual data folder that is not searched. `is_set` is `true` if [`DATA`] is set.
fn of_usual(root: &Path, usual: &str, searched: &[&str], is_set: bool) -> Option<Unsearched> {
    let place = format!("{usual}/{BELOW}");
    if searched.iter().any(|folder| Path::new(folder) == Path::new(&place)) {
        return None;
    }
    let folder = root.join(place.trim_start_matches('/'));
    let names = names(&folder);
    let manifests: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| name.ends_with(ENDING))
        .collect();
    (!manifests.is_empty()).then(|| Unsearched {
        finding: format!("{place} is not searched, but has {}", manifests.join(", ")),
        advice: if is_set {
            format!("Add {usual} to {DATA}, which replaces the usual folders: {DATA}=${DATA}:{usual} PROGRAM, or: unset {DATA}")
        } else {
            let others = USUAL[..2].iter().filter(|other| **other != usual);
            let all: Vec<&str> = others.copied().chain([usual]).collect();
            format!("Let the loader search {usual}, which it does not do by itself: {DATA}={} PROGRAM", all.join(":"))
        },
        variable: is_set.then_some(DATA),
    })
}

/// Returns a finding for a file whose name lacks the suffix of manifests, for example a copy that a package manager created.
fn misnamed(folder: &Path) -> Option<Unsearched> {
    let is_manifest = |name: &String| {
        let path = folder.join(name);
        let is_small = || fs::metadata(&path).is_ok_and(|state| state.is_file() && state.len() <= LARGEST);
        let has_text = || regular::text(&path).is_ok_and(|text| text.contains("\"library_path\""));
        name.contains(ENDING) || is_small() && has_text()
    };
    let name = names(folder)
        .into_iter()
        .find(|name| !name.ends_with(ENDING) && is_manifest(name))?;
    Some(of_name(&folder.join(&name).display().to_string()))
}

/// Returns a finding for a manifest in a subfolder, which the loader does not search.
fn nested(folder: &Path) -> Option<Unsearched> {
    let is_manifest = |path: &Path| {
        let is_small = fs::metadata(path).is_ok_and(|state| state.is_file() && state.len() <= LARGEST);
        is_small && regular::text(path).is_ok_and(|text| text.contains("\"library_path\""))
    };
    let inner = names(folder)
        .into_iter()
        .map(|name| folder.join(name))
        .filter(|path| path.is_dir());
    let mut files = inner.flat_map(|inner| names(&inner).into_iter().map(move |name| inner.join(name)));
    let path = files.find(|path| path.extension().is_some_and(|ending| ending == "json") && is_manifest(path))?;
    let (path, folder) = (path.display().to_string(), folder.display().to_string());
    Some(Unsearched {
        finding: format!("{path} is ignored, because subfolders are not searched"),
        advice: format!("Move the manifest: mv {} {}/", word(&path), word(&folder)),
        variable: None,
    })
}

/// Returns the remedy for a manifest whose name has the wrong suffix.
fn of_name(path: &str) -> Unsearched {
    let is_upper = |text: &str| text.to_ascii_lowercase().ends_with(ENDING) && !text.ends_with(ENDING);
    let right = match path.find(ENDING) {
        _ if is_upper(path) => format!("{}{ENDING}", &path[..path.len() - ENDING.len()]),
        Some(at) => path[..at + ENDING.len()].to_owned(),
        None => format!("{path}{ENDING}"),
    };
    Unsearched {
        finding: format!("{path} is ignored, because its name does not end in {ENDING}"),
        advice: format!("If you want this driver: mv {} {}", word(path), word(&right)),
        variable: None,
    }
}

/// Returns the names of the entries in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Report;

    #[test]
    fn a_folder_that_only_the_program_does_not_find_is_missing_in_its_sandbox() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("vulkan/icd.d");
        let path = folder.to_str().expect("plain");
        let in_sandbox = |missing: &[&str]| in_sandbox(missing, Sandbox::of(&Report::default()));
        assert!(in_sandbox(&[path]).is_none());
        fs::create_dir_all(&folder).expect("folders");
        assert!(in_sandbox(&[path]).is_none());
        fs::write(folder.join("card.json"), "{}").expect("a file");
        let found = in_sandbox(&["/nowhere", path]).expect("the folder exists");
        assert!(
            found.finding.contains("with card.json, and not in it"),
            "{}",
            found.finding
        );
        let whole = path.trim_end_matches("/icd.d");
        let words = format!("bwrap --ro-bind {whole} {whole};");
        assert!(found.advice.contains(&words), "{}", found.advice);
    }

    #[test]
    fn manifests_in_the_home_folder_of_the_user_are_named_if_home_is_another() {
        let root = tempfile::tempdir().expect("a folder");
        let number = rustix::process::geteuid().as_raw();
        let folder = root.path().join("home/ann/.local/share/vulkan/icd.d");
        for folder in [&folder, &root.path().join("etc")] {
            fs::create_dir_all(folder).expect("folders");
        }
        fs::write(
            root.path().join("etc/passwd"),
            format!("bob:x:4000000000:0::/home/bob:\nann:x:{number}:1::/home/ann:/bin/sh\n"),
        )
        .expect("a file");
        fs::write(folder.join("own.json"), "").expect("a file");
        let found = find(root.path(), &[], &Variables::default());
        assert_eq!(
            found[0].finding,
            "/home/ann/.local/share/vulkan/icd.d is not searched, but has own.json"
        );
        assert!(
            found[0].advice.ends_with("HOME=/home/ann PROGRAM"),
            "{}",
            found[0].advice
        );
        assert!(other_home("", "/home/ann").starts_with("HOME is not set, but"));
        assert!(
            find(
                root.path(),
                &["/home/ann/.local/share/vulkan/icd.d"],
                &Variables::default()
            )
            .is_empty()
        );
    }

    #[test]
    fn a_folder_that_is_a_link_to_nothing_comes_first() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("icd.d");
        std::os::unix::fs::symlink("/nowhere/icd.d", &folder).expect("a link");
        let folder = folder.to_str().expect("plain");
        let found = find(root.path(), &[folder], &Variables::default());
        assert_eq!(
            found[0].finding,
            format!("{folder} is a link to /nowhere/icd.d, which is not there")
        );
        assert!(find(root.path(), &["/nowhere/icd.d"], &Variables::default()).is_empty());
    }

    #[test]
    fn manifests_in_a_usual_folder_that_is_not_searched_are_named() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("usr/share/vulkan/icd.d");
        fs::create_dir_all(&folder).expect("folders");
        assert!(find(root.path(), &[], &Variables::default()).is_empty());
        fs::write(folder.join("lvp.json"), "").expect("a file");
        // A loader that is built for other folders does not search the usual ones by itself.
        for (value, words) in [
            ("/snap/share", "or: unset XDG_DATA_DIRS"),
            ("", "by itself: XDG_DATA_DIRS=/usr/local/share:/usr/share PROGRAM"),
        ] {
            let variables = Variables::with(DATA, value);
            let found = find(root.path(), &["/snap/share/vulkan/icd.d"], &variables);
            assert_eq!(
                found[0].finding,
                "/usr/share/vulkan/icd.d is not searched, but has lvp.json"
            );
            assert!(found[0].advice.ends_with(words), "{}", found[0].advice);
        }
        assert!(find(root.path(), &["/usr/share/vulkan/icd.d"], &Variables::default()).is_empty());
    }

    #[test]
    fn a_manifest_in_a_folder_that_is_searched_is_not_said_to_be_hidden() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("usr/share/vulkan/icd.d");
        fs::create_dir_all(&folder).expect("folders");
        fs::write(folder.join("own.json"), "/lib32/libvulkan_own.so").expect("a file");
        let found = |searched: &[&str]| {
            let searched: Vec<String> = searched.iter().map(|folder| (*folder).into()).collect();
            leading_to(root.path(), "libvulkan_own", &searched)
        };
        let finding = found(&[]).expect("it is not searched").finding;
        assert_eq!(finding, "/usr/share/vulkan/icd.d is not searched, but has own.json");
        assert!(found(&["/usr/share/vulkan/icd.d"]).is_none());
        fs::rename(folder.join("own.json"), folder.join("own.json.bak")).expect("just written");
        assert!(found(&["/usr/share/vulkan/icd.d"]).is_some(), "its name is the reason");
    }
}
