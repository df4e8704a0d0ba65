//! Packages with the libraries that drivers most often lack.

mod architecture;
mod manager;

use super::elf::{self, Identity};
use crate::installed;
use crate::paths::file_name;
use crate::regular;
pub(crate) use architecture::{Part, install as install_for, install_nvidias};
use manager::Manager;
use std::path::Path;

/// A library, and its packages: in Debian and Ubuntu, in Fedora, and in Arch.
const PACKAGES: [(&str, [&str; 3]); 36] = [
    ("libEGL.so.1", ["libegl1", "libglvnd-egl", "libglvnd"]),
    ("libGLX.so.0", ["libglx0", "libglvnd-glx", "libglvnd"]),
    ("libGLdispatch.so.0", ["libglvnd0", "libglvnd", "libglvnd"]),
    ("libGL.so.1", ["libgl1", "libglvnd-glx", "libglvnd"]),
    ("libX11.so.6", ["libx11-6", "libX11", "libx11"]),
    ("libX11-xcb.so.1", ["libx11-xcb1", "libX11-xcb", "libx11"]),
    ("libXext.so.6", ["libxext6", "libXext", "libxext"]),
    ("libxcb.so.1", ["libxcb1", "libxcb", "libxcb"]),
    ("libxcb-dri3.so.0", ["libxcb-dri3-0", "libxcb", "libxcb"]),
    ("libxcb-present.so.0", ["libxcb-present0", "libxcb", "libxcb"]),
    ("libxshmfence.so.1", ["libxshmfence1", "libxshmfence", "libxshmfence"]),
    (
        "libwayland-client.so.0",
        ["libwayland-client0", "libwayland-client", "wayland"],
    ),
    ("libdrm.so.2", ["libdrm2", "libdrm", "libdrm"]),
    ("libdrm_amdgpu.so.1", ["libdrm-amdgpu1", "libdrm", "libdrm"]),
    ("libdrm_intel.so.1", ["libdrm-intel1", "libdrm", "libdrm"]),
    ("libelf.so.1", ["libelf1", "elfutils-libelf", "libelf"]),
    ("libexpat.so.1", ["libexpat1", "expat", "expat"]),
    ("libgcc_s.so.1", ["libgcc-s1", "libgcc", "gcc-libs"]),
    ("libstdc++.so.6", ["libstdc++6", "libstdc++", "gcc-libs"]),
    ("libudev.so.1", ["libudev1", "systemd-libs", "systemd-libs"]),
    ("libxcb-randr.so.0", ["libxcb-randr0", "libxcb", "libxcb"]),
    ("libxcb-shm.so.0", ["libxcb-shm0", "libxcb", "libxcb"]),
    ("libxcb-sync.so.1", ["libxcb-sync1", "libxcb", "libxcb"]),
    ("libxcb-xfixes.so.0", ["libxcb-xfixes0", "libxcb", "libxcb"]),
    ("libXau.so.6", ["libxau6", "libXau", "libxau"]),
    ("libXdmcp.so.6", ["libxdmcp6", "libXdmcp", "libxdmcp"]),
    ("libxcb-glx.so.0", ["libxcb-glx0", "libxcb", "libxcb"]),
    ("libgbm.so.1", ["libgbm1", "mesa-libgbm", "mesa"]),
    ("libOpenGL.so.0", ["libopengl0", "libglvnd-opengl", "libglvnd"]),
    ("libGLESv2.so.2", ["libgles2", "libglvnd-gles", "libglvnd"]),
    ("libedit.so.2", ["libedit2", "libedit", "libedit"]),
    ("libtinfo.so.6", ["libtinfo6", "ncurses-libs", "ncurses"]),
    ("libffi.so.8", ["libffi8", "libffi", "libffi"]),
    ("libsensors.so.5", ["libsensors5", "lm_sensors-libs", "lm_sensors"]),
    ("libz.so.1", ["zlib1g", "zlib", "zlib"]),
    ("libzstd.so.1", ["libzstd1", "libzstd", "zstd"]),
];

/// Beginning of the remedy for missing libraries.
pub(super) const INSTALL: &str = "Install the packages that bring";
/// Beginning of the names of libraries whose package names contain the version, for example `libLLVM-15.so.1` and `libLLVM.so.18.1`.
const LLVM: &str = "libLLVM";
/// Beginnings of the names of NVIDIA's libraries, which must all have the same version.
const NVIDIA: [&str; 3] = ["libnvidia-", "libGLX_nvidia.so", "libEGL_nvidia.so"];

/// Returns the packages that contain a library; `None` if they are unknown.
fn packages(library: &str) -> Option<[String; 3]> {
    if let Some(rest) = library.strip_prefix(LLVM) {
        let digits = rest.trim_start_matches(['-', '.']).trim_start_matches("so.");
        let end = digits
            .find(|digit: char| !digit.is_ascii_digit())
            .unwrap_or(digits.len());
        let version = &digits[..end];
        return (!version.is_empty()).then(|| {
            [
                format!("libllvm{version}"),
                format!("llvm{version}-libs"),
                format!("llvm{version}-libs"),
            ]
        });
    }
    let (_, names) = PACKAGES.iter().find(|(name, _)| *name == library)?;
    Some(names.map(String::from))
}

/// Returns a sentence with the packages that contain the libraries in `libraries`, as a command if the package manager of the system is known.
pub(crate) fn install(libraries: &[&str], own: Identity) -> String {
    let mut advice = format!("{INSTALL} {}", libraries.join(", "));
    let manager = manager::Manager::of(Path::new("/"));
    let unknown = manager.map_or_else(Vec::new, |manager| manager.unknown(libraries, Path::new("/")));
    if !unknown.is_empty() {
        return format!(
            "{}, because this system has no package {}.",
            elf::FOR_ANOTHER_SYSTEM,
            unknown.join(", ")
        );
    }
    let of_nvidia = libraries.iter().find(|library| is_nvidias(library));
    let others: Vec<&str> = libraries
        .iter()
        .copied()
        .filter(|library| !is_nvidias(library))
        .collect();
    match manager.and_then(|manager| manager.install(&others, own)) {
        Some(command) => advice += &format!(": {command}"),
        None => advice += &in_words(&others),
    }
    advice += ".";
    if libraries.iter().any(|library| library.starts_with(LLVM)) {
        advice += " If no package has this version of LLVM, update the driver, which was built for this version.";
    }
    if let Some(library) = of_nvidia {
        advice += &format!(" {}", for_nvidia(library, Path::new("/")));
    }
    advice
}

/// Returns `false` for a library that no package has, as far as its name shows: the name has no version, and no installed package lost such a file.
pub(super) fn may_have(library: &str) -> bool {
    library.contains(".so.") || packages(library).is_some() || manager::owner_of_lost(Path::new("/"), library).is_some()
}

/// Returns the remedy for drivers that are missing although their packages are installed on the system whose root folder is `root`. `drivers` are
/// names of libraries up to `.so`. Returns `None` if no installed package contains one of them.
pub(super) fn reinstall(root: &Path, drivers: &[&str]) -> Option<String> {
    let manager = manager::Manager::of(root)?;
    let files = drivers
        .iter()
        .map(|name| format!("{name}.so{}", if is_nvidias(&format!("{name}.so")) { ".0" } else { "" }));
    let owners: Vec<String> = files.filter_map(|file| manager::owner_of_lost(root, &file)).collect();
    let command = (!owners.is_empty()).then(|| manager.reinstall(owners))?;
    Some(format!(
        "Install the package of the driver again, whose files are missing although it is installed: {command}"
    ))
}

/// Returns the names of the packages that contain the libraries, for common distributions; empty if no package is known.
fn in_words(libraries: &[&str]) -> String {
    let known: Vec<[String; 3]> = libraries.iter().filter_map(|library| packages(library)).collect();
    let of = |system: usize| {
        let mut names: Vec<&str> = known.iter().map(|packages| packages[system].as_str()).collect();
        names.dedup();
        names.join(" ")
    };
    if known.is_empty() {
        return String::new();
    }
    format!(": {} (Debian, Ubuntu), {} (Fedora), {} (Arch)", of(0), of(1), of(2))
}

/// Returns the remedy that installs Mesa's drivers, with the command of this system if it is known.
pub(super) fn install_drivers() -> String {
    match Manager::of(Path::new("/")) {
        Some(manager) => manager.install_drivers(),
        None => "install mesa-vulkan-drivers (Debian, Ubuntu, Fedora), or vulkan-radeon, vulkan-intel or vulkan-swrast (Arch)".into(),
    }
}

/// Returns `true` for the library of NVIDIA's driver at a path, and for libraries that it needs.
pub(crate) fn is_of_nvidia(path: &str) -> bool {
    let file = file_name(path);
    is_nvidias(file) || catalogue::hardware::of(path.as_bytes()).is_some_and(|row| row.on_demand_vendor != 0)
}

/// Returns `true` for a library of NVIDIA's driver.
fn is_nvidias(library: &str) -> bool {
    NVIDIA.iter().any(|beginning| library.starts_with(beginning))
}

/// Returns the remedy that installs the package of a file again, with the command if it is known. Returns `None` if the file belongs to no
/// package.
pub(crate) fn to_reinstall(file: &str) -> Option<String> {
    let owner = installed::owner(file)?;
    let command = again(&owner).map_or_else(String::new, |command| format!(": {command}"));
    Some(format!("reinstall the {owner}, which brings {file}{command}"))
}

/// Returns the remedy that brings back a missing file of an installed package. Returns `None` if no installed package has the file.
pub(super) fn to_restore(file: &Path) -> Option<String> {
    let owner = installed::owner_of_lost(Path::new("/"), &[file.to_path_buf()])?;
    let command = Manager::of(Path::new("/")).map(|manager| manager.reinstall(vec![owner.clone()]));
    let command = command.map_or_else(String::new, |command| format!(": {command}"));
    Some(format!(
        "reinstall the package {owner}, which brings {}{command}",
        file.display()
    ))
}

/// Returns the command that installs a package again, given in the words of [`installed::owner`].
pub(super) fn again(owner: &str) -> Option<String> {
    let package = owner.strip_prefix("package ")?;
    let manager = Manager::of(Path::new("/"))?;
    // The answers of apk have the version in the name of the package, which its command does not accept.
    let name = match manager {
        Manager::Apk => installed::without_version(package)?,
        _ => package.into(),
    };
    Some(manager.reinstall(vec![name]))
}

/// Returns the remedy for NVIDIA's driver without its library `library`; `None` for a library of others.
pub(super) fn nvidias(library: &str) -> Option<String> {
    is_nvidias(library).then(|| for_nvidia(library, Path::new("/")))
}

/// Packages of Debian with libraries of NVIDIA's driver, by the beginnings of the names of the libraries.
const OF_DEBIAN: [(&str, &str); 4] = [
    ("libEGL_nvidia.so", "libegl-nvidia0"),
    ("libGLX_nvidia.so", "libglx-nvidia0"),
    ("libnvidia-glvkspirv.so", "libnvidia-glvkspirv"),
    ("libnvidia-", "libnvidia-glcore libnvidia-eglcore"),
];

/// Programs that NVIDIA's own installer leaves in the system, relative to the root folder.
const OF_INSTALLER: [&str; 2] = ["usr/bin/nvidia-uninstall", "usr/bin/nvidia-installer"];

/// Returns the remedy for NVIDIA's driver without the library `library`, on the system whose root folder is `root`.
fn for_nvidia(library: &str, root: &Path) -> String {
    let text = |path: &str| regular::text(root.join(path)).unwrap_or_default();
    let module = text("proc/driver/nvidia/version");
    let is_version = |word: &&str| word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let of_name = library
        .split_once(".so.")
        .map(|(_, version)| version)
        .filter(is_version);
    let version = of_name
        .or_else(|| module.split_whitespace().find(is_version))
        .unwrap_or_default();
    let release = text("etc/os-release");
    let is = |id: &str| release.lines().any(|line| line == format!("ID={id}"));
    let series = version.split('.').next().filter(|series| !series.is_empty());
    // NVIDIA's own installer belongs to no package, and a package beside it would have another version.
    if OF_INSTALLER.iter().any(|program| root.join(program).exists()) {
        let version_of_file = if version.is_empty() { "VERSION" } else { version };
        let file = format!("NVIDIA-Linux-{}-{version_of_file}.run", std::env::consts::ARCH);
        return of_nvidia(version, Some(format!("run its installer again, {file}")));
    }
    let command = match (is("debian"), is("ubuntu"), series) {
        (true, ..) => OF_DEBIAN
            .iter()
            .find(|(beginning, _)| library.starts_with(beginning))
            .map(|(_, package)| format!("apt-get install --reinstall {package}")),
        (_, true, Some(series)) => Some(format!("apt-get install --reinstall libnvidia-gl-{series}")),
        _ if is("arch") => Some("pacman -S nvidia-utils".into()),
        _ if is("fedora") => Some("dnf reinstall xorg-x11-drv-nvidia-libs".into()),
        _ => None,
    };
    of_nvidia(version, command)
}

/// Beginning of the remedy for NVIDIA's driver without one of its libraries.
pub(super) const NVIDIAS_AGAIN: &str = "Reinstall NVIDIA's driver";

/// Returns the remedy for NVIDIA's driver without one of its libraries. `version` is the version of the driver; empty if it is unknown.
fn of_nvidia(version: &str, command: Option<String>) -> String {
    let blank = if version.is_empty() { "" } else { " " };
    let command = command.map_or(String::new(), |command| format!(": {command}"));
    format!(
        "{NVIDIAS_AGAIN}{blank}{version}{command}; all its libraries must be installed in the same version. In a container: \
         NVIDIA_DRIVER_CAPABILITIES=all."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn known_libraries_come_with_their_packages() {
        assert_eq!(
            in_words(&["libEGL.so.1", "libodd.so"]),
            ": libegl1 (Debian, Ubuntu), libglvnd-egl (Fedora), libglvnd (Arch)"
        );
        assert_eq!(in_words(&["libodd.so"]), "");
        for (library, words) in [
            ("libLLVM-15.so.1", ": libllvm15 (Debian, Ubuntu), llvm15-libs (Fedora)"),
            ("libLLVM.so.18.1", ": libllvm18 (Debian, Ubuntu)"),
        ] {
            assert!(in_words(&[library]).contains(words), "{}", in_words(&[library]));
        }
        let own = Identity::of_this_process();
        let advice = install(&["libLLVM.so"], own);
        assert!(advice.contains("If no package has this version"), "{advice}");
        let advice = install(&["libnvidia-glcore.so.550.54.14"], own);
        assert!(advice.contains("must be installed in the same version"), "{advice}");
    }

    #[test]
    fn libraries_of_nvidia_come_from_the_package_of_the_series() {
        let root = tempfile::tempdir().expect("a folder");
        for folder in ["etc", "proc/driver/nvidia"] {
            fs::create_dir_all(root.path().join(folder)).expect("folders");
        }
        let write = |path: &str, text: &str| fs::write(root.path().join(path), text).expect("a file");
        write(
            "proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu",
        );
        for (id, library, command) in [
            (
                "ubuntu",
                "libEGL_nvidia.so.0",
                "apt-get install --reinstall libnvidia-gl-550",
            ),
            (
                "ubuntu",
                "libnvidia-glcore.so.535.1",
                "apt-get install --reinstall libnvidia-gl-535",
            ),
            (
                "debian",
                "libEGL_nvidia.so.0",
                "apt-get install --reinstall libegl-nvidia0",
            ),
            ("arch", "libGLX_nvidia.so.0", "pacman -S nvidia-utils"),
        ] {
            write("etc/os-release", &format!("NAME=x\nID={id}\n"));
            let advice = for_nvidia(library, root.path());
            assert!(advice.contains(&format!(": {command}; all")), "{advice}");
        }
        fs::create_dir_all(root.path().join("usr/bin")).expect("folders");
        write(OF_INSTALLER[0], "");
        let advice = for_nvidia("libGLX_nvidia.so.550.54.14", root.path());
        assert!(
            advice.contains("-550.54.14.run; all") && !advice.contains("pacman"),
            "{advice}"
        );
    }
}
