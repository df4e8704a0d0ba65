//! Libraries that are on the machine, but that the dynamic linker does not find or cannot use.

use super::closure::{self, Identity, locate};
use super::shown;
use crate::installed;
use crate::regular;
use crate::shell::word;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns a sentence about a library that was built for another C library. The names of its missing libraries show the C library.
pub(super) fn of_other_c_library(missing: &[&str]) -> Option<&'static str> {
    let has = |start: &str| missing.iter().any(|name| name.starts_with(start));
    match (has("libc.musl-"), has("libc.so.6") || has("ld-linux")) {
        (true, _) => Some("it is built for systems with musl, such as Alpine, and this system has glibc"),
        (_, true) => Some("it is built for systems with glibc, and this system has musl or another C library"),
        _ => None,
    }
}

/// Returns the finding and the remedy for a library in a folder that the dynamic linker does not search. The message is `LIBRARY: cannot
/// open shared object file: No such file or directory`. The folder belongs to another kind of system, for example in a container with
/// libraries of its host.
pub(super) fn unsearched(words: &str, own: Identity) -> Option<(String, String)> {
    let (names, _) = words.split_once(": cannot open shared object file: No such file")?;
    let name = names.rsplit(": ").next().filter(|name| !name.contains('/'))?;
    in_unsearched(&locate(name, own)?)
}

/// Returns the finding and the remedy for the file `path`, whose folder the dynamic linker does not search.
fn in_unsearched(path: &Path) -> Option<(String, String)> {
    let folder = word(&shown(path.parent()?));
    let finding = format!(
        "{} exists, but the dynamic linker does not search its folder",
        shown(path)
    );
    if path.parent().is_some_and(|folder| folder.ends_with(OF_ALTERNATIVES)) {
        return Some((
            finding,
            "Let the alternatives of the system lead to NVIDIA's driver: update-glx --config nvidia, or reinstall glx-alternative-nvidia.".into(),
        ));
    }
    if path.starts_with(NIXOS) {
        return Some((
            finding,
            format!("Start the program with the libraries of the system's drivers: LD_LIBRARY_PATH={folder} PROGRAM"),
        ));
    }
    Some((
        finding,
        format!(
            "Let the dynamic linker search the folder: echo {folder} >/etc/ld.so.conf.d/vulkan.conf && ldconfig; or for one program: \
             LD_LIBRARY_PATH={folder} PROGRAM"
        ),
    ))
}

/// Folder of NVIDIA's libraries in Debian, below the folders of libraries. Links that Debian's alternatives make lead there.
const OF_ALTERNATIVES: &str = "nvidia/current";
/// Folder of the drivers in NixOS, which has no configuration of the dynamic linker.
const NIXOS: &str = "/run/opengl-driver";
/// Folders of software that is not part of the system, each with subfolders that contain libraries.
const OTHER_FOLDERS: [&str; 2] = ["/opt", "/usr/local"];
/// Subfolders with libraries.
const SUBFOLDERS: [&str; 5] = [
    "lib",
    "lib64",
    "lib/x86_64-linux-gnu",
    "lib/aarch64-linux-gnu",
    "lib/i386-linux-gnu",
];

/// Returns the finding and the remedy for a library called `name` that is next to `asking`, or in a folder of software that is not part of
/// the system. The dynamic linker does not search these folders.
pub(super) fn aside(name: &str, asking: &Path, own: Identity) -> Option<(String, String)> {
    let entries = OTHER_FOLDERS
        .iter()
        .flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let mut places: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    places.sort();
    places.extend(OTHER_FOLDERS.iter().chain([&NIXOS]).map(PathBuf::from));
    let below = places
        .iter()
        .flat_map(|place| SUBFOLDERS.map(|folder| place.join(folder)));
    let real = fs::canonicalize(asking).unwrap_or_else(|_| asking.into());
    let usual = closure::usual_folders().map(|folder| Path::new(folder).join(OF_ALTERNATIVES));
    let mut folders = real
        .parent()
        .map(Path::to_path_buf)
        .into_iter()
        .chain(below)
        .chain(usual);
    let path = folders.find_map(|folder| Some(folder.join(name)).filter(|path| Identity::of(path) == Some(own)))?;
    in_unsearched(&path)
}

/// Returns the finding and the remedy for a library in `missing` of which the system has another version. The system may also have the
/// right version, and lack only the link with this name. `install` is the remedy for a library that is missing.
pub(super) fn other_version(missing: &[&str], asking: &Path, install: &str, own: Identity) -> Option<(String, String)> {
    let (name, other) = missing
        .iter()
        .find_map(|name| Some((*name, version_beside(name, own)?)))?;
    if is_version_of(name, &other) {
        return Some((
            format!("the link {name} to {} is missing", shown(&other)),
            format!("Create the link as the superuser: ldconfig. If that does not help: {install}"),
        ));
    }
    let command = if Path::new("/usr/bin/pacman").exists() {
        ": pacman -Syu"
    } else {
        ""
    };
    if installed::owner(&shown(asking)).is_none() {
        let asking = shown(asking);
        return Some((
            format!("this system has another version of {name}: {}", shown(&other)),
            format!(
                "{asking} belongs to no package of this system, and was built for another system: install it from a package of this system, or build it \
                 again here, and remove this copy."
            ),
        ));
    }
    Some((
        format!("{} is another version of {name}", shown(&other)),
        format!(
            "Update all packages together{command}, because the driver and its libraries are from different releases. If that does not help: \
             {install}"
        ),
    ))
}

/// Returns a library in the usual folders that has the same name as `name` but another version. Skips libraries of another word size or
/// processor than `own`.
fn version_beside(name: &str, own: Identity) -> Option<PathBuf> {
    let (stem, _) = name.split_once(".so.")?;
    let start = format!("{stem}.so.");
    closure::usual_folders().find_map(|folder| {
        let entries = fs::read_dir(folder).ok()?.flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        let others: Vec<PathBuf> = names
            .iter()
            .filter(|other| other.starts_with(&start) && *other != name)
            .map(|other| Path::new(folder).join(other))
            .filter(|other| may_be_of(other, own))
            .collect();
        let same = others.iter().find(|other| is_version_of(name, other));
        same.or(others.first()).cloned()
    })
}

/// Returns `false` if the file is a library of another word size or processor than `own`.
fn may_be_of(file: &Path, own: Identity) -> bool {
    Identity::of(file).is_none_or(|found| found == own)
}

/// Returns `true` if `file` has the name of a library with the number of its whole version, such as `libX11.so.6.4.0` for `libX11.so.6`.
/// Packages install the library under the longer name, and `ldconfig` creates a link with the shorter name.
fn is_version_of(name: &str, file: &Path) -> bool {
    let file = file.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    file.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

/// The dynamic linker's configuration: a file that lists the folders for the linker's cache, and a folder with further files that list
/// folders.
const CONFIGURATION: (&str, &str) = ("/etc/ld.so.conf", "/etc/ld.so.conf.d");

/// Returns the finding and the remedy for a library in a folder that the dynamic linker's configuration lists, if the cache does not
/// contain the library.
pub(super) fn uncached(name: &str, own: Identity) -> Option<(String, String)> {
    let (file, folder) = CONFIGURATION;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files.push(file.into());
    let texts: Vec<String> = files.iter().filter_map(|file| regular::text(file).ok()).collect();
    let path = configured(&texts, name, own)?;
    Some((
        format!("{} exists, but the dynamic linker's cache lacks it", shown(&path)),
        "Refresh the cache as the superuser: ldconfig".into(),
    ))
}

/// Returns the finding and the remedy for a library `other` that lacks the symbol `symbol`, and that the dynamic linker finds before the
/// system's file `usual`. `library` needs the symbol.
pub(super) fn before_usual(library: &str, symbol: &str, other: &Path, usual: &Path) -> (String, String) {
    (
        format!(
            "{library} needs the symbol {symbol}, which {} lacks and {} has",
            shown(other),
            shown(usual)
        ),
        to_use_usual(other, usual),
    )
}

/// Returns the remedy for a library `other` that the dynamic linker finds before the system's file `usual`, although that one is needed.
pub(super) fn to_use_usual(other: &Path, usual: &Path) -> String {
    let folder = other.parent().map(shown).unwrap_or_default();
    let (first, folders) = CONFIGURATION;
    let entries = fs::read_dir(folders).into_iter().flatten().flatten();
    let mut files = entries.map(|entry| entry.path()).chain([PathBuf::from(first)]);
    let lists = |file: &PathBuf| {
        let text = regular::text(file).unwrap_or_default();
        text.lines().any(|line| line.trim().trim_end_matches('/') == folder)
    };
    let command = format!(
        "LD_LIBRARY_PATH={} PROGRAM",
        word(&usual.parent().map(shown).unwrap_or_default())
    );
    // If no file lists the folder, it is in the list of folders that a library has for its needs.
    match files.find(lists) {
        // The configuration of each system lists folders for the administrator's own files, such as `/usr/local/lib`.
        Some(_) if folder.starts_with("/usr/local/lib") && installed::owner(&shown(other)).is_none() => format!(
            "Remove this old copy, which belongs to no package: rm {} && ldconfig; for one program: {command}",
            word(&shown(other))
        ),
        Some(file) => format!(
            "Remove the package that contains {}, or take its folder out of {}, and run ldconfig. For one program: {command}",
            shown(other),
            shown(&file)
        ),
        // The linker searches DT_RPATH before LD_LIBRARY_PATH, and uses a preloaded library before both.
        None => format!(
            "Start programs with the system's library: LD_PRELOAD={} PROGRAM; or replace {}.",
            word(&shown(usual)),
            shown(other)
        ),
    }
}

/// Returns the file called `name` in a folder that the configuration texts list. Skips a library of another word size or processor than
/// `own`, which the cache does not lack.
fn configured(texts: &[String], name: &str, own: Identity) -> Option<PathBuf> {
    let lines = texts.iter().flat_map(|text| text.lines()).map(str::trim);
    let mut folders = lines.filter(|line| line.starts_with('/'));
    let path =
        folders.find_map(|folder| Some(Path::new(folder).join(name)).filter(|path| Identity::of(path) == Some(own)))?;
    (!name.contains('/')).then_some(path)
}

/// Returns the finding and the beginning of the remedy for a path with a blank at one end. Does the same for a path with characters that are
/// special only in a shell or in Windows.
pub(super) fn misspelt(library: &str) -> Option<(&'static str, &'static str)> {
    // The dynamic linker replaces only these variables in a path.
    const REPLACED: [&str; 3] = ["ORIGIN", "LIB", "PLATFORM"];
    let is_replaced = |rest: &str| {
        REPLACED
            .iter()
            .any(|name| rest.trim_start_matches('{').starts_with(name))
    };
    if library.trim() != library {
        Some(("the path begins or ends with a blank", "Remove the blank"))
    } else if library.split('/').any(|part| part == "~") {
        Some(("nothing replaces ~ by a home folder here", "Write the whole path"))
    } else if library.contains('\\') {
        Some((
            "only / separates folders here, and \\ is part of a name",
            "Write / in place of \\",
        ))
    } else if library.split('$').skip(1).any(|rest| !is_replaced(rest)) {
        Some(("nothing replaces $ and a name by a value here", "Write the whole path"))
    } else {
        None
    }
}

/// Folders that `$LIB` stands for: in Debian and Ubuntu, in Fedora and openSUSE, and in Arch.
const LIB: [&str; 5] = [
    "lib/x86_64-linux-gnu",
    "lib/aarch64-linux-gnu",
    "lib/i386-linux-gnu",
    "lib64",
    "lib",
];

/// Replaces `$LIB` and `$ORIGIN` in a path, as the dynamic linker does. `loader` is the library that opens the path. Returns `None` for a
/// path without `$`, or if no such file exists.
pub(super) fn with_words_replaced(library: &str, loader: Option<&Path>) -> Option<String> {
    if !library.contains('$') {
        return None;
    }
    let folder = loader.and_then(Path::parent).map(shown).unwrap_or_default();
    let replace = |word: &str, text: &str, with: &str| {
        text.replace(&format!("${{{word}}}"), with)
            .replace(&format!("${word}"), with)
    };
    let library = replace("ORIGIN", library, &folder);
    let mut paths = LIB.iter().map(|lib| replace("LIB", &library, lib));
    paths.find(|path| Path::new(path).is_file())
}

/// Returns a broken link with the name of a library, and the link's target. For a name without a path, searches the default folders.
pub(super) fn dangling(library: &str) -> Option<(String, String)> {
    let paths: Vec<PathBuf> = if library.contains('/') {
        vec![library.into()]
    } else {
        closure::usual_folders()
            .map(|folder| Path::new(folder).join(library))
            .collect()
    };
    paths.iter().filter(|path| !path.exists()).find_map(|path| {
        let target = fs::read_link(path).ok()?;
        Some((shown(path), shown(&target)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_in_a_folder_that_is_not_searched_is_named() {
        let own = Identity::of_this_process();
        let words = |name: &str| format!("{name}: cannot open shared object file: No such file or directory");
        let found = unsearched(&words("/lib/libdriver.so: libc.so.6"), own);
        // Systems with musl do not have the library `libc.so.6`, which this test looks for.
        if let Some((finding, advice)) = found {
            assert!(finding.contains("libc.so.6 exists"), "{finding}");
            assert!(advice.contains("ldconfig"), "{advice}");
        }
        assert!(unsearched(&words("libnowhere.so.6"), own).is_none());
        assert!(unsearched(&words("/lib/libc.so.6"), own).is_none());
        assert!(unsearched("libc.so.6: file too short", own).is_none());
    }

    #[test]
    fn a_library_for_another_c_library_is_told_by_what_it_lacks() {
        let words = |names: &[&str]| of_other_c_library(names).unwrap_or_default();
        assert!(words(&["libz.so.1", "libc.musl-x86_64.so.1"]).contains("and this system has glibc"));
        assert!(words(&["libc.so.6"]).contains("built for systems with glibc"));
        assert!(words(&["ld-linux-x86-64.so.2"]).contains("built for systems with glibc"));
        assert_eq!(words(&["libcap.so.2", "libX11.so.6"]), "");
    }

    #[test]
    fn signs_of_a_shell_and_of_windows_are_told() {
        let advice = |library| misspelt(library).map(|(_, advice)| advice);
        assert_eq!(
            advice("/etc/vulkan/icd.d/~/lib/libdriver.so"),
            Some("Write the whole path")
        );
        assert_eq!(advice("$HOME/lib/libdriver.so"), Some("Write the whole path"));
        assert_eq!(advice(r"..\lib\libdriver.so"), Some("Write / in place of \\"));
        for library in [
            "/usr/lib/libdriver.so",
            "/usr/$LIB/libdriver.so",
            "${ORIGIN}/libdriver.so",
            "libdriver~.so",
        ] {
            assert_eq!(advice(library), None, "{library}");
        }
    }

    #[test]
    fn words_of_the_dynamic_linker_in_a_path_are_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let library = folder.path().join("lib64/libvkltown.so");
        fs::create_dir(folder.path().join("lib64")).expect("a folder");
        fs::write(&library, "").expect("a file");
        let loader = folder.path().join("libvulkan.so.1");
        let replaced = |text: &str| with_words_replaced(text, Some(&loader));
        assert_eq!(
            replaced(&format!("{}/$LIB/libvkltown.so", shown(folder.path()))),
            Some(shown(&library))
        );
        assert_eq!(replaced("${ORIGIN}/${LIB}/libvkltown.so"), Some(shown(&library)));
        assert_eq!(replaced("$ORIGIN/lib64/libvkltnone.so"), None);
        assert_eq!(replaced(&shown(&library)), None);
    }

    #[test]
    fn other_versions_of_a_library_are_found() {
        let own = Identity::of_this_process();
        // Systems with musl do not have the library `libc.so.6`, which this test looks for.
        if let Some(path) = version_beside("libc.so.4711", own) {
            assert!(shown(&path).contains("/libc.so."), "{}", shown(&path));
            let (finding, advice) =
                other_version(&["libx.so.1", "libc.so.4711"], &path, "Install it.", own).expect("a version");
            if installed::owner(&shown(&path)).is_some() {
                assert!(finding.ends_with("is another version of libc.so.4711"), "{finding}");
                assert!(advice.ends_with("Install it."), "{advice}");
            }
            let copy = Path::new("/nowhere/libvkltcopy.so");
            let (_, advice) = other_version(&["libc.so.4711"], copy, "Install it.", own).expect("a version");
            assert!(
                advice.starts_with("/nowhere/libvkltcopy.so belongs to no package"),
                "{advice}"
            );
        }
        assert_eq!(version_beside("libvkltnowhere.so.1", own), None);
    }

    #[test]
    fn a_library_whose_link_is_missing_is_the_same_version() {
        let same = |name, file| is_version_of(name, Path::new(file));
        assert!(same("libX11.so.6", "/lib/libX11.so.6.4.0"));
        assert!(!same("libX11.so.6", "/lib/libX11.so.60"));
        assert!(!same("libX11.so.6", "/lib/libX11.so.6"));
        assert!(!same("libX11.so.6", "/lib/libX11.so.5.4.0"));
    }

    #[test]
    fn a_library_that_the_cache_lacks_is_found_in_the_folders_of_the_configuration() {
        let own = Identity::of_this_process();
        let folder = tempfile::tempdir().expect("a folder");
        let program = std::env::current_exe().expect("a program");
        std::os::unix::fs::symlink(program, folder.path().join("libvkltown.so")).expect("a link");
        let texts = [
            "# folders\n/nowhere\n".into(),
            format!("include x\n {} \n", shown(folder.path())),
        ];
        assert_eq!(
            configured(&texts, "libvkltown.so", own),
            Some(folder.path().join("libvkltown.so"))
        );
        assert_eq!(configured(&texts, "libvkltother.so", own), None);
        assert_eq!(configured(&texts[..1], "libvkltown.so", own), None);
        assert_eq!(
            configured(&texts, &shown(&folder.path().join("libvkltown.so")), own),
            None
        );
        // The beginning of a library for a big-endian processor, which no test machine has.
        let mut foreign = [0; 64];
        foreign[..7].copy_from_slice(b"\x7fELF\x02\x02\x01");
        foreign[16..20].copy_from_slice(&[0, 3, 0, 22]);
        fs::remove_file(folder.path().join("libvkltown.so")).expect("a link");
        fs::write(folder.path().join("libvkltown.so"), foreign).expect("a file");
        assert_eq!(configured(&texts, "libvkltown.so", own), None);
    }

    #[test]
    fn a_link_to_nothing_is_told_with_its_target() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("libvkltown.so");
        std::os::unix::fs::symlink("libvkltown.so.2", &link).expect("a link");
        assert_eq!(dangling(&shown(&link)), Some((shown(&link), "libvkltown.so.2".into())));
        fs::write(folder.path().join("libvkltown.so.2"), "").expect("a file");
        assert_eq!(dangling(&shown(&link)), None);
        assert_eq!(dangling("libvkltown.so"), None);
    }
}
