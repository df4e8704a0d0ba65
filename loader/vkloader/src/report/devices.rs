//! Compares the devices that a program received with the library's list. Reports devices that a layer or filter hid, moved or added.

use super::decided::{Decided, Listed};
use super::{Device, Hidden, Report};
use crate::probe;

impl Report {
    /// Returns `true` for a program that asked for Vulkan 1.0, or for no version.
    pub(crate) fn is_for_first_version(&self) -> bool {
        let version = self.asked_version.as_deref();
        version.is_some_and(|version| version.starts_with("1.0.") || version.starts_with("0."))
    }
}

/// The devices that a program received, and the devices that were hidden from the program.
#[derive(Default)]
pub(super) struct Matched {
    pub(super) devices: Vec<Device>,
    pub(super) hidden: Vec<Hidden>,
}

/// Compares the devices that a process received with the devices that the library listed below all layers. `changer` is the layer that
/// changes the list, if it is known.
pub(super) fn matched(decided: &Decided, received: &[probe::Device], changer: Option<&str>) -> Matched {
    let places = places(&decided.devices, received);
    let mut rest: Vec<usize> = (0..decided.devices.len())
        .filter(|place| !places.contains(&Some(*place)))
        .collect();
    rest.retain(|&place| place < decided.devices.len());
    let mut kept: Vec<usize> = places.iter().flatten().copied().collect();
    kept.sort_unstable();
    let devices = received
        .iter()
        .zip(&places)
        .enumerate()
        .map(|(now, (seen, place))| {
            let listed = place.map(|place| &decided.devices[place]);
            let own = place.and_then(|place| kept.iter().position(|&kept| kept == place));
            let moved = own.is_some_and(|own| own != now);
            device(seen, listed, moved.then(|| changer.unwrap_or("a layer")))
        })
        .collect();
    let hidden = rest
        .into_iter()
        .map(|place| hidden(&decided.devices[place], decided, changer))
        .collect();
    Matched { devices, hidden }
}

/// Returns the library's list without the filtered devices. Used for a program that did not report the devices that it received.
pub(super) fn as_listed(decided: &Decided) -> Matched {
    let is_hidden = |listed: &&Listed| decided.filter_of(&listed.name).is_some();
    let (out, seen): (Vec<&Listed>, Vec<&Listed>) = decided.devices.iter().partition(is_hidden);
    Matched {
        devices: seen.into_iter().map(of_listed).collect(),
        hidden: out.into_iter().map(|listed| hidden(listed, decided, None)).collect(),
    }
}

/// Returns only the devices that filters hid. Used for a program whose call for the list failed.
pub(super) fn of_filters(decided: &Decided) -> Matched {
    Matched {
        devices: Vec::new(),
        ..as_listed(decided)
    }
}

/// Returns the index of each received device in the library's list. Compares devices in several passes, with the most exact comparison
/// first. A layer may rename a device, but does not change UUIDs and PCI IDs. Equal cards may have the same UUID, and two drivers give the
/// same card different UUIDs.
fn places(listed: &[Listed], received: &[probe::Device]) -> Vec<Option<usize>> {
    type Same = fn(&Listed, &probe::Device) -> bool;
    let steps: [Same; 5] = [
        |one, other| is_one(one, other) && one.name == other.name,
        is_one,
        |one, other| {
            numbers(one, other)
                && one.name == other.name
                && one.kind == other.kind
                && one.api_version == other.api_version
        },
        |one, other| numbers(one, other) && one.name == other.name,
        numbers,
    ];
    let mut places = vec![None; received.len()];
    for same in steps {
        for (now, device) in received.iter().enumerate() {
            if places[now].is_none() {
                places[now] =
                    (0..listed.len()).find(|place| !places.contains(&Some(*place)) && same(&listed[*place], device));
            }
        }
    }
    places
}

/// Returns `true` if both devices have the same UUIDs.
fn is_one(one: &Listed, other: &probe::Device) -> bool {
    one.uuid.is_some() && (&one.uuid, &one.driver_uuid) == (&other.uuid, &other.driver_uuid)
}

fn numbers(one: &Listed, other: &probe::Device) -> bool {
    (one.vendor, one.device) == (other.vendor, other.device)
}

fn device(seen: &probe::Device, listed: Option<&Listed>, moved_by: Option<&str>) -> Device {
    let rule = listed.map_or("unknown", |listed| listed.rule.as_str());
    Device {
        name: seen.name.clone(),
        kind: seen.kind.clone(),
        vendor: seen.vendor,
        device: seen.device,
        api_version: seen.api_version.clone(),
        uuid: seen.uuid.clone(),
        pci: seen.pci.clone(),
        driver_name: seen.driver_name.clone().filter(|name| !name.is_empty()),
        driver: listed.map(|listed| listed.driver.clone()).unwrap_or_default(),
        manifest: listed.and_then(|listed| listed.manifest.clone()),
        rule: rule.into(),
        order: match (moved_by, listed) {
            (Some(layer), Some(listed)) => format!(
                "{layer} moved it; the loader had it at place {}, because {}",
                listed.place,
                why(rule)
            ),
            _ => why(rule).into(),
        },
        moved_by: moved_by.map(String::from),
        created: seen.created,
        is_usable: seen.created == Some(0),
    }
}

/// Returns the entry of a device that only the loader at `path` lists, for the report.
pub(crate) fn of_other(seen: &probe::Device, path: &str) -> Device {
    Device {
        order: format!("{path} lists it, and the library asked here does not"),
        ..device(seen, None, None)
    }
}

fn of_listed(listed: &Listed) -> Device {
    Device {
        name: listed.name.clone(),
        kind: listed.kind.clone(),
        vendor: listed.vendor,
        device: listed.device,
        api_version: listed.api_version.clone(),
        uuid: listed.uuid.clone(),
        pci: None,
        driver_name: None,
        driver: listed.driver.clone(),
        manifest: listed.manifest.clone(),
        rule: listed.rule.clone(),
        order: why(&listed.rule).into(),
        moved_by: None,
        created: None,
        is_usable: true,
    }
}

fn hidden(listed: &Listed, decided: &Decided, changer: Option<&str>) -> Hidden {
    let (kind, by) = match (decided.filter_of(&listed.name), changer) {
        (Some(variable), _) => ("variable", variable.to_owned()),
        (None, Some(layer)) => ("layer", layer.to_owned()),
        (None, None) => ("layer", String::new()),
    };
    Hidden {
        name: listed.name.clone(),
        kind: listed.kind.clone(),
        driver: listed.driver.clone(),
        by_what: kind.into(),
        by,
    }
}

/// Returns the sentence about the rule that determined the position of a device.
fn why(rule: &str) -> &str {
    match rule {
        "only" => "it is the only one",
        "selected" => "VK_LOADER_DEVICE_SELECT chose the first one",
        "visible" => "VK_LOADER_VISIBLE_DEVICES has this order",
        "visible-in-file" => "visible_devices of the settings file has this order",
        "dri-prime" => "DRI_PRIME chose the first one",
        "type" => "discrete devices come first, then integrated, virtual and other ones, then processors",
        "has-pci-address" => "devices with an address on the PCI bus come before others",
        "pci-address" => "its address on the PCI bus",
        "ids" => "its numbers, because nothing else differs",
        "configured" => "the settings file lists the devices in this order",
        "adapter" => "the system's order of display adapters",
        "reported" => "the order in which drivers report them",
        "unknown" => "a layer put it there",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, device: u32, driver: &str, place: usize) -> Listed {
        Listed {
            place,
            name: name.into(),
            device,
            driver: driver.into(),
            rule: "type".into(),
            ..Listed::default()
        }
    }

    fn seen(name: &str, device: u32) -> probe::Device {
        probe::Device {
            name: name.into(),
            device,
            ..probe::Device::default()
        }
    }

    #[test]
    fn devices_are_matched_by_what_they_are_and_not_by_place() {
        let decided = Decided {
            devices: vec![
                listed("one", 1, "a", 0),
                listed("two", 2, "b", 1),
                listed("three", 3, "c", 2),
            ],
            ..Decided::default()
        };
        let matched = matched(&decided, &[seen("three", 3), seen("renamed", 1)], Some("VK_LAYER_x"));
        let drivers: Vec<&str> = matched.devices.iter().map(|device| device.driver.as_str()).collect();
        assert_eq!(drivers, ["c", "a"]);
        assert_eq!(matched.devices[0].moved_by.as_deref(), Some("VK_LAYER_x"));
        assert_eq!(
            (matched.hidden[0].name.as_str(), matched.hidden[0].by.as_str()),
            ("two", "VK_LAYER_x")
        );
    }

    #[test]
    fn identifiers_count_before_names_and_numbers() {
        let with = |mut listed: Listed, digit: &str| {
            listed.uuid = Some(digit.repeat(32));
            listed.driver_uuid = Some("d".repeat(32));
            listed
        };
        let decided = Decided {
            devices: vec![
                with(listed("one", 1, "a", 0), "1"),
                with(listed("one", 1, "b", 1), "2"),
                listed("one", 1, "c", 2),
            ],
            ..Decided::default()
        };
        let received = |name: &str, device: u32, digit: &str| probe::Device {
            uuid: Some(digit.repeat(32)),
            driver_uuid: Some("d".repeat(32)),
            ..seen(name, device)
        };
        let all = [
            received("one", 1, "2"),
            received("renamed", 9, "1"),
            received("one", 1, "3"),
        ];
        let matched = matched(&decided, &all, None);
        let drivers: Vec<&str> = matched.devices.iter().map(|device| device.driver.as_str()).collect();
        assert_eq!(drivers, ["b", "a", "c"]);
    }

    #[test]
    fn a_device_that_is_only_pulled_up_by_the_absence_of_others_was_not_moved() {
        let decided = Decided {
            devices: vec![listed("one", 1, "a", 0), listed("two", 2, "b", 1)],
            ..Decided::default()
        };
        let matched = matched(&decided, &[seen("two", 2)], None);
        assert_eq!(matched.devices[0].moved_by, None);
    }
}
