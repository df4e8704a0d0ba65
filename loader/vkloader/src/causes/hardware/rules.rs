//! Device nodes that a container lacks, or that its device rules refuse although their permissions allow the access.

use super::machine::Machine;
use super::places::KIND;
use super::service::Service;
use crate::report::{Dropped, codes};
use rustix::fs::{Access, access, major};
use rustix::io::Errno;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Major number of the nodes in `/dev/dri`.
const DRI: u32 = 226;
/// Files that exist in containers of Incus and LXD.
const OF_INCUS: [&str; 2] = ["dev/incus", "dev/lxd"];
/// Remedies for a node that the device rules refuse. Each row has a file that exists in a container, and the remedy.
const REFUSED: [(&str, &str); 3] = [
    (
        ".dockerenv",
        "Hand the node over as a device, and not as a volume: docker run --device /dev/dri IMAGE in place of -v /dev/dri:/dev/dri; in a file of \
         Docker Compose: devices: [/dev/dri:/dev/dri]",
    ),
    (
        "run/.containerenv",
        "Hand the node over as a device, and not as a volume: podman run --device /dev/dri IMAGE in place of -v /dev/dri:/dev/dri",
    ),
    (
        "run/secrets/kubernetes.io",
        "Let a device plugin hand the node to the pod, such as that of the card's maker, in place of a volume of the kind hostPath.",
    ),
];

/// Returns the finding about a node that the device rules of a container or service refuse. The kernel then reports another error than for a
/// node whose permissions do not allow the access.
pub(super) fn refusing(node: &Path, machine: &Machine) -> Option<Dropped> {
    let is_refused = access(node, Access::READ_OK | Access::WRITE_OK) == Err(Errno::PERM);
    is_refused.then(|| of_node(node, machine))
}

/// Returns the finding about a node that device rules refuse.
pub(super) fn of_node(node: &Path, machine: &Machine) -> Dropped {
    let row = codes::HARDWARE_NO_PERMISSION;
    let status = fs::metadata(node).ok();
    let mode = status.as_ref().map_or(0, |status| status.mode() & 0o777);
    let fact = format!(
        "{}: operation not permitted, although its permissions ({mode:04o}) are not the reason",
        node.display()
    );
    if let Some(service) = Service::without_devices(machine) {
        return service.finding(row, node.display().to_string(), fact);
    }
    let number = status.map_or(DRI, |status| major(status.rdev()));
    let nspawn = "systemd-nspawn --property='DeviceAllow=char-drm rw'";
    let row_of = REFUSED.iter().find(|(file, _)| machine.has(file));
    let advice = match (row_of, machine.text(KIND).as_str()) {
        (Some((_, advice)), _) => (*advice).to_owned(),
        (None, "lxc") => in_lxc(number, machine),
        (None, "systemd-nspawn") => format!("Let the container use the node: {nspawn}"),
        (None, _) => format!(
            "Let the container use the node: docker run or podman run --device /dev/dri in place of a volume; LXC: lxc.cgroup2.devices.allow: c {number}:* \
             rwm; {nspawn}; in a service of systemd: DeviceAllow=char-drm rw"
        ),
    };
    Dropped {
        reason: "The device rules of the container or service refuse the device node of the graphics card.".into(),
        findings: [fact].into(),
        advice,
        ..row.about(node.display().to_string())
    }
}

/// Returns the remedy for a card that a container of systemd-nspawn, LXC or Incus lacks. Returns `None` for other containers.
pub(super) fn for_container(machine: &Machine) -> Option<String> {
    match machine.text(KIND).as_str() {
        "lxc" => Some(in_lxc(DRI, machine)),
        "systemd-nspawn" => Some(
            "Hand the card to the container: systemd-nspawn --bind=/dev/dri --property='DeviceAllow=char-drm rw', or the same lines in \
             /etc/systemd/nspawn/NAME.nspawn (Bind=/dev/dri) and in systemctl edit systemd-nspawn@NAME (DeviceAllow=char-drm rw)"
                .into(),
        ),
        _ => None,
    }
}

/// Returns the remedy for a container of LXC, Proxmox or Incus. `number` is the major number of the node.
fn in_lxc(number: u32, machine: &Machine) -> String {
    if OF_INCUS.iter().any(|file| machine.has(file)) {
        return "Hand the card to the container: incus config device add NAME gpu gpu (lxc config device add for LXD)"
            .into();
    }
    format!(
        "Hand the card to the container, with two lines in its configuration on the host (Proxmox: /etc/pve/lxc/ID.conf; LXC: /var/lib/lxc/NAME/config): \
         lxc.cgroup2.devices.allow: c {number}:* rwm and lxc.mount.entry: /dev/dri dev/dri none bind,optional,create=dir; Proxmox 8.2 and newer: pct set ID \
         --dev0 /dev/dri/renderD128,gid=GROUP; Incus: incus config device add NAME gpu gpu"
    )
}
