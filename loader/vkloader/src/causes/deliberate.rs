//! Ranks findings about variables that choose drivers. Such a variable is not the cause if it leaves in a card's driver, and this driver or card
//! has a fault of its own.

mod faults;

use super::hardware::{is_for_guests, is_hardware, is_used, known, libraries_for, vendor};
use super::minor::{is_software, matters_less};
use crate::report::other::library_of;
use crate::report::{Card, Dropped, Hidden, Report, Verdict, codes, rank};
use faults::{guests_first, is_fault, is_obstacle};
use reasons::Code;

/// Mesa's driver for guests of the Android emulator, which many systems have and which is not in the table of drivers.
const OF_EMULATOR: &str = "libvulkan_gfxstream.so";

/// Ranks variables that choose drivers after faults of the drivers that they leave in, except if another driver would give a hardware device.
/// `usual` has the manifests in the usual folders, which a variable may replace.
pub(super) fn rank_after_faults(report: &mut Report, usual: &[String]) {
    let is_aside = |one: &Dropped, hidden: &[Hidden]| is_choice(one) || matters_less(one, hidden);
    let has_choice = report.dropped.iter().any(|one| is_aside(one, &report.hidden));
    if !has_choice || report.devices.iter().any(is_hardware) {
        return;
    }
    if report.verdict == Verdict::SoftwareOnly && has_no_card(report) {
        // The variable hides nothing here, except for an unknown driver, which may be for hardware that the system's lists do not show.
        let Report { dropped, hardware, .. } = report;
        let may_hide = |one: &Dropped| is_left_out(one) && may_serve(&one.name, hardware.iter());
        let choices = dropped.iter_mut().filter(|one| is_choice(one) && !may_hide(one));
        return choices.for_each(|one| one.rank = rank::ASIDE);
    }
    guests_first(report);
    let kept = kept(report);
    if leaves_out_better(report, &kept, usual) {
        return;
    }
    let faults = report
        .dropped
        .iter()
        .filter(|one| is_fault(one, &report.hardware, &kept));
    let Some(first) = faults.map(|one| one.rank).min() else {
        return;
    };
    let Report { dropped, hidden, .. } = report;
    let choices = dropped.iter_mut().filter(|one| is_aside(one, hidden));
    choices.for_each(|one| one.rank = one.rank.max(first + 1));
}

/// Returns `true` if the system shows no card for which there is a Vulkan driver.
fn has_no_card(report: &Report) -> bool {
    if report.hardware.is_empty() {
        report.dropped.iter().any(|one| one.code == codes::HARDWARE_NONE.name)
    } else {
        report.hardware.iter().all(|card| report.has_no_driver(card))
    }
}

/// Names the card whose driver a variable leaves out, on a machine where another card works. A filter for the whole session is often forgotten, so
/// the finding is not a side note. `usual` has the manifests in the usual folders.
pub(super) fn name_left_out_card(report: &mut Report, usual: &[String]) {
    let Report {
        hardware,
        devices,
        dropped,
        ..
    } = report;
    let Some(variable) = dropped.iter_mut().find(|one| one.code == codes::SEARCH_REPLACED.name) else {
        return;
    };
    if !devices.iter().any(|device| device.is_usable && is_hardware(device)) {
        return;
    }
    let opened = |card: &Card| {
        let mut used = devices.iter().filter_map(|device| known(&device.driver));
        used.any(|library| serves(library, card))
    };
    let has_driver = |card: &&Card| {
        let is_bound = card
            .kernel_driver
            .as_deref()
            .is_some_and(|driver| !is_for_guests(driver));
        let mut libraries = usual.iter().filter_map(|manifest| known(manifest));
        is_bound && !opened(card) && libraries.any(|library| serves(library, card))
    };
    let mut idle = hardware.iter().filter(|card| !is_used(card, devices));
    if let Some(card) = idle.find(has_driver) {
        variable.reason = format!("{} leaves out the driver of the card {card}.", variable.name);
        variable.rank = rank::ASKED_FOR;
    }
}

/// Makes the drivers that a variable leaves out side notes on a machine with a usable card, except for the drivers of a card that is not used.
pub(super) fn set_aside_left_out(report: &mut Report) {
    let Report {
        hardware,
        devices,
        dropped,
        ..
    } = report;
    let works = devices.iter().any(|device| device.is_usable && is_hardware(device));
    if !works || hardware.is_empty() {
        return;
    }
    let idle: Vec<&Card> = hardware.iter().filter(|card| !is_used(card, devices)).collect();
    let is_missed = |one: &Dropped| may_serve(&one.name, idle.iter().copied());
    let left_out = dropped.iter_mut().filter(|one| is_left_out(one) && !is_missed(one));
    left_out.for_each(|one| one.rank = one.rank.max(rank::ASIDE));
}

/// Returns `true` if the driver of a manifest is for one of the cards, or is unknown.
pub(super) fn may_serve<'a>(manifest: &str, mut cards: impl Iterator<Item = &'a Card>) -> bool {
    match known(manifest) {
        Some(library) => cards.any(|card| serves(library, card)),
        None => !library_of(manifest).ends_with(OF_EMULATOR),
    }
}

/// Returns `true` for a finding about a variable that replaces the search for drivers, or that leaves out a manifest of a driver.
fn is_choice(one: &Dropped) -> bool {
    let is_replacing = one.code == codes::SEARCH_REPLACED.name;
    (is_replacing || is_left_out(one)) && one.rank < rank::ASIDE
}

/// Returns `true` for a finding about a manifest of a driver that a variable leaves out.
pub(super) fn is_left_out(one: &Dropped) -> bool {
    [Code::DriverManifestDisabled, Code::DriverManifestNotSelected]
        .iter()
        .any(|code| code.name() == one.code)
}

/// Returns the known drivers that the variables leave in.
fn kept(report: &Report) -> Vec<&'static str> {
    let left_out = |path: &str| report.dropped.iter().any(|one| is_left_out(one) && one.name == path);
    let opened = report.drivers.iter().map(|driver| driver.library.as_str());
    let found = report.kept.iter().map(String::as_str);
    let of_driver = |one: &&Dropped| one.subject.starts_with("driver") && !is_left_out(one);
    let dropped = report.dropped.iter().filter(of_driver);
    let dropped = dropped.flat_map(|one| [Some(one.name.as_str()), one.file.as_deref()]);
    let all = opened.chain(found).chain(dropped.flatten());
    all.filter(|path| !left_out(path)).filter_map(known).collect()
}

/// Returns `true` if a variable leaves out a driver that may use a card without an obstacle.
fn leaves_out_better(report: &Report, kept: &[&str], usual: &[String]) -> bool {
    // A filter may hide a card that works.
    let is_card = |device: &Hidden| device.by_what == "variable" && !is_software(device);
    if report.hidden.iter().any(is_card) {
        return true;
    }
    let is_replaced = report.dropped.iter().any(|one| one.code == codes::SEARCH_REPLACED.name);
    let replaced = usual.iter().filter(|_| is_replaced).map(String::as_str);
    let filtered = report.dropped.iter().filter(|one| is_left_out(one));
    let manifests: Vec<&str> = replaced.chain(filtered.map(|one| one.name.as_str())).collect();
    let mut free = report.hardware.iter().filter(|card| {
        let mut all = report.dropped.iter();
        !all.any(|one| is_obstacle(one, card))
    });
    free.any(|card| {
        let may_use = |manifest: &&str| match known(manifest) {
            Some(library) => !kept.contains(&library) && serves(library, card),
            None => !library_of(manifest).ends_with(OF_EMULATOR),
        };
        manifests.iter().any(may_use)
    })
}

/// Returns `true` if the driver at the path of a library is a known one for one of the cards.
pub(crate) fn is_for_any(library: &str, cards: &[Card]) -> bool {
    known(library).is_some_and(|library| cards.iter().any(|card| serves(library, card)))
}

/// Returns `true` if a driver is for a card. The vendor counts for a card without its own kernel driver.
pub(super) fn serves(library: &str, card: &Card) -> bool {
    let known = card.kernel_driver.as_deref().map(|driver| libraries_for(card, driver));
    match known.filter(|libraries| !libraries.is_empty()) {
        Some(libraries) => libraries.contains(&library),
        None => vendor(library) == Some(card.vendor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Fact, Kind};

    const NODE: &str = "/dev/dri/renderD128";

    fn card(vendor: u32, driver: &str, node: &str) -> Card {
        Card {
            place: format!("0000:{:02x}:00.0", vendor & 0xFF),
            vendor,
            device: 0x73DF,
            kernel_driver: Some(driver.into()),
            node: Some(node.into()),
        }
    }

    fn left_out(code: Code, library: &str) -> Dropped {
        Dropped {
            code: code.name().into(),
            rank: code.rank(),
            subject: "driver manifest".into(),
            ..codes::SEARCH_REPLACED.about(format!("/usr/share/vulkan/icd.d/{library}.so"))
        }
    }

    fn broken(code: Code, subject: &str, library: &str) -> Dropped {
        Dropped {
            subject: subject.into(),
            ..left_out(code, library)
        }
    }

    /// Returns the code of the first finding on a system with an AMD card, whose driver the variables leave in.
    fn first(dropped: Vec<Dropped>, others: Vec<Card>, usual: &[&str]) -> String {
        let mut report = Report {
            hardware: std::iter::once(card(0x1002, "amdgpu", NODE)).chain(others).collect(),
            kept: vec!["/l/libvulkan_radeon.so".into()],
            dropped,
            ..Report::default()
        };
        let usual: Vec<String> = usual.iter().map(|library| format!("/l/{library}.so")).collect();
        rank_after_faults(&mut report, &usual);
        let first = report.dropped.iter().min_by_key(|one| one.rank);
        first.expect("a finding").code.clone()
    }

    #[test]
    fn a_fault_of_the_driver_that_a_variable_leaves_in_comes_first() {
        let usual = [
            "libvulkan_radeon",
            "libvulkan_lvp",
            "libvulkan_intel",
            "libvulkan_gfxstream",
        ];
        let choices = || {
            [
                codes::SEARCH_REPLACED.about("VK_DRIVER_FILES"),
                left_out(Code::DriverManifestDisabled, "libvulkan_lvp"),
                left_out(Code::DriverManifestNotSelected, "libvulkan_gfxstream"),
            ]
        };
        let faults = || {
            [
                codes::HARDWARE_NO_PERMISSION.about(NODE),
                codes::HARDWARE_NO_NODE.about(card(0x1002, "amdgpu", NODE).to_string()),
                broken(Code::DriverNotOpened, "driver", "libvulkan_radeon"),
                broken(Code::FileInvalidJson, "driver manifest", "libvulkan_radeon"),
                codes::HARDWARE_NOT_USED.about(card(0x1002, "amdgpu", NODE).to_string()),
            ]
        };
        for place in 0..faults().len() {
            for choice in choices() {
                let fault = faults().into_iter().nth(place).expect("a fault");
                let names = (choice.code.clone(), fault.code.clone());
                let found = first(vec![choice, fault], Vec::new(), &usual);
                assert_eq!(found, names.1, "{}", names.0);
            }
        }
    }

    #[test]
    fn a_variable_comes_first_if_another_driver_would_give_a_card() {
        let permission = || codes::HARDWARE_NO_PERMISSION.about(NODE);
        let intel = || card(0x8086, "xe", "/dev/dri/renderD129");
        let variable = || codes::SEARCH_REPLACED.about("VK_DRIVER_FILES");
        let replaced = codes::SEARCH_REPLACED.name;
        let found = first(vec![variable(), permission()], vec![intel()], &["libvulkan_intel"]);
        assert_eq!(found, replaced);
        let found = first(vec![variable(), permission()], vec![intel()], &["libvulkan_lvp"]);
        assert_eq!(found, codes::HARDWARE_NO_PERMISSION.name);
        // The finding about several closed nodes has the name of the first one.
        let words = format!("the user a may not open {NODE}, whose group 44 has no name here");
        let closed = Dropped {
            findings: [Fact::new(Kind::ClosedNode(NODE.into()), words)].into(),
            ..codes::HARDWARE_NO_PERMISSION.about("/dev/dri/renderD129")
        };
        let found = first(vec![variable(), closed], Vec::new(), &["libvulkan_lvp"]);
        assert_eq!(found, codes::HARDWARE_NO_PERMISSION.name);
        let disabled = || left_out(Code::DriverManifestDisabled, "libvulkan_intel");
        let found = first(vec![disabled(), permission()], vec![intel()], &[]);
        assert_eq!(found, Code::DriverManifestDisabled.name());
        // Without a fault, or with one of a driver for other cards, the variable is the cause.
        let other = broken(Code::DriverNotOpened, "driver", "libvulkan_nouveau");
        assert_eq!(first(vec![variable(), other], Vec::new(), &[]), replaced);
        assert_eq!(first(vec![variable()], Vec::new(), &[]), replaced);
    }

    #[test]
    fn a_missing_node_matters_more_than_words_folders_and_hidden_software() {
        let node = || codes::HARDWARE_NO_NODE.about(card(0x1002, "amdgpu", NODE).to_string());
        let filter = |kind: &str| {
            let mut report = Report {
                hardware: vec![card(0x1002, "amdgpu", NODE)],
                kept: vec!["/l/libvulkan_radeon.so".into()],
                dropped: vec![node(), left_out(Code::DeviceIdFilter, "device")],
                ..Report::default()
            };
            report.hidden = vec![Hidden {
                name: report.dropped[1].name.clone(),
                kind: kind.into(),
                driver: String::new(),
                by_what: "variable".into(),
                by: "VK_LOADER_VENDOR_ID_FILTER".into(),
            }];
            rank_after_faults(&mut report, &[]);
            report.dropped[0].rank < report.dropped[1].rank
        };
        assert!(filter("cpu") && !filter("discrete"));
        for other in [
            codes::VARIABLE_NO_MATCH.about("VK_ADD_DRIVER_FILES"),
            codes::SEARCH_FOLDER_CLOSED.about("/etc/vulkan/icd.d"),
        ] {
            let name = other.code.clone();
            assert_eq!(
                first(vec![other, node()], Vec::new(), &[]),
                codes::HARDWARE_NO_NODE.name,
                "{name}"
            );
        }
        let missing = codes::VARIABLE_NO_MATCH.about("VK_DRIVER_FILES");
        assert_eq!(
            first(vec![missing, node()], Vec::new(), &[]),
            codes::VARIABLE_NO_MATCH.name
        );
    }

    #[test]
    fn a_variable_hides_nothing_on_a_machine_without_a_card_for_vulkan() {
        let qxl = || Card {
            node: None,
            ..card(0x1B36, "qxl", NODE)
        };
        let first = |hardware: Vec<Card>, finding: Dropped| {
            let mut report = Report {
                verdict: Verdict::SoftwareOnly,
                dropped: vec![left_out(Code::DriverManifestNotSelected, "libvulkan_radeon"), finding],
                hardware,
                ..Report::default()
            };
            rank_after_faults(&mut report, &[]);
            let first = report.dropped.iter().min_by_key(|one| one.rank);
            first.expect("a finding").code.clone()
        };
        let none = codes::HARDWARE_NONE.about_any("this machine");
        assert_eq!(first(Vec::new(), none), codes::HARDWARE_NONE.name);
        let shows = || codes::HARDWARE_DISPLAY_ONLY.about(qxl().to_string());
        assert_eq!(first(vec![qxl()], shows()), codes::HARDWARE_DISPLAY_ONLY.name);
        let cards = vec![qxl(), card(0x1002, "amdgpu", NODE)];
        assert_eq!(first(cards, shows()), Code::DriverManifestNotSelected.name());
    }

    #[test]
    fn a_card_whose_driver_a_variable_leaves_out_is_named_beside_one_that_works() {
        let reason = |usual: &str, driver: &str| {
            let works = crate::report::Device {
                kind: "integrated".into(),
                vendor: 0x8086,
                device: 0x73DF,
                is_usable: true,
                ..crate::report::of_other(&crate::probe::Device::default(), "")
            };
            let mut report = Report {
                hardware: vec![card(0x8086, "i915", NODE), card(0x10DE, driver, "/dev/dri/renderD129")],
                devices: vec![works],
                dropped: vec![codes::SEARCH_REPLACED.about("VK_DRIVER_FILES")],
                ..Report::default()
            };
            name_left_out_card(&mut report, &[format!("/l/{usual}.so")]);
            report.dropped.remove(0).reason
        };
        let named = "VK_DRIVER_FILES leaves out the driver of the card 0000:de:00.0";
        assert!(reason("libGLX_nvidia", "nvidia").starts_with(named));
        assert!(!reason("libvulkan_radeon", "nvidia").starts_with(named));
        assert!(!reason("libGLX_nvidia", "vfio-pci").starts_with(named));
    }

    #[test]
    fn only_the_driver_of_an_unused_card_is_missed_beside_a_card_that_works() {
        let works = crate::report::Device {
            kind: "integrated".into(),
            vendor: 0x8086,
            device: 0x73DF,
            is_usable: true,
            ..crate::report::of_other(&crate::probe::Device::default(), "")
        };
        let names = [
            "libGLX_nvidia",
            "libvulkan_radeon",
            "libvulkan_lvp",
            "libvulkan_gfxstream",
            "libodd",
        ];
        let mut report = Report {
            hardware: vec![
                card(0x8086, "i915", NODE),
                card(0x10DE, "nvidia", "/dev/dri/renderD129"),
            ],
            devices: vec![works],
            dropped: names.map(|name| left_out(Code::DriverManifestNotSelected, name)).into(),
            ..Report::default()
        };
        set_aside_left_out(&mut report);
        let missed: Vec<bool> = report.dropped.iter().map(|one| one.rank < rank::ASIDE).collect();
        assert_eq!(missed, [true, false, false, false, true]);
    }

    #[test]
    fn a_card_for_guests_comes_before_the_failure_of_its_driver() {
        let nvidia = || card(0x10DE, "vfio-pci", "/dev/dri/renderD129");
        let guests = || Dropped {
            rank: rank::CONSEQUENCE,
            ..codes::HARDWARE_FOR_GUESTS.about(nvidia().to_string())
        };
        let failed = |library| broken(Code::DriverCreationFailed, "driver", library);
        let variable = || Dropped {
            rank: rank::BROKEN + 1,
            ..codes::SEARCH_REPLACED.about("VK_ICD_FILENAMES")
        };
        let found = first(vec![failed("libGLX_nvidia"), variable(), guests()], vec![nvidia()], &[]);
        assert_eq!(found, codes::HARDWARE_FOR_GUESTS.name);
        let others = vec![
            failed("libGLX_nvidia"),
            failed("libvulkan_radeon"),
            variable(),
            guests(),
        ];
        let found = first(others, vec![nvidia()], &[]);
        assert_eq!(found, Code::DriverCreationFailed.name());
    }
}
