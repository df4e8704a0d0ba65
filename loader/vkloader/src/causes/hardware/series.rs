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

/// Returns the reason why NVIDIA's loaded kernel module cannot use a card, and the remedy. Returns `None` if the generation of the card is not
/// the reason.
pub(super) fn refusal(card: &Card, machine: &Machine) -> Option<(String, String)> {
    let version = machine.nvidia_module()?;
    let series: u32 = version.split('.').next()?.parse().ok()?;
    let is_open = machine
        .text("proc/driver/nvidia/version")
        .contains("Open Kernel Module");
    let (generation, last, packages) = match card.device {
        TURING.. => return None,
        MAXWELL.. => ("Maxwell, Pascal or Volta", WITHOUT_PASCAL, OF_580),
        _ => ("Kepler", WITHOUT_KEPLER, OF_470),
    };
    let begin = format!(
        "NVIDIA's kernel module {version} is loaded, but does not use this card of the generation {generation}"
    );
    if series >= last {
        return Some((
            format!("{begin}: the series {series} of the driver no longer supports it"),
            format!("Install an older series of NVIDIA's driver: {packages}."),
        ));
    }
    is_open.then(|| {
        (
            format!("{begin}: the open kernel module supports cards since Turing only"),
            format!("Install NVIDIA's other kernel module of the series {series}, which is not open: {NOT_OPEN}."),
        )
    })
}

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
}
