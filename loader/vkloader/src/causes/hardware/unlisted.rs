//! Explains a system without the kernel's list of devices, which is the folder `/sys`.

use super::machine::Machine;
use crate::report::{Card, Dropped, Report, codes, rank};
use catalogue::hardware::TABLE;

/// Commands that mount the folders of the kernel in a changed root folder.
const MOUNTS: [(&str, &str); 3] = [
    ("/proc", "mount -t proc proc /proc"),
    ("/sys", "mount -t sysfs sysfs /sys"),
    ("/dev", "mount -t devtmpfs devtmpfs /dev"),
];

/// List of the PCI bus in `/proc`. Each line ends with the name of the kernel driver.
const PCI: &str = "proc/bus/pci/devices";
/// Kernel driver of all PCI devices of a virtual machine, and vendor and device of those that are graphics cards.
const VIRTUAL: (&str, &str) = ("virtio-pci", "1af41050");

/// Folders with the kernel's lists of devices that drivers read.
const LISTS: [&str; 2] = ["/sys/bus", "/sys/dev/char"];

/// Remedy for a sandbox that hides the kernel's list of devices and the device nodes. One of them alone does not help.
const BOTH: &str = "In a container or sandbox, make both available: bwrap --ro-bind /sys /sys --dev-bind /dev/dri /dev/dri; elsewhere, mount the list: \
     mount -t sysfs sysfs /sys.";

/// Returns `true` if the kernel's list of devices is missing.
pub(super) fn is_without_list(machine: &Machine) -> bool {
    machine.unmounted().contains(&"/sys")
}

/// Returns `true` if the sandbox of the program hides the kernel's list of devices.
fn is_kept_out(machine: &Machine) -> bool {
    LISTS.iter().any(|list| machine.is_kept_out(list))
}

/// Returns a finding for a sandbox that hides the kernel's list of devices, on a machine with a card.
pub(super) fn kept_out(machine: &Machine, report: &Report) -> Option<Dropped> {
    let found = Dropped {
        findings: ["/sys exists outside of the sandbox of the program, and not in it"].into(),
        ..codes::HARDWARE_NO_SYS.about("/sys")
    };
    if report.hardware.is_empty() || !is_kept_out(machine) {
        return None;
    }
    let mut found = ranked(found, true, report);
    let is_without_node = |card: &Card| card.node.as_deref().is_some_and(|node| machine.is_kept_out(node));
    if report.hardware.iter().any(is_without_node) {
        found.advice = BOTH.into();
        // The finding about the node has only one half of the remedy.
        found.rank -= 1;
    }
    Some(found)
}

/// Returns a finding for a system without the kernel's list of devices. A changed root folder most often lacks other folders too.
pub(super) fn find(machine: &Machine, report: &Report) -> Option<Dropped> {
    if is_kept_out(machine) {
        return None;
    }
    let missing = machine.unmounted();
    let found = missing
        .contains(&"/sys")
        .then(|| codes::HARDWARE_NO_SYS.about("/sys"))?;
    let found = ranked(found, has_card(machine), report);
    if !missing.contains(&"/proc") && !machine.is_changed_root() {
        return Some(if machine.nodes().is_empty() {
            without_nodes(found)
        } else {
            found
        });
    }
    let commands = MOUNTS.iter().filter(|(folder, _)| missing.contains(folder));
    let commands: Vec<&str> = commands.map(|(_, command)| *command).collect();
    let folders: Vec<&str> = missing.iter().map(|folder| folder.trim_start_matches('/')).collect();
    Some(Dropped {
        reason: format!(
            "The root folder was changed (chroot), and the folders of the kernel are not mounted in it: {}.",
            missing.join(", ")
        ),
        advice: format!(
            "Mount them in the chroot, as the superuser: {}; or from outside, where ROOT is its folder: for f in {}; do mount --rbind /$f \
             ROOT/$f; done",
            commands.join(" && "),
            folders.join(" ")
        ),
        ..found
    })
}

/// Returns the finding for a system that also lacks the device nodes of cards.
fn without_nodes(found: Dropped) -> Dropped {
    const LIST: &str = "The kernel's list of devices (/sys) is missing";
    let and_nodes = "The kernel's list of devices (/sys) and the device nodes (/dev/dri) are missing";
    Dropped {
        reason: found.reason.replace(LIST, and_nodes),
        advice: BOTH.into(),
        ..found
    }
}

/// Returns the finding with a rank that fits the facts. The missing list is a cause only if the machine has a card. If nothing shows a card,
/// the list is a possible cause, unless a software driver works.
fn ranked(found: Dropped, has_card: bool, report: &Report) -> Dropped {
    let is_broken = |one: &Dropped| one.rank == rank::BROKEN && one.subject.starts_with("driver");
    let rank = if !has_card && report.is_usable() {
        codes::HARDWARE_NONE.rank()
    } else if report.dropped.iter().any(is_broken) {
        rank::BROKEN + 1
    } else {
        found.rank
    };
    let reason = if has_card {
        found.reason
    } else {
        "The kernel's list of devices (/sys) is missing, so it is unknown whether the machine has a graphics card."
            .into()
    };
    Dropped { rank, reason, ..found }
}

/// Returns `true` if the machine has a graphics card according to its device nodes or to the kernel's lists in `/proc`.
fn has_card(machine: &Machine) -> bool {
    let is_of_card = |line: &str| {
        let mut words = line.split_whitespace();
        let (device, driver) = (words.nth(1), words.next_back());
        let is_known =
            |driver: &str| driver != VIRTUAL.0 && TABLE.iter().any(|row| row.kernel_drivers.contains(&driver));
        device == Some(VIRTUAL.1) || driver.is_some_and(is_known)
    };
    let is_on_bus = || machine.text(PCI).lines().any(is_of_card);
    !machine.nodes().is_empty() || machine.nvidia_module().is_some() || is_on_bus()
}
