//! Finds words in variables that match no driver, layer or device. The loader ignores unmatched words without a message.

use super::overriding::REPLACING;
use super::{instance, multiarch, spelling, unfound, unsearched, variables};
use crate::events::{Event, Record};
use crate::manifests;
use crate::paths::file_name;
use crate::report::{Card, Dropped, Report, Verdict, codes, rank};
use crate::shell;
use crate::show;
pub(crate) use devices::chooses;
use std::io::ErrorKind;
use std::path::Path;

mod devices;
mod names;

pub(super) use names::differing;

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

/// A variable whose value is a list of words.
struct Row {
    name: &'static str,
    /// Separators of words.
    separators: &'static [char],
    kind: Kind,
    /// `true` if an unmatched word means that an object is missing.
    is_wanted: bool,
}

const fn row(name: &'static str, separators: &'static [char], kind: Kind, is_wanted: bool) -> Row {
    Row {
        name,
        separators,
        kind,
        is_wanted,
    }
}

/// The variables whose values are words.
const VARIABLES: [Row; 14] = [
    row("VK_INSTANCE_LAYERS", &[':'], Kind::Layer, true),
    row("VK_LOADER_LAYERS_ENABLE", &[','], Kind::LayerPattern, true),
    row("VK_LOADER_LAYERS_DISABLE", &[','], Kind::LayerPattern, false),
    row("VK_LOADER_LAYERS_ALLOW", &[','], Kind::LayerPattern, false),
    row("VK_LOADER_LAYERS_ORDER", &[',', '>'], Kind::LayerPattern, false),
    row("VK_LOADER_DRIVERS_SELECT", &[','], Kind::DriverPattern, true),
    row("VK_LOADER_DRIVERS_DISABLE", &[','], Kind::DriverPattern, false),
    row("VK_DRIVER_FILES", &[':'], Kind::Path, true),
    row("VK_ICD_FILENAMES", &[':'], Kind::Path, true),
    row("VK_ADD_DRIVER_FILES", &[':'], Kind::Path, true),
    row("VK_LAYER_PATH", &[':'], Kind::Path, true),
    row("VK_ADD_LAYER_PATH", &[':'], Kind::Path, true),
    row("VK_IMPLICIT_LAYER_PATH", &[':'], Kind::Path, true),
    row("VK_ADD_IMPLICIT_LAYER_PATH", &[':'], Kind::Path, true),
];

/// Part of the names of variables about layers.
const OF_LAYERS: &str = "LAYER";

/// Upper bound on the number of words of one variable or settings file that are reported separately.
const MOST_WORDS: usize = 16;

/// Words that match many layers.
const WIDE: [&str; 6] = ["~all~", "~implicit~", "~explicit~", "implicit", "explicit", "*"];

/// Adds findings about words in variables and settings files that match no driver, layer or device.
pub(super) fn find(report: &mut Report, records: &[&Record]) {
    let mut found = Vec::new();
    // A loader of others may ignore the variable.
    let is_told = |name: &str| {
        let mut known = report.dropped.iter();
        known.any(|one| one.code == codes::VARIABLE_NO_MATCH.name && one.name == name)
    };
    for (name, value) in variables(records).filter(|(name, _)| !is_told(name)) {
        if let Some(row) = VARIABLES.iter().find(|row| row.name == name) {
            found.extend(Words::of(row, value, report, records).unmatched());
        }
        found.extend(devices::unmatched(name, value, report));
    }
    if !report.ignores_settings() {
        found.extend(unmatched_in_file(records));
    }
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    found.extend(names.filter_map(|name| names::misspelt(&name)));
    paths_first(&mut found);
    if report.verdict != Verdict::Hardware {
        // A variable about layers explains no missing device.
        let of_layers = found.iter_mut().filter(|one| one.name.contains(OF_LAYERS));
        of_layers.for_each(|one| one.rank = one.rank.max(rank::CONSEQUENCE));
    }
    report.dropped.append(&mut found);
}

/// Ranks the folders of layers that do not exist before the layers that a variable asks for, because such a folder may be the place of the layer.
fn paths_first(found: &mut [Dropped]) {
    let kind = |one: &Dropped| VARIABLES.iter().find(|row| row.name == one.name).map(|row| row.kind);
    let asks = |one: &Dropped| matches!(kind(one), Some(Kind::Layer | Kind::LayerPattern));
    let wanted = found.iter().filter(|one| asks(one)).map(|one| one.rank).min();
    let is_path = |one: &&mut Dropped| kind(one) == Some(Kind::Path) && one.name.contains(OF_LAYERS);
    if let Some(rank) = wanted {
        let paths = found.iter_mut().filter(is_path);
        paths.for_each(|one| one.rank = one.rank.min(rank.saturating_sub(1)));
    }
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

/// Words of a variable, and the names that the words can match.
struct Words<'a> {
    row: &'a Row,
    value: &'a str,
    report: &'a Report,
    records: &'a [&'a Record],
    layers: Vec<String>,
    /// File names of the drivers' manifests.
    drivers: Vec<String>,
    /// Sentence about a variable that replaces the search paths for layers, if the words are about layers.
    layer_path: Option<String>,
}

impl<'a> Words<'a> {
    fn of(row: &'a Row, value: &'a str, report: &'a Report, records: &'a [&Record]) -> Self {
        let is_of_layers = matches!(row.kind, Kind::Layer | Kind::LayerPattern);
        Self {
            row,
            value,
            report,
            records,
            layers: layers(records),
            drivers: names(records, "driver", |name, path| {
                let manifest = if path.ends_with(".json") { path } else { name };
                file_name(manifest).into()
            }),
            layer_path: is_of_layers.then(|| replaced_layers(records)).flatten(),
        }
    }

    /// Iterates over the words that do not match many layers.
    fn all(&self) -> impl Iterator<Item = &'a str> {
        let separators = self.row.separators;
        self.value
            .split(separators)
            .map(|word| if separators.contains(&'>') { word.trim() } else { word })
            .filter(|word| !word.is_empty() && !WIDE.contains(word))
    }

    /// Returns a finding for each word that matches nothing.
    fn unmatched(&self) -> Vec<Dropped> {
        // The loader searches for explicit layers only if the program or a variable requests one.
        let is_known = self.row.is_wanted || self.row.kind == Kind::DriverPattern || looked_for_explicit(self.records);
        if !is_known {
            return Vec::new();
        }
        self.all()
            .filter(|word| !self.matches(word))
            .map(|word| self.describe(word))
            .collect()
    }

    fn matches(&self, word: &str) -> bool {
        match self.row.kind {
            Kind::Layer => self.layers.iter().any(|layer| layer == word),
            Kind::LayerPattern => self.layers.iter().any(|layer| show::matches(word, layer)),
            Kind::DriverPattern => self.drivers.iter().any(|driver| show::matches(word, driver)),
            // The trace replaces bytes that are not UTF-8 by `char::REPLACEMENT_CHARACTER`, so a path that contains this character may exist.
            Kind::Path => word.contains(char::REPLACEMENT_CHARACTER) || has_manifest(Path::new(word)),
        }
    }

    /// Returns the finding about a word that matches nothing.
    fn describe(&self, word: &str) -> Dropped {
        let (name, kind) = (self.row.name, self.row.kind);
        let mut found = codes::VARIABLE_NO_MATCH.about(name);
        let (reason, known, usual) = match kind {
            Kind::Path => ("leads to no manifest", String::new(), "Correct the path"),
            Kind::Layer | Kind::LayerPattern => (
                "matches no layer that is installed",
                self.layers.join(", "),
                "Correct the word",
            ),
            Kind::DriverPattern => (
                "matches the manifest of no driver",
                self.drivers.join(", "),
                "Correct the word",
            ),
        };
        found.reason = format!("{word} in {name} {reason}.");
        found.findings = (!known.is_empty())
            .then(|| format!("there are: {known}"))
            .into_iter()
            .collect();
        found.findings.extend(self.layer_path.clone());
        let unfound = (kind == Kind::Layer)
            .then(|| unfound::find(word, self.report, self.records))
            .flatten();
        let mistake = match unfound {
            Some(unfound) => {
                found.reason = format!("{word} in {name} is installed, but was left out: {}.", unfound.why);
                found.findings.push(unfound.finding);
                found.file = unfound.file;
                Some(unfound.advice)
            }
            None => self.mistake(word),
        };
        found.advice = format!("{}, or: unset {name}", mistake.as_deref().unwrap_or(usual));
        let divided = spelling::divided(self.value, word).filter(|_| kind == Kind::Path);
        if let Some(path) = divided {
            found.advice = format!(
                "A colon divides the value, so it cannot name {path}: move this to a folder without a colon, and name that."
            );
        }
        self.rank(word, self.report.verdict, &mut found);
        found
    }

    /// Ranks the finding about a word among all findings.
    fn rank(&self, word: &str, verdict: Verdict, found: &mut Dropped) {
        let name = self.row.name;
        let leads = self.all().any(|word| self.matches(word));
        if !self.row.is_wanted {
            found.rank = rank::ASIDE;
        } else if REPLACING.contains(&name) && is_explained(word, self.value, leads, verdict) {
            // Variables often name a manifest for each word size. A fault of the driver that was found then explains more than the missing
            // file.
            found.rank = rank::CONSEQUENCE;
        } else if REPLACING.contains(&name) && verdict != Verdict::Hardware {
            // The missing file explains more than the variable that names the file.
            found.rank = rank::SILENT - 1;
            found
                .findings
                .push(format!("{name} is set, so drivers are searched only there"));
        }
    }

    /// Returns the mistake in a word, as a remedy.
    fn mistake(&self, word: &str) -> Option<String> {
        let name = self.row.name;
        match self.row.kind {
            Kind::Path => self
                .corrected_paths(word)
                .or_else(|| of_path(name, word, self.value, &self.report.hardware)),
            _ if self.row.separators == [':'] && word.contains([',', ';', ' ']) => {
                let parts = self.value.split([':', ',', ';', ' ']).filter(|part| !part.is_empty());
                let right = parts.collect::<Vec<_>>().join(":");
                Some(format!(
                    "Divide the names by a colon: {name}={} PROGRAM",
                    shell::word(&right)
                ))
            }
            Kind::Layer => self.layer_for(word),
            Kind::LayerPattern | Kind::DriverPattern => self.is_part(word).then(|| {
                format!(
                    "A word without stars must be the whole name: {name}={}",
                    shell::word(&format!("*{word}*"))
                )
            }),
        }
    }

    /// Returns the mistake in a path, with the value of the variable without mistakes.
    fn corrected_paths(&self, word: &str) -> Option<String> {
        let name = self.row.name;
        let mistake = spelling::of_word(word)?;
        let corrected = spelling::corrected(self.value, |name| self.report.variables.get(name))?;
        Some(format!("{mistake}: {name}={} PROGRAM", shell::word(&corrected)))
    }

    /// Returns a remedy for the name of a layer that does not exist.
    fn layer_for(&self, word: &str) -> Option<String> {
        let name = self.row.name;
        if let Some(layer) = successor(word) {
            return Some(format!(
                "{word} no longer exists, and {layer} replaces it: {name}={layer}"
            ));
        }
        if let Some(longer) = self.layers.iter().find(|layer| layer.starts_with(word)) {
            let layer = shell::word(longer);
            return Some(format!("Write the whole name of the layer: {name}={layer}"));
        }
        if let Some(layer) = unfound::similar(word, self.records) {
            let value = self.value.replace(word, &layer);
            return Some(format!("Correct the name: {name}={}", shell::word(&value)));
        }
        instance::to_install(word).filter(|_| self.layer_path.is_none())
    }

    /// Returns `true` if a word is only a part of a name. With a star at both ends, the word would match this name.
    fn is_part(&self, word: &str) -> bool {
        let names = match self.row.kind {
            Kind::DriverPattern => &self.drivers,
            _ => &self.layers,
        };
        !word.contains('*') && names.iter().any(|name| show::matches(&format!("*{word}*"), name))
    }
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

/// Returns a remedy for the path of a missing manifest or folder in a variable: the mistake in the path, or an assignment in which an existing
/// one replaces it. `value` is the variable's value, whose other paths stay in the assignment. `cards` is the graphics hardware of the
/// system.
fn of_path(variable: &str, path: &str, value: &str, cards: &[Card]) -> Option<String> {
    let (what, exists) = if variable.contains(OF_LAYERS) {
        let near = unfound::nearest(Path::new(path));
        ("folder", near.map(|near| near.display().to_string()))
    } else {
        let like = unsearched::like(Path::new(path));
        ("file", like.filter(|exists| may_have_device(Path::new(exists), cards)))
    };
    let other = || {
        let exists = exists?;
        let mut words: Vec<&str> = Vec::new();
        for word in value.split(':') {
            let word = if word == path { exists.as_str() } else { word };
            if !word.is_empty() && !words.contains(&word) {
                words.push(word);
            }
        }
        let value = shell::word(&words.join(":"));
        Some(format!("Name the {what} that exists: {variable}={value}"))
    };
    spelling::of_word(path).map(String::from).or_else(other)
}

/// Returns `false` if the driver of a manifest is for kernel drivers that none of the cards has.
fn may_have_device(manifest: &Path, cards: &[Card]) -> bool {
    let library = manifests::named(manifest).unwrap_or_default();
    let Some(row) = catalogue::hardware::of(library.as_bytes()) else {
        return true;
    };
    let mut drivers = cards.iter().filter_map(|card| card.kernel_driver.as_deref());
    row.kernel_drivers.is_empty() || drivers.any(|driver| row.kernel_drivers.contains(&driver))
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

/// Returns the names of the layers that the loader found.
pub(super) fn layers(records: &[&Record]) -> Vec<String> {
    names(records, "layer", |name, _| name.into())
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
pub(super) fn has_manifest(path: &Path) -> bool {
    match std::fs::read_dir(path) {
        Ok(entries) => entries
            .flatten()
            .any(|entry| entry.file_name().as_encoded_bytes().ends_with(b".json")),
        // The content of a folder that this user may not search is unknown.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => true,
        Err(_) => path.is_file(),
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
        let remedy = |value: &str| of_path("VK_DRIVER_FILES", &old, value, &[]).expect("a remedy");
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
        // A driver for cards that this system does not have cannot replace the missing one.
        std::fs::write(&exists, r#"{"ICD": {"library_path": "libvulkan_radeon.so"}}"#).expect("a file");
        assert_eq!(of_path("VK_DRIVER_FILES", &old, &old, &[]), None);
    }
}
