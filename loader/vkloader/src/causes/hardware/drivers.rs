//! Finds cards whose Vulkan driver is not installed or does not use the card, and cards for which no Vulkan driver exists.

use super::generations::{self, HASVK};
use super::install::{is_nvidias, to_install};
use super::machine::Machine;
use super::packaged::row_of;
use super::{manifest, newer, node, other_size, slices, unknown};
use crate::causes::multiarch;
use crate::installed;
use crate::paths::file_name;
use crate::regular;
use crate::report::{Card, Dropped, Facts, Kind, Report, codes, other, rank};
use catalogue::hardware;
use reasons::Code;
use std::collections::BTreeSet;

/// Kernel drivers of cards that have no Vulkan driver.
const WITHOUT_VULKAN: [&str; 16] = [
    "ast",
    "bochs-drm",
    "cirrus",
    "cirrus-qemu",
    "etnaviv",
    "gma500",
    "hyperv_drm",
    "lima",
    "mgag200",
    "qxl",
    "simple-framebuffer",
    "vboxvideo",
    "vc4",
    "vc4-drm",
    "vc4_v3d",
    "vmwgfx",
];

/// Fact about a card with the kernel driver vc4.
const VIDEOCORE: &str = "VideoCore IV, the GPU of the Raspberry Pi before model 4, has no Vulkan";

/// Remedy for a card whose kernel driver is in neither [`PACKAGED`](super::packaged::PACKAGED) nor [`WITHOUT_VULKAN`].
const UNKNOWN: &str = "Install the Vulkan driver of the card's maker, if there is one; without it, only software drivers work, such as Mesa's lavapipe.";

/// Remedy for cards that use the older of AMD's two kernel drivers.
const FROM_RADEON: &str = "Vulkan needs the kernel driver amdgpu: for a card of GCN 1 or 2, start the kernel with radeon.si_support=0 \
    radeon.cik_support=0 amdgpu.si_support=1 amdgpu.cik_support=1. Older cards have no Vulkan driver.";

/// Beginning of the remedy for a card of AMD if only AMD's own driver, AMDVLK, is installed. AMDVLK is no longer developed, and does not
/// support older cards.
const INSTEAD_OF_AMDVLK: &str = "Install Mesa's driver RADV, which also serves cards that AMDVLK leaves out.";

/// Upper bound on the size of a manifest in bytes.
const LARGEST: u64 = 1 << 16;

/// Returns a finding for a card without an installed Vulkan driver. The finding ranks after broken drivers and manifests that may belong to
/// the card.
pub(super) fn missing(card: &Card, machine: &Machine, report: &Report) -> Option<Dropped> {
    let kernel_driver = card.kernel_driver.as_deref()?;
    if kernel_driver == "radeon" {
        return generations::too_old(card).is_none().then(|| Dropped {
            advice: FROM_RADEON.into(),
            rank: rank::HARDWARE,
            ..codes::HARDWARE_WITHOUT_VULKAN.about(card.to_string())
        });
    }
    if WITHOUT_VULKAN.contains(&kernel_driver) {
        let videocore = kernel_driver.starts_with("vc4").then_some(VIDEOCORE);
        return Some(Dropped {
            findings: videocore.into_iter().collect(),
            ..codes::HARDWARE_WITHOUT_VULKAN.about(card.to_string())
        });
    }
    let libraries = libraries_for(card, kernel_driver);
    let is_installed =
        libraries_in(report).any(|library| libraries.contains(&library)) || is_served_by_old_mesa(&libraries, report);
    if libraries.is_empty() {
        let is_other = |name: &str| name.contains(".so") && !name.contains("libvulkan_lvp");
        if card.place.starts_with("/dev/") && names_in(report).any(is_other) {
            // The driver of the card's maker has no known name.
            return None;
        }
        let words = format!("no Vulkan driver is known here for the kernel driver {kernel_driver}");
        return Some(Dropped {
            findings: [words].into(),
            advice: UNKNOWN.into(),
            rank: codes::HARDWARE_WITHOUT_VULKAN.rank(),
            ..codes::HARDWARE_NO_DRIVER.about(card.to_string())
        });
    }
    if is_installed {
        return None;
    }
    let may_be_broken = report.dropped.iter().any(is_unknown_and_broken);
    if other_size::leads_away(&libraries, report) {
        return None;
    }
    // A snap contains its own drivers, so the drivers of its base system are for other programs.
    let is_snap = report.runs_in(&["snap"]);
    let mut found = match manifest::missing(card, &libraries, machine, report).filter(|_| !is_snap) {
        // A manifest that this user may not read may name the driver.
        Some(_) if report.dropped.iter().any(is_closed_manifest) => return None,
        Some(found) => found,
        None => Dropped {
            findings: [format!("the libraries that can use it: {}", libraries.join(", "))].into(),
            advice: to_install(kernel_driver, &libraries, machine, report),
            rank: rank_of_missing(&libraries, kernel_driver, report),
            ..codes::HARDWARE_NO_DRIVER.about(card.to_string())
        },
    };
    unknown::explain(&mut found, report);
    other_size::explain(&mut found, &libraries, report);
    if may_be_broken {
        found.rank = rank::CONSEQUENCE;
    }
    Some(found)
}

/// Returns the rank of the finding that none of the drivers in `libraries` is installed.
fn rank_of_missing(libraries: &[&str], kernel_driver: &str, report: &Report) -> u8 {
    let of_other_size = other_size::rank_of(libraries, report);
    let comes_from_host = is_nvidias(kernel_driver) && report.gets_files_of_host();
    if has_driver(report) && of_other_size != Some(rank::BROKEN) || comes_from_host && of_other_size.is_none() {
        rank::HARDWARE
    } else {
        rank::CONSEQUENCE
    }
}

/// Returns `true` for a card whose only driver is [`HASVK`], if Intel's usual driver failed. Before Mesa 22.3, the usual driver serves
/// these cards.
fn is_served_by_old_mesa(libraries: &[&str], report: &Report) -> bool {
    let is_usual = |one: &Dropped| {
        let names = [Some(one.name.as_str()), one.file.as_deref()];
        names
            .into_iter()
            .flatten()
            .any(|name| known(name) == Some("libvulkan_intel"))
    };
    let has_failed = |one: &Dropped| !one.is_noise() && one.rank < rank::CONSEQUENCE && is_usual(one);
    libraries == [HASVK] && report.dropped.iter().any(has_failed)
}

/// Returns `true` if the program found a known driver, even if the driver is broken or has no device.
fn has_driver(report: &Report) -> bool {
    !report.drivers.is_empty() || libraries_in(report).next().is_some()
}

/// Returns a finding for a card whose Vulkan driver lists no device, although the card has a kernel driver and an open node.
pub(super) fn unused(card: &Card, machine: &Machine, report: &Report) -> Option<Dropped> {
    let kernel_driver = card.kernel_driver.as_deref()?;
    let libraries = libraries_for(card, kernel_driver);
    let is_for_card = |dropped: &&Dropped| known(&dropped.name).is_some_and(|library| libraries.contains(&library));
    let mut own = report.dropped.iter().filter(is_for_card);
    let has_failed = |one: &Dropped| one.code == Code::DeviceEnumerationFailed.name() && one.rank < rank::CONSEQUENCE;
    let is_idle = |one: &Dropped| one.is_noise() || refuses_card(one);
    if own.clone().any(|one| is_idle(one) || has_failed(one))
        && let Some(found) = node::refused(card, machine, report)
    {
        return Some(found);
    }
    // The empty list follows from a failed call, which has a finding of its own.
    if own.clone().any(has_failed) {
        return None;
    }
    let driver = own.find(|one| is_idle(one))?;
    if let Some(found) = node::printed(driver, card, machine, report) {
        return Some(found);
    }
    if let Some(found) = node::absent(driver, card, machine, report) {
        return Some(found);
    }
    let library = &driver.name;
    if let Some(found) = newer::printed(driver, card, machine, report) {
        return Some(found);
    }
    if let Some(found) = node::without_device(card, machine, report).or_else(|| slices::only(card, machine, report)) {
        return Some(found);
    }
    let special = row_of(kernel_driver).map_or("", |row| row.unused);
    let result = if driver.is_noise() {
        "lists no device"
    } else {
        "gives no instance"
    };
    let mut findings = Facts::from([format!("{library} {result}")]);
    let printed = driver.findings.iter().filter(|fact| *fact.kind() == Kind::Printed);
    findings.extend(printed.cloned());
    Some(Dropped {
        findings,
        advice: match special {
            _ if is_amdvlk_alone(driver, report) => {
                let install = row_of(kernel_driver).map_or("", |row| row.install);
                format!("{INSTEAD_OF_AMDVLK} {install}")
            }
            "" => to_update(library, report),
            special => special.into(),
        },
        ..codes::HARDWARE_NOT_USED.about(card.to_string())
    })
}

/// Returns `true` for AMD's own driver on a system without Mesa's driver.
fn is_amdvlk_alone(driver: &Dropped, report: &Report) -> bool {
    let is_amdvlk = known(&driver.name).is_some_and(|library| library.starts_with("amdvlk"));
    is_amdvlk && !libraries_in(report).any(|library| library == "libvulkan_radeon")
}

/// Returns `true` for a driver that failed to create an instance although it found its libraries. The cause may be the driver's card or
/// kernel module.
fn refuses_card(driver: &Dropped) -> bool {
    driver.code == "driver.creation-failed" && !driver.names_file
}

/// Returns the usual remedy for a driver that lists no device.
fn to_update(library: &str, report: &Report) -> String {
    let owner = installed::owner(library);
    let update = owner.as_ref().map_or("the Vulkan driver".into(), |owner| {
        owner.replace("package ", "the package ")
    });
    let first = if report.runs_in_container() {
        "Hand the node to the container with --device /dev/dri, because a volume is not enough. If that was done: update"
    } else {
        "Update"
    };
    format!(
        "{first} {update}, because the card may be newer than its Vulkan driver, or older than any; look in dmesg for messages of the kernel \
         driver."
    )
}

/// Returns `true` if a library is a driver for the cards of a kernel driver. Returns `false` for a library that forwards calls to another
/// system.
pub(super) fn is_meant_for(library: &str, kernel_driver: &str) -> bool {
    libraries_of(kernel_driver).contains(&library)
}

/// Returns the libraries that are drivers for a card.
pub(in crate::causes) fn libraries_for(card: &Card, kernel_driver: &str) -> Vec<&'static str> {
    let known = generations::only_library(card).map_or_else(|| libraries_of(kernel_driver), |library| vec![library]);
    if !known.is_empty() {
        return known;
    }
    let has_node = |row: &&hardware::Row| card.node.as_deref().is_some_and(|node| row.nodes.contains(&node));
    hardware::TABLE.iter().filter(has_node).map(|row| row.library).collect()
}

/// Returns the libraries of the drivers that a program found for the cards in `cards`. These drivers may be broken or have no device. Skips
/// drivers that a variable hides.
pub(crate) fn for_cards(report: &Report, cards: &[Card]) -> BTreeSet<String> {
    let is_hidden = |name: &str| {
        let mut hidden = report.dropped.iter().filter(|one| one.variable.is_some());
        hidden.any(|one| one.name == name || one.file.as_deref() == Some(name))
    };
    let is_meant = |library: &str| {
        let mut drivers = cards
            .iter()
            .filter_map(|card| Some((card, card.kernel_driver.as_deref()?)));
        drivers.any(|(card, driver)| libraries_for(card, driver).contains(&library))
    };
    let of_maker = |name: &str| {
        let library = other::library_of(name);
        let file = file_name(&library);
        // A driver of Mesa that is not known here is for a virtual machine.
        (file.contains(".so") && !file.starts_with("libvulkan_")).then(|| file.to_owned())
    };
    let names = names_in(report).filter(|name| !is_hidden(name));
    let libraries = names.filter_map(|name| match known(name) {
        Some(library) => is_meant(library).then(|| library.to_owned()),
        None => of_maker(name),
    });
    libraries.collect()
}

/// Returns the libraries that are drivers for the cards of a kernel driver.
fn libraries_of(kernel_driver: &str) -> Vec<&'static str> {
    match row_of(kernel_driver) {
        Some(row) => row.libraries.into(),
        None => hardware::TABLE
            .iter()
            .filter(|row| row.kernel_drivers.contains(&kernel_driver))
            .map(|row| row.library)
            .collect(),
    }
}

/// Returns the known drivers that the program found, including dropped ones. Skips drivers for another word size.
fn libraries_in(report: &Report) -> impl Iterator<Item = &'static str> {
    names_in(report).filter_map(known)
}

/// Returns the names of the drivers that the program found, including dropped ones: paths of libraries and of manifests. Skips drivers for
/// another word size.
fn names_in(report: &Report) -> impl Iterator<Item = &str> {
    let opened = report.drivers.iter().map(|driver| driver.library.as_str());
    let dropped = report.dropped.iter().filter(|dropped| is_driver(dropped));
    let dropped = dropped.flat_map(|dropped| [Some(dropped.name.as_str()), dropped.file.as_deref()]);
    let kept = report.kept.iter().map(String::as_str);
    // A driver that the library kept first and dropped later is in both lists. Only the entry in `dropped` counts, because that entry shows
    // whether the driver has the wrong word size.
    let is_dropped = |path: &&str| {
        report
            .dropped
            .iter()
            .any(|one| one.name == *path || one.file.as_deref() == Some(path))
    };
    let kept = kept.filter(move |path| !is_dropped(path));
    opened.chain(dropped.flatten()).chain(kept)
}

/// Returns `true` for a finding about a driver for the program's word size. A driver for a processor of another family counts as a broken one.
pub(super) fn is_driver(dropped: &Dropped) -> bool {
    let is_of_other = multiarch::CODES.contains(&dropped.code.as_str()) && dropped.rank != rank::BROKEN;
    dropped.subject.starts_with("driver") && !is_of_other
}

/// Returns `true` for a broken driver or manifest whose library this program does not know. Such a driver may be for any card.
fn is_unknown_and_broken(dropped: &Dropped) -> bool {
    let names = [Some(dropped.name.as_str()), dropped.file.as_deref()];
    let is_broken = dropped.rank >= rank::BROKEN && dropped.rank < rank::CONSEQUENCE;
    is_driver(dropped) && is_broken && names.into_iter().flatten().all(|name| known(name).is_none())
}

/// Returns `true` for a manifest of a driver, or a folder of such manifests, that this process may not open.
fn is_closed_manifest(dropped: &Dropped) -> bool {
    dropped.subject.starts_with("driver") && dropped.code == "file.not-opened"
}

/// Returns `true` for a driver of WSL that could be opened, but failed afterwards.
pub(super) fn is_of_windows(dropped: &Dropped) -> bool {
    let names = [Some(dropped.name.as_str()), dropped.file.as_deref()];
    let is_meant = names
        .into_iter()
        .flatten()
        .any(|name| known(name) == Some("libvulkan_dzn"));
    is_meant && dropped.rank == rank::BROKEN && dropped.code != "driver.not-opened"
}

/// Returns the known driver at a path. For the path of a manifest, this is the library that the manifest names.
pub(in crate::causes) fn known(path: &str) -> Option<&'static str> {
    let library = hardware::of(other::library_of(path).as_bytes()).map(|row| row.library);
    library.or_else(|| named_in(path))
}

/// Returns the known driver whose library is named somewhere in the text of a manifest. The manifest need not be valid JSON.
fn named_in(path: &str) -> Option<&'static str> {
    let is_small = |path: &&str| std::fs::metadata(path).is_ok_and(|state| state.is_file() && state.len() <= LARGEST);
    let manifest = Some(path).filter(|path| path.ends_with(".json")).filter(is_small)?;
    let text = regular::text(manifest).ok()?;
    let mut rows = hardware::TABLE.iter();
    rows.find(|row| text.contains(&format!("{}.so", row.library)))
        .map(|row| row.library)
}

#[cfg(test)]
mod tests {
    use super::super::packaged::PACKAGED;
    use super::*;

    #[test]
    fn each_library_of_the_table_is_known_for_its_kernel_drivers() {
        for row in &PACKAGED {
            for library in row.libraries {
                let known = hardware::of(format!("{library}.so").as_bytes()).expect("a known library");
                let serves = |driver: &&str| known.kernel_drivers.contains(driver);
                assert!(
                    row.kernel_drivers.iter().any(serves) || !known.nodes.is_empty(),
                    "{library}"
                );
            }
        }
        for driver in WITHOUT_VULKAN {
            assert!(libraries_of(driver).is_empty(), "{driver}");
        }
    }
}
