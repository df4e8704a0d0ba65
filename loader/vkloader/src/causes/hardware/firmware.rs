//! Finds cards whose kernel module is loaded, and whose firmware is not installed.

use super::machine::Machine;
use crate::report::{Dropped, Report};

/// Folders from which the kernel loads firmware. The last one is that of NixOS.
const FOLDERS: [&str; 4] = [
    "lib/firmware",
    "lib/firmware/updates",
    "usr/lib/firmware",
    "run/current-system/firmware",
];

/// Kernel modules that load firmware: the PCI vendor, the folders of the firmware, and the packages.
const ROWS: [(u32, &[&str], &str); 2] = [
    (
        0x1002,
        &["amdgpu"],
        "apt install firmware-amd-graphics (Debian, of non-free-firmware), linux-firmware-amdgpu (Arch), amd-gpu-firmware (Fedora) or linux-firmware elsewhere",
    ),
    (
        0x8086,
        &["i915", "xe"],
        "apt install firmware-misc-nonfree, since Debian 13 firmware-intel-graphics (Debian, of non-free-firmware), linux-firmware-intel (Arch), \
         intel-gpu-firmware (Fedora) or linux-firmware elsewhere",
    ),
];

/// Completes the finding about a card of `vendor` whose kernel module is loaded and does not use the card, if the firmware is not installed.
/// Changes nothing in a container, which has no firmware.
pub(super) fn complete(found: &mut Dropped, vendor: u32, machine: &Machine, report: &Report) {
    let is_elsewhere = !report.runs_on_machine();
    let Some((_, names, packages)) = ROWS.iter().find(|row| row.0 == vendor).filter(|_| !is_elsewhere) else {
        return;
    };
    let release = machine.text("proc/sys/kernel/osrelease");
    let of_kernel = FOLDERS[..2].iter().map(|folder| format!("{folder}/{release}"));
    let folders: Vec<String> = FOLDERS.map(String::from).into_iter().chain(of_kernel).collect();
    let is_there = |name: &&str| folders.iter().any(|folder| machine.has(&format!("{folder}/{name}")));
    if names.iter().any(is_there) {
        return;
    }
    let first = format!("/{}/{}", FOLDERS[0], names[0]);
    found.findings.insert(
        0,
        format!("{first} is not there: the firmware of the card is not installed"),
    );
    found.advice = format!(
        "Install the firmware of the card, and start the machine again: {packages}. If that does not help, look in dmesg: the kernel may be older \
         than the card."
    );
}
