//! Findings about a loader that a program gets in place of the system's loader, and that fails or is older.

use super::other::NAME;
use super::{Dropped, OtherLoader, Report, codes, rank};
use crate::causes::elf::usual_folders;
use crate::names;
use crate::other::Other;
use crate::shell::{aside, word};
use std::path::Path;

/// Returns a finding if the loader of the program belongs to no package, and fails or is older than the system's loader.
pub(super) fn find(report: &Report, other: &Other, described: &OtherLoader) -> Option<Dropped> {
    let path = described.path.as_deref().filter(|_| described.owner.is_none())?;
    let folders = usual_folders().map(Path::new);
    let usual = folders.map(|folder| folder.join(NAME)).find(|path| path.exists())?;
    let usual = std::fs::canonicalize(usual).ok()?;
    let own = std::fs::canonicalize(path).ok()?;
    if own == usual {
        return None;
    }
    let mut found = codes::LOADER_FAILED.about(path);
    let failed = other.seen.instance.filter(|&code| code < 0 && report.is_usable());
    if let Some(code) = failed {
        found.reason = "The program has a Vulkan loader of its own, which fails, but another loader works.".into();
        found.findings = [format!(
            "vkCreateInstance returned {} with that loader",
            names::result(code)
        )]
        .into();
    } else if is_older(&own, described.version.as_deref(), &usual) {
        found.reason = format!("Programs get an old Vulkan loader before that of the system: {path}.");
        found.rank = rank::CONSEQUENCE;
        let version = described.version.as_deref();
        found
            .findings
            .extend(version.map(|version| format!("its version: {version}")));
    } else {
        return None;
    }
    found
        .findings
        .push(format!("the loader of the system: {}", usual.display()));
    let folder = Path::new(path).parent().and_then(Path::to_str).unwrap_or_default();
    let by_variable = report.variables.get(FOLDERS);
    let is_listed = by_variable.is_some_and(|folders| folders.split(':').any(|one| one == folder));
    found.advice = if is_listed {
        found.variable = Some(FOLDERS.into());
        format!("Take {folder} out of {FOLDERS}, or: unset {FOLDERS}")
    } else {
        to_remove(Path::new(path), &own, report.runs_in(&["flatpak"]))
    };
    Some(found)
}

/// Folders whose files only a package manager writes: of Nix, Guix and Snap.
const FIXED: [&str; 3] = ["/nix/store", "/gnu/store", "/snap"];
/// Folder of the program in a sandbox of Flatpak. In other containers, it is an ordinary folder.
const OF_FLATPAK: &str = "/app";

/// Variable with the folders that the dynamic linker searches first.
const FOLDERS: &str = "LD_LIBRARY_PATH";

/// Returns the remedy for a loader of no package that programs find by the path `path`. `own` is the file to which the path leads.
/// `is_flatpak` is `true` in a sandbox of Flatpak.
fn to_remove(path: &Path, own: &Path, is_flatpak: bool) -> String {
    let is_fixed = FIXED.iter().any(|folder| own.starts_with(folder)) || is_flatpak && own.starts_with(OF_FLATPAK);
    if own.starts_with("/usr/local") {
        format!(
            "Remove this loader, which belongs to no package: rm {} && ldconfig",
            names_of(path, own)
        )
    } else if is_fixed {
        "Update the program, which brings this loader in a folder that cannot be changed.".into()
    } else {
        format!("Let the program use the loader of the system: {}", aside(own))
    }
}

/// Returns the names of a loader, in the form of arguments of a command: its path, and the file to which the path leads.
fn names_of(path: &Path, file: &Path) -> String {
    let mut names = vec![word(&path.display().to_string()), word(&file.display().to_string())];
    names.dedup();
    names.join(" ")
}

/// Returns `true` if the loader `own` is older than the loader `usual`. The loader `own` reports `reported` as its version of Vulkan.
fn is_older(own: &Path, reported: Option<&str>, usual: &Path) -> bool {
    let own = version(own).or_else(|| numbers(reported?));
    own.zip(version(usual)).is_some_and(|(own, usual)| own < usual)
}

/// Returns the version at the end of the name of a library; `None` for a name without the whole version.
fn version(path: &Path) -> Option<Vec<u32>> {
    let name = path.file_name()?.to_str()?;
    numbers(name.split_once(".so.")?.1)
}

/// Returns the numbers of a whole version.
fn numbers(version: &str) -> Option<Vec<u32>> {
    let numbers: Option<Vec<u32>> = version.split('.').map(|number| number.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() > 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_in_a_store_of_a_package_manager_stays_there() {
        for (path, is_flatpak, advice) in [
            (
                "/nix/store/1-vulkan-loader/lib/libvulkan.so.1",
                false,
                "Update the program",
            ),
            ("/opt/game/libvulkan.so.1", false, "Let the program use"),
            ("/usr/local/lib/libvulkan.so.1", false, "Remove this loader"),
            ("/app/lib/libvulkan.so.1", true, "Update the program"),
            ("/app/lib/libvulkan.so.1", false, "Let the program use"),
        ] {
            assert!(
                to_remove(Path::new(path), Path::new(path), is_flatpak).starts_with(advice),
                "{path}"
            );
        }
    }

    #[test]
    fn versions_of_libraries_are_compared_by_numbers() {
        let of = |name: &str| version(Path::new(name));
        assert!(of("/l/libvulkan.so.1.2.162") < of("/usr/lib/libvulkan.so.1.3.9"));
        assert!(of("/l/libvulkan.so.1.3.10") > of("/l/libvulkan.so.1.3.9"));
        let is_older = |own: &str, reported| is_older(Path::new(own), reported, Path::new("/u/libvulkan.so.1.4.363"));
        assert!(is_older("/usr/local/lib/libvulkan.so.1", Some("1.2.162")));
        assert!(!is_older("/usr/local/lib/libvulkan.so.1", Some("1.4.366")));
        assert!(!is_older("/usr/local/lib/libvulkan.so.1", None));
        assert_eq!((of("/l/libvulkan.so"), of("/l/libvulkan.so.1")), (None, None));
    }
}
