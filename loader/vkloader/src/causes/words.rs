//! Finds words in variables that match no driver, layer or device. The loader ignores unmatched words without a message.

use super::overriding::REPLACING;
use super::{instance, multiarch, spelling, unsearched, variables};
use crate::events::{Event, Record};
use crate::report::{Device, Dropped, Report, Verdict, codes, rank};
use crate::shell;
use crate::show;
use std::io::ErrorKind;
use std::path::Path;

mod names;

/// Kinds of words in variables.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Word that is the name of a layer.
    Layer,
    /// Word that is a pattern for layer names.
    LayerPattern,
    /// Word that is a pattern for file names of driver manifests.
    DriverPattern,
    /// Word that is the path of a manifest, or of a folder with manifests.
    Path,
}

/// The variables whose values are words. Each row has the variable's name, the separators of words, the kind of words, and `true` if an
/// unmatched word means that an object is missing.
const VARIABLES: [(&str, &[char], Kind, bool); 14] = [
    ("VK_INSTANCE_LAYERS", &[':'], Kind::Layer, true),
    ("VK_LOADER_LAYERS_ENABLE", &[','], Kind::LayerPattern, true),
    ("VK_LOADER_LAYERS_DISABLE", &[','], Kind::LayerPattern, false),
    ("VK_LOADER_LAYERS_ALLOW", &[','], Kind::LayerPattern, false),
    ("VK_LOADER_LAYERS_ORDER", &[',', '>'], Kind::LayerPattern, false),
    ("VK_LOADER_DRIVERS_SELECT", &[','], Kind::DriverPattern, true),
    ("VK_LOADER_DRIVERS_DISABLE", &[','], Kind::DriverPattern, false),
    ("VK_DRIVER_FILES", &[':'], Kind::Path, true),
    ("VK_ICD_FILENAMES", &[':'], Kind::Path, true),
    ("VK_ADD_DRIVER_FILES", &[':'], Kind::Path, true),
    ("VK_LAYER_PATH", &[':'], Kind::Path, true),
    ("VK_ADD_LAYER_PATH", &[':'], Kind::Path, true),
    ("VK_IMPLICIT_LAYER_PATH", &[':'], Kind::Path, true),
    ("VK_ADD_IMPLICIT_LAYER_PATH", &[':'], Kind::Path, true),
];

/// Variable that lists the devices to show.
const VISIBLE: &str = "VK_LOADER_VISIBLE_DEVICES";

/// Upper bound on the number of words of [`VISIBLE`] that are reported separately.
const MOST_WORDS: usize = 16;

/// Words that match many layers.
const WIDE: [&str; 6] = ["~all~", "~implicit~", "~explicit~", "implicit", "explicit", "*"];

/// Adds findings about words in variables and settings files that match no driver, layer or device.
pub(super) fn find(report: &mut Report, records: &[&Record]) {
    let mut found = Vec::new();
    for (name, value) in variables(records) {
        if let Some(row) = VARIABLES.iter().find(|row| row.0 == name) {
            found.extend(unmatched(row, value, report, records));
        }
        match name {
            "VK_LOADER_DEVICE_SELECT" => found.extend(unmatched_device(value, report)),
            VISIBLE => found.extend(invisible(value, report)),
            _ => {}
        }
    }
    if !report.ignores_settings() {
        found.extend(unmatched_in_file(records));
    }
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    found.extend(names.filter_map(|name| names::misspelt(&name)));
    report.dropped.append(&mut found);
}

/// Returns findings about the unmatched words in the settings file. The words come from the library's warnings.
fn unmatched_in_file(records: &[&Record]) -> Vec<Dropped> {
    const MEMBERS: [(&str, &str, &str); 2] = [
        (
            "visible_devices of the settings file: '",
            "visible_devices",
            "Correct the word in the settings file; vkloader devices lists the words that choose each device",
        ),
        (
            "Layer order: no layer with a library has this name: layer_order in ",
            "layer_order",
            "Correct the word in the settings file",
        ),
    ];
    let mut found: Vec<Dropped> = Vec::new();
    for record in records {
        let Event::Message(message) = &record.event else {
            continue;
        };
        let Some((_, name, advice)) = MEMBERS.iter().find(|member| message.text.starts_with(member.0)) else {
            continue;
        };
        // The rest of the warning lists words that match the existing devices.
        let says = message.text.split("; these words would: ").next().unwrap_or_default();
        let reason = format!("{says}.");
        let is_known = found.iter().any(|known| known.reason == reason);
        if !is_known && found.len() < MOST_WORDS {
            found.push(Dropped {
                reason,
                advice: (*advice).into(),
                ..codes::SETTINGS_NO_MATCH.about(*name)
            });
        }
    }
    found
}

fn unmatched(row: &(&str, &[char], Kind, bool), value: &str, report: &Report, records: &[&Record]) -> Vec<Dropped> {
    let &(name, divider, kind, is_wanted) = row;
    let layers = names(records, "layer", |name, _| name.into());
    let drivers = names(records, "driver", |name, path| {
        let manifest = if path.ends_with(".json") { path } else { name };
        manifest.rsplit('/').next().unwrap_or(manifest).into()
    });
    let words = value
        .split(divider)
        .map(|word| if divider.contains(&'>') { word.trim() } else { word })
        .filter(|word| !word.is_empty() && !WIDE.contains(word));
    let is_unmatched = |word: &&str| match kind {
        Kind::Layer => !layers.iter().any(|layer| layer == word),
        Kind::LayerPattern => !layers.iter().any(|layer| show::matches(word, layer)),
        Kind::DriverPattern => !drivers.iter().any(|driver| show::matches(word, driver)),
        // The trace replaces bytes that are not UTF-8 by `char::REPLACEMENT_CHARACTER`, so a path that contains this character may exist.
        Kind::Path => !word.contains(char::REPLACEMENT_CHARACTER) && !has_manifest(Path::new(word)),
    };
    let known = match kind {
        Kind::Layer | Kind::LayerPattern => layers.join(", "),
        Kind::DriverPattern => drivers.join(", "),
        Kind::Path => String::new(),
    };
    // The loader searches for explicit layers only if the program or a variable requests one.
    let is_known = is_wanted || kind == Kind::DriverPattern || looked_for_explicit(records);
    let is_of_layers = matches!(kind, Kind::Layer | Kind::LayerPattern);
    let layer_path = is_of_layers.then(|| replaced_layers(records)).flatten();
    let leads = words.clone().any(|word| !is_unmatched(&word));
    let describe = |word: &str| {
        let mut found = codes::VARIABLE_NO_MATCH.about(name);
        found.reason = match kind {
            Kind::Path => format!("{word} in {name} leads to no manifest."),
            Kind::Layer | Kind::LayerPattern => format!("{word} in {name} matches no layer that is installed."),
            Kind::DriverPattern => format!("{word} in {name} matches the manifest of no driver."),
        };
        found.findings = (!known.is_empty())
            .then(|| format!("there are: {known}"))
            .into_iter()
            .collect();
        found.findings.extend(layer_path.clone());
        let mistake = match kind {
            Kind::Path => of_path(name, word, value),
            _ if divider == [':'] && word.contains([',', ';']) => Some("Divide the names by a colon".into()),
            Kind::Layer => successor(word)
                .map(|layer| format!("{word} no longer exists, and {layer} replaces it: {name}={layer}"))
                .or_else(|| {
                    let longer = layers.iter().find(|layer| layer.starts_with(word))?;
                    Some(format!(
                        "Write the whole name of the layer: {name}={}",
                        shell::word(longer)
                    ))
                })
                .or_else(|| instance::to_install(word).filter(|_| layer_path.is_none())),
            _ => is_part(word, &layers, &drivers, kind).then(|| {
                format!(
                    "A word without stars must be the whole name: {name}={}",
                    shell::word(&format!("*{word}*"))
                )
            }),
        };
        let usual = if kind == Kind::Path {
            "Correct the path"
        } else {
            "Correct the word"
        };
        found.advice = format!("{}, or: unset {name}", mistake.as_deref().unwrap_or(usual));
        if !is_wanted {
            found.rank = rank::ASIDE;
        } else if REPLACING.contains(&name) && is_explained(word, value, leads, report.verdict) {
            // Variables often name a manifest for each word size. A fault of the driver that was found then explains more than the missing
            // file.
            found.rank = rank::CONSEQUENCE;
        } else if REPLACING.contains(&name) && report.verdict != Verdict::Hardware {
            // The missing file explains more than the variable that names the file.
            found.rank = rank::SILENT - 1;
            found
                .findings
                .push(format!("{name} is set, so drivers are searched only there"));
        }
        found
    };
    words
        .filter(|word| is_known && is_unmatched(word))
        .map(describe)
        .collect()
}

/// Returns `true` if other findings explain more than the missing manifest `missing` in `value`. `leads` is `true` if a word of the value
/// leads to a manifest.
fn is_explained(missing: &str, value: &str, leads: bool, verdict: Verdict) -> bool {
    let is_twin = |word: &str| {
        word != missing && multiarch::stem(word) == multiarch::stem(missing) && has_manifest(Path::new(word))
    };
    match verdict {
        Verdict::Nothing => leads,
        Verdict::SoftwareOnly => value.split(':').any(is_twin),
        Verdict::Hardware => false,
    }
}

/// Returns a remedy for the path of a missing manifest in a variable: the mistake in the path, or an assignment in which an existing
/// manifest replaces it. `value` is the variable's value, whose other paths stay in the assignment.
fn of_path(variable: &str, path: &str, value: &str) -> Option<String> {
    let other = || {
        let exists = unsearched::like(Path::new(path))?;
        let mut words: Vec<&str> = Vec::new();
        for word in value.split(':') {
            let word = if word == path { exists.as_str() } else { word };
            if !word.is_empty() && !words.contains(&word) {
                words.push(word);
            }
        }
        let value = shell::word(&words.join(":"));
        Some(format!("Name the file that exists: {variable}={value}"))
    };
    spelling::of_word(path).map(String::from).or_else(other)
}

/// Returns `true` if a word is only a part of a name. With a star at both ends, the word would match this name.
fn is_part(word: &str, layers: &[String], drivers: &[String], kind: Kind) -> bool {
    let names = match kind {
        Kind::DriverPattern => drivers,
        _ => layers,
    };
    !word.contains('*') && names.iter().any(|name| show::matches(&format!("*{word}*"), name))
}

/// Old layers that the current validation layer replaced.
const VALIDATION_BEFORE: [&str; 6] = [
    "VK_LAYER_LUNARG_standard_validation",
    "VK_LAYER_LUNARG_core_validation",
    "VK_LAYER_LUNARG_parameter_validation",
    "VK_LAYER_LUNARG_object_tracker",
    "VK_LAYER_GOOGLE_threading",
    "VK_LAYER_GOOGLE_unique_objects",
];

/// Returns the layer that replaced an old layer.
pub(super) fn successor(layer: &str) -> Option<&'static str> {
    VALIDATION_BEFORE
        .contains(&layer)
        .then_some("VK_LAYER_KHRONOS_validation")
}

/// Returns a sentence if a variable replaces the search paths for layers.
pub(super) fn replaced_layers(records: &[&Record]) -> Option<String> {
    let (name, value) = variables(records).find(|(name, _)| *name == "VK_LAYER_PATH")?;
    Some(format!(
        "{name} is set, so explicit layers are searched only in {value}"
    ))
}

fn looked_for_explicit(records: &[&Record]) -> bool {
    records
        .iter()
        .any(|record| matches!(&record.event, Event::Searched(searched) if searched.wanted == "explicit layer"))
}

/// Returns the distinct names in decisions about subjects of one kind. `of` computes a name from the name and the path in a decision.
fn names(records: &[&Record], subject: &str, of: impl Fn(&str, &str) -> String) -> Vec<String> {
    let mut found = Vec::new();
    for record in records {
        let Event::Decision(decision) = &record.event else {
            continue;
        };
        let is_of_it = match subject {
            "layer" => ["layer", "layer-library"].contains(&decision.subject.as_str()),
            _ => ["driver", "driver-manifest"].contains(&decision.subject.as_str()),
        };
        let name = of(&decision.name, &decision.path);
        if is_of_it && !name.is_empty() && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Returns `true` if a path refers to a manifest, or to a folder that contains one.
fn has_manifest(path: &Path) -> bool {
    match std::fs::read_dir(path) {
        Ok(entries) => entries
            .flatten()
            .any(|entry| entry.file_name().as_encoded_bytes().ends_with(b".json")),
        // The content of a folder that this user may not search is unknown.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => true,
        Err(_) => path.is_file(),
    }
}

/// Returns a finding if no device matches `VK_LOADER_DEVICE_SELECT`.
fn unmatched_device(value: &str, report: &Report) -> Option<Dropped> {
    let words: Vec<&str> = words_for_devices(value).collect();
    let is_chosen = |word: &&str| report.devices.iter().any(|device| chooses(word, device));
    if words.is_empty() || report.devices.is_empty() || words.iter().any(is_chosen) {
        return None;
    }
    let mut found = codes::VARIABLE_NO_MATCH.about("VK_LOADER_DEVICE_SELECT");
    found.reason = format!("No device matches VK_LOADER_DEVICE_SELECT: {value}.");
    found.advice = to_choose("VK_LOADER_DEVICE_SELECT");
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
        last.findings = vec![format!("{rest} more words match no device")];
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
            let file = device.driver.rsplit('/').next().unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_for_a_missing_path_keeps_the_other_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| folder.path().join(name).display().to_string();
        let (exists, old, other) = (place("card.json"), place("card.i686.json"), place("soft.json"));
        for path in [&exists, &other] {
            std::fs::write(path, "{}").expect("a file");
        }
        let remedy = |value: &str| of_path("VK_DRIVER_FILES", &old, value).expect("a remedy");
        let expected = |words: &[&str]| format!("Name the file that exists: VK_DRIVER_FILES={}", words.join(":"));
        assert_eq!(remedy(&format!("{old}:{other}")), expected(&[&exists, &other]));
        assert_eq!(remedy(&format!("{other}:{old}:{exists}")), expected(&[&other, &exists]));
        for (value, verdict, is_consequence) in [
            (format!("{old}:{exists}"), Verdict::SoftwareOnly, true),
            (format!("{old}:{other}"), Verdict::SoftwareOnly, false),
            (format!("{old}:{other}"), Verdict::Nothing, true),
            (format!("{old}:{exists}"), Verdict::Hardware, false),
        ] {
            assert_eq!(is_explained(&old, &value, true, verdict), is_consequence, "{value}");
        }
    }
}
