//! Finds choices of devices and layers in words that only the libraries of this project know, on a machine whose programs get another loader.

use super::layers::MESAS;
use super::{Device, Dropped, NEWER_ONLY_DRIVERS, ONLY_DRIVERS, OtherLoader, Report, Verdict, codes, rank};
use crate::causes::words::chooses;
use crate::other::Other;
use crate::shell::word;

/// Variable that names the device to list first. Other loaders know only its numbers.
pub(super) const SELECT: &str = "VK_LOADER_DEVICE_SELECT";
/// Variable that lists the devices to show, which only the libraries of this project read.
const VISIBLE: &str = "VK_LOADER_VISIBLE_DEVICES";
/// Variable with the order of layers, which only the libraries of this project read.
const ORDER: &str = "VK_LOADER_LAYERS_ORDER";

/// Variable of Mesa's layer that puts a device first, or with `!` hides all others.
const OF_MESA: &str = "MESA_VK_DEVICE_SELECT";
/// Variable of Mesa's layer that can name a device by its address.
const OF_MESA_BY_ADDRESS: &str = "DRI_PRIME";

/// Returns `true` if other loaders understand a value of [`SELECT`]: hexadecimal numbers of the vendor and the device.
pub(super) fn is_common(value: &str) -> bool {
    let is_digit = |digit: char| digit.is_ascii_hexdigit();
    let digits = |text: &'_ str| text.trim_start_matches("0x").trim_start_matches("0X").to_owned();
    value.split_once(':').is_some_and(|(vendor, device)| {
        let (vendor, device) = (digits(vendor), digits(device));
        !vendor.is_empty() && vendor.chars().all(is_digit) && device.starts_with(is_digit)
    })
}

/// Returns `true` for a variable that chooses devices, or puts one first.
pub(super) fn chooses_devices(variable: &str) -> bool {
    [SELECT, VISIBLE].contains(&variable)
}

/// Returns a sentence about a variable that the loader of programs does not know. Mesa's layer may read it in place of that loader.
pub(super) fn without_effect(report: &Report, name: &str, value: &str) -> String {
    let has_layer = report.layers.iter().any(|layer| layer.name == MESAS);
    if name == OF_MESA_BY_ADDRESS && has_layer {
        return format!("{name} is set to {value}: the loader that programs get does not read it, but {MESAS} does.");
    }
    format!("{name} is set to {value}, and the loader that programs get does not know it.")
}

/// Returns a finding for each variable in `unknown` that chooses devices or layers. Each variable comes with its value. `report` still has the
/// devices of the examined library.
pub(super) fn find(unknown: &[(&str, &str)], report: &Report, other: &Other, described: &OtherLoader) -> Vec<Dropped> {
    let Some(path) = described.path.as_deref() else {
        return Vec::new();
    };
    let of = |(name, value): &(&str, &str)| {
        let instead = match *name {
            SELECT | VISIBLE => for_devices(name, value, report, other),
            ORDER => Some(
                "explicit layers are in the order of VK_INSTANCE_LAYERS, the first one nearest to the program".into(),
            ),
            _ => return None,
        };
        let mut found = codes::VARIABLE_NO_MATCH.about(*name);
        let what = if other.knows(name) {
            format!("the word {value} in {name}")
        } else {
            (*name).into()
        };
        found.reason = format!("Programs get a loader that ignores {what}: only the loader of this project knows it.");
        found.findings = [format!("their loader: {path}"), format!("the value of {name}: {value}")].into();
        if report.verdict == Verdict::SoftwareOnly {
            // The variable only orders or hides devices, so the missing card has another cause.
            found.rank = rank::CONSEQUENCE;
        }
        found.advice = match instead {
            Some(instead) => format!("With that loader, {instead}; or: unset {name}"),
            None => format!("Without an effect on programs, it can go: unset {name}"),
        };
        Some(found)
    };
    unknown.iter().filter_map(of).collect()
}

/// Returns the words with which the programs' loader, or Mesa's layer, makes the same choice of devices. Returns `None` if no device
/// matches, or if neither can make this choice.
fn for_devices(name: &str, value: &str, report: &Report, other: &Other) -> Option<String> {
    let words = value.split(',').map(str::trim).filter(|word| !word.is_empty());
    let mut chosen: Vec<&Device> = Vec::new();
    for word in words {
        for device in report.devices.iter().filter(|device| chooses(word, device)) {
            if !chosen.iter().any(|known| std::ptr::eq(*known, device)) {
                chosen.push(device);
            }
        }
    }
    if chosen.is_empty() {
        chosen.extend(report.devices.iter().filter(|device| is_meant(value, device)).take(1));
    }
    let first = *chosen.first()?;
    let has_mesas = report.layers.iter().any(|layer| layer.name == MESAS);
    if name == VISIBLE {
        return manifests(&chosen, report, other)
            .or_else(|| (has_mesas && chosen.len() == 1).then(|| by_mesa(first, report, "!")));
    }
    if has_mesas {
        return Some(by_mesa(first, report, ""));
    }
    let numbers = format!("{SELECT}={:04x}:{:04x}", first.vendor, first.device);
    other
        .knows(SELECT)
        .then(|| format!("the numbers of the device put it first: {numbers} PROGRAM"))
}

/// Returns `true` if the name of a device contains what follows the colon in a word that matches no device.
fn is_meant(value: &str, device: &Device) -> bool {
    let part = value
        .split_once(':')
        .map_or(value, |(_, part)| part)
        .trim_matches('*')
        .to_lowercase();
    part.len() > 2 && device.name.to_lowercase().contains(&part)
}

/// Returns the words that make Mesa's layer put a device first. `end` is `!` to hide all others.
fn by_mesa(device: &Device, report: &Report, end: &str) -> String {
    let has_twin = report
        .devices
        .iter()
        .filter(|one| numbers(one) == numbers(device))
        .count()
        > 1;
    let address = device.pci.as_deref().filter(|_| has_twin);
    let what = if end.is_empty() {
        "puts it first"
    } else {
        "hides the others"
    };
    let choice = match address {
        Some(address) => format!("{OF_MESA_BY_ADDRESS}=pci-{}", address.replace([':', '.'], "_")),
        None => format!("{OF_MESA}={:04x}:{:04x}", device.vendor, device.device),
    };
    format!("Mesa's layer {what}: {choice}{end} PROGRAM")
}

fn numbers(device: &Device) -> (u32, u32) {
    (device.vendor, device.device)
}

/// Returns the variable that selects the drivers of the chosen devices. Returns `None` if these drivers list other devices too.
fn manifests(chosen: &[&Device], report: &Report, other: &Other) -> Option<String> {
    let mut manifests: Vec<&str> = Vec::new();
    for device in chosen {
        let manifest = device.manifest.as_deref()?;
        if !manifests.contains(&manifest) {
            manifests.push(manifest);
        }
    }
    let of_them = |device: &&Device| device.manifest.as_deref().is_some_and(|own| manifests.contains(&own));
    if report.devices.iter().filter(of_them).count() != chosen.len() {
        return None;
    }
    let variable = if other.knows(NEWER_ONLY_DRIVERS) {
        NEWER_ONLY_DRIVERS
    } else {
        ONLY_DRIVERS
    };
    Some(format!(
        "this variable shows only the drivers of these devices: {variable}={} PROGRAM",
        word(&manifests.join(":"))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::ActiveLayer;

    #[test]
    fn mesas_layer_reads_a_variable_that_a_loader_does_not_know() {
        let mut report = Report::default();
        let words = |report: &Report, name: &str| without_effect(report, name, "1");
        assert!(words(&report, OF_MESA_BY_ADDRESS).ends_with("does not know it."));
        report.layers.push(ActiveLayer {
            name: MESAS.into(),
            enabled_by: "implicit".into(),
            because: String::new(),
            order: String::new(),
            is_asked_for: false,
            manifest: String::new(),
            library: String::new(),
        });
        assert!(words(&report, OF_MESA_BY_ADDRESS).ends_with(&format!("but {MESAS} does.")));
        assert!(words(&report, VISIBLE).ends_with("does not know it."));
    }

    #[test]
    fn other_loaders_understand_numbers_of_devices() {
        for value in ["10de:1f91", "0x10de:0x1f91", "10de:1f91,type:cpu"] {
            assert!(is_common(value), "{value}");
        }
        for value in [
            "driver:lvp",
            "type:cpu",
            "name:*x*",
            "pci:0000:65:00.0",
            "uuid:ab",
            "GPU-1234",
            "",
            "de:",
        ] {
            assert!(!is_common(value), "{value}");
        }
    }
}
