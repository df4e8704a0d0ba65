//! Packages with the libraries that drivers most often lack.

/// A library, and its packages: in Debian and Ubuntu, in Fedora, and in Arch.
const PACKAGES: [(&str, [&str; 3]); 26] = [
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
    ("libz.so.1", ["zlib1g", "zlib", "zlib"]),
    ("libzstd.so.1", ["libzstd1", "libzstd", "zstd"]),
];

/// Beginning of the remedy for missing libraries.
pub(super) const INSTALL: &str = "Install the packages that bring";
/// Beginning of the names of libraries whose package names contain the version, for example `libLLVM-15.so.1` and `libLLVM.so.18.1`.
const LLVM: &str = "libLLVM";
/// Beginning of the names of NVIDIA's libraries, which must all have the same version.
const NVIDIA: &str = "libnvidia-";

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

/// Returns a sentence with the packages that contain the libraries in `libraries`.
pub(super) fn install(libraries: &[&str]) -> String {
    let mut advice = format!("{INSTALL} {}", libraries.join(", "));
    let known: Vec<[String; 3]> = libraries.iter().filter_map(|library| packages(library)).collect();
    if !known.is_empty() {
        let of = |system: usize| {
            let mut names: Vec<&str> = known.iter().map(|packages| packages[system].as_str()).collect();
            names.dedup();
            names.join(" ")
        };
        advice += &format!(": {} (Debian, Ubuntu), {} (Fedora), {} (Arch)", of(0), of(1), of(2));
    }
    advice += ".";
    if libraries.iter().any(|library| library.starts_with(LLVM)) {
        advice += " If no package has this version of LLVM, update the driver, which was built for this version.";
    }
    if let Some(library) = libraries.iter().find(|library| library.starts_with(NVIDIA)) {
        let version = library.split_once(".so.").map_or("", |(_, version)| version);
        advice += &format!(" {}", of_nvidia(version));
    }
    advice
}

/// Returns the remedy for NVIDIA's driver without one of its libraries. `version` is the version of the driver; empty if it is unknown.
fn of_nvidia(version: &str) -> String {
    let of_version = if version.is_empty() {
        String::new()
    } else {
        format!(" {version}")
    };
    format!(
        "Reinstall NVIDIA's driver{of_version}: all its libraries must be installed in the same version; in a container: \
         NVIDIA_DRIVER_CAPABILITIES=all."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_libraries_come_with_their_packages() {
        assert_eq!(
            install(&["libEGL.so.1", "libodd.so"]),
            "Install the packages that bring libEGL.so.1, libodd.so: libegl1 (Debian, Ubuntu), libglvnd-egl (Fedora), libglvnd (Arch)."
        );
        assert_eq!(install(&["libodd.so"]), "Install the packages that bring libodd.so.");
        for (library, words) in [
            ("libLLVM-15.so.1", ": libllvm15 (Debian, Ubuntu), llvm15-libs (Fedora)"),
            ("libLLVM.so.18.1", ": libllvm18 (Debian, Ubuntu)"),
            ("libLLVM.so", "libLLVM.so. If no package has this version"),
            ("libnvidia-glcore.so.550.54.14", "must be installed in the same version"),
        ] {
            assert!(install(&[library]).contains(words), "{}", install(&[library]));
        }
    }
}
