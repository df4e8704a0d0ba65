//! Libraries of NVIDIA's driver, which belong together: their names end in the version of the driver. The driver opens most of them only
//! while it runs, so the dynamic linker does not report missing or broken libraries.

use super::elf::damage::{self, Fault};
use super::elf::{Closure, Identity, closed, locate, read};
use super::{linker, packages};
use crate::paths::file_name;
use crate::report::{Dropped, Fact, codes};
use reasons::Code;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Beginnings of the names of the libraries that are the driver itself.
const DRIVERS: [&str; 2] = ["libGLX_nvidia", "libEGL_nvidia"];
/// Beginnings of the names of libraries that the driver opens while it runs, in all versions since 396.
const OPENED: [&str; 5] = [
    "libnvidia-eglcore",
    "libnvidia-glcore",
    "libnvidia-glvkspirv",
    "libnvidia-glsi",
    "libnvidia-tls",
];
/// Libraries in [`OPENED`] that replace each other: the driver opens only one of them.
const CORES: [&str; 2] = ["libnvidia-eglcore", "libnvidia-glcore"];
/// Beginning of the name of the library that compiles shaders. In newer versions of the driver, other libraries of the driver need this
/// library.
const COMPILER: &str = "libnvidia-gpucomp";
/// Upper bound on the number of libraries in a finding.
const MOST: usize = 6;

/// Adds the missing and broken libraries of NVIDIA's driver to the finding about the driver.
pub(super) fn explain(dropped: &mut Dropped, own: Identity) {
    let is_crash = dropped.code == codes::PROGRAM_CRASHED.name;
    let has_failed = linker::was_opened(dropped) && !dropped.is_noise();
    if dropped.names_file || !is_crash && !has_failed {
        return;
    }
    let Some(set) = Set::of(&dropped.name, own) else { return };
    let (needed, aside): (Vec<_>, Vec<_>) = set
        .faults(own, &dropped.findings)
        .into_iter()
        .partition(|one| one.is_needed);
    let aside = aside.into_iter().map(|one| one.fault.finding);
    let Some(first) = needed.first() else {
        // Vulkan does not need the libraries in `aside`, so these libraries explain no failure.
        dropped.findings.extend(aside.take(MOST));
        return without_x(dropped, &set, own);
    };
    let remedy = match (&first.fault.advice, &first.place) {
        (Some(advice), _) => advice.clone(),
        (None, Place::At(path)) => damage::remedy(path, &set.driver, own),
        (None, Place::Missing(name)) => packages::install(&[name.as_str()], own),
        (None, Place::Needed(_)) => packages::install(&all_needed(&needed), own),
    };
    let rest = needed.iter().skip(1).map(|one| one.fault.finding.clone());
    let rest: Vec<String> = rest.chain(aside).collect();
    let finding = first.fault.finding.clone();
    let more = rest.len().saturating_sub(MOST - 1);
    if more > 0 {
        let words = format!("{more} more libraries of the driver are broken");
        dropped.findings.insert(0, words);
    }
    for finding in rest.into_iter().take(MOST - 1).rev() {
        dropped.findings.insert(0, finding);
    }
    damage::blame(dropped, finding, &remedy);
}

/// Returns the missing libraries of the system that the driver's libraries need.
fn all_needed(broken: &[Broken]) -> Vec<&str> {
    let names = broken.iter().filter_map(|one| match &one.place {
        Place::Needed(name) => Some(name.as_str()),
        _ => None,
    });
    names.collect()
}

/// Recommends the driver that needs no X server, if all libraries of the driver are there and it returns no functions.
fn without_x(dropped: &mut Dropped, set: &Set, own: Identity) {
    let [with_x, other] = DRIVERS;
    let is_it = dropped.code == Code::DriverNoGlobalFunction.name() && file_name(&dropped.name).starts_with(with_x);
    let other = format!("{other}.so.0");
    if let Some(path) = set.find(&other, own).filter(|_| is_it) {
        let finding = format!(
            "its own libraries are there, and so is {}, which needs no X server",
            path.display()
        );
        dropped.findings.insert(0, finding);
        let manifest = dropped.file.as_deref().unwrap_or("the manifest");
        dropped.advice = format!(
            "On a system without an X server, name the driver's other library as library_path in {manifest}: {other}; or install the libraries of X11 \
             that {with_x} opens."
        );
    }
}

/// Place of a library of the driver.
enum Place {
    At(PathBuf),
    /// No folder has a library of this name.
    Missing(String),
    /// No folder has this library of the system, which a library of the driver needs.
    Needed(String),
}

/// A missing or broken library of the driver.
struct Broken {
    name: String,
    place: Place,
    fault: Fault,
    /// `true` if Vulkan needs the library.
    is_needed: bool,
}

/// The libraries that belong to one version of NVIDIA's driver.
struct Set {
    /// Path of the driver, without symbolic links.
    driver: PathBuf,
    version: String,
}

impl Set {
    /// Returns the libraries that belong to the driver `name`; `None` for a driver of another maker.
    fn of(name: &str, own: Identity) -> Option<Self> {
        let driver = fs::canonicalize(locate(name, own)?).ok()?;
        let name = driver.file_name()?.to_str()?;
        let (beginning, version) = name.split_once(".so.")?;
        let is_version = version.contains('.') && version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let is_driver = DRIVERS.contains(&beginning) && is_version;
        let version = version.to_owned();
        is_driver.then_some(Self { driver, version })
    }

    fn folder(&self) -> &Path {
        self.driver.parent().unwrap_or(Path::new("/"))
    }

    /// Returns the path of the library `name`; `None` if it is missing.
    fn find(&self, name: &str, own: Identity) -> Option<PathBuf> {
        let beside = self.folder().join(name);
        let is_there = fs::symlink_metadata(&beside).is_ok();
        if is_there { Some(beside) } else { locate(name, own) }
    }

    /// Returns the missing and broken libraries. Libraries that Vulkan needs come first. A library that a line in
    /// `findings` names counts as needed.
    fn faults(&self, own: Identity, findings: &[Fact]) -> Vec<Broken> {
        let ending = format!(".so.{}", self.version);
        let driver = self
            .driver
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let opened = OPENED.map(|beginning| (format!("{beginning}{ending}"), driver.clone()));
        let mut waiting: Vec<(String, String)> = opened.into_iter().rev().collect();
        waiting.push((driver.clone(), driver));
        let mut names = BTreeSet::new();
        let mut linked = BTreeSet::new();
        let mut faults = Vec::new();
        while let Some((name, by)) = waiting.pop() {
            if !names.insert(name.clone()) {
                continue;
            }
            let found = self.find(&name, own);
            let fault = match &found {
                Some(path) => Fault::of(path, own),
                None => Some(Fault {
                    finding: format!("{name} is missing, which {by} needs"),
                    advice: None,
                }),
            };
            if let Some(fault) = fault {
                let place = found.map_or_else(|| Place::Missing(name.clone()), Place::At);
                faults.push(Broken {
                    name,
                    place,
                    fault,
                    is_needed: true,
                });
                continue;
            }
            faults.extend(found.iter().flat_map(|path| lacking(path, &ending, own)));
            let needed = found.and_then(|path| read(&path)).unwrap_or_default().names;
            for needed in needed.into_iter().filter(|needed| needed.ends_with(&ending)) {
                linked.insert(needed.clone());
                waiting.push((needed, name.clone()));
            }
        }
        let is_named = |name: &String| linked.contains(name) || findings.iter().any(|finding| finding.contains(name));
        only_one_core(&mut faults, is_named);
        name_once(&mut faults);
        for name in self.beside(&ending).difference(&names) {
            let path = self.folder().join(name);
            if let Some(fault) = Fault::of(&path, own) {
                let mut of_vulkan = DRIVERS.iter().chain([&COMPILER]);
                faults.push(Broken {
                    is_needed: of_vulkan.any(|beginning| name.starts_with(beginning)) || is_named(name),
                    name: name.clone(),
                    place: Place::At(path),
                    fault,
                });
            }
        }
        faults
    }

    /// Returns the names of the files in the driver's folder whose names end in its version.
    fn beside(&self, ending: &str) -> BTreeSet<String> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter(|name| name.starts_with("lib") && name.ends_with(ending))
            .collect()
    }
}

/// Removes repetitions of missing libraries of the system.
fn name_once(faults: &mut Vec<Broken>) {
    let mut known = BTreeSet::new();
    faults.retain(|one| !matches!(&one.place, Place::Needed(name) if !known.insert(name.clone())));
}

/// Returns the missing libraries of the system that the driver's library at `path` needs, also indirectly. The names of the driver's own libraries end
/// in `ending`.
fn lacking(path: &Path, ending: &str, own: Identity) -> Vec<Broken> {
    let missing = Closure::of(path, own).missing;
    let missing = missing.into_iter().filter(|(name, _)| !name.ends_with(ending));
    let broken = missing.map(|(name, by)| {
        let by_words = by.display();
        let (finding, advice) = match linked::unreadable(&name, &by) {
            Some(file) => {
                let (words, advice) = closed(&file);
                (
                    format!("{}, which {by_words} needs: {words}", file.display()),
                    Some(advice),
                )
            }
            None => (format!("{name} is missing, which {by_words} needs"), None),
        };
        Broken {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            fault: Fault { finding, advice },
            place: Place::Needed(name),
            is_needed: true,
        }
    });
    broken.collect()
}

/// Handles a driver that has one intact library of [`CORES`]. Such a driver does not need the other library. Removes the other library from
/// `faults` if it is missing, and marks it as not needed if it is broken. Keeps a library for which `is_named` returns `true`.
fn only_one_core(faults: &mut Vec<Broken>, is_named: impl Fn(&String) -> bool) {
    let is_of_driver = |one: &Broken| !matches!(one.place, Place::Needed(_));
    let is_core = |one: &Broken| CORES.iter().any(|core| one.name.starts_with(core)) && is_of_driver(one);
    if faults.iter().filter(|one| is_core(one)).count() != 1 {
        return;
    }
    let can_miss = |one: &Broken| is_core(one) && !is_named(&one.name);
    faults.retain(|one| !can_miss(one) || matches!(one.place, Place::At(_)));
    for one in faults.iter_mut().filter(|one| can_miss(one)) {
        one.is_needed = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_libraries_that_vulkan_needs_explain_a_failure() {
        let own = Identity::of_this_process();
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(format!("{name}.so.580.1"));
        let driver = place("libGLX_nvidia");
        // Uses the file of this test as the driver, because the file is a complete ELF file for this processor.
        fs::copy(std::env::current_exe().expect("a path"), &driver).expect("copied");
        for name in OPENED {
            std::os::unix::fs::symlink(&driver, place(name)).expect("a link");
        }
        let explained = |printed: &str| {
            let mut dropped = codes::PROGRAM_CRASHED.about(driver.display().to_string());
            dropped.findings = [printed].into();
            explain(&mut dropped, own);
            dropped
        };
        fs::write(place("libnvidia-encode"), "").expect("a file");
        fs::remove_file(place("libnvidia-eglcore")).expect("just made");
        let dropped = explained("");
        assert!(
            !dropped.names_file && dropped.findings.len() == 2,
            "{:?}",
            dropped.findings
        );
        assert_eq!(dropped.advice, codes::PROGRAM_CRASHED.remedy);
        assert!(dropped.findings[1].contains("libnvidia-encode.so.580.1 is not a library"));
        let dropped = explained("cannot open libnvidia-eglcore.so.580.1");
        assert!(dropped.names_file && dropped.findings[0].contains("libnvidia-eglcore.so.580.1 is missing"));
        fs::remove_file(place("libnvidia-glcore")).expect("just made");
        let dropped = explained("");
        assert!(dropped.names_file && dropped.findings[0].contains("libnvidia-eglcore.so.580.1 is missing"));
        assert!(dropped.findings[1].contains("libnvidia-glcore.so.580.1 is missing"));
        assert!(dropped.findings[2].contains("libnvidia-encode.so.580.1 is not a library"));
    }
}
