//! A table of files that drivers open. The table is used for a driver that could not be observed, or that had no device when it was
//! observed.

use crate::show;
use std::fs;
use std::path::{Path, PathBuf};

/// Files of one driver.
struct DriverFiles {
    /// Patterns for the file names of the driver's library.
    libraries: &'static [&'static str],
    /// Patterns for paths. The last component of a path may begin or end with `*`. The path of a folder stands for all files in the folder.
    files: &'static [&'static str],
}

const DRIVER_FILES: &[DriverFiles] = &[
    // All Mesa drivers read these files (drirc), which set options for individual programs.
    DriverFiles {
        libraries: &["libvulkan_*"],
        files: &["/usr/share/drirc.d/*.conf", "/etc/drirc"],
    },
    DriverFiles {
        libraries: &["libvulkan_radeon.so*"],
        files: &["/usr/share/libdrm/amdgpu.ids"],
    },
    DriverFiles {
        libraries: &["amdvlk*"],
        files: &["/usr/share/libdrm/amdgpu.ids", "/etc/amd/*"],
    },
    DriverFiles {
        libraries: &["libGLX_nvidia.so*", "libEGL_nvidia.so*"],
        files: &[
            "/usr/share/nvidia/nvidia-application-profiles-*",
            "/usr/share/nvidia/nvoptix.bin",
            "/etc/nvidia/*",
            "/usr/share/glvnd/egl_vendor.d/10_nvidia.json",
            "/usr/share/egl/egl_external_platform.d/*nvidia*",
        ],
    },
    DriverFiles {
        libraries: &["libvulkan_dzn.so*"],
        files: &[
            "/usr/lib/wsl/lib/libd3d12.so",
            "/usr/lib/wsl/lib/libd3d12core.so",
            "/usr/lib/wsl/lib/libdxcore.so",
        ],
    },
];

/// Libraries that NVIDIA's driver opens with `dlopen` from its own folder. The names of these libraries end with the driver's version.
const NVIDIA: &[&str] = &[
    "libnvidia-glcore.so.*",
    "libnvidia-glsi.so.*",
    "libnvidia-tls.so.*",
    "libnvidia-glvkspirv.so.*",
    "libnvidia-rtcore.so.*",
    "libnvidia-gpucomp.so.*",
    "libnvidia-eglcore.so.*",
    "libnvidia-allocator.so.*",
    "libnvidia-cfg.so.*",
];

/// Returns the existing files that the driver whose library is `library` may open.
pub(super) fn files(library: &Path) -> Vec<PathBuf> {
    let name = library.file_name().unwrap_or_default().to_string_lossy();
    let fits = |driver: &&DriverFiles| driver.libraries.iter().any(|pattern| show::matches(pattern, &name));
    let patterns = DRIVER_FILES.iter().filter(fits).flat_map(|known| known.files);
    let mut found: Vec<PathBuf> = patterns.flat_map(|pattern| expand(Path::new(pattern))).collect();
    if name.contains("_nvidia.so")
        && let Some(folder) = library.parent()
    {
        found.extend(NVIDIA.iter().flat_map(|pattern| expand(&folder.join(pattern))));
    }
    found.retain(|path| path.is_file());
    found
}

/// Returns the paths that match a pattern.
fn expand(pattern: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name()) else {
        return Vec::new();
    };
    let name = name.to_string_lossy();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| show::matches(&name, &entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companions_lie_beside_the_driver_and_have_its_version() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in [
            "libGLX_nvidia.so.550.1",
            "libnvidia-glvkspirv.so.550.1",
            "libnvidia-ml.so.550.1",
            "libvulkan_x.so",
        ] {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        let names = |library: &str| -> Vec<PathBuf> {
            let found = files(&folder.path().join(library));
            found
                .into_iter()
                .filter(|path| path.starts_with(folder.path()))
                .collect()
        };
        assert_eq!(
            names("libGLX_nvidia.so.550.1"),
            [folder.path().join("libnvidia-glvkspirv.so.550.1")]
        );
        assert!(names("libvulkan_x.so").is_empty());
    }
}
