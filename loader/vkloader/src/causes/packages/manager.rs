//! Package managers, and their commands that install libraries.

use super::{LLVM, packages};
use crate::causes::elf::{self, Identity};
use crate::installed;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// A package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manager {
    Apt,
    Dnf,
    Zypper,
    Apk,
    Pacman,
}

/// Folder with the lists of the packages that a system of Debian can install, relative to the root folder.
const LISTS: &str = "var/lib/apt/lists";

/// Programs of package managers, relative to the root folder.
const PROGRAMS: [(&str, Manager); 5] = [
    ("usr/bin/apt-get", Manager::Apt),
    ("usr/bin/dnf", Manager::Dnf),
    ("usr/bin/zypper", Manager::Zypper),
    ("sbin/apk", Manager::Apk),
    ("usr/bin/pacman", Manager::Pacman),
];

impl Manager {
    /// Returns the package manager of the system whose root folder is `root`.
    pub(super) fn of(root: &Path) -> Option<Self> {
        let mut known = PROGRAMS.iter();
        known
            .find(|(program, _)| root.join(program).is_file())
            .map(|(_, manager)| *manager)
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
        for file in files.iter().filter_map(|file| File::open(file).ok()) {
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
    pub(super) fn install_drivers(self) -> &'static str {
        match self {
            Self::Apt => "apt-get install mesa-vulkan-drivers",
            Self::Dnf => "dnf install mesa-vulkan-drivers",
            Self::Zypper => "zypper install libvulkan_radeon libvulkan_intel libvulkan_lvp",
            Self::Apk => "apk add mesa-vulkan-ati mesa-vulkan-intel mesa-vulkan-swrast",
            Self::Pacman => "pacman -S vulkan-radeon vulkan-intel vulkan-swrast",
        }
    }

    /// Returns the command that installs the packages with the libraries in `libraries`, for programs with the identity `own`. Returns `None`
    /// without libraries, and for libraries that belong to no package, because their names have no version.
    pub(super) fn install(self, libraries: &[&str], own: Identity) -> Option<String> {
        let versioned = |library: &&&str| library.contains(".so.") || packages(library).is_some();
        let libraries: Vec<&str> = libraries.iter().filter(versioned).copied().collect();
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
            Self::Dnf => format!("dnf install {}", capabilities(&libraries, own)),
            Self::Zypper => format!("zypper install {}", capabilities(&libraries, own)),
            Self::Apk => {
                let names: Vec<String> = libraries.iter().map(|library| format!("so:{library}")).collect();
                format!("apk add {}", names.join(" "))
            }
            Self::Pacman => {
                let names: Option<Vec<String>> = libraries
                    .iter()
                    .map(|library| Some(packages(library)?[2].clone()))
                    .collect();
                match names {
                    Some(names) => format!("pacman -S {}", unique(names)),
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
            Self::Zypper => installed::without_version(&package).unwrap_or(package),
            _ => package,
        };
        let names = unique(packages.into_iter().map(name).collect());
        let command = match self {
            Self::Apt => "apt-get install --reinstall",
            Self::Dnf => "dnf reinstall",
            Self::Zypper => "zypper install --force",
            Self::Apk => "apk fix --reinstall",
            Self::Pacman => "pacman -S",
        };
        format!("{command} {names}")
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
        Some(names) => format!("apt-get install {}", unique(names)),
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
        std::fs::create_dir_all(root.path().join("usr/bin")).expect("folders");
        std::fs::write(root.path().join("usr/bin/zypper"), "").expect("a file");
        assert_eq!(Manager::of(root.path()), Some(Manager::Zypper));
    }
}
