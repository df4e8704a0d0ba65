//! Finds device nodes that exist, but that the system does not open: a security policy refuses them, or they have no device of this kernel. Only
//! opening a node shows that. The driver of the card has tried to open the node before, so this attempt wakes no card.

use super::machine::{Machine, is_of_nvidia};
use super::permissions::{in_closed_folder, permissions};
use super::rules;
use crate::causes::elf;
use crate::report::{Card, Dropped, Fact, Facts, Report, codes};
use crate::shell::word;
use rustix::fs::{Access, Mode, OFlags, open};
use rustix::io::Errno;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Node that NVIDIA's driver opens first. Opening this node wakes no card.
const OF_NVIDIA: &str = "/dev/nvidiactl";

/// Remedy for a node that a security policy refuses.
const POLICY: &str = "A security policy forbids it (AppArmor, SELinux, Landlock). Look for the denial in the kernel's log (dmesg, or ausearch -m avc), and \
    permit the node there; aa-status lists the profiles of AppArmor.";

/// Remedy for a node that a security policy refuses to a container.
const POLICY_IN_CONTAINER: &str = "SELinux or AppArmor of the host forbids the container to use the node: podman run --security-opt label=disable IMAGE, or on \
    the host setsebool -P container_use_dri_devices 1 (container_use_devices for NVIDIA's nodes); for AppArmor: --security-opt apparmor=unconfined.";

/// Beginning of the remedy for a node that a container may not open, according to the words of a driver.
const VOLUME: &str = "The permissions of the node allow access, but the container may not use it: make the node available with --device /dev/dri, because a \
    volume is not enough. If that was done: ";

/// Remedy for a node that a security policy refuses to a snap.
const POLICY_IN_SNAP: &str = "AppArmor forbids the snap to use the node: snap connect NAME:opengl. If that was done, look for the denial in the kernel's log \
    (dmesg).";

/// Returns the error with which the system refuses to open a node.
fn error_at(path: &str, machine: &Machine) -> Option<Errno> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    open(machine.path(path), flags, Mode::empty()).err()
}

/// Returns a finding if the system refuses to open the node of a card, although the permissions of the node allow it.
pub(super) fn refused(card: &Card, machine: &Machine, report: &Report) -> Option<Dropped> {
    let path = match card.node.as_deref() {
        _ if is_of_nvidia(card) => OF_NVIDIA,
        node => node?,
    };
    match error_at(path, machine) {
        Some(error) => of_error(path, error, machine, report),
        None => unlisted(path, machine, report),
    }
}

/// Folder that Mesa's drivers list to find the nodes of cards.
const FOLDER: &str = "/dev/dri";

/// Returns a finding if this process may open the node of a card, but may not list the folder of the node.
fn unlisted(path: &str, machine: &Machine, report: &Report) -> Option<Dropped> {
    let folder = machine.path(FOLDER);
    let is_in_folder = Path::new(path).starts_with(FOLDER);
    let error = fs::read_dir(&folder).err().filter(|_| is_in_folder)?;
    if error.kind() != ErrorKind::PermissionDenied {
        return None;
    }
    Some(if elf::is_permitted(&folder, Access::READ_OK | Access::EXEC_OK) {
        by_policy(FOLDER, format!("listing {FOLDER}: {error}").into(), machine, report)
    } else {
        in_closed_folder(&folder, machine)
    })
}

/// Returns the finding about a node that the system refused to open with an error about permissions.
fn of_error(path: &str, error: Errno, machine: &Machine, report: &Report) -> Option<Dropped> {
    match error {
        // The kernel reports this error for the device rules of a container or service.
        Errno::PERM => Some(rules::of_node(&machine.path(path), machine)),
        Errno::ACCESS if !elf::is_permitted(&machine.path(path), Access::READ_OK | Access::WRITE_OK) => {
            permissions(machine, &[machine.path(path)])
        }
        Errno::ACCESS => {
            let fact = format!("opening {path}: {}", std::io::Error::from(error));
            Some(by_policy(path, fact.into(), machine, report))
        }
        _ => None,
    }
}

/// Returns a finding if a driver reports that it may not open a node.
pub(super) fn printed(driver: &Dropped, card: &Card, machine: &Machine, report: &Report) -> Option<Dropped> {
    const WORDS: [&str; 2] = ["Permission denied", "Operation not permitted"];
    let refuses = |line: &&Fact| line.contains("/dev/") && WORDS.iter().any(|words| line.contains(words));
    let line = driver.findings.iter().find(refuses)?;
    let name = card.node.clone().unwrap_or_else(|| card.to_string());
    let found = by_policy(&name, line.clone(), machine, report);
    Some(if report.runs_in_container() {
        Dropped {
            advice: format!("{VOLUME}{}", found.advice),
            ..found
        }
    } else {
        found
    })
}

/// Beginnings of the paths of nodes that kernel drivers of cards make.
const OF_CARDS: [&str; 7] = [
    "/dev/dri/",
    "/dev/nvidia",
    "/dev/kfd",
    "/dev/dxg",
    "/dev/mali",
    "/dev/kgsl",
    "/dev/pvr",
];

/// Returns a finding if a driver reports that it could not open a node of a card that is not there.
pub(super) fn absent(driver: &Dropped, card: &Card, machine: &Machine, report: &Report) -> Option<Dropped> {
    let is_separator = |sign: char| sign.is_whitespace() || "'\"`(),;<>=[]".contains(sign);
    let node_in = |line: &Fact| {
        let words = line.split(is_separator).map(|word| word.trim_end_matches(['.', ':']));
        let mut nodes = words.filter(|word| OF_CARDS.iter().any(|own| word.starts_with(own)));
        nodes
            .find(|node| !machine.has(node.trim_start_matches('/')))
            .map(String::from)
    };
    let refuses = |line: &&Fact| line.contains("No such file or directory");
    let mut lines = driver.findings.iter().filter(refuses);
    let (line, node) = lines.find_map(|line| Some((line, node_in(line)?)))?;
    let modules = [("/dev/nvidia-modeset", "-m"), ("/dev/nvidia-uvm", "-u -c 0")];
    let made = modules.iter().find(|(name, _)| *name == node);
    let made = made.map(|(_, option)| format!("nvidia-modprobe {option}"));
    let shown = word(&node);
    let advice = if report.runs_in_container() {
        let made = made.map_or(String::new(), |command| {
            format!("; if the host lacks it, on the host: {command}")
        });
        format!("Give the container the node of the host: docker run --device {shown} IMAGE{made}.")
    } else {
        let made = made.map_or(String::new(), |command| format!("; or: {command}"));
        format!(
            "Let the kernel driver of the card make the node {shown}: look in dmesg for its messages, and start the machine again{made}."
        )
    };
    Some(Dropped {
        reason: format!(
            "The Vulkan driver of the graphics card lists no device, and could not open {node}, which is not there."
        ),
        findings: [line.clone()].into(),
        advice,
        ..codes::HARDWARE_NO_NODE.about(card.to_string())
    })
}

/// Returns the finding about a node that a security policy refuses. `fact` contains the message of the system.
fn by_policy(path: &str, fact: Fact, machine: &Machine, report: &Report) -> Dropped {
    let mode = fs::metadata(machine.path(path)).map(|status| status.mode() & 0o777);
    let mode = mode.map(|mode| format!("its permissions ({mode:04o}) allow it"));
    let mut findings = Facts::from([fact]);
    findings.extend(mode);
    let advice = if report.runs_in(&["snap"]) {
        POLICY_IN_SNAP
    } else if report.runs_in_container() {
        POLICY_IN_CONTAINER
    } else {
        POLICY
    };
    Dropped {
        reason: format!(
            "The system refuses to open {path}, which the driver of the graphics card needs, although its permissions allow it."
        ),
        findings,
        advice: advice.into(),
        ..codes::HARDWARE_NO_PERMISSION.about(path)
    }
}

/// Returns a finding if the kernel has no device for the node of a card.
pub(super) fn without_device(card: &Card, machine: &Machine, report: &Report) -> Option<Dropped> {
    let path = card.node.as_deref()?;
    let error = error_at(path, machine).filter(|error| [Errno::NXIO, Errno::NODEV].contains(error))?;
    let advice = if report.runs_in_container() {
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

    /// The error that device rules cause has other remedies than that of a security policy.
    #[test]
    fn the_error_and_the_surroundings_decide_who_refuses_a_node() {
        let root = tempfile::tempdir().expect("a folder");
        let machine = Machine::at(root.path());
        fs::write(root.path().join("node"), "").expect("a file");
        for (error, surrounding, words) in [
            (Errno::ACCESS, "", "AppArmor, SELinux, Landlock"),
            (Errno::ACCESS, "podman", "podman run --security-opt label=disable"),
            (Errno::ACCESS, "snap", "snap connect NAME:opengl"),
            (Errno::PERM, "", "DeviceAllow=char-drm rw"),
        ] {
            let report = Report {
                surroundings: [surrounding.to_owned()].into(),
                ..Report::default()
            };
            let found = of_error("/node", error, &machine, &report).expect("a finding");
            assert_eq!(found.code, codes::HARDWARE_NO_PERMISSION.name);
            assert!(found.advice.contains(words), "{}", found.advice);
        }
        assert!(of_error("/node", Errno::NXIO, &machine, &Report::default()).is_none());
    }

    #[test]
    fn a_node_that_a_driver_misses_is_named() {
        let root = tempfile::tempdir().expect("a folder");
        fs::create_dir(root.path().join("dev")).expect("a folder");
        let line = "failed to open /dev/nvidia-modeset: No such file or directory";
        let driver = Dropped {
            findings: [Fact::printed(line)].into(),
            ..codes::DEVICE_NOT_CREATED.about("libGLX_nvidia.so.0")
        };
        let found = |surrounding: &str| {
            let report = Report {
                surroundings: [surrounding.to_owned()].into(),
                ..Report::default()
            };
            absent(&driver, &Card::of_amd(), &Machine::at(root.path()), &report)
        };
        let advice = found("docker").expect("a finding").advice;
        assert!(advice.contains("--device /dev/nvidia-modeset IMAGE"), "{advice}");
        assert!(advice.contains("nvidia-modprobe -m"), "{advice}");
        let advice = found("").expect("a finding").advice;
        assert!(!advice.contains("docker"), "{advice}");
        fs::write(root.path().join("dev/nvidia-modeset"), "").expect("a file");
        assert!(found("docker").is_none(), "the node is there");
    }

    /// The system refuses to open the file of a socket in the same words as a node without a device.
    #[test]
    fn a_node_without_a_device_is_named() {
        let root = tempfile::tempdir().expect("a folder");
        let card = Card {
            node: Some("/node".into()),
            ..Card::of_amd()
        };
        let found = || without_device(&card, &Machine::at(root.path()), &Report::default());
        assert!(found().is_none(), "a missing node has another finding");
        let _socket = UnixListener::bind(root.path().join("node")).expect("a socket");
        let found = found().expect("no device");
        assert!(found.findings.iter().any(|fact| fact.contains("opening /node: ")));
    }
}
