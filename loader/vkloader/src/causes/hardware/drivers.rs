//! Finds cards whose Vulkan driver is not installed, does not exist, or does not use the card.

use crate::causes::multiarch;
use crate::installed;
use crate::report::{Card, Dropped, Report, codes, other, rank};
use catalogue::hardware;

/// The Vulkan drivers of a card, found by the name of its kernel driver.
struct Row {
    kernel_drivers: &'static [&'static str],
    /// Names of the libraries up to `.so`. Each of them is meant for these cards.
    libraries: &'static [&'static str],
    /// Remedy for a system without these libraries, with the packages.
    install: &'static str,
}

/// Kernel drivers with Vulkan drivers that common distributions package.
const PACKAGED: [Row; 5] = [
    Row {
        kernel_drivers: &["amdgpu"],
        libraries: &["libvulkan_radeon", "amdvlk64", "amdvlk32"],
        install: "Install Mesa's Vulkan driver for AMD's cards: mesa-vulkan-drivers (Debian, Ubuntu, Fedora), vulkan-radeon (Arch) or \
                  mesa-vulkan-ati (Alpine).",
    },
    Row {
        kernel_drivers: &["i915", "xe"],
        libraries: &["libvulkan_intel", "libvulkan_intel_hasvk"],
        install: "Install Mesa's Vulkan driver for Intel's cards: mesa-vulkan-drivers (Debian, Ubuntu, Fedora), vulkan-intel (Arch) or \
                  mesa-vulkan-intel (Alpine).",
    },
    Row {
        kernel_drivers: &["nvidia", "nvidia-drm"],
        libraries: &["libGLX_nvidia", "libEGL_nvidia"],
        install: "Install NVIDIA's libraries of the same version as the kernel module: nvidia-vulkan-icd (Debian), libnvidia-gl-VERSION \
                  (Ubuntu), xorg-x11-drv-nvidia (RPM Fusion) or nvidia-utils (Arch).",
    },
    Row {
        kernel_drivers: &["nouveau"],
        libraries: &["libvulkan_nouveau"],
        install: "Install Mesa's Vulkan driver for nouveau, which is part of Mesa 24.1 and newer: mesa-vulkan-drivers (Debian, Ubuntu, \
                  Fedora) or vulkan-nouveau (Arch); or install NVIDIA's own driver with its kernel module.",
    },
    Row {
        kernel_drivers: &["virtio_gpu", "virtio-pci", "virtio-mmio"],
        libraries: &["libvulkan_virtio"],
        install: "Install Mesa's Vulkan driver for virtio-gpu: a version of mesa-vulkan-drivers that has libvulkan_virtio.so (Debian, \
                  Ubuntu, Fedora) or vulkan-virtio (Arch); the host must offer Venus, in QEMU with virtio-gpu-gl and venus=on.",
    },
];

/// Kernel drivers of cards for which there is no Vulkan driver.
const WITHOUT_VULKAN: [&str; 14] = [
    "ast",
    "bochs-drm",
    "cirrus",
    "cirrus-qemu",
    "etnaviv",
    "gma500",
    "hyperv_drm",
    "lima",
    "mgag200",
    "qxl",
    "simple-framebuffer",
    "vboxvideo",
    "vc4-drm",
    "vmwgfx",
];

/// Remedy for cards that the older one of AMD's kernel drivers holds.
const FROM_RADEON: &str = "Vulkan needs the kernel driver amdgpu: for a card of GCN 1 or 2, start the kernel with radeon.si_support=0 \
    radeon.cik_support=0 amdgpu.si_support=1 amdgpu.cik_support=1. Older cards have no Vulkan driver.";

/// Returns a finding for a card without an installed Vulkan driver. The finding comes after broken drivers and manifests that may belong to the card.
pub(super) fn missing(card: &Card, report: &Report) -> Option<Dropped> {
    let kernel_driver = card.kernel_driver.as_deref()?;
    if kernel_driver == "radeon" {
        return Some(Dropped {
            advice: FROM_RADEON.into(),
            rank: rank::HARDWARE,
            ..codes::HARDWARE_WITHOUT_VULKAN.about(card.to_string())
        });
    }
    if WITHOUT_VULKAN.contains(&kernel_driver) {
        return Some(codes::HARDWARE_WITHOUT_VULKAN.about(card.to_string()));
    }
    let libraries = libraries_of(kernel_driver);
    let is_installed = libraries_in(report).any(|library| libraries.contains(&library));
    if libraries.is_empty() || is_installed {
        return None;
    }
    let install = PACKAGED.iter().find(|row| row.kernel_drivers.contains(&kernel_driver));
    let may_be_there = report.drivers.is_empty() || report.dropped.iter().any(is_unknown_and_broken);
    Some(Dropped {
        findings: vec![format!("the libraries that can use it: {}", libraries.join(", "))],
        advice: match install {
            Some(row) => row.install.into(),
            None => format!(
                "Install Mesa's Vulkan driver for the card, such as mesa-vulkan-drivers in a version that has {}.so.",
                libraries[0]
            ),
        },
        rank: if may_be_there {
            rank::CONSEQUENCE
        } else {
            rank::HARDWARE
        },
        ..codes::HARDWARE_NO_DRIVER.about(card.to_string())
    })
}

/// Returns a finding for a card whose Vulkan driver lists no device, although the card has a kernel driver and an open node.
pub(super) fn unused(card: &Card, report: &Report) -> Option<Dropped> {
    let libraries = libraries_of(card.kernel_driver.as_deref()?);
    let idle = report.dropped.iter().filter(|dropped| dropped.is_noise());
    let mut own = idle.filter(|dropped| known(&dropped.name).is_some_and(|library| libraries.contains(&library)));
    let library = &own.next()?.name;
    let owner = installed::owner(library);
    let update = owner.as_ref().map_or("the Vulkan driver".into(), |owner| {
        owner.replace("package ", "the package ")
    });
    Some(Dropped {
        findings: vec![format!("{library} lists no device")],
        advice: format!(
            "Update {update}, because the card may be newer than its Vulkan driver; look in dmesg for messages of the kernel driver."
        ),
        ..codes::HARDWARE_NOT_USED.about(card.to_string())
    })
}

/// Returns `true` if a library is meant for the cards of a kernel driver, and does not only pass on another system's card.
pub(super) fn is_meant_for(library: &str, kernel_driver: &str) -> bool {
    libraries_of(kernel_driver).contains(&library)
}

/// Returns the libraries that are meant for the cards of a kernel driver.
fn libraries_of(kernel_driver: &str) -> Vec<&'static str> {
    match PACKAGED.iter().find(|row| row.kernel_drivers.contains(&kernel_driver)) {
        Some(row) => row.libraries.into(),
        None => hardware::TABLE
            .iter()
            .filter(|row| row.kernel_drivers.contains(&kernel_driver))
            .map(|row| row.library)
            .collect(),
    }
}

/// Returns the known drivers among those that the program found, also if they were left out. A driver of another word size does not count.
fn libraries_in(report: &Report) -> impl Iterator<Item = &'static str> {
    let opened = report.drivers.iter().map(|driver| driver.library.as_str());
    let dropped = report.dropped.iter().filter(|dropped| is_driver(dropped));
    let dropped = dropped.flat_map(|dropped| [Some(dropped.name.as_str()), dropped.file.as_deref()]);
    opened.chain(dropped.flatten()).filter_map(known)
}

/// Returns `true` for a finding about a driver for the program's word size.
fn is_driver(dropped: &Dropped) -> bool {
    dropped.subject.starts_with("driver") && !multiarch::CODES.contains(&dropped.code.as_str())
}

/// Returns `true` for a broken driver or manifest that may be the one of the card.
fn is_unknown_and_broken(dropped: &Dropped) -> bool {
    let names = [Some(dropped.name.as_str()), dropped.file.as_deref()];
    let is_broken = dropped.rank >= rank::BROKEN && dropped.rank < rank::CONSEQUENCE;
    is_driver(dropped) && is_broken && names.into_iter().flatten().all(|name| known(name).is_none())
}

/// Returns the known driver that a path leads to; a path of a manifest leads to the library that the manifest names.
fn known(path: &str) -> Option<&'static str> {
    hardware::of(other::library_of(path).as_bytes()).map(|row| row.library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_library_of_the_table_is_known_for_its_kernel_drivers() {
        for row in &PACKAGED {
            for library in row.libraries {
                let known = hardware::of(format!("{library}.so").as_bytes()).expect("a known library");
                let serves = |driver: &&str| known.kernel_drivers.contains(driver);
                assert!(row.kernel_drivers.iter().any(serves), "{library}");
            }
        }
        for driver in WITHOUT_VULKAN {
            assert!(libraries_of(driver).is_empty(), "{driver}");
        }
    }
}
