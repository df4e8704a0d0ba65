//! Package managers, and their commands that install libraries.

use super::{LLVM, may_have, packages};
use crate::causes::elf::{self, Identity};
use crate::installed;
use crate::regular;
use rustix::fs::{StatVfsMountFlags, statvfs};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// A package manager, or the way in which a system whose files come in an image adds packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manager {
    Apt,
    Dnf,
    /// Adds packages of Fedora to the image of the next start.
    RpmOstree,
    Zypper,
    /// Adds packages of openSUSE to the snapshot of the next start.
    TransactionalUpdate,
    Apk,
    Pacman,
    /// Adds packages to the system of SteamOS, which is read-only at other times.
    SteamOs,
}

/// Folder with the lists of the packages that a system of Debian can install, relative to the root folder.
const LISTS: &str = "var/lib/apt/lists";

/// Files of systems with a package manager, relative to the root folder. A container does not have the files of an image.
const SIGNS: [(&[&str], Manager); 9] = [
    (&["usr/bin/apt-get"], Manager::Apt),
    (&["run/ostree-booted", "usr/bin/rpm-ostree"], Manager::RpmOstree),
    (&["run/ostree-booted", "usr/bin/dnf"], Manager::RpmOstree),
    (&["usr/bin/dnf"], Manager::Dnf),
    (
        &["usr/sbin/transactional-update", "usr/bin/zypper"],
        Manager::TransactionalUpdate,
    ),
    (&["usr/bin/zypper"], Manager::Zypper),
    (&["sbin/apk"], Manager::Apk),
    (&["usr/bin/steamos-readonly", "usr/bin/pacman"], Manager::SteamOs),
    (&["usr/bin/pacman"], Manager::Pacman),
];
/// Words after a command whose packages are in use after the next start.
const AGAIN: &str = "; then start the machine again";
/// Command that lets SteamOS change, and the rest of the command after the packages.
const ON_STEAMOS: [&str; 2] = [
    "steamos-readonly disable && ",
    " && steamos-readonly enable; an update of SteamOS removes the package",
];

impl Manager {
    /// Returns the package manager of the system whose root folder is `root`.
    pub(super) fn of(root: &Path) -> Option<Self> {
        let flags = statvfs(root.join("usr")).map(|status| status.f_flag);
        Self::found(root, flags.is_ok_and(|flags| flags.contains(StatVfsMountFlags::RDONLY)))
    }

    /// Returns the same as [`Self::of`]. `is_read_only` is `true` if the files of the system cannot be changed. The package of transactional-update can
    /// also be installed on other systems.
    fn found(root: &Path, is_read_only: bool) -> Option<Self> {
        let has_all = |files: &[&str]| files.iter().all(|file| root.join(file).is_file());
        let fits = |manager: Self| is_read_only || manager != Self::TransactionalUpdate;
        let found = SIGNS.iter().find(|(files, manager)| has_all(files) && fits(*manager));
        found.map(|(_, manager)| *manager)
    }

    /// Returns the package manager whose packages this one adds.
    pub(super) fn source(self) -> Self {
        match self {
            Self::RpmOstree => Self::Dnf,
            Self::TransactionalUpdate => Self::Zypper,
            Self::SteamOs => Self::Pacman,
            _ => self,
        }
    }

    /// Returns the command that adds packages. `packages` has their names, with a blank between two names.
    pub(super) fn add(self, packages: &str) -> String {
        match self {
            Self::Apt => format!("apt-get install {packages}"),
            Self::Dnf => format!("dnf install {packages}"),
            Self::RpmOstree => format!("rpm-ostree install {packages}{AGAIN}"),
            Self::Zypper => format!("zypper install {packages}"),
            Self::TransactionalUpdate => format!("transactional-update pkg install {packages}{AGAIN}"),
            Self::Apk => format!("apk add {packages}"),
            Self::Pacman => format!("pacman -S {packages}"),
            Self::SteamOs => {
                let [before, after] = ON_STEAMOS;
                format!("{before}{}{after}", Self::Pacman.add(packages))
            }
        }
    }

    /// Returns the packages of libraries in `libraries` that the lists of the system, whose root folder is `root`, do not contain; empty if the
    /// lists are unknown. Only names with a version differ between the releases of a system.
    pub(super) fn unknown(self, libraries: &[&str], root: &Path) -> Vec<String> {
        let names = libraries.iter().filter(|library| library.starts_with(LLVM));
        let mut names: Vec<String> = names
            .filter_map(|library| Some(packages(library)?[0].clone()))
            .collect();
        let entries = || fs::read_dir(root.join(LISTS)).into_iter().flatten().flatten();
        let files: Vec<PathBuf> = entries()
            .map(|entry| entry.path())
            .filter(|path| path.to_string_lossy().ends_with("_Packages"))
            .collect();
        if self != Self::Apt || files.is_empty() {
            return Vec::new();
        }
        for file in files.iter().filter_map(|file| regular::open(file).ok()) {
            let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
            for line in lines {
                if names.is_empty() {
                    return names;
                }
                if let Some(found) = line.strip_prefix(b"Package: ") {
                    names.retain(|name| name.as_bytes() != found);
                }
            }
        }
        names
    }

    /// Returns the command that installs Mesa's drivers.
    pub(super) fn install_drivers(self) -> String {
        self.add(match self {
            Self::Apt | Self::Dnf | Self::RpmOstree => "mesa-vulkan-drivers",
            Self::Zypper | Self::TransactionalUpdate => "libvulkan_radeon libvulkan_intel libvulkan_lvp",
            Self::Apk => "mesa-vulkan-ati mesa-vulkan-intel mesa-vulkan-swrast",
            Self::Pacman | Self::SteamOs => "vulkan-radeon vulkan-intel vulkan-swrast",
        })
    }

    /// Returns the command that installs the packages with the libraries in `libraries`, for programs with the identity `own`. Returns `None`
    /// without libraries, and for libraries that belong to no package, because their names have no version.
    pub(super) fn install(self, libraries: &[&str], own: Identity) -> Option<String> {
        let libraries: Vec<&str> = libraries.iter().filter(|library| may_have(library)).copied().collect();
        if libraries.is_empty() {
            return None;
        }
        // A package that is installed and lacks the file must be installed again.
        let owners: Vec<String> = libraries
            .iter()
            .filter_map(|library| owner_of_lost(Path::new("/"), library))
            .collect();
        if owners.len() == libraries.len() {
            return Some(self.reinstall(owners));
        }
        Some(match self {
            Self::Apt => return apt(&libraries, own),
            Self::Dnf | Self::RpmOstree | Self::Zypper | Self::TransactionalUpdate => {
                self.add(&capabilities(&libraries, own))
            }
            Self::Apk => {
                let names: Vec<String> = libraries.iter().map(|library| format!("so:{library}")).collect();
                self.add(&names.join(" "))
            }
            Self::Pacman | Self::SteamOs => {
                let names: Option<Vec<String>> = libraries
                    .iter()
                    .map(|library| Some(packages(library)?[2].clone()))
                    .collect();
                match names {
                    Some(names) => self.add(&unique(names)),
                    None => format!("pacman -Fy {} (names the packages)", libraries.join(" ")),
                }
            }
        })
    }
}

impl Manager {
    /// Returns the command that installs packages again whose files are missing.
    pub(super) fn reinstall(self, packages: Vec<String>) -> String {
        // zypper takes the names of packages without their versions.
        let name = |package: String| match self {
            Self::Zypper | Self::TransactionalUpdate => installed::without_version(&package).unwrap_or(package),
            _ => package,
        };
        let names = unique(packages.into_iter().map(name).collect());
        match self {
            Self::Apt => self.add(&format!("--reinstall {names}")),
            Self::Dnf | Self::RpmOstree => format!("dnf reinstall {names}"),
            Self::Zypper | Self::TransactionalUpdate => self.add(&format!("--force {names}")),
            Self::Apk => format!("apk fix --reinstall {names}"),
            Self::Pacman | Self::SteamOs => self.add(&names),
        }
    }
}

/// Returns the installed package that contains a library in a usual folder below `root`, although the file is missing.
pub(super) fn owner_of_lost(root: &Path, library: &str) -> Option<String> {
    let folders = elf::usual_folders().map(|folder| Path::new("/").join(folder));
    let paths: Vec<PathBuf> = folders.map(|folder| folder.join(library)).collect();
    let is_there = |path: &PathBuf| root.join(path.strip_prefix("/").unwrap_or(path)).exists();
    if paths.iter().any(is_there) {
        return None;
    }
    installed::owner_of_lost(root, &paths)
}

/// Returns the names under which packages of RPM provide libraries.
fn capabilities(libraries: &[&str], own: Identity) -> String {
    let word_size = if own.is_x86_32() { "" } else { "()(64bit)" };
    let names = libraries.iter().map(|library| match word_size {
        "" => (*library).to_owned(),
        size => format!("'{library}{size}'"),
    });
    names.collect::<Vec<_>>().join(" ")
}

/// Returns the command for packages of Debian.
fn apt(libraries: &[&str], own: Identity) -> Option<String> {
    let architecture = if own.is_x86_32() { ":i386" } else { "" };
    let names: Option<Vec<String>> = libraries
        .iter()
        .map(|library| Some(format!("{}{architecture}", packages(library)?[0])))
        .collect();
    Some(match names {
        Some(names) => Manager::Apt.add(&unique(names)),
        None => format!(
            "apt-get install apt-file && apt-file update && apt-file search {} (names the packages)",
            libraries.join(" ")
        ),
    })
}

fn unique(mut names: Vec<String>) -> String {
    names.sort();
    names.dedup();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_install_the_packages_of_libraries() {
        let own = Identity::of_this_process();
        let known = ["libxcb.so.1", "libxcb-dri3.so.0"];
        for (manager, libraries, expected) in [
            (Manager::Apk, &known[..], "apk add so:libxcb.so.1 so:libxcb-dri3.so.0"),
            (Manager::Pacman, &known[..], "pacman -S libxcb"),
            (
                Manager::Pacman,
                &["libodd.so.1"],
                "pacman -Fy libodd.so.1 (names the packages)",
            ),
        ] {
            assert_eq!(manager.install(libraries, own).as_deref(), Some(expected));
        }
        if !own.is_x86_32() {
            let command = Manager::Dnf.install(&known[..1], own);
            assert_eq!(command.as_deref(), Some("dnf install 'libxcb.so.1()(64bit)'"));
        }
        let command = Manager::Apt.install(&["libodd.so.1"], own).expect("a command");
        assert!(command.contains("apt-file search libodd.so.1"), "{command}");
        assert_eq!(Manager::Apt.install(&["libodd.so"], own), None);
    }

    #[test]
    fn each_package_manager_installs_a_package_again() {
        for (manager, package, expected) in [
            (Manager::Apt, "a:amd64", "apt-get install --reinstall a:amd64"),
            (Manager::Dnf, "a-1-2.x86_64", "dnf reinstall a-1-2.x86_64"),
            (Manager::Zypper, "a-b-1-2.x86_64", "zypper install --force a-b"),
            (
                Manager::TransactionalUpdate,
                "a-b-1-2.x86_64",
                "transactional-update pkg install --force a-b; then start the machine again",
            ),
            (Manager::Apk, "a", "apk fix --reinstall a"),
            (Manager::Pacman, "a", "pacman -S a"),
        ] {
            assert_eq!(manager.reinstall(vec![package.into(), package.into()]), expected);
        }
    }

    #[test]
    fn a_package_that_the_lists_of_the_system_lack_is_named() {
        let root = tempfile::tempdir().expect("a folder");
        let libraries = ["libLLVM-15.so.1", "libLLVM.so.19.1", "libxcb.so.1"];
        assert!(Manager::Apt.unknown(&libraries, root.path()).is_empty());
        let lists = root.path().join(LISTS);
        fs::create_dir_all(&lists).expect("folders");
        fs::write(
            lists.join("x_main_binary-amd64_Packages"),
            "Package: libllvm19\nVersion: 1\n\nPackage: zlib1g\n",
        )
        .expect("a file");
        assert_eq!(Manager::Apt.unknown(&libraries, root.path()), ["libllvm15"]);
        assert!(Manager::Dnf.unknown(&libraries, root.path()).is_empty());
    }

    #[test]
    fn the_package_manager_is_known_by_its_program() {
        let root = tempfile::tempdir().expect("a folder");
        assert_eq!(Manager::of(root.path()), None);
        fs::create_dir_all(root.path().join("usr/bin")).expect("folders");
        fs::write(root.path().join("usr/bin/zypper"), "").expect("a file");
        assert_eq!(Manager::of(root.path()), Some(Manager::Zypper));
    }

    #[test]
    fn a_system_in_an_image_adds_packages_with_its_own_command() {
        for (program, sign, command) in [
            (
                "usr/bin/dnf",
                "run/ostree-booted",
                "rpm-ostree install a; then start the machine again",
            ),
            (
                "usr/bin/rpm-ostree",
                "run/ostree-booted",
                "rpm-ostree install a; then start the machine again",
            ),
            (
                "usr/bin/zypper",
                "usr/sbin/transactional-update",
                "transactional-update pkg install a; then start the machine again",
            ),
            (
                "usr/bin/pacman",
                "usr/bin/steamos-readonly",
                "steamos-readonly disable && pacman -S a && steamos-readonly enable; an update of SteamOS removes the package",
            ),
        ] {
            let root = tempfile::tempdir().expect("a folder");
            for file in [program, sign] {
                let file = root.path().join(file);
                fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
                fs::write(file, "").expect("a file");
            }
            let manager = Manager::found(root.path(), true).expect("a package manager");
            assert_eq!(manager.add("a"), command);
            let is_certain = Manager::found(root.path(), false) == Some(manager);
            assert_eq!(is_certain, manager != Manager::TransactionalUpdate);
            fs::remove_file(root.path().join(sign)).expect("a file");
            let usual = Manager::of(root.path());
            assert_eq!(
                usual,
                Some(manager.source()).filter(|_| program != "usr/bin/rpm-ostree")
            );
        }
    }
}
