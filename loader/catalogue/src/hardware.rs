//! Table of the kernel drivers and device nodes that driver libraries use.
//!
//! The kernel's lists can show that a driver has no device only if the driver is listed here. Other drivers, such as remote or virtual
//! ones, are always opened. gfxstream is not listed, because it can reach a host without a device.

/// One row of [`TABLE`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name of the library, up to `.so`.
    pub library: &'static str,
    /// Names of the kernel drivers, to which the `driver` link of a device refers.
    pub kernel_drivers: &'static [&'static str],
    /// Device nodes that can exist although none of `kernel_drivers` is bound to a device.
    pub nodes: &'static [&'static str],
    /// PCI vendor of the cards that the driver itself can start; 0 for other drivers. NVIDIA's device nodes may be missing until the driver
    /// requests them.
    pub on_demand_vendor: u16,
    /// `true` if the driver runs on the processor.
    pub is_software: bool,
}

const fn row(library: &'static str, kernel_drivers: &'static [&'static str], nodes: &'static [&'static str]) -> Row {
    Row {
        library,
        kernel_drivers,
        nodes,
        on_demand_vendor: 0,
        is_software: false,
    }
}

const fn nvidia(library: &'static str) -> Row {
    Row {
        on_demand_vendor: 0x10DE,
        ..row(library, &["nvidia", "nvidia-drm"], &["/dev/nvidiactl", "/dev/nvidia0"])
    }
}

/// Known drivers. The drivers of Mesa come first.
pub const TABLE: &[Row] = &[
    row("libvulkan_radeon", &["amdgpu"], &[]),
    row("libvulkan_intel", &["i915", "xe", "virtio_gpu", "virtio-pci"], &[]),
    row("libvulkan_intel_hasvk", &["i915"], &[]),
    row("libvulkan_nouveau", &["nouveau"], &[]),
    row("libvulkan_virtio", &["virtio_gpu", "virtio-pci", "virtio-mmio"], &[]),
    row("libvulkan_dzn", &[], &["/dev/dxg"]),
    row(
        "libvulkan_freedreno",
        &["msm", "msm_dpu", "msm-mdss", "adreno", "virtio_gpu", "virtio-pci"],
        &["/dev/kgsl-3d0", "/dev/dxg"],
    ),
    row("libvulkan_broadcom", &["v3d"], &[]),
    row("libvulkan_panfrost", &["panfrost", "panthor"], &[]),
    row("libvulkan_powervr_mesa", &["powervr"], &["/dev/pvr_sync"]),
    row("libvulkan_asahi", &["asahi", "virtio_gpu", "virtio-pci"], &[]),
    Row {
        is_software: true,
        ..row("libvulkan_lvp", &[], &[])
    },
    nvidia("libGLX_nvidia"),
    nvidia("libEGL_nvidia"),
    row("amdvlk64", &["amdgpu"], &[]),
    row("amdvlk32", &["amdgpu"], &[]),
];

/// Returns the row for the library at a path.
pub fn of(path: &[u8]) -> Option<&'static Row> {
    let name = path.rsplit(|&byte| byte == b'/').next()?;
    TABLE.iter().find(|row| {
        name.strip_prefix(row.library.as_bytes())
            .is_some_and(|rest| rest.starts_with(b".so"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_known_by_their_names() {
        let name = |path: &[u8]| of(path).map(|row| row.library);
        assert_eq!(
            name(b"/usr/lib/x86_64-linux-gnu/libvulkan_radeon.so"),
            Some("libvulkan_radeon")
        );
        assert_eq!(name(b"libvulkan_intel_hasvk.so.1"), Some("libvulkan_intel_hasvk"));
        assert_eq!(name(b"libvulkan_intel.so"), Some("libvulkan_intel"));
        assert_eq!(name(b"/opt/libGLX_nvidia.so.0"), Some("libGLX_nvidia"));
        for path in [
            &b""[..],
            b"/",
            b"libvulkan_radeon",
            b"libvulkan_gfxstream.so",
            b"xlibvulkan_lvp.so",
            b"libvulkan_lvp.so/x",
        ] {
            assert_eq!(name(path), None);
        }
    }

    #[test]
    fn each_row_says_where_its_devices_show() {
        for (index, row) in TABLE.iter().enumerate() {
            let hardware = !row.kernel_drivers.is_empty() || !row.nodes.is_empty();
            assert!(hardware != row.is_software, "{}", row.library);
            assert!(
                row.nodes.iter().all(|node| node.starts_with("/dev/")),
                "{}",
                row.library
            );
            assert!(
                TABLE[..index].iter().all(|other| other.library != row.library),
                "{} twice",
                row.library
            );
        }
        assert_eq!(TABLE.iter().filter(|row| row.is_software).count(), 1);
    }
}
