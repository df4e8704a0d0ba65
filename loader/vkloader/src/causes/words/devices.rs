//! Finds words in lists of devices that match no device.

use super::MOST_WORDS;
use crate::paths::file_name;
use crate::report::{Device, Dropped, Report, Verdict, codes, rank};
use crate::show;

/// Variable that names the devices to list first.
const SELECT: &str = "VK_LOADER_DEVICE_SELECT";
/// Variable that lists the devices to show.
const VISIBLE: &str = "VK_LOADER_VISIBLE_DEVICES";

/// Returns findings about words of the variable `name` that match no device; empty for a variable without such words.
pub(super) fn unmatched(name: &str, value: &str, report: &Report) -> Vec<Dropped> {
    match name {
        SELECT => unmatched_device(value, report).into_iter().collect(),
        VISIBLE => invisible(value, report),
        _ => Vec::new(),
    }
}

/// Returns a finding if no device matches `VK_LOADER_DEVICE_SELECT`.
fn unmatched_device(value: &str, report: &Report) -> Option<Dropped> {
    let words: Vec<&str> = words_for_devices(value).collect();
    let is_chosen = |word: &&str| report.devices.iter().any(|device| chooses(word, device));
    if words.is_empty() || report.devices.is_empty() || words.iter().any(is_chosen) {
        return None;
    }
    let mut found = codes::VARIABLE_NO_MATCH.about(SELECT);
    found.reason = format!("No device matches {SELECT}: {value}.");
    if report.verdict == Verdict::SoftwareOnly {
        // The variable only orders devices, so the missing card has another cause.
        found.rank = rank::CONSEQUENCE;
    }
    found.advice = to_choose(SELECT);
    Some(found)
}

/// Returns the remedy for words that match no device.
fn to_choose(variable: &str) -> String {
    format!(
        "Correct the word (env -u {variable} vkloader devices lists the words of each device), or: unset {variable}"
    )
}

/// Returns findings about words of `VK_LOADER_VISIBLE_DEVICES` that match no device.
fn invisible(value: &str, report: &Report) -> Vec<Dropped> {
    let words = words_for_devices(value).filter(|word| *word != "none");
    let unmatched = words.filter(|word| !report.devices.iter().any(|device| chooses(word, device)));
    let describe = |word: &str| {
        let mut found = codes::VARIABLE_NO_MATCH.about(VISIBLE);
        found.reason = format!("No device matches {word} in {VISIBLE}.");
        found.advice = to_choose(VISIBLE);
        found
    };
    let rest = unmatched.clone().count().saturating_sub(MOST_WORDS);
    let mut all: Vec<Dropped> = unmatched.take(MOST_WORDS).map(describe).collect();
    if let Some(last) = all.last_mut().filter(|_| rest > 0) {
        last.findings = [format!("{rest} more words match no device")].into();
    }
    all
}

/// Returns the words in a list of devices. Removes blanks before a word, as the library does.
fn words_for_devices(value: &str) -> impl Iterator<Item = &str> + Clone {
    value.split(',').map(str::trim_start).filter(|word| !word.is_empty())
}

/// Returns the domain, bus, device and function of a PCI address. The domain may be missing in the text.
fn pci_address(text: &str) -> Option<[u32; 4]> {
    let numbers = text.split([':', '.']).map(|number| u32::from_str_radix(number, 16));
    match numbers.collect::<Result<Vec<_>, _>>().ok()?[..] {
        [domain, bus, device, function] => Some([domain, bus, device, function]),
        [bus, device, function] => Some([0, bus, device, function]),
        _ => None,
    }
}

/// Returns `true` if a word of `VK_LOADER_DEVICE_SELECT` matches a device.
pub(crate) fn chooses(word: &str, device: &Device) -> bool {
    let same = |one: &str, other: &str| one.replace('-', "").eq_ignore_ascii_case(&other.replace('-', ""));
    if let Some(digits) = word.strip_prefix("GPU-") {
        let (digits, own) = (digits.replace('-', "").to_lowercase(), device.uuid.as_deref());
        return !digits.is_empty() && own.is_some_and(|own| own.replace('-', "").to_lowercase().starts_with(&digits));
    }
    match word.split_once(':') {
        Some(("type", kind)) => kind == device.kind,
        Some(("name", glob)) => show::matches(glob, &device.name),
        Some(("uuid", uuid)) => device.uuid.as_deref().is_some_and(|own| same(own, uuid)),
        Some(("driver", part)) => {
            let file = file_name(&device.driver);
            file.to_lowercase().contains(&part.to_lowercase())
        }
        Some(("pci", place)) => {
            let own = device.pci.as_deref().and_then(pci_address);
            own.is_some() && own == pci_address(place)
        }
        Some((vendor, rest)) => {
            let number = |text: &str| {
                let text = text.trim_start_matches("0x").trim_start_matches("0X");
                let end = text
                    .find(|digit: char| !digit.is_ascii_hexdigit())
                    .unwrap_or(text.len());
                u32::from_str_radix(&text[..end], 16).ok()
            };
            number(vendor) == Some(device.vendor) && number(rest) == Some(device.device)
        }
        None => false,
    }
}
