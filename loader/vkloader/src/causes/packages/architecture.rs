//! Commands that install what programs for another architecture need: a C library, the Vulkan loader, and drivers.

use super::manager::Manager;
use crate::causes::elf::Identity;
use crate::regular;
use std::path::Path;

/// Parts of a system that programs need.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    CLibrary,
    Loader,
    Drivers,
}

/// List of the architectures that dpkg may install beside its own one, relative to the root folder.
const ARCHITECTURES: &str = "var/lib/dpkg/arch";

/// Folder that exists if NVIDIA's kernel module is loaded, relative to the root folder.
const NVIDIA: &str = "proc/driver/nvidia";

/// Returns the command that installs `parts` for programs with the identity `its`, on the system whose root folder is `root`. Returns `None`
/// if the package manager is unknown, or has no packages for such programs.
pub(crate) fn install(parts: &[Part], its: Identity, root: &Path) -> Option<String> {
    let manager = Manager::of(root)?;
    let source = manager.source();
    let names = parts.iter().map(|part| packages(source, *part, its.is_x86_32()));
    let names: Option<Vec<&[&str]>> = names.collect();
    let names = names?.concat();
    let command = match manager {
        Manager::Apt => {
            let architecture = its.debian_architecture()?;
            let known = regular::text(root.join(ARCHITECTURES)).unwrap_or_default();
            let first = if known.lines().any(|line| line == architecture) {
                String::new()
            } else {
                format!("dpkg --add-architecture {architecture} && apt-get update && ")
            };
            let names: Vec<String> = names.iter().map(|name| format!("{name}:{architecture}")).collect();
            format!("{first}{}", manager.add(&names.join(" ")))
        }
        Manager::Dnf | Manager::RpmOstree | Manager::Zypper | Manager::TransactionalUpdate | Manager::SteamOs => {
            manager.add(&names.join(" "))
        }
        Manager::Pacman => format!("pacman -Sy {} (with [multilib] in /etc/pacman.conf)", names.join(" ")),
        Manager::Apk => return None,
    };
    let has_nvidia = parts.iter().any(|part| matches!(part, Part::Drivers)) && root.join(NVIDIA).exists();
    Some(if has_nvidia {
        format!("{command}; and of NVIDIA's driver the {}", of_nvidia(source))
    } else {
        command
    })
}

/// Returns the remedy that installs NVIDIA's driver for programs with the identity `its`. Returns `None` if the package manager is unknown, or has no
/// such packages.
pub(crate) fn install_nvidias(its: Identity, root: &Path) -> Option<String> {
    let manager = Manager::of(root).filter(|manager| its.is_x86_32() && !matches!(manager, Manager::Apk))?;
    Some(format!(
        "Install NVIDIA's driver for such programs, in the version of the other one: {}.",
        of_nvidia(manager.source())
    ))
}

/// Returns the packages with a part of the system, without the architecture for the systems of Debian. Returns `None` for packages that the
/// manager does not have.
fn packages(manager: Manager, part: Part, is_x86_32: bool) -> Option<&'static [&'static str]> {
    if manager != Manager::Apt && !is_x86_32 {
        return None;
    }
    Some(match (manager, part) {
        (Manager::Apt, Part::CLibrary) => &["libc6"],
        (Manager::Apt, Part::Loader) => &["libvulkan1"],
        (Manager::Apt, Part::Drivers) => &["mesa-vulkan-drivers"],
        (Manager::Dnf, Part::CLibrary) => &["glibc.i686"],
        (Manager::Dnf, Part::Loader) => &["vulkan-loader.i686"],
        (Manager::Dnf, Part::Drivers) => &["mesa-vulkan-drivers.i686"],
        (Manager::Zypper, Part::CLibrary) => &["glibc-32bit"],
        (Manager::Zypper, Part::Loader) => &["libvulkan1-32bit"],
        (Manager::Zypper, Part::Drivers) => &["libvulkan_radeon-32bit", "libvulkan_intel-32bit"],
        (Manager::Pacman, Part::CLibrary) => &["lib32-glibc"],
        (Manager::Pacman, Part::Loader) => &["lib32-vulkan-icd-loader"],
        (Manager::Pacman, Part::Drivers) => &["lib32-vulkan-radeon", "lib32-vulkan-intel"],
        _ => return None,
    })
}

/// Returns the packages of NVIDIA's driver for 32-bit programs.
fn of_nvidia(manager: Manager) -> &'static str {
    match manager {
        Manager::Apt => "package nvidia-driver-libs:i386 (Debian) or libnvidia-gl-SERIES:i386 (Ubuntu)",
        Manager::Pacman => "package lib32-nvidia-utils",
        Manager::Dnf => "package xorg-x11-drv-nvidia-libs.i686",
        _ => "package for 32-bit programs in the same version",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::elf::Class;
    use std::fs;

    #[test]
    fn packages_for_32_bit_programs_come_as_a_command() {
        let its = Identity::of_this_process().with_class(Class::Bits32);
        if !its.is_x86_32() {
            return;
        }
        for (program, expected) in [
            (
                "usr/bin/apt-get",
                "dpkg --add-architecture i386 && apt-get update && apt-get install libc6:i386 libvulkan1:i386",
            ),
            ("usr/bin/dnf", "dnf install glibc.i686 vulkan-loader.i686"),
            ("usr/bin/zypper", "zypper install glibc-32bit libvulkan1-32bit"),
            (
                "usr/bin/pacman",
                "pacman -Sy lib32-glibc lib32-vulkan-icd-loader (with [multilib] in /etc/pacman.conf)",
            ),
        ] {
            let root = tempfile::tempdir().expect("a folder");
            for folder in ["usr/bin", "var/lib/dpkg", NVIDIA] {
                fs::create_dir_all(root.path().join(folder)).expect("folders");
            }
            fs::write(root.path().join(program), "").expect("a file");
            let command = install(&[Part::CLibrary, Part::Loader], its, root.path());
            assert_eq!(command.as_deref(), Some(expected));
            fs::write(root.path().join(ARCHITECTURES), "amd64\ni386\n").expect("a file");
            let command = install(&[Part::Drivers], its, root.path()).expect("a command");
            assert!(
                !command.contains("--add-architecture") && command.contains("NVIDIA"),
                "{command}"
            );
            let alone = install_nvidias(its, root.path()).expect("a remedy");
            assert!(alone.contains("NVIDIA") && !alone.contains("mesa"), "{alone}");
        }
    }
}
