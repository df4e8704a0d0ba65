//! Finds causes in the lines that drivers print: files that a driver could not open.

mod llvm;

use super::elf::damage::{self, Fault};
use super::elf::{self, Closure, Identity};
use super::packages;
use crate::paths::file_name;
use crate::report::{Dropped, Fact, Kind, codes, rank, with_runtime};
use rustix::fs::{Access, access};
use std::fs;
use std::path::{Path, PathBuf};

/// Words about a file that could not be opened, in lower case.
const TROUBLE: [&str; 19] = [
    "unable to open",
    "unable to load",
    "cannot open",
    "cannot load",
    "can't open",
    "can't load",
    "could not open",
    "could not load",
    "couldn't open",
    "couldn't load",
    "failed to open",
    "failed to load",
    "failed to dlopen",
    "error loading",
    "error opening",
    "no such file",
    "permission denied",
    "file too short",
    "not found",
];
/// Part of the dynamic linker's message that follows the name of a file.
const NOT_OPENED: &str = ": cannot open shared object file";

/// Adds the cause in the lines that a driver printed: a file that the driver could not open, two copies of LLVM, or AddressSanitizer. `is_usable` is
/// `true` if another driver has a device.
pub(super) fn explain(dropped: &mut Dropped, own: Identity, is_usable: bool) {
    sanitizer(dropped, own);
    llvm::explain(dropped);
    let of_device = [codes::DEVICE_NOT_CREATED.name, "device.enumeration-failed"];
    let is_driver = dropped.subject.starts_with("driver") || of_device.contains(&dropped.code.as_str());
    if !is_driver || dropped.names_file {
        return;
    }
    let library = dropped.file.as_deref().filter(|file| !file.ends_with(".json"));
    let driver = elf::locate(library.unwrap_or(&dropped.name), own).unwrap_or_else(|| dropped.name.clone().into());
    let mut lines = dropped.findings.iter().filter_map(|fact| fact.words(&Kind::Printed));
    let found = lines.find_map(|line| match named(line, &driver)? {
        Named::Library(name) => Some((true, of_library(name, &driver, own)?)),
        Named::File(path) => Some((false, of_file(path)?)),
    });
    let Some((is_library, (finding, advice))) = found else {
        return;
    };
    if !is_library {
        // Does not make the file the cause, because a file that is not a library is often optional, and the findings about hardware explain
        // device nodes.
        dropped.findings.insert(0, Fact::new(Kind::NotOpened, finding));
        dropped.advice = advice.unwrap_or_else(|| dropped.advice.clone());
        return;
    }
    let advice = advice.unwrap_or_else(|| dropped.advice.clone());
    damage::blame(dropped, finding, &advice);
    if dropped.code == "driver.no-devices" && !is_usable {
        dropped.rank = rank::HARDWARE;
    }
}

/// Part of the message with which AddressSanitizer ends a process that opens its runtime after other libraries.
const NOT_FIRST: &str = "ASan runtime does not come first";

/// Adds the remedy for a library that ended the process because the library was built with AddressSanitizer.
fn sanitizer(dropped: &mut Dropped, own: Identity) {
    let mut lines = dropped.findings.iter().filter_map(|fact| fact.words(&Kind::Printed));
    if dropped.code != codes::PROGRAM_EXITED.name || !lines.any(|line| line.contains(NOT_FIRST)) {
        return;
    }
    let closure = Closure::of(Path::new(&dropped.name), own);
    let is_runtime = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan")
    };
    let Some(runtime) = closure.found.iter().find(is_runtime) else {
        return;
    };
    let rest = dropped.variable.as_ref();
    let rest = rest.map_or(String::new(), |variable| {
        format!("; or stop using it: unset {variable}")
    });
    let advice = with_runtime(&runtime.display().to_string());
    dropped.advice = format!("{}{rest}", advice.trim_end_matches('.'));
    dropped.set = None;
}

/// A name in a line that a driver printed.
#[derive(Debug, PartialEq, Eq)]
enum Named<'a> {
    Library(&'a str),
    /// Absolute path of a file that is not a library.
    File(&'a str),
}

/// Returns the library or file in a line about a file that could not be opened. Skips the driver's own name.
fn named<'a>(line: &'a str, driver: &Path) -> Option<Named<'a>> {
    let lower = line.to_lowercase();
    if !TROUBLE.iter().any(|words| lower.contains(words)) {
        return None;
    }
    let is_other = |word: &&str| {
        driver
            .file_name()
            .is_none_or(|own| file_name(word).as_bytes() != own.as_encoded_bytes())
    };
    let libraries = |text: &'a str| words(text).filter(|word| is_library(word)).filter(is_other);
    let of_linker = line.find(NOT_OPENED).and_then(|at| libraries(&line[..at]).last());
    let library = of_linker.or_else(|| libraries(line).next());
    let file = || words(line).find(|word| word.starts_with('/') && word.len() > 1 && !is_library(word));
    library.map(Named::Library).or_else(|| file().map(Named::File))
}

/// Returns the words of a line without quotes and punctuation.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|sign: char| sign.is_whitespace() || "'\"`‘’“”(),;<>=[]".contains(sign))
        .map(|word| word.trim_end_matches(['.', ':', '!']))
        .filter(|word| !word.is_empty())
}

/// Returns `true` for the name or absolute path of a shared library.
fn is_library(word: &str) -> bool {
    let Some((_, version)) = file_name(word).split_once(".so") else {
        return false;
    };
    let is_version = version.is_empty() || version.starts_with('.');
    is_version && (word.starts_with('/') || word.starts_with("lib") && !word.contains('/'))
}

/// Returns the finding and the remedy for a library that a driver could not open.
fn of_library(name: &str, driver: &Path, own: Identity) -> Option<(String, Option<String>)> {
    let missing = || {
        let advice = packages::install(&[file_name(name)], own);
        Some((format!("it could not open {name}, which is missing"), Some(advice)))
    };
    let Some(path) = find(name, driver, own) else {
        return missing();
    };
    if let Some(fault) = Fault::of(&path, own) {
        let advice = fault.advice.unwrap_or_else(|| damage::remedy(&path, driver, own));
        return Some((format!("it could not open {name}: {}", fault.finding), Some(advice)));
    }
    let closure = Closure::of(&path, own);
    let (needed, by) = closure.missing.first()?;
    Some((
        format!(
            "it could not open {name}: {needed} is missing, which {} needs",
            by.display()
        ),
        Some(packages::install(&[needed.as_str()], own)),
    ))
}

/// Returns the path of a library that a driver tried to open; `None` if the library is missing.
fn find(name: &str, driver: &Path, own: Identity) -> Option<PathBuf> {
    let is_there = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
    if name.contains('/') {
        return Some(name.into()).filter(is_there);
    }
    let real = fs::canonicalize(driver).unwrap_or_else(|_| driver.into());
    let beside = real.parent().map(|folder| folder.join(name)).filter(is_there);
    elf::locate(name, own).or(beside)
}

/// Returns the finding and the remedy for a file that a driver could not open; `None` if the user may open the file now.
fn of_file(name: &str) -> Option<(String, Option<String>)> {
    let path = Path::new(name);
    if !path.exists() && elf::closed_folder(path).is_none() {
        return Some((format!("it could not open {name}, which is not there"), None));
    }
    let is_node = name.starts_with("/dev/");
    let wanted = if is_node {
        Access::READ_OK | Access::WRITE_OK
    } else {
        Access::READ_OK
    };
    access(path, wanted).is_err().then(|| {
        let (finding, advice) = elf::closed(path);
        let advice = if is_node {
            format!("Give the user permission to read and write {name}.")
        } else {
            advice
        };
        (format!("it could not open {name}: {finding}"), Some(advice))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_the_words_of_drivers() {
        let driver = Path::new("/usr/lib/libdriver.so.1");
        for (line, expected) in [
            (
                "The NVIDIA driver was unable to open 'libnvidia-glvkspirv.so.430.14'.  This library is required at run time.",
                Some(Named::Library("libnvidia-glvkspirv.so.430.14")),
            ),
            (
                "MESA: error: failed to load libLLVM.so.18: libz.so.1: cannot open shared object file: No such file or directory",
                Some(Named::Library("libz.so.1")),
            ),
            (
                "MESA-LOADER: failed to open radeonsi: /usr/lib/dri/radeonsi_dri.so: cannot open shared object file: No such file or directory \
                 (search paths /usr/lib/dri, suffix _dri)",
                Some(Named::Library("/usr/lib/dri/radeonsi_dri.so")),
            ),
            (
                "libdriver.so.1: Could not load \"libfirst.so\"",
                Some(Named::Library("libfirst.so")),
            ),
            (
                "libGL error: failed to open /dev/dri/card0: Permission denied",
                Some(Named::File("/dev/dri/card0")),
            ),
            (
                "amdgpu: failed to open device (/dev/dri/renderD128).",
                Some(Named::File("/dev/dri/renderD128")),
            ),
            ("amdgpu_device_initialize failed", None),
            ("/usr/lib/libdriver.so.1: symbol not found", None),
            ("loaded libfirst.so", None),
            ("unable to open '", None),
        ] {
            assert_eq!(named(line, driver), expected, "{line}");
        }
    }
}
