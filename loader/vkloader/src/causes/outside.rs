//! Adapts remedies to files that cannot be changed where the program runs: files that a container gets from outside, and files in file systems that
//! are mounted read-only.

use super::elf::IF_REMOVED;
use super::packages::INSTALL;
use crate::mounts::Mounts;
use crate::paths::file_name;
use crate::report::{Dropped, Report, rank};
use crate::shell::word;
use rustix::fs::StatVfsMountFlags;
use std::fs;
use std::path::{Path, PathBuf};

/// Beginnings of commands and sentences in remedies that change a file.
const CHANGES: [&str; 7] = [
    "rm ",
    "mv ",
    "chmod ",
    "ldconfig",
    "einstall",
    "Correct library_path",
    "apt-get install --reinstall",
];

/// Names the mount in remedies that change a file that comes from outside.
pub(super) fn complete(report: &mut Report) {
    let is_inside = report.gets_files_of_host();
    let mounts = Mounts::of_this_process();
    for dropped in report.dropped.iter_mut().filter(|one| one.rank < rank::ASIDE) {
        if !changes_file(&dropped.advice) {
            continue;
        }
        let names = [Some(dropped.name.clone()), dropped.file.clone()];
        let place = names.into_iter().flatten().find_map(|name| Place::of(&name, &mounts));
        if let Some(place) = place.filter(|place| place.is_read_only || is_inside && !place.is_of_container) {
            place.adapt(dropped, is_inside);
        }
    }
}

/// Returns `true` if a remedy changes the file that the finding is about. A remedy that installs missing libraries adds other files.
fn changes_file(advice: &str) -> bool {
    !advice.starts_with(INSTALL) && CHANGES.iter().any(|words| advice.contains(words))
}

/// The mount that contains a file.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    path: PathBuf,
    mount: PathBuf,
    is_read_only: bool,
    /// `true` for a mount that belongs to the container itself: its root, and file systems that only the container writes.
    is_of_container: bool,
}

impl Place {
    /// Returns the mount of the file `name`. Returns `None` for a name without a path, and for a file that does not exist.
    fn of(name: &str, mounts: &Mounts) -> Option<Self> {
        let path = fs::canonicalize(Some(name).filter(|name| name.starts_with('/'))?).ok()?;
        let mount = mounts.holding(&path)?;
        let is_own = mount.is_of_container();
        let flags = rustix::fs::statvfs(&path).ok()?.f_flag;
        Some(Self {
            path,
            is_of_container: mount.point == Path::new("/") || is_own,
            mount: mount.point.clone(),
            is_read_only: flags.contains(StatVfsMountFlags::RDONLY),
        })
    }

    /// Replaces the remedy of a finding, because the file cannot be changed here.
    fn adapt(&self, dropped: &mut Dropped, is_inside: bool) {
        let (path, mount) = (self.path.display(), self.mount.display());
        let (how, where_to) = match (self.is_read_only, is_inside) {
            (true, true) => (
                "read-only from outside of the container",
                "on the host, or mount another file there",
            ),
            (false, true) => (
                "from outside of the container",
                "on the host, or mount another file there",
            ),
            (_, false) => ("read-only", "where it comes from"),
        };
        dropped
            .findings
            .push(format!("{path} is in {mount}, which is mounted {how}"));
        let manifest = [Some(dropped.name.as_str()), dropped.file.as_deref()];
        let manifest = manifest.into_iter().flatten().find(|name| name.ends_with(".json"));
        let is_driver = dropped.subject.starts_with("driver");
        let file = manifest.filter(|_| is_driver).map(file_name);
        let leave_out = file.map_or(String::new(), |file| {
            format!("; to ignore it here: VK_LOADER_DRIVERS_DISABLE={} PROGRAM", word(file))
        });
        let advice = dropped.advice.split(IF_REMOVED).next().unwrap_or_default();
        dropped.advice = format!(
            "{mount} is mounted {how}, so make the change {where_to}: {}{leave_out}",
            advice.trim_end_matches('.')
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::codes;

    #[test]
    fn libraries_are_installed_beside_a_mount() {
        let reinstall = "apt-get install --reinstall libx11-6";
        assert!(!changes_file(&format!("{INSTALL} libX11.so.6: {reinstall}.")));
        assert!(changes_file(&format!("Reinstall the driver: {reinstall}.")));
    }

    #[test]
    fn a_file_of_a_mount_is_changed_outside() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("a path");
        let manifest = root.join("card.json");
        fs::write(&manifest, "{}").expect("a file");
        let mounts = format!(
            "1 0 0:1 / / rw - ext4 a rw\n2 1 0:2 / {} ro - ext4 b rw\n",
            root.display()
        );
        let name = manifest.display().to_string();
        let place = |name: &str, mounts: &str| Place::of(name, &Mounts::parse(mounts.as_bytes()));
        let mut own = place(&name, &mounts).expect("a mount");
        assert_eq!((&own.path, &own.mount), (&manifest, &root));
        assert_eq!(place("libdriver.so", &mounts), None);
        assert!(!own.is_of_container);
        // A container with an overlay for a folder below its root changes only its own files there.
        let overlay = mounts.replace("ext4 b", "overlay overlay");
        assert!(place(&name, &overlay).is_some_and(|place| place.is_of_container));
        let part = overlay.replace("0:2 /", "0:2 /part");
        assert!(place(&name, &part).is_some_and(|place| !place.is_of_container));
        own.is_read_only = true;
        let mut dropped = codes::LOADER_REFUSES_MANIFEST.about(&name);
        dropped.advice = format!("Remove the file: rm {name}.");
        own.adapt(&mut dropped, true);
        let start = format!("{} is mounted read-only from outside of the container", root.display());
        assert!(dropped.advice.starts_with(&start), "{}", dropped.advice);
        assert!(
            dropped.advice.ends_with("VK_LOADER_DRIVERS_DISABLE=card.json PROGRAM"),
            "{}",
            dropped.advice
        );
    }
}
