//! Adapts the commands of package managers to systems whose files come in an image. There, packages are added with another command, and count after
//! the next start.

use crate::report::Report;
use std::path::Path;

/// A system whose files come in an image.
struct Row {
    /// File that such a system has, relative to the root folder.
    sign: &'static str,
    /// Beginnings of commands, each with the text in its place.
    commands: &'static [(&'static str, &'static str)],
    /// Last sentence of the remedy.
    after: &'static str,
}

/// Last sentence of a remedy for packages that count after the next start.
const AGAIN: &str = "Then start the machine again.";

const ROWS: [Row; 3] = [
    Row {
        sign: "run/ostree-booted",
        commands: &[("dnf install ", "rpm-ostree install ")],
        after: AGAIN,
    },
    Row {
        sign: "usr/sbin/transactional-update",
        commands: &[
            ("zypper install --force ", "transactional-update pkg install --force "),
            ("zypper install ", "transactional-update pkg install "),
        ],
        after: AGAIN,
    },
    Row {
        sign: "usr/bin/steamos-readonly",
        commands: &[("pacman -S ", "steamos-readonly disable && pacman -S ")],
        after: "Then protect the system again: steamos-readonly enable. An update of SteamOS removes the package.",
    },
];

/// Adapts the remedies of a report. A container has files of its own.
pub(super) fn complete(report: &mut Report) {
    if report.surroundings.iter().any(|word| word != "virtual-machine") {
        return;
    }
    for dropped in &mut report.dropped {
        if let Some(advice) = adapted(&dropped.advice, Path::new("/")) {
            dropped.advice = advice;
        }
    }
}

/// Returns a remedy for the system whose root folder is `root`; `None` if nothing changes.
fn adapted(advice: &str, root: &Path) -> Option<String> {
    let row = ROWS.iter().find(|row| root.join(row.sign).exists())?;
    let (from, to) = row.commands.iter().find(|(from, _)| advice.contains(from))?;
    Some(format!(
        "{}. {}",
        advice.replace(from, to).trim_end_matches('.'),
        row.after
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_system_in_an_image_gets_packages_with_its_own_command() {
        for (sign, advice, expected) in [
            (
                "run/ostree-booted",
                "Install it: dnf install libx.",
                "Install it: rpm-ostree install libx. Then start the machine again.",
            ),
            (
                "usr/sbin/transactional-update",
                "Again: zypper install --force x",
                "Again: transactional-update pkg install --force x. Then start the machine again.",
            ),
            (
                "usr/bin/steamos-readonly",
                "pacman -S libx11",
                "steamos-readonly disable && pacman -S libx11. Then protect the system again: steamos-readonly enable. An update of SteamOS removes the package.",
            ),
        ] {
            let root = tempfile::tempdir().expect("a folder");
            assert_eq!(adapted(advice, root.path()), None);
            let file = root.path().join(sign);
            fs::create_dir_all(file.parent().unwrap_or(Path::new("/"))).expect("folders");
            fs::write(file, "").expect("a file");
            assert_eq!(adapted(advice, root.path()).as_deref(), Some(expected));
            assert_eq!(adapted("Log in again", root.path()), None);
        }
    }
}
