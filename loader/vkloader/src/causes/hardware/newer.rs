//! Finds cards that are newer than their driver, and kernels that are older, according to what the driver printed.

use super::machine::Machine;
use crate::report::{Card, Dropped, Fact, Kind, Report, codes};

/// Words with which Mesa's drivers for AMD's cards say that they do not know a card. The words have no number of the device.
const UNKNOWN_TO_RADV: &str = "amdgpu: unknown (family_id";

/// Words with which drivers say that they do not know a card, in lower case.
const UNKNOWN: [&str; 4] = ["not support", "unsupported", "unknown", "not recognized"];

/// Words with which drivers say that the kernel is too old for them, in lower case. Each row has words of one line.
const OLD_KERNEL: [[&str; 2]; 2] = [["kernel missing", ""], ["drm version is", "only compatible with"]];

/// Remedies for a kernel that is older than the driver: in a container, which uses the kernel of its host, and elsewhere.
const OLDER_IMAGE: &str = "Use an image with an older version of Mesa, or update the kernel of the host, because a container uses this kernel.";
const NEWER_KERNEL: &str = "Update the kernel, and start the machine again; or install the version of Mesa that belongs to this kernel's release of the system.";

/// Returns the finding about a driver that printed why it does not use the card.
pub(super) fn printed(driver: &Dropped, card: &Card, machine: &Machine, report: &Report) -> Option<Dropped> {
    let library = &driver.name;
    let (reason, line, advice) = if let Some(line) = refusal(driver, card) {
        let reason = format!("The Vulkan driver {library} does not know the graphics card, which is newer.");
        (reason, line, to_newer(machine))
    } else {
        let line = driver.findings.iter().find(|line| is_about_old_kernel(line))?;
        let reason = format!("The kernel is older than the Vulkan driver {library} needs.");
        let advice = if report.runs_in_container() {
            OLDER_IMAGE
        } else {
            NEWER_KERNEL
        };
        (reason, line, advice.into())
    };
    Some(Dropped {
        reason,
        findings: [line.clone()].into(),
        advice,
        ..codes::HARDWARE_NOT_USED.about(card.to_string())
    })
}

/// Returns `true` for a line in which a driver says that the kernel is too old.
fn is_about_old_kernel(line: &Fact) -> bool {
    let lower = line.to_lowercase();
    let mut rows = OLD_KERNEL.iter();
    *line.kind() == Kind::Printed && rows.any(|words| words.iter().all(|words| lower.contains(words)))
}

/// Returns the line in which a driver says that it does not know the card.
fn refusal<'a>(driver: &'a Dropped, card: &Card) -> Option<&'a Fact> {
    let number = format!("{:04x}", card.device);
    driver.findings.iter().find(|line| {
        let lower = line.to_lowercase();
        let is_about = lower.contains(&number) && UNKNOWN.iter().any(|words| lower.contains(words));
        *line.kind() == Kind::Printed && (is_about || lower.contains(UNKNOWN_TO_RADV))
    })
}

/// Returns the remedy for a driver of Mesa that is older than the card.
fn to_newer(machine: &Machine) -> String {
    let system = machine.text("etc/os-release");
    let value = |name: &str| {
        let mut lines = system.lines().filter_map(|line| line.strip_prefix(name));
        lines.next().map(|value| value.trim_matches('"').to_owned())
    };
    // Testing and unstable of Debian have no number, and no source for backports.
    let release = value("VERSION_ID=").and_then(|_| value("VERSION_CODENAME="));
    let command = match (value("ID=").as_deref(), release) {
        (Some("debian"), Some(release)) => format!(
            "with the source {release}-backports of Debian: apt install -t {release}-backports mesa-vulkan-drivers; or upgrade to the next release of Debian."
        ),
        (Some("ubuntu"), _) => {
            "add-apt-repository ppa:kisak/kisak-mesa && apt update && apt upgrade; or upgrade to the next release of Ubuntu.".into()
        }
        _ => "update the system, or upgrade it to its next release.".into(),
    };
    format!("Install a newer version of Mesa, because this one is older than the card: {command}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_that_does_not_know_the_card_is_recognised_by_its_words() {
        let card = Card {
            place: "0000:03:00.0".into(),
            vendor: 0x8086,
            device: 0xE20B,
            kernel_driver: None,
            node: None,
        };
        let mut driver = codes::DEVICE_NOT_CREATED.about("libvulkan_intel.so");
        for (line, is_it) in [
            ("MESA: warning: Driver does not support the 0xe20b PCI ID.", true),
            ("MESA: warning: Driver does not support the 0xe20c PCI ID.", false),
            ("opened 0xe20b", false),
            ("amdgpu: unknown (family_id, chip_external_rev): (152, 81)", true),
        ] {
            driver.findings = [Fact::printed(line)].into();
            assert_eq!(refusal(&driver, &card).is_some(), is_it, "{line}");
        }
    }

    #[test]
    fn a_kernel_that_is_too_old_for_the_driver_is_recognised_by_its_words() {
        let card = Card {
            place: "0000:00:02.0".into(),
            vendor: 0x8086,
            device: 0x3185,
            kernel_driver: Some("i915".into()),
            node: None,
        };
        let root = tempfile::tempdir().expect("a folder");
        let machine = Machine::seen_from(root.path(), None);
        for (line, surrounding, advice) in [
            (
                "anv_device.c:1: kernel missing syncobj wait",
                "docker",
                Some(OLDER_IMAGE),
            ),
            (
                "amdgpu: DRM version is 3.23.0, but this driver is only compatible with 3.27.0 (kernel 4.20+) or later.",
                "",
                Some(NEWER_KERNEL),
            ),
            ("radv/amdgpu: failed to initialize device.", "", None),
        ] {
            let mut driver = codes::DRIVER_NONE_HAS_DEVICE.about("libvulkan_intel.so");
            driver.findings = [Fact::printed(line)].into();
            let report = Report {
                surroundings: vec![surrounding.into()],
                ..Report::default()
            };
            let found = printed(&driver, &card, &machine, &report).map(|one| one.advice);
            assert_eq!(found.as_deref(), advice, "{line}");
        }
    }

    #[test]
    fn only_releases_of_debian_with_a_number_have_backports() {
        for (system, words) in [
            (
                "ID=debian\nVERSION_ID=\"13\"\nVERSION_CODENAME=trixie\n",
                "apt install -t trixie-backports",
            ),
            ("ID=debian\nVERSION_CODENAME=forky\n", ": update the system"),
            ("ID=ubuntu\nVERSION_ID=\"24.04\"\n", "ppa:kisak/kisak-mesa"),
        ] {
            let root = tempfile::tempdir().expect("a folder");
            std::fs::create_dir_all(root.path().join("etc")).expect("folders");
            std::fs::write(root.path().join("etc/os-release"), system).expect("a file");
            let remedy = to_newer(&Machine::seen_from(root.path(), None));
            assert!(remedy.contains(words), "{remedy}");
        }
    }
}
