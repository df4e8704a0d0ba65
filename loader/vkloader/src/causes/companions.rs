//! Libraries of NVIDIA's driver, which belong together: their names end in the version of the driver. The driver opens most of them only while
//! it runs, so the dynamic linker does not report missing or broken ones.

use super::elf::damage::{self, Fault};
use super::elf::{Identity, locate, read};
use super::{linker, packages};
use crate::report::{Dropped, codes};
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
    let faults = set.faults(own);
    let Some((place, first)) = faults.first() else { return };
    let remedy = match (&first.advice, place) {
        (Some(advice), _) => advice.clone(),
        (None, Place::At(path)) => damage::remedy(path, &set.driver, own),
        (None, Place::Missing(name)) => packages::install(&[name.as_str()]),
    };
    let rest: Vec<String> = faults.iter().skip(1).map(|(_, fault)| fault.finding.clone()).collect();
    let finding = first.finding.clone();
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

/// Place of a library of the driver.
enum Place {
    At(PathBuf),
    /// No folder has the library of this name.
    Missing(String),
}

/// The libraries of one version of the driver.
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

    /// Returns the path of a library of the set; `None` if it is missing.
    fn find(&self, name: &str, own: Identity) -> Option<PathBuf> {
        let beside = self.folder().join(name);
        let is_there = fs::symlink_metadata(&beside).is_ok();
        if is_there { Some(beside) } else { locate(name, own) }
    }

    /// Returns the faults of the libraries, each with the place of the library. Libraries that Vulkan needs come first.
    fn faults(&self, own: Identity) -> Vec<(Place, Fault)> {
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
        let mut faults = Vec::new();
        while let Some((name, by)) = waiting.pop() {
            if !names.insert(name.clone()) {
                continue;
            }
            let Some(path) = self.find(&name, own) else {
                let finding = format!("{name} is missing, which {by} needs");
                faults.push((Place::Missing(name), Fault { finding, advice: None }));
                continue;
            };
            match Fault::of(&path, own) {
                Some(fault) => faults.push((Place::At(path), fault)),
                None => {
                    let needed = read(&path).unwrap_or_default().names;
                    let of_set = needed.into_iter().filter(|needed| needed.ends_with(&ending));
                    waiting.extend(of_set.map(|needed| (needed, name.clone())));
                }
            }
        }
        for name in self.beside(&ending).difference(&names) {
            let path = self.folder().join(name);
            if let Some(fault) = Fault::of(&path, own) {
                faults.push((Place::At(path), fault));
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
