//! Packages of the libraries that drivers miss most often.

/// A library, and its package in Debian and Ubuntu, Fedora, and Arch.
const PACKAGES: [(&str, [&str; 3]); 14] = [
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
];

/// Returns a sentence with the packages that contain these libraries.
pub(super) fn install(libraries: &[&str]) -> String {
    let mut advice = format!("Install the packages that bring {}", libraries.join(", "));
    let known: Vec<_> = libraries
        .iter()
        .filter_map(|library| PACKAGES.iter().find(|(name, _)| name == library))
        .collect();
    if !known.is_empty() {
        let of = |system: usize| {
            let mut names: Vec<&str> = known.iter().map(|(_, packages)| packages[system]).collect();
            names.dedup();
            names.join(" ")
        };
        advice += &format!(": {} (Debian, Ubuntu), {} (Fedora), {} (Arch)", of(0), of(1), of(2));
    }
    advice + "."
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
    }
}
