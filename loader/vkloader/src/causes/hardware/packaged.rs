//! Vulkan drivers in the packages of common distributions, by the kernel driver of the card.

use super::machine::{ON_CHIP, WINDOWS_DRIVER};

/// Vulkan drivers for the cards of some kernel drivers.
pub(super) struct Row {
    pub(super) kernel_drivers: &'static [&'static str],
    /// Names, up to `.so`, of the libraries that are drivers for the cards of `kernel_drivers`.
    pub(super) libraries: &'static [&'static str],
    /// Remedy for a system without the libraries, with the names of the packages.
    pub(super) install: &'static str,
    /// Remedy for a driver that lists no device; empty for the general remedy.
    pub(super) unused: &'static str,
}

/// Remedy for the GPU of a chip with the older of Imagination's two kernel drivers.
const OF_IMAGINATION: &str = "Install the Vulkan driver of the chip's maker, which belongs to the kernel driver pvrsrvkm (img-gpu-powervr on the VisionFive 2); \
    Mesa's driver needs the kernel driver powervr in its place.";

/// Kernel drivers whose cards have Vulkan drivers in the packages of common distributions.
pub(super) const PACKAGED: [Row; 9] = [
    Row {
        kernel_drivers: &["amdgpu"],
        libraries: &["libvulkan_radeon", "amdvlk64", "amdvlk32"],
        install: "Install Mesa's Vulkan driver for AMD's cards: mesa-vulkan-drivers (Debian, Ubuntu, Fedora), vulkan-radeon (Arch), \
                  libvulkan_radeon (openSUSE) or mesa-vulkan-ati (Alpine).",
        unused: "",
    },
    Row {
        kernel_drivers: &["i915", "xe"],
        libraries: &["libvulkan_intel", "libvulkan_intel_hasvk"],
        install: "Install Mesa's Vulkan driver for Intel's cards: mesa-vulkan-drivers (Debian, Ubuntu, Fedora), vulkan-intel (Arch), \
                  libvulkan_intel (openSUSE) or mesa-vulkan-intel (Alpine).",
        unused: "",
    },
    Row {
        kernel_drivers: &["nvidia", "nvidia-drm"],
        libraries: &["libGLX_nvidia", "libEGL_nvidia"],
        install: "Install NVIDIA's libraries of the same version as the kernel module: nvidia-vulkan-icd (Debian), libnvidia-gl-VERSION \
                  (Ubuntu), xorg-x11-drv-nvidia (RPM Fusion) or nvidia-utils (Arch).",
        unused: "Check whether nvidia-smi lists the card, and look in dmesg for messages that begin with NVRM. A container may get the card without \
                 all libraries: NVIDIA_DRIVER_CAPABILITIES=all.",
    },
    Row {
        kernel_drivers: &ON_CHIP,
        libraries: &["libGLX_nvidia", "libEGL_nvidia"],
        install: "Install the driver of NVIDIA's Jetson Linux (L4T) from NVIDIA's source of packages: nvidia-l4t-3d-core, or all of nvidia-jetpack.",
        unused: "Install all packages of NVIDIA's Jetson Linux (nvidia-l4t-...) in one version, which must be that of the kernel. A container gets them from \
                 the host: docker run --runtime nvidia -e NVIDIA_DRIVER_CAPABILITIES=all IMAGE.",
    },
    Row {
        kernel_drivers: &["nouveau"],
        libraries: &["libvulkan_nouveau"],
        install: "Install Mesa's Vulkan driver for nouveau, which is part of Mesa 24.1 and newer: mesa-vulkan-drivers (Debian, Ubuntu, \
                  Fedora), vulkan-nouveau (Arch) or libvulkan_nouveau (openSUSE); or install NVIDIA's own driver with its kernel module.",
        unused: "Update the kernel (6.6 or newer) and Mesa (24.1 or newer), which this driver needs; older versions leave out cards before Turing \
                 (GTX 16, RTX 20). Or install NVIDIA's own driver.",
    },
    Row {
        kernel_drivers: &["virtio_gpu", "virtio-pci", "virtio-mmio"],
        libraries: &["libvulkan_virtio"],
        install: "Install Mesa's Vulkan driver for virtio-gpu: a version of mesa-vulkan-drivers that has libvulkan_virtio.so (Debian, \
                  Ubuntu, Fedora) or vulkan-virtio (Arch); the host must offer Venus, in QEMU with virtio-gpu-gl and venus=on.",
        unused: "Let the host offer Venus, without which virtio-gpu has no Vulkan: in QEMU -device virtio-gpu-gl,venus=on,blob=on,hostmem=4G. If \
                 it does, update Mesa here, and look in dmesg for messages of the kernel driver.",
    },
    Row {
        kernel_drivers: &[WINDOWS_DRIVER],
        libraries: &["libvulkan_dzn"],
        install: "Install a version of Mesa with the driver dzn (libvulkan_dzn.so), which many distributions leave out: vulkan-dzn (Arch), or \
                  mesa-vulkan-drivers of a source that has it.",
        unused: "Update the graphics driver in Windows, then: wsl --update; and update Mesa here.",
    },
    Row {
        kernel_drivers: &["pvrsrvkm"],
        libraries: &["libvulkan_powervr_mesa"],
        install: OF_IMAGINATION,
        unused: OF_IMAGINATION,
    },
    Row {
        kernel_drivers: &["kgsl"],
        libraries: &["libvulkan_freedreno"],
        install: "Install Mesa's driver libvulkan_freedreno.so in a build for KGSL (freedreno-kmds=kgsl), which the packages of most \
                  distributions are not.",
        unused: "Install a build of libvulkan_freedreno.so for KGSL (Mesa's option freedreno-kmds=kgsl), because the packages of most distributions \
                 only know the kernel driver msm: mesa-vulkan-icd-freedreno (Termux), or Mesa for Android's containers.",
    },
];

/// Returns the drivers for the cards of a kernel driver.
pub(super) fn row_of(kernel_driver: &str) -> Option<&'static Row> {
    PACKAGED.iter().find(|row| row.kernel_drivers.contains(&kernel_driver))
}
