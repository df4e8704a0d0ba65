//! Finds cards that are newer than their driver, according to what the driver printed.

use super::machine::Machine;
use crate::report::{Card, Dropped, Fact, Kind};

/// Words with which drivers say that they do not know a card, in lower case.
const UNKNOWN: [&str; 4] = ["not support", "unsupported", "unknown", "not recognized"];

/// Returns the line in which a driver says that it does not know the card.
pub(super) fn refusal<'a>(driver: &'a Dropped, card: &Card) -> Option<&'a Fact> {
    let number = format!("{:04x}", card.device);
    driver.findings.iter().find(|line| {
        let lower = line.to_lowercase();
        *line.kind() == Kind::Printed && lower.contains(&number) && UNKNOWN.iter().any(|words| lower.contains(words))
    })
}

/// Returns the remedy for a driver of Mesa that is older than the card.
pub(super) fn to_newer(machine: &Machine) -> String {
    let system = machine.text("etc/os-release");
    let value = |name: &str| {
        let mut lines = system.lines().filter_map(|line| line.strip_prefix(name));
        lines.next().map(|value| value.trim_matches('"').to_owned())
    };
    let release = value("VERSION_CODENAME=");
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
    use crate::report::codes;

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
        ] {
            driver.findings = [Fact::printed(line)].into();
            assert_eq!(refusal(&driver, &card).is_some(), is_it, "{line}");
        }
    }
}
