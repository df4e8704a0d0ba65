//! Faults of files that are to be opened as libraries: missing, empty, truncated, for another processor, or closed to the user.

use super::closure::{self, Closure, Identity};
use super::removed::is_by_hand;
use super::{FOR_ANOTHER_SYSTEM, locate, refused, shown};
use crate::causes::instance::to_install;
use crate::causes::packages;
use crate::installed;
use crate::paths::file_name;
use crate::regular;
use crate::report::{Crashed, Dropped, UNTIL_THEN};
use crate::shell::word;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Name by which programs open their Vulkan loader.
const LOADER: &str = "libvulkan.so.1";
/// Size of the header of a 64-bit ELF file in bytes.
const LONGEST_HEAD: u64 = 64;

/// Fault of a file that is to be opened as a library.
pub(crate) struct Fault {
    /// The fault, as one sentence with the path of the file.
    pub(crate) finding: String,
    /// Remedy, if the file itself must be changed instead of being replaced.
    pub(crate) advice: Option<String>,
}

impl Fault {
    /// Returns the fault of a file; `None` for a whole library that this user may read and that is for the processor of the program.
    pub(crate) fn of(path: &Path, own: Identity) -> Option<Self> {
        let name = shown(path);
        // Opening a pipe without a writer would block.
        if fs::metadata(path).is_ok_and(|status| !status.is_file()) {
            let finding = format!("{name} is not a file");
            return Some(Self { finding, advice: None });
        }
        let (finding, advice) = match regular::open(path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                let (finding, advice) = refused::closed(path);
                (format!("{name}: {finding}"), Some(advice))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => match fs::read_link(path) {
                Ok(target) => (
                    format!("{name} is a link to {}, which is not there", shown(&target)),
                    None,
                ),
                Err(_) => (format!("{name} is not there"), None),
            },
            Err(error) => (format!("{name}: {error}"), None),
            Ok(_) => {
                let other = || {
                    let found = Identity::of(path).filter(|found| *found != own)?;
                    Some(format!("{name} is for {found}, the program for {own}"))
                };
                (damage(path).or_else(other)?, None)
            }
        };
        Some(Self { finding, advice })
    }
}

/// A kind of files that stand in place of a library.
struct Kind {
    /// Beginning of the file, in lower case.
    beginning: &'static str,
    what: &'static str,
    /// Remedy, in which `FILE` and `FOLDER` stand for the file and for the folder of its repository.
    remedy: &'static str,
    /// Remedy for a file outside of repositories; empty if `remedy` needs no repository.
    alone: &'static str,
}

/// Remedy for a file that replaces a library in a repository, if it was downloaded alone.
const WITHOUT_REPOSITORY: &str = "Download FILE again, from the address that gives the library itself (a button such as Download or Raw on the page of the file), \
    or clone its repository with git.";

const KINDS: [Kind; 5] = [
    Kind {
        beginning: "version https://git-lfs.github.com/spec/",
        what: "a pointer of Git LFS, in place of the library",
        remedy: "Fetch the library: cd FOLDER && git lfs install && git lfs pull",
        alone: WITHOUT_REPOSITORY,
    },
    Kind {
        beginning: "/annex/objects/",
        what: "a pointer of git-annex, in place of the library",
        remedy: "Fetch the library: cd FOLDER && git annex get FILE",
        alone: WITHOUT_REPOSITORY,
    },
    Kind {
        beginning: "<!doctype html",
        what: "a page of the web, in place of the library",
        remedy: "Download FILE again: the server sent a page in its place, such as a login or an error.",
        alone: "",
    },
    Kind {
        beginning: "<html",
        what: "a page of the web, in place of the library",
        remedy: "Download FILE again: the server sent a page in its place, such as a login or an error.",
        alone: "",
    },
    Kind {
        beginning: "mz",
        what: "a library for Windows",
        remedy: "Name a library for Linux in library_path of the manifest.",
        alone: "",
    },
];

/// Upper bound on the number of bytes that are read from the beginning of a file.
const BEGINNING: u64 = 256;

/// Returns the description and the remedy for a file of a known kind that stands in place of a library.
fn instead(file: &Path) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let opened = fs::metadata(file)
        .is_ok_and(|status| status.is_file())
        .then(|| regular::open(file).ok());
    std::io::Read::read_to_end(&mut std::io::Read::take(opened??, BEGINNING), &mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let start = text.trim_start().to_lowercase();
    if let Some(kind) = KINDS.iter().find(|kind| start.starts_with(kind.beginning)) {
        let has_repository = |folder: &&Path| folder.join(".git").exists();
        let folder = file.ancestors().skip(1).find(has_repository);
        let remedy = folder.map_or(kind.alone, |_| kind.remedy);
        let remedy = if remedy.is_empty() { kind.remedy } else { remedy };
        let folder = word(&folder.map(shown).unwrap_or_default());
        let remedy = remedy.replace("FILE", &word(&shown(file)));
        return Some((kind.what.into(), remedy.replace("FOLDER", &folder)));
    }
    // Some systems store a link as a file with the name of its target.
    let target = file.parent()?.join(text.trim());
    let is_link =
        !text.trim().is_empty() && !text.contains('\0') && target.is_file() && Identity::of(&target).is_some();
    is_link.then(|| {
        (
            format!("a text with the name {}, in place of a link to it", text.trim()),
            format!("Make the link: ln -sf {} {}", word(text.trim()), word(&shown(file))),
        )
    })
}

/// Returns a sentence about a file that is not a library, or that was truncated; `None` for a whole library.
fn damage(path: &Path) -> Option<String> {
    let size = fs::metadata(path).map_or(0, |status| status.len());
    match (Identity::of(path), closure::whole_size(path)) {
        (None, _) => Some(match instead(path) {
            Some((what, _)) => format!("{} is {what}", shown(path)),
            None => format!(
                "{} is not a library: {size} bytes without the beginning of one",
                shown(path)
            ),
        }),
        (_, Some(whole)) if whole > size => Some(format!(
            "{} is cut: it has {size} bytes of at least {whole}",
            shown(path)
        )),
        // The program headers of a file of another kind may be unknown here, so only a short file of another kind counts.
        (Some(kind), None) if size < LONGEST_HEAD || kind == Identity::of_this_process() => Some(format!(
            "{} is cut: it has {size} bytes, and its own head is incomplete",
            shown(path)
        )),
        _ => None,
    }
}

/// Adds to a finding that a file is not a library, or was truncated. `library` is the driver or layer that needs the file, or the file
/// itself. Returns `true` if the file has one of these faults.
pub(super) fn damaged(dropped: &mut Dropped, file: &Path, library: &Path, own: Identity) -> bool {
    let Some(finding) = damage(file) else { return false };
    dropped.findings.insert(0, finding);
    dropped.advice = remedy(file, library, own);
    true
}

/// Returns the remedy for a damaged file. `library` is the driver or layer that needs the file, or the file itself.
pub(in crate::causes) fn remedy(file: &Path, library: &Path, own: Identity) -> String {
    let other = closure::replacement(file, library, own).filter(|other| damage(other).is_none());
    // If the driver or layer is in the same folder, and the linker finds it in no other folder, the folder must stay in `LD_LIBRARY_PATH`.
    let is_alone = library != file
        && library.parent() == file.parent()
        && closure::replacement(library, Path::new("/"), own).is_none();
    match (file.parent().filter(|_| !is_alone), other) {
        (Some(folder), Some(other)) => format!(
            "Take {} out of LD_LIBRARY_PATH, because {} is whole, or replace {}.",
            shown(folder),
            shown(&other),
            shown(file)
        ),
        _ => match instead(file) {
            Some((_, remedy)) => remedy,
            None => format!("{}; if this happens again, check the disk.", to_reinstall(file)),
        },
    }
}

/// Returns the remedy that replaces a file by the file of its package.
fn to_reinstall(file: &Path) -> String {
    let is_by_hand = is_by_hand(file);
    let file = shown(file);
    match installed::owner(&file) {
        Some(owner) => format!("Reinstall {owner}, which brings {file}"),
        None if is_by_hand => format!("Build or download {file} again, which belongs to no package"),
        None => format!("Reinstall the package that brings {file}"),
    }
}

/// Returns the remedy for the library `by`, which needs a newer C library than the system has. `path` is the file of the library. A package of
/// the system brings a file that suits the system, so another file stands in its place, or the package is from a newer release.
pub(super) fn for_newer_system(by: &str, path: &Path) -> String {
    const ALONE: &str = "or upgrade the whole system. The C library cannot be updated alone.";
    match installed::owner(&shown(path)) {
        Some(owner) => format!(
            "{}, in the version for this system: the file is for a newer one. If the package has no such version, install another driver, {ALONE}",
            to_reinstall(path).replace(&owner, &with_command(&owner))
        ),
        None => format!("{FOR_ANOTHER_SYSTEM}, because {by} is for a newer one; {ALONE}"),
    }
}

/// Adapts a remedy for drivers to a layer, whose package may be known.
pub(super) fn adapt_to_layer(dropped: &mut Dropped) {
    if let Some(rest) = dropped.advice.strip_prefix(FOR_ANOTHER_SYSTEM) {
        dropped.advice = match to_install(&dropped.name) {
            Some(install) => format!("{install}, built for this system{rest}"),
            None => format!("Install a layer that is built for this system{rest}"),
        };
    }
    dropped.advice = dropped
        .advice
        .replace("install another driver", "install another layer")
        .replace(
            "Install the driver and its libraries",
            "Install the layer and its libraries",
        );
}

/// Returns a package with the command that installs it again.
fn with_command(owner: &str) -> String {
    packages::again(owner).map_or(owner.into(), |command| format!("{owner} ({command})"))
}

/// Adds the damaged file to the finding about a crash: the library in which the process ended, a library that it needs, or the Vulkan loader. A
/// truncated file lacks pages, and a process that accesses a missing page receives SIGBUS.
pub(in crate::causes) fn of_crash(dropped: &mut Dropped, own: Identity, crash: Option<&Crashed>) {
    let program = crash.and_then(|crash| crash.executable.as_deref());
    // A script may have set the folders in which the dynamic linker found a library.
    let is_library = |path: &&String| file_name(path).contains(".so") && !path.ends_with(".cache");
    let mapped = crash.map_or(&[][..], |crash| &crash.mapped).iter();
    let mapped = mapped.filter(is_library).map(PathBuf::from);
    let may_be_read = |path: &PathBuf| path.is_file() && regular::open(path).is_ok();
    let named = locate(&dropped.name, own);
    // A crash in the dynamic linker, while it loads the program or its Vulkan loader, has no library of its own.
    let program = program.map(PathBuf::from);
    let is_of_program = named.is_none() || named == program;
    let loader = locate(LOADER, own).filter(|loader| is_of_program && may_be_read(loader));
    let Some(library) = named.or(program).filter(may_be_read) else {
        return;
    };
    let needed = Closure::of(&library, own).found;
    let whole_loader = loader.clone().filter(|loader| damage(loader).is_none());
    let mut all = std::iter::once(library.clone())
        .chain(needed)
        .chain(loader)
        .chain(mapped);
    let Some((finding, file)) = all.find_map(|file| Some((damage(&file)?, file))) else {
        return;
    };
    let needed_by = if file == library {
        String::new()
    } else {
        format!(", and {} needs it", file_name(&shown(&library)))
    };
    let other = whole_loader.filter(|_| file_name(&shown(&file)) == LOADER);
    let remedy = other.map_or_else(
        || remedy(&file, &library, own),
        |other| {
            format!(
                "Remove {}, so that the program gets {}, or copy that over it.",
                shown(&file),
                shown(&other)
            )
        },
    );
    blame(dropped, format!("{finding}{needed_by}"), &remedy);
}

/// Makes a broken file the cause of a finding. Keeps the part of the remedy that starts programs without the driver or layer.
pub(in crate::causes) fn blame(dropped: &mut Dropped, finding: String, remedy: &str) {
    let until_then = dropped.advice.find(&format!("; {UNTIL_THEN}"));
    dropped.advice = match until_then {
        Some(at) => format!("{}{}", remedy.trim_end_matches('.'), &dropped.advice[at..]),
        None => remedy.into(),
    };
    dropped.findings.insert(0, finding);
    dropped.names_file = true;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::codes;
    use std::sync::mpsc;

    #[test]
    fn a_layer_for_a_newer_system_comes_with_the_package_of_the_layer() {
        for (layer, advice) in [
            (
                "VK_LAYER_KHRONOS_validation",
                "Install the layer: vulkan-validationlayers (Debian, Ubuntu)",
            ),
            ("VK_LAYER_own", "Install a layer that is built for this system, because"),
        ] {
            let mut dropped = codes::LAYER_OLDER.about(layer);
            dropped.advice = for_newer_system("libx.so", Path::new("/nowhere/libx.so"));
            adapt_to_layer(&mut dropped);
            assert!(dropped.advice.starts_with(advice), "{}", dropped.advice);
            assert!(!dropped.advice.contains("driver"), "{}", dropped.advice);
        }
    }

    #[test]
    fn files_in_place_of_a_library_are_known_by_their_beginning() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("sub/libx.so");
        fs::create_dir_all(folder.path().join("sub")).expect("a folder");
        fs::create_dir(folder.path().join(".git")).expect("a folder");
        let program = std::env::current_exe().expect("a path");
        fs::copy(program, folder.path().join("sub/libx.so.1")).expect("copied");
        let root = folder.path().display().to_string();
        for (text, what, words) in [
            (
                "version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
                "Git LFS",
                format!("cd {root} && git lfs install && git lfs pull"),
            ),
            (
                "/annex/objects/SHA256E-s1--2.so\n",
                "git-annex",
                format!("git annex get {root}/sub/libx.so"),
            ),
            ("\n<!DOCTYPE html><html>", "page of the web", "Download".into()),
            ("MZ\u{90}", "Windows", "Linux".into()),
            ("libx.so.1", "link", format!("ln -sf libx.so.1 {root}/sub/libx.so")),
        ] {
            fs::write(&file, text).expect("written");
            let finding = damage(&file).expect("no library");
            assert!(finding.contains(what), "{finding}");
            let advice = remedy(&file, &file, Identity::of_this_process());
            assert!(advice.contains(&words), "{advice}");
        }
        fs::remove_dir(folder.path().join(".git")).expect("removed");
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\n";
        fs::write(&file, pointer).expect("written");
        let advice = remedy(&file, &file, Identity::of_this_process());
        assert!(
            advice.starts_with(&format!("Download {root}/sub/libx.so again")),
            "{advice}"
        );
        fs::write(&file, "libnowhere.so").expect("written");
        assert!(remedy(&file, &file, Identity::of_this_process()).starts_with("Reinstall"));
    }

    #[test]
    fn a_pipe_in_the_place_of_a_library_is_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("libpipe.so");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo is installed").success());
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let fault = Fault::of(&pipe, Identity::of_this_process());
            let closed = closure::unreadable("libpipe.so", &pipe);
            sender.send((fault.map(|fault| fault.finding), closed))
        });
        let (finding, closed) = receiver.recv_timeout(steady::HANG).expect("an answer");
        assert!(finding.is_some_and(|finding| finding.ends_with("libpipe.so is not a file")));
        assert_eq!(closed, None);
    }
}
