//! Finds manifests of drivers that name a Vulkan loader, and loaders of programs that belong to no package. A loader that is opened as
//! a driver searches for drivers again, without an end.

use super::elf::{self, Closure, Fault, Identity, is_in_variable, usual_folders, without_variable};
use crate::events::{Event, Record};
use crate::paths::file_name;
use crate::report::{Dropped, Report, TO_UPDATE, codes};
use crate::shell::{aside, word};
use crate::{installed, manifests};
use std::fs;
use std::path::{Path, PathBuf};

/// Beginning of the file name of a Vulkan loader.
const LOADER: &str = "libvulkan.so";

/// Adds the manifest to a finding about a loader that was opened as a driver.
pub(super) fn explain(dropped: &mut Dropped, records: &[&Record]) {
    let ends = [
        codes::PROGRAM_HUNG.name,
        codes::PROGRAM_CRASHED.name,
        codes::PROGRAM_EXITED.name,
    ];
    let is_about = ends.contains(&dropped.code.as_str()) || dropped.code.starts_with("driver.");
    if !is_about || !is_loader(&dropped.name) {
        return;
    }
    let mut manifests = records.iter().filter_map(|record| match &record.event {
        Event::Decision(decision) if decision.subject == "driver-manifest" && decision.is_kept() => {
            Some(decision.name.as_str())
        }
        _ => None,
    });
    let names_loader = |path: &&str| manifests::named(Path::new(path)).is_some_and(|library| is_loader(&library));
    let Some(manifest) = manifests.find(names_loader) else {
        return;
    };
    let finding = format!(
        "{manifest} names {}, which is a Vulkan loader and not a driver",
        dropped.name
    );
    dropped.findings.insert(0, finding);
    dropped.advice = format!("Correct library_path in {manifest} to the library of the driver, or remove the file.");
    dropped.file = Some(manifest.into());
    dropped.set = None;
}

/// Name under which programs open their loader.
const OF_PROGRAMS: &str = "libvulkan.so.1";

/// Replaces the remedies for a loader of programs that belongs to no package, for example a loader that a user built, or an old one of an SDK. If
/// a folder in `LD_LIBRARY_PATH` has this loader and the system has another one, the folder must leave the variable.
pub(super) fn of_no_package(report: &mut Report, own: Identity) {
    let Some(path) = report.other_loader.as_ref().and_then(|other| other.path.clone()) else {
        return;
    };
    if installed::owner(&path).is_some() {
        return;
    }
    let folders = report.variables.get("LD_LIBRARY_PATH").unwrap_or_default();
    let away = away(&path, &folders, own);
    for one in &mut report.dropped {
        let rebuild = format!("rebuild {path} with the folders of the system");
        one.advice = match (one.code.as_str(), &away) {
            (code, Some(away)) if code == codes::LOADER_FAILED.name && one.advice == codes::LOADER_FAILED.remedy => {
                format!("{away}; or {rebuild}.")
            }
            (code, None) if code == codes::LOADER_FAILED.name && one.advice == codes::LOADER_FAILED.remedy => format!(
                "Update or rebuild {path}, for which no package is known here, or remove it and install the loader of the system."
            ),
            (code, Some(away)) if code == codes::DEVICE_HIDDEN_BY_LOADER.name => format!("{away}."),
            (_, Some(away)) if one.advice.starts_with(TO_UPDATE) => one.advice.replace(TO_UPDATE, &format!("{away}.")),
            _ => continue,
        };
    }
}

/// Beginning of the names of Vulkan's functions.
const OF_VULKAN: &str = "vk";

/// Adds a finding about functions that the program needs, and that the loader of programs lacks. The program then starts only under the library of
/// `vkloader`. The files of a program in a sandbox are not examined.
pub(super) fn without_functions(report: &mut Report, own: Identity) {
    let other = report.other_loader.as_ref().filter(|_| report.inside.is_none());
    let program = report.loader.as_ref().and_then(|loader| loader.executable.as_deref());
    let (Some(other), Some(program)) = (other, program.map(Path::new)) else {
        return;
    };
    let Some(path) = other.path.as_deref() else { return };
    let Some((file, missing)) = elf::lacking(program, (OF_PROGRAMS, Path::new(path)), OF_VULKAN, own) else {
        return;
    };
    let (first, file) = (&missing[0], file.display());
    let is_known = |one: &&mut Dropped| one.code == codes::LOADER_FAILED.name && one.name == path;
    if let Some(known) = report.dropped.iter_mut().find(is_known) {
        // The loader has another fault too, whose remedy is to use the loader of the system.
        known
            .findings
            .insert(0, format!("it lacks {first}, which {file} needs"));
        known.rank = codes::LOADER_FAILED.rank();
        return;
    }
    let mut found = Dropped {
        reason: format!(
            "The Vulkan loader that programs get lacks {first}, which {file} needs: without vkloader, the dynamic linker ends the program, at the latest when \
             it calls this function."
        ),
        advice: match &other.owner {
            Some(owner) => {
                format!("Update that loader ({owner}), or install the library of this project in its place.")
            }
            None => {
                "Update that loader, which belongs to no package, or install the library of this project in its place."
                    .into()
            }
        },
        ..codes::LOADER_FAILED.about(path)
    };
    let version = other.version.as_ref();
    found
        .findings
        .extend(version.map(|version| format!("its version: {version}")));
    if missing.len() > 1 {
        let more = missing[1..].iter().take(MOST_FUNCTIONS).map(String::as_str);
        found
            .findings
            .push(format!("it also lacks {}", more.collect::<Vec<_>>().join(", ")));
    }
    report
        .dropped
        .retain(|one| one.code != codes::LOADER_FAILED.name || one.name != path);
    report.dropped.push(found);
}

/// Exit status with which the dynamic linker ends a program that lacks a function.
const LACKS_FUNCTION: i32 = 127;

/// Adds a finding about a program that the dynamic linker ended because its loader lacks a function that the program needs.
pub(super) fn older_than_program(report: &mut Report, own: Identity) {
    let has_ended = (report.ending.by, report.ending.number) == ("status", Some(LACKS_FUNCTION));
    let Some(loader) = report.loader.as_ref().filter(|_| has_ended && report.inside.is_none()) else {
        return;
    };
    let (Some(program), Some(path)) = (loader.executable.as_deref(), loader.path.as_deref()) else {
        return;
    };
    let lacking = elf::lacking(Path::new(program), (OF_PROGRAMS, Path::new(path)), OF_VULKAN, own);
    let Some((file, missing)) = lacking else { return };
    let (first, file) = (&missing[0], file.display());
    let owner = installed::owner(path).map_or_else(String::new, |owner| format!(" ({owner})"));
    report.dropped.push(Dropped {
        reason: format!("The Vulkan loader lacks {first}, which {file} needs, so the dynamic linker ended the program."),
        advice: format!(
            "Update the loader{owner} if a newer one has {first}; otherwise the program needs another library too, or a version for this loader."
        ),
        ..codes::LOADER_FAILED.about(path)
    });
}

/// Upper bound on the missing functions in a finding.
const MOST_FUNCTIONS: usize = 8;

/// Replaces the remedy for a broken loader of programs, if it belongs to no package and the system has another one that is whole.
pub(super) fn broken(report: &mut Report, own: Identity) {
    let codes = [codes::LOADER_NOT_OPENED.name, codes::LOADER_FAILED.name];
    let is_it = |one: &&mut Dropped| codes.contains(&one.code.as_str());
    let Some(found) = report.dropped.iter_mut().find(is_it) else {
        return;
    };
    let is_own = |path: &PathBuf| {
        let folder = path.parent().unwrap_or(Path::new("/"));
        !is_in_variable(folder) && installed::owner(&path.display().to_string()).is_none()
    };
    let is_broken = |path: &PathBuf| {
        found.code == codes::LOADER_NOT_OPENED.name
            || Fault::of(path, own).is_some()
            || !Closure::of(path, own).missing.is_empty()
    };
    let usual = usual_folders().map(|folder| Path::new(folder).join(OF_PROGRAMS));
    // The message of the dynamic linker may name a library that the loader needs.
    let path = elf::file_of_loader(found, own).filter(|path| is_loader(&path.display().to_string()));
    let path = path.filter(is_own).filter(is_broken);
    if let Some((finding, advice)) = path.and_then(|path| to_remove(&path, usual, own)) {
        found.findings.push(finding);
        found.advice = advice;
    }
}

/// Returns the finding and the remedy for the broken loader `path`, which belongs to no package. Returns `None` if none of the loaders in `others` is
/// whole.
fn to_remove(path: &Path, mut others: impl Iterator<Item = PathBuf>, own: Identity) -> Option<(String, String)> {
    let real = fs::canonicalize(path).ok()?;
    let is_whole = |other: &PathBuf| {
        let is_other = fs::canonicalize(other).is_ok_and(|other| other != real);
        is_other && Fault::of(other, own).is_none() && Closure::of(other, own).missing.is_empty()
    };
    let other = others.find(is_whole)?;
    let command = removal(path, &real);
    Some((
        format!("the loader of the system is whole: {}", other.display()),
        format!("Remove the broken loader, which belongs to no package and comes before that of the system: {command}"),
    ))
}

/// Returns the command that removes a loader of no package, so that the dynamic linker finds that of the system. `real` is the file to which the path
/// leads.
fn removal(path: &Path, real: &Path) -> String {
    let moved = aside(real);
    let configure = if elf::is_found_by_name(path) {
        " && ldconfig"
    } else {
        ""
    };
    let [path, real] = [path, real].map(|path| word(&path.display().to_string()));
    let link = if path == real {
        String::new()
    } else {
        format!(" {path}")
    };
    let command = if real.starts_with(LOCAL) {
        format!("rm {real}{link}")
    } else {
        moved
    };
    format!("{command}{configure}")
}

/// Returns the remedy for a loader that the configuration of the dynamic linker finds before that of the system. The remedy consists of the command that
/// removes the loader, and the loader that programs then get. Returns `None` if the linker finds another loader, or if the system has no other one.
pub(crate) fn before_usual(path: &Path, own: Identity) -> Option<(String, PathBuf)> {
    let folders = usual_folders().map(|folder| Path::new(folder).join(OF_PROGRAMS));
    before(path, &without_variable(OF_PROGRAMS, own)?, folders, own)
}

/// Returns the same as [`before_usual`]. `found` is the loader that the dynamic linker finds, and `usual` has the paths of loaders of the system.
fn before(
    path: &Path,
    found: &Path,
    mut usual: impl Iterator<Item = PathBuf>,
    own: Identity,
) -> Option<(String, PathBuf)> {
    let real = fs::canonicalize(path).ok()?;
    let leads_to = |file: &Path| fs::canonicalize(file).is_ok_and(|file| file == real);
    let is_other = |file: &PathBuf| !leads_to(file) && Identity::of(file) == Some(own);
    let other = usual.find(is_other).filter(|_| leads_to(found))?;
    Some((removal(path, &real), other))
}

/// Folder with files that no package brings.
const LOCAL: &str = "/usr/local/";

/// Returns the remedy that takes the folder of the loader `path` out of `LD_LIBRARY_PATH`, whose value is `folders`. Returns `None` if the
/// variable does not lead to the loader, or if the system has no other loader.
fn away(path: &str, folders: &str, own: Identity) -> Option<String> {
    let real = fs::canonicalize(path).ok()?;
    let leads_to_it = |folder: &&str| {
        let file = Path::new(folder).join(OF_PROGRAMS);
        fs::canonicalize(file).is_ok_and(|found| found == real)
    };
    let folder = folders.split([':', ';']).find(leads_to_it)?;
    let usual = without_variable(&format!("{folder}/{OF_PROGRAMS}"), own)?;
    Some(format!(
        "Take {folder} out of LD_LIBRARY_PATH, so that programs get {}",
        usual.display()
    ))
}

fn is_loader(library: &str) -> bool {
    let file = file_name(library);
    file.strip_prefix(LOADER)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_loader_of_no_package_is_removed_if_another_one_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let (broken, usual) = (folder.path().join("libvulkan.so.1"), folder.path().join("usual.so"));
        fs::write(&broken, "").expect("a file");
        let own = Identity::of_this_process();
        let found = || to_remove(&broken, [broken.clone(), usual.clone()].into_iter(), own);
        assert_eq!(found(), None);
        fs::copy("/proc/self/exe", &usual).expect("a copy");
        let (finding, advice) = found().expect("a remedy");
        assert!(finding.ends_with("usual.so"), "{finding}");
        let real = fs::canonicalize(&broken).expect("a path");
        let aside = real.with_file_name("off.libvulkan.so.1");
        let command = format!(": mv {} {}", real.display(), aside.display());
        assert!(advice.ends_with(&command), "{advice}");
    }

    #[test]
    fn a_loader_that_the_linker_finds_first_is_removed_and_not_linked_to_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        let [own_build, usual] = ["libvulkan.so.1", "usual.so"].map(|name| folder.path().join(name));
        for file in [&own_build, &usual] {
            fs::copy("/proc/self/exe", file).expect("a copy");
        }
        let own = Identity::of_this_process();
        let remedy = |found: &Path, usual: &Path| before(&own_build, found, [usual.to_path_buf()].into_iter(), own);
        let real = fs::canonicalize(&own_build).expect("a path");
        let aside = real.with_file_name("off.libvulkan.so.1");
        let expected = format!("mv {} {}", real.display(), aside.display());
        assert_eq!(remedy(&own_build, &usual), Some((expected, usual.clone())));
        assert!(remedy(&own_build, &own_build).is_none());
        assert!(remedy(&usual, &usual).is_none());
    }
}
