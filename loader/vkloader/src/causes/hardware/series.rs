//! Cards that the loaded kernel module of NVIDIA does not support, by their PCI device IDs.

use super::machine::Machine;
use crate::report::Card;

/// The first device IDs of Turing and of Maxwell. Kepler is before Maxwell; Pascal and Volta are between Maxwell and Turing.
const TURING: u32 = 0x1E00;
const MAXWELL: u32 = 0x1340;

/// First series of the driver without Maxwell, Pascal and Volta.
const WITHOUT_PASCAL: u32 = 590;
/// First series of the driver without Kepler.
const WITHOUT_KEPLER: u32 = 495;

/// First device ID of Blackwell.
const BLACKWELL: u32 = 0x2900;
/// First series of the driver with Blackwell.
const WITH_BLACKWELL: u32 = 570;

/// Returns the reason why NVIDIA's kernel module does not use a card, and the remedy. Returns `None` if the module is not loaded, and the generation of
/// the card is not the reason.
pub(super) fn reason(card: &Card, machine: &Machine) -> Option<(String, String)> {
    let general = || {
        let version = machine.nvidia_module()?;
        let words = format!("NVIDIA's kernel module {version} is loaded, but does not use this card");
        Some((words, REFUSED.into()))
    };
    refusal(card, machine).or_else(general)
}

/// Returns the reason why NVIDIA's kernel module cannot use a card, and the remedy. Returns `None` if the generation of the card is not the reason. A
/// module without a card does not stay loaded; then the libraries show the version.
pub(super) fn refusal(card: &Card, machine: &Machine) -> Option<(String, String)> {
    let loaded = machine.nvidia_module();
    let version = loaded.clone().or_else(|| machine.nvidia_library())?;
    let series: u32 = version.split('.').next()?.parse().ok()?;
    let begin = |generation: &str| match &loaded {
        Some(version) => {
            format!(
                "NVIDIA's kernel module {version} is loaded, but does not use this card of the generation {generation}"
            )
        }
        None => format!("NVIDIA's driver {version} is installed, and this card is of the generation {generation}"),
    };
    let (generation, last, packages) = match card.device {
        BLACKWELL.. => return of_blackwell(&begin(OF_BLACKWELL), (series, loaded.is_some()), machine),
        TURING.. => return None,
        MAXWELL.. => (OF_MAXWELL, WITHOUT_PASCAL, OF_580),
        _ => ("Kepler", WITHOUT_KEPLER, OF_470),
    };
    let begin = begin(generation);
    if series >= last {
        return Some((
            format!("{begin}: the series {series} of the driver no longer supports it"),
            format!("Install an older series of NVIDIA's driver: {packages}."),
        ));
    }
    is_open(machine).then(|| {
        (
            format!("{begin}: the open kernel module supports cards since Turing only"),
            format!("Install NVIDIA's other kernel module of the series {series}, which is not open: {NOT_OPEN}."),
        )
    })
}

/// Names of generations in sentences.
const OF_BLACKWELL: &str = "Blackwell (RTX 50)";
const OF_MAXWELL: &str = "Maxwell, Pascal or Volta";

/// Returns `true` if NVIDIA's loaded kernel module is the open one.
fn is_open(machine: &Machine) -> bool {
    machine
        .text("proc/driver/nvidia/version")
        .contains("Open Kernel Module")
}

/// Returns the same as [`refusal`] for a card of Blackwell. `begin` is the beginning of the reason.
fn of_blackwell(begin: &str, (series, is_loaded): (u32, bool), machine: &Machine) -> Option<(String, String)> {
    if series < WITH_BLACKWELL {
        return Some((
            format!("{begin}: the series {series} of the driver is older than the card"),
            format!(
                "Install the series {WITH_BLACKWELL} of NVIDIA's driver or a newer one, with the open kernel module: {OPEN}."
            ),
        ));
    }
    // Without this file, the kind of the module is unknown.
    let is_known = machine.has("proc/driver/nvidia/version");
    (is_loaded && is_known && !is_open(machine)).then(|| {
        (
            format!("{begin}: only the open kernel module supports it"),
            format!("Install NVIDIA's open kernel module of the series {series}: {OPEN}."),
        )
    })
}

/// Returns the sentence about an installed module of the wrong kind, which the kernel does not load for a card. Returns an empty text for cards that
/// both kinds support.
pub(super) fn other_kind(card: &Card) -> String {
    match card.device {
        BLACKWELL.. => format!(
            " If it says No such device: only the open kernel module supports this card, so modinfo -F license nvidia must print Dual MIT/GPL; otherwise \
             install {OPEN}."
        ),
        MAXWELL..TURING => format!(
            " If it says No such device: the open kernel module does not support this card, so modinfo -F license nvidia must not print Dual MIT/GPL; if it \
             does, install {NOT_OPEN}."
        ),
        _ => String::new(),
    }
}

/// Remedy for an NVIDIA card that the loaded kernel module does not use.
const REFUSED: &str = "Look in dmesg for lines of NVRM, which name the version for the card. Cards before Turing (GTX \
    16, RTX 20) do not work with the open kernel module (nvidia-open), and need the series 580 or an older one: nvidia-driver-580 (Ubuntu) or \
    nvidia-580xx-dkms (AUR). Kepler needs the series 470: nvidia-tesla-470-driver (Debian), nvidia-driver-470 (Ubuntu), akmod-nvidia-470xx (RPM Fusion) or \
    nvidia-470xx-dkms (AUR).";

/// Packages with the open kernel module.
const OPEN: &str = "nvidia-open-kernel-dkms in place of nvidia-kernel-dkms (Debian), the package with -open at its end (Ubuntu), akmod-nvidia with its macro \
    for the open module (RPM Fusion) or nvidia-open (Arch)";

/// Packages of the last series for Maxwell, Pascal and Volta, and for Kepler.
const OF_580: &str = "nvidia-driver-580 (Ubuntu), akmod-nvidia-580xx (RPM Fusion) or nvidia-580xx-dkms (AUR)";
const OF_470: &str = "nvidia-tesla-470-driver (Debian), nvidia-driver-470 (Ubuntu), akmod-nvidia-470xx (RPM Fusion) or nvidia-470xx-dkms (AUR)";

/// Packages with the kernel module for cards before Turing.
const NOT_OPEN: &str = "nvidia-kernel-dkms in place of nvidia-open-kernel-dkms (Debian), the package without -open at its end (Ubuntu), akmod-nvidia \
    without its macro for the open module (RPM Fusion) or nvidia-580xx-dkms (AUR)";

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_series_and_the_kind_of_the_module_decide() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = root.path().join("proc/driver/nvidia");
        fs::create_dir_all(&folder).expect("folders");
        for (module, device, expected) in [
            (
                "NVIDIA UNIX x86_64 Kernel Module  590.44.01  Mon",
                0x1B80,
                Some("nvidia-driver-580"),
            ),
            ("NVIDIA UNIX x86_64 Kernel Module  580.10.01  Mon", 0x1B80, None),
            (
                "NVIDIA UNIX Open Kernel Module for x86_64  570.133.07  Release",
                0x1B80,
                Some("nvidia-kernel-dkms"),
            ),
            (
                "NVIDIA UNIX Open Kernel Module for x86_64  590.44.01  Release",
                0x2504,
                None,
            ),
            (
                "NVIDIA UNIX x86_64 Kernel Module  550.54.14  Mon",
                0x1004,
                Some("nvidia-driver-470"),
            ),
            (
                "NVIDIA UNIX x86_64 Kernel Module  580.95.05  Mon",
                0x2B85,
                Some("nvidia-open-kernel-dkms in place of"),
            ),
            (
                "NVIDIA UNIX Open Kernel Module for x86_64  560.35.03  Release",
                0x2F04,
                Some("the series 570"),
            ),
            (
                "NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release",
                0x2B85,
                None,
            ),
        ] {
            fs::write(folder.join("version"), format!("NVRM version: {module}\n")).expect("a file");
            let card = Card {
                place: String::new(),
                vendor: super::super::NVIDIA,
                device,
                kernel_driver: None,
                node: None,
            };
            let found = refusal(&card, &Machine::seen_from(root.path(), None));
            assert_eq!(found.is_some(), expected.is_some(), "{module} {device:x}");
            if let (Some((_, advice)), Some(expected)) = (found, expected) {
                assert!(advice.contains(expected), "{advice}");
            }
        }
    }

    /// A module without a card does not stay loaded.
    #[test]
    fn the_libraries_show_the_series_of_a_module_that_is_not_loaded() {
        for (version, device, expected, other) in [
            ("590.48.01", 0x1B81, Some("nvidia-driver-580"), true),
            ("580.95.05", 0x1B81, None, true),
            ("550.54.14", 0x2B85, Some("the series 570"), true),
            ("580.95.05", 0x2B85, None, true),
            ("580.95.05", 0x2504, None, false),
        ] {
            let root = tempfile::tempdir().expect("a folder");
            let folder = root.path().join("usr/lib64");
            fs::create_dir_all(&folder).expect("folders");
            fs::write(folder.join(format!("libnvidia-glcore.so.{version}")), "").expect("a file");
            let card = Card {
                place: String::new(),
                vendor: super::super::NVIDIA,
                device,
                kernel_driver: None,
                node: None,
            };
            let advice = reason(&card, &Machine::seen_from(root.path(), None)).map(|(_, advice)| advice);
            let is_it = match (&advice, expected) {
                (Some(advice), Some(expected)) => advice.contains(expected),
                (advice, expected) => advice.is_none() && expected.is_none(),
            };
            assert!(is_it, "{version} {device:x}: {advice:?}");
            assert_eq!(other_kind(&card).contains("modinfo -F license nvidia"), other);
        }
    }
}
