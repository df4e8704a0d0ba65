//! Finds device nodes that exist, but have no device of this kernel.

use super::drivers::in_container;
use super::machine::Machine;
use crate::report::{Card, Dropped, Report, codes};
use crate::shell::word;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

/// Returns a finding if the kernel has no device for the node of a card. The driver of the card has tried to open the node before, so this attempt
/// wakes no card.
pub(super) fn without_device(card: &Card, machine: &Machine, report: &Report) -> Option<Dropped> {
    let path = card.node.as_deref()?;
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let error = open(machine.path(path), flags, Mode::empty()).err()?;
    if ![Errno::NXIO, Errno::NODEV].contains(&error) {
        return None;
    }
    let advice = if in_container(report) {
        "Give the container the node of this kernel: --device /dev/dri. If that was done, load the kernel module of the card on the host again, or start the \
         host again."
            .into()
    } else {
        format!(
            "Let the system make the node again: rm {} && udevadm trigger --action=add --subsystem-match=drm. If that does not help, start the \
             machine again.",
            word(path)
        )
    };
    Some(Dropped {
        reason: format!("{path} exists, but leads to no device of this kernel."),
        findings: [format!("opening {path}: {}", std::io::Error::from(error))].into(),
        advice,
        ..codes::HARDWARE_NO_NODE.about(card.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// The system refuses to open the file of a socket in the same words as a node without a device.
    #[test]
    fn a_node_without_a_device_is_named() {
        let root = tempfile::tempdir().expect("a folder");
        let card = Card {
            place: "0000:03:00.0".into(),
            vendor: 0x1002,
            device: 1,
            kernel_driver: Some("amdgpu".into()),
            node: Some("/node".into()),
        };
        let found = || without_device(&card, &Machine::at(root.path()), &Report::default());
        assert!(found().is_none(), "a missing node has another finding");
        let _socket = UnixListener::bind(root.path().join("node")).expect("a socket");
        let found = found().expect("no device");
        assert!(found.findings.iter().any(|fact| fact.contains("opening /node: ")));
    }
}
