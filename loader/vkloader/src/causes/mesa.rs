//! Finds values of Mesa's variables `DRI_PRIME` and `MESA_VK_DEVICE_SELECT` that select no device. The loader and Mesa's layer do not
//! report these values.

use crate::paths::file_name;
use crate::report::{Device, Dropped, Report, Verdict, codes, rank};

/// The variable that Mesa's OpenGL drivers, Mesa's layer and this library read.
const PRIME: &str = "DRI_PRIME";
/// The variable that only Mesa's layer reads.
const SELECT: &str = "MESA_VK_DEVICE_SELECT";
/// The layer that reads [`SELECT`].
const LAYER: &str = "VK_LAYER_MESA_device_select";

/// Returns findings about the values of [`PRIME`] and [`SELECT`]. `value` returns the value of a variable that is not empty.
pub(super) fn find(report: &Report, value: impl Fn(&str) -> Option<String>) -> Vec<Dropped> {
    let has_layer = report.layers.iter().any(|layer| layer.name == LAYER);
    let selected = value(SELECT).and_then(|value| {
        if has_layer {
            unmatched(SELECT, &value, report)
        } else {
            Some(unread())
        }
    });
    // Mesa's layer ignores `DRI_PRIME` if `MESA_VK_DEVICE_SELECT` is set.
    let prime = value(PRIME).filter(|_| !has_layer || value(SELECT).is_none());
    let prime = prime.and_then(|value| unmatched(PRIME, &value, report));
    selected.into_iter().chain(prime).collect()
}

/// Variables that change how Mesa's drivers work. Each row has the beginning of the names of libraries, and the variables that they read.
const DEBUGGING: [(&str, &[&str]); 6] = [
    ("libvulkan_radeon", &["RADV_DEBUG", "RADV_PERFTEST", "ACO_DEBUG"]),
    ("libvulkan_intel", &["INTEL_DEBUG", "ANV_DEBUG"]),
    ("libvulkan_nouveau", &["NVK_DEBUG", "NAK_DEBUG"]),
    ("libvulkan_freedreno", &["TU_DEBUG", "IR3_SHADER_DEBUG"]),
    ("libvulkan_panfrost", &["PANVK_DEBUG"]),
    ("libvulkan_lvp", &["LP_DEBUG", "GALLIVM_DEBUG"]),
];

/// Adds to the findings about drivers that failed a variable that changes how the driver works. `value` returns the value of a variable that is not
/// empty.
pub(super) fn blame_debugging(dropped: &mut Dropped, value: impl Fn(&str) -> Option<String>) {
    const CODES: [&str; 6] = [
        codes::PROGRAM_CRASHED.name,
        codes::PROGRAM_HUNG.name,
        codes::PROGRAM_EXITED.name,
        codes::DEVICE_NOT_CREATED.name,
        "device.enumeration-failed",
        "driver.creation-failed",
    ];
    let names = [Some(dropped.name.as_str()), dropped.file.as_deref()];
    let mut files = names.into_iter().flatten().map(file_name);
    let row = files.find_map(|file| DEBUGGING.iter().find(|(library, _)| file.starts_with(library)));
    let Some((_, variables)) = row.filter(|_| CODES.contains(&dropped.code.as_str()) && !dropped.names_file) else {
        return;
    };
    let mut set = variables.iter().filter_map(|name| Some((*name, value(name)?)));
    let Some((name, value)) = set.next() else { return };
    dropped
        .findings
        .insert(0, format!("{name} is {value}, which changes how this driver works"));
    dropped.advice = format!(
        "Try without {name} first: unset {name}. If that does not help: {}",
        dropped.advice
    );
    dropped.variable = Some(name.into());
}

/// Returns the finding about [`SELECT`], which is set although the layer that reads it is not active.
fn unread() -> Dropped {
    Dropped {
        reason: format!("{SELECT} is set, but the layer that reads it ({LAYER}) is not active."),
        advice: format!("Choose the device with VK_LOADER_DEVICE_SELECT, or: unset {SELECT}"),
        rank: rank::ASIDE,
        ..codes::VARIABLE_NO_MATCH.about(SELECT)
    }
}

/// Returns a finding if the value of a variable selects no device.
fn unmatched(name: &str, value: &str, report: &Report) -> Option<Dropped> {
    let word = value.strip_suffix('!').unwrap_or(value);
    // The word `list` makes Mesa's layer print the devices, and the word `0` selects the default device.
    if report.devices.is_empty() && report.hidden.is_empty() || word == "list" || word == "0" {
        return None;
    }
    let cards = || report.devices.iter().filter(|device| !device.is_software());
    let number: Option<usize> = word.parse().ok().filter(|_| name == PRIME);
    let place = word.strip_prefix("pci-").filter(|_| name == PRIME);
    let is_chosen = match (number, place) {
        (Some(number), _) => cards().count() > number,
        (None, Some(place)) => has_place(report, place),
        (None, None) => numbers(word).is_some_and(|numbers| {
            let mut all = report.devices.iter();
            all.any(|device| (device.vendor, device.device) == numbers)
        }),
    };
    let is_filtered = report.hidden.iter().any(|hidden| hidden.by != LAYER);
    if is_chosen || is_filtered {
        return None;
    }
    let is_word = number.is_some() || place.is_some_and(is_tag) || numbers(word).is_some();
    let mut found = codes::VARIABLE_NO_MATCH.about(name);
    found.reason = match (is_word, number) {
        (true, Some(_)) => {
            format!("{name} is {value}, which asks for another card than the usual one, but no other card can be used.")
        }
        (true, None) => format!("No device matches {name}: {value}."),
        (false, _) => format!("{name} is {value}, which has no meaning there."),
    };
    let words: Vec<(String, &str)> = report
        .devices
        .iter()
        .filter_map(|device| Some((word_for(name, device)?, device.name.as_str())))
        .collect();
    let of_device = |(word, device): &(String, &str)| format!("{word} chooses {device}");
    found.findings = words.iter().map(of_device).collect();
    found.advice = if words.is_empty() {
        format!("If this is unintended: unset {name}")
    } else {
        let commands: Vec<String> = words.iter().map(|(word, _)| format!("{word} PROGRAM")).collect();
        format!("Use the word of a device: {}, or: unset {name}", commands.join(" or "))
    };
    if number.is_some() {
        found.rank = rank::ASIDE;
    } else if report.verdict == Verdict::SoftwareOnly {
        // The variable only orders devices, so the missing card has another cause.
        found.rank = rank::CONSEQUENCE;
    }
    Some(found)
}

/// Returns `true` if a device has the PCI address `place`. If a device does not report its address, the kernel's list of cards is also
/// searched.
fn has_place(report: &Report, place: &str) -> bool {
    let mut cards = report.devices.iter().filter(|device| !device.is_software());
    let is_unknown = cards.clone().any(|device| device.pci.is_none());
    let is_listed = || report.hardware.iter().any(|card| tagged(&card.place) == place);
    cards.any(|device| tag(device).as_deref() == Some(place)) || is_unknown && is_listed()
}

/// Returns the assignment to a variable that selects a device.
fn word_for(name: &str, device: &Device) -> Option<String> {
    let numbers = format!("{:04x}:{:04x}", device.vendor, device.device);
    let word = match name == PRIME {
        true if device.is_software() => return None,
        true => tag(device).map_or(numbers, |tag| format!("pci-{tag}")),
        false => numbers,
    };
    Some(format!("{name}={word}"))
}

/// Returns the PCI address of a device in Mesa's form, for example `0000_03_00_0`.
fn tag(device: &Device) -> Option<String> {
    device.pci.as_deref().map(tagged)
}

fn tagged(place: &str) -> String {
    place.replace([':', '.'], "_")
}

/// Returns `true` if a text is a PCI address in Mesa's form, for example `0000_03_00_0`.
fn is_tag(text: &str) -> bool {
    let parts: Vec<&str> = text.split('_').collect();
    parts.len() == 4 && parts.iter().all(|part| u32::from_str_radix(part, 16).is_ok())
}

/// Returns the vendor ID and device ID in a word, for example `1002:73bf`.
fn numbers(word: &str) -> Option<(u32, u32)> {
    let (vendor, device) = word.split_once(':')?;
    let number = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    Some((number(vendor)?, number(device)?))
}
