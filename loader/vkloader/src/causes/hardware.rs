//! Whether a driver could reach its hardware: device nodes, who may open them, and kernel drivers.

use crate::report::{Dropped, Report, codes};
use rustix::fs::{Access, access};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The class of displays on the PCI bus, as the kernel writes it.
const DISPLAY: &str = "0x03";

/// Adds what keeps drivers from hardware, where no device of hardware is there.
pub(super) fn find(report: &mut Report) {
    find_below(report, Path::new("/"));
}

fn find_below(report: &mut Report, root: &Path) {
    let has_hardware = report.devices.iter().any(|device| device.kind != "cpu");
    if has_hardware || report.loader.is_none() {
        return;
    }
    let nodes = render_nodes(root);
    let closed: Vec<&PathBuf> = nodes.iter().filter(|node| !is_open_to_us(node)).collect();
    if let Some(first) = closed.first() {
        let group = group_of(first, root);
        let row = codes::HARDWARE_NO_PERMISSION;
        report.dropped.push(Dropped {
            findings: closed
                .iter()
                .map(|node| format!("closed to this user: {}", node.display()))
                .collect(),
            advice: match group {
                Some(group) => {
                    format!("Add the user to the group {group}, and log in again: usermod -aG {group} USER.")
                }
                None => row.remedy.into(),
            },
            ..row.about(first.display().to_string())
        });
    }
    for card in cards_without_driver(root) {
        report.dropped.push(codes::HARDWARE_NO_KERNEL_DRIVER.about(card));
    }
}

fn render_nodes(root: &Path) -> Vec<PathBuf> {
    let folder = root.join("dev/dri");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut nodes: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"renderD"))
        .map(|entry| entry.path())
        .collect();
    nodes.sort();
    nodes
}

fn is_open_to_us(node: &Path) -> bool {
    access(node, Access::READ_OK | Access::WRITE_OK).is_ok()
}

/// The name of the group that a node belongs to.
fn group_of(node: &Path, root: &Path) -> Option<String> {
    let number = fs::metadata(node).ok()?.gid().to_string();
    let groups = fs::read_to_string(root.join("etc/group")).ok()?;
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id == number).then(|| name.into())
    })
}

/// The displays on the PCI bus that no kernel driver serves: the place, and the numbers of vendor and device.
fn cards_without_driver(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root.join("sys/bus/pci/devices"))
        .into_iter()
        .flatten()
        .flatten();
    let text = |path: PathBuf| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let mut cards: Vec<String> = entries
        .map(|entry| entry.path())
        .filter(|card| text(card.join("class")).starts_with(DISPLAY) && !card.join("driver").exists())
        .map(|card| {
            let place = card.file_name().unwrap_or_default().to_string_lossy().into_owned();
            format!("{place} ({}:{})", text(card.join("vendor")), text(card.join("device")))
        })
        .collect();
    cards.sort();
    cards
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Loader;

    fn report() -> Report {
        Report {
            loader: Some(Loader {
                version: String::new(),
                path: None,
                owner: None,
                word_size: 64,
                executable: None,
            }),
            ..Report::default()
        }
    }

    #[test]
    fn a_card_without_a_kernel_driver_is_named() {
        let root = tempfile::tempdir().expect("a folder");
        for (place, class, driver) in [
            ("0000:01:00.0", "0x030000", false),
            ("0000:02:00.0", "0x030200", true),
            ("0000:03:00.0", "0x020000", false),
        ] {
            let card = root.path().join("sys/bus/pci/devices").join(place);
            fs::create_dir_all(&card).expect("folders");
            for (file, text) in [("class", class), ("vendor", "0x10de"), ("device", "0x2684")] {
                fs::write(card.join(file), format!("{text}\n")).expect("files");
            }
            if driver {
                fs::create_dir(card.join("driver")).expect("a folder");
            }
        }
        let mut report = report();
        find_below(&mut report, root.path());
        let found: Vec<&str> = report.dropped.iter().map(|dropped| dropped.name.as_str()).collect();
        assert_eq!(found, ["0000:01:00.0 (0x10de:0x2684)"]);
    }
}
