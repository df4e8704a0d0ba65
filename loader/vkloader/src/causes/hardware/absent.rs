//! Finds systems that list no card, and the environments that may hide one.

use super::machine::Machine;
use super::{install, places, software};
use crate::report::{CONTAINERS, Dropped, Report, codes};

/// File with the model name of a machine that a device tree describes.
const MODEL: &str = "sys/firmware/devicetree/base/model";
/// Remedy for a Raspberry Pi whose kernel shows no card.
const RASPBERRY: &str = "Turn on the kernel driver of the card: dtoverlay=vc4-kms-v3d in /boot/firmware/config.txt or /boot/config.txt, and start \
    the machine again. Models before the Raspberry Pi 4 have no Vulkan driver.";
/// Remedy for a virtual machine without a card.
const NO_CARD_FOR_GUEST: &str = "Give the virtual machine a card: virtio-gpu with Venus, a card of the host by passthrough, or, in a cloud, an instance with a \
    GPU. Without a card, only software drivers work, such as Mesa's lavapipe: mesa-vulkan-drivers (Debian, Ubuntu, Fedora) or vulkan-swrast (Arch).";

/// Remedies for environments in which programs may lack access to a card.
const ADVICE: [(&str, &str); 9] = [
    (
        "flatpak",
        "Give the devices to the sandbox: flatpak override --user --device=dri APPLICATION",
    ),
    ("snap", "Connect the interface for graphics: snap connect NAME:opengl"),
    (
        "steam",
        "Check whether the host has a card: run vkloader explain outside Steam's container.",
    ),
    (
        "podman",
        "Hand the card to the container: podman run --device /dev/dri IMAGE",
    ),
    (
        "docker",
        "Hand the card to the container: docker run --device /dev/dri IMAGE",
    ),
    (
        "apptainer",
        "Let the container have the device nodes: apptainer exec --nv IMAGE PROGRAM for NVIDIA's card, --rocm for AMD's, or --bind /dev/dri; the options \
         --contain and --containall hide them.",
    ),
    (
        "container",
        "Hand the card to the container: systemd-nspawn --bind=/dev/dri --property=DeviceAllow=char-drm, incus config device add NAME gpu gpu, or in the \
         configuration of LXC: lxc.mount.entry = /dev/dri dev/dri none bind,create=dir",
    ),
    ("wsl", "Install a driver for WSL in Windows, and run: wsl --update"),
    ("virtual-machine", NO_CARD_FOR_GUEST),
];

/// Returns a finding for a system that lists no card.
pub(super) fn no_card(report: &Report, machine: &Machine) -> Option<Dropped> {
    let is_bare = report.hardware.is_empty();
    let advice = match (install::on_tegra(machine, report), surrounding(report)) {
        (Some(advice), _) => advice,
        // A container sees the host's list of devices, so the host has no card either.
        (None, Some((word, _))) if CONTAINERS.contains(&word) => places::without_card(machine),
        (None, Some((_, advice))) => advice,
        (None, None) if machine.text(MODEL).starts_with("Raspberry Pi") => RASPBERRY,
        (None, None) => codes::HARDWARE_NONE.remedy,
    };
    let unnamed = || software::without_manifest(report);
    let (finding, first) = is_bare.then(unnamed).flatten().unzip();
    let surroundings = report.surroundings.iter().map(|word| format!("this is: {word}"));
    is_bare.then(|| Dropped {
        findings: finding.into_iter().chain(surroundings).collect(),
        advice: format!("{}{advice}", first.unwrap_or_default()),
        ..codes::HARDWARE_NONE.about_any("this machine")
    })
}

/// Returns the first environment around the program for which a remedy exists, with the remedy.
pub(super) fn surrounding(report: &Report) -> Option<(&'static str, &'static str)> {
    let known = |word: &String| ADVICE.iter().find(|(known, _)| known == word);
    report.surroundings.iter().find_map(known).copied()
}

/// Returns the sandbox or container around the program, with the remedy for a card that is not available inside.
pub(super) fn in_sandbox(report: &Report) -> Option<(&'static str, &'static str)> {
    surrounding(report).filter(|(word, _)| !["steam", "wsl", "virtual-machine"].contains(word))
}
