//! Findings about layers that may be the reason why a program failed.

use super::layers::{MESAS, WITHOUT};
use super::{ActiveLayer, Dropped, Fact, Kind, Printed, Report, codes};
use crate::filters::ENABLING;
use crate::manifests;
use crate::probe::{Device, Seen};
use crate::shell::word;
use crate::variables::Variables;
use std::path::Path;

/// The extension with which a device shows pictures.
const SWAPCHAIN: &str = "VK_KHR_swapchain";

impl Dropped {
    /// Returns `true` if the finding is about a program whose graphics cards cannot show pictures.
    pub(crate) fn is_without_swapchain(&self) -> bool {
        self.findings.iter().any(|fact| *fact.kind() == Kind::WithoutSwapchain)
    }
}

impl Report {
    /// Returns `true` if the program ended with a failure although a device is usable, and no call failed.
    pub(crate) fn has_failed_alone(&self) -> bool {
        let is_failure = |one: &Dropped| one.code == codes::PROGRAM_FAILED.name;
        self.is_usable() && self.failed.is_empty() && self.dropped.iter().any(is_failure)
    }

    /// Adds to the finding about a program that failed on a display the graphics cards without the extension that shows pictures. Adds nothing
    /// if a card has the extension. `seen` has the results of a probe.
    pub(crate) fn note_without_swapchain(&mut self, seen: &Seen) {
        let has_display = ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| self.variables.get(name).is_some());
        let cards = || seen.usable().filter(|device| device.kind != "cpu");
        let has_it = |device: &Device| device.extensions.iter().any(|name| name == SWAPCHAIN);
        if !has_display || cards().any(has_it) {
            return;
        }
        let is_failure = |one: &&mut Dropped| one.code == codes::PROGRAM_FAILED.name;
        if let Some(failed) = self.dropped.iter_mut().find(is_failure) {
            let words =
                |device: &Device| format!("{} lacks {SWAPCHAIN}, without which it shows no pictures", device.name);
            let facts = cards().map(|device| Fact::new(Kind::WithoutSwapchain, words(device)));
            failed.findings.extend(facts);
        }
    }

    /// Adds the finding about a layer that hides extensions or features of devices. `what` is the word for them.
    pub(crate) fn add_hidden(&mut self, row: &codes::Row, layer: &str, what: &str, names: &[String]) {
        let own = self.layers.iter().find(|one| one.name == layer);
        let mut found = row.about(layer);
        found.reason = format!(
            "{layer} hides {what} of the device from the program: {}.",
            listed(names)
        );
        if let Some(own) = own {
            found.file = Some(own.manifest.clone());
            let on = on_switch(own, &self.variables);
            found.findings.extend(
                on.as_ref()
                    .map(|(name, value)| format!("{name}={value} switches the layer on")),
            );
            found.advice = to_switch_off(own, on.as_ref());
            found.variable = on.map(|(name, _)| name);
        }
        self.dropped.push(found);
    }
}

/// Remedy for a program that ended itself by SIGABRT.
pub(crate) const READ: &str = "Read the last message of the program, which names the check that failed.";

/// Adds to the finding about a program that ended itself by SIGABRT the implicit layers that may have made a call fail. A layer that a variable
/// switches on comes first.
pub(crate) fn suspect_for_abort(found: &mut Dropped, layers: &[ActiveLayer], variables: &Variables) {
    found.findings.insert(
        0,
        "code ends its process by SIGABRT if one of its checks fails, for example after a failed call",
    );
    let is_suspect = |layer: &&ActiveLayer| layer.enabled_by == "implicit" && layer.name != MESAS;
    let mut suspects: Vec<(&ActiveLayer, Option<(String, String)>)> = layers
        .iter()
        .filter(is_suspect)
        .map(|layer| (layer, on_switch(layer, variables)))
        .collect();
    suspects.sort_by_key(|(_, on)| on.is_none());
    let Some((layer, on)) = suspects.first() else {
        found.advice = READ.into();
        return;
    };
    let names: Vec<&str> = suspects.iter().map(|(layer, _)| layer.name.as_str()).collect();
    found
        .findings
        .insert(0, format!("a layer may have made a call fail: {}", names.join(", ")));
    let switched = on
        .as_ref()
        .map(|(name, value)| format!("{name}={value} switches {} on. ", layer.name));
    found.advice = format!(
        "{}{}. If that does not help: {READ}",
        switched.unwrap_or_default(),
        to_switch_off(layer, on.as_ref()),
    );
    found.variable = on.as_ref().map(|(name, _)| name.clone());
}

/// Returns `true` if the program printed that a call of Vulkan failed: a line names a command, or the result of one.
pub(crate) fn tells_failure(printed: &[Printed]) -> bool {
    let is_command = |word: &str| {
        let name = word.strip_prefix("vk").unwrap_or_default();
        name.starts_with(|sign: char| sign.is_ascii_uppercase())
    };
    let is_result = |word: &str| word.starts_with("VK_ERROR_") || word == "VkResult";
    let own = printed.iter().filter(|line| line.library.is_none());
    let mut words = own.flat_map(|line| {
        line.text
            .split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_')
    });
    words.any(|word| is_command(word) || is_result(word))
}

/// Returns the remedy for a call that one of the layers made fail. A layer that a variable switches on comes first, and Mesa's layer last.
pub(crate) fn one_after_the_other(layers: &[ActiveLayer], variables: &Variables) -> String {
    let mut all: Vec<(&ActiveLayer, Option<(String, String)>)> = layers
        .iter()
        .map(|layer| (layer, on_switch(layer, variables)))
        .collect();
    all.sort_by_key(|(layer, on)| (layer.name == MESAS, on.is_none()));
    let remedies: Vec<String> = all
        .iter()
        .map(|(layer, on)| to_switch_off(layer, on.as_ref()))
        .collect();
    remedies.join(". If that does not help: ")
}

/// Upper bound on the number of extensions that a sentence lists.
const MOST_LISTED: usize = 4;

/// Returns names in a list, with the number of names that are left out.
fn listed(names: &[String]) -> String {
    let first = names[..names.len().min(MOST_LISTED)].join(", ");
    match names.len().saturating_sub(MOST_LISTED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Adds to the finding about a layer its manifest, and the variable that switches it on.
pub(crate) fn add_switch(found: &mut Dropped, layer: &ActiveLayer, variables: &Variables) {
    found.file.get_or_insert_with(|| layer.manifest.clone());
    if layer.enabled_by == ENABLING {
        found.advice = to_switch_off(layer, None);
        found.set = None;
    }
    if let Some((name, value)) = on_switch(layer, variables) {
        found
            .findings
            .insert(0, format!("{name}={value} switches the layer on"));
        let mut words = found.advice.split([' ', ',', ';', '.']);
        if !words.any(|word| word == name) {
            found.advice = format!("{}, or: unset {name}", found.advice.trim_end_matches('.'));
        }
        found.variable = Some(name);
    }
}

/// Returns the variable that switches a layer on, with its value, if the variable is set.
fn on_switch(layer: &ActiveLayer, variables: &Variables) -> Option<(String, String)> {
    if let Some(value) = variables.get(&layer.enabled_by) {
        return Some((layer.enabled_by.clone(), value));
    }
    let (name, _) = manifests::enabling_switch(Path::new(&layer.manifest), &layer.name)?;
    let value = variables.get(&name)?;
    Some((name, value))
}

/// Returns the remedy that switches an active layer off. `on` is the variable that switches the layer on.
fn to_switch_off(layer: &ActiveLayer, on: Option<&(String, String)>) -> String {
    if layer.is_asked_for {
        return "Update the layer, or start the program without the option that asks for it.".into();
    }
    if layer.enabled_by == ENABLING {
        return format!("Start the program without the layer: unset {ENABLING}");
    }
    let off = manifests::own_switch(Path::new(&layer.manifest), &layer.name);
    let (variable, value) = off.unwrap_or_else(|| (WITHOUT.into(), layer.name.clone()));
    let command = format!("{variable}={} PROGRAM", word(&value));
    match on {
        Some((name, _)) => format!("Start the program without the layer: {command}, or: unset {name}"),
        None => format!("Start the program without the layer: {command}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an active implicit layer that a variable switches on.
    fn layer(folder: &Path) -> ActiveLayer {
        let manifest = folder.join("capture.json");
        let text = r#"{"layer": {"name": "VK_LAYER_capture", "enable_environment": {"VKLT_CAPTURE": "1"},
            "disable_environment": {"VKLT_NO_CAPTURE": "1"}}}"#;
        std::fs::write(&manifest, text).expect("a file");
        ActiveLayer {
            name: "VK_LAYER_capture".into(),
            enabled_by: "implicit".into(),
            because: String::new(),
            order: String::new(),
            is_asked_for: false,
            manifest: manifest.display().to_string(),
            library: String::new(),
        }
    }

    #[test]
    fn a_card_without_the_extension_for_pictures_explains_a_program_with_a_display() {
        let device = |extensions: &[&str]| Device {
            name: "Vendor GPU".into(),
            kind: "discrete".into(),
            created: Some(0),
            extensions: extensions.iter().map(|name| (*name).into()).collect(),
            ..Device::default()
        };
        for (devices, display, is_told) in [
            (vec![device(&[])], "DISPLAY", true),
            (vec![device(&[]), device(&[SWAPCHAIN])], "DISPLAY", false),
            (vec![device(&[])], "EDITOR", false),
        ] {
            let mut report = Report {
                dropped: vec![codes::PROGRAM_FAILED.about_any("the program")],
                variables: Variables::with(display, ":99"),
                ..Report::default()
            };
            report.note_without_swapchain(&Seen {
                devices,
                ..Seen::default()
            });
            assert_eq!(report.dropped[0].is_without_swapchain(), is_told, "{display}");
        }
    }

    #[test]
    fn a_layer_that_hides_extensions_comes_with_the_variables_that_switch_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut report = Report {
            layers: vec![layer(folder.path())],
            ..Report::default()
        };
        let names: Vec<String> = (0..6).map(|number| format!("VK_{number}")).collect();
        report.add_hidden(codes::LAYER_HIDES_EXTENSIONS, "VK_LAYER_capture", "extensions", &names);
        let found = &report.dropped[0];
        assert!(
            found.reason.ends_with("VK_0, VK_1, VK_2, VK_3 and 2 more."),
            "{}",
            found.reason
        );
        assert!(found.advice.ends_with("VKLT_NO_CAPTURE=1 PROGRAM"), "{}", found.advice);
    }

    #[test]
    fn the_manifest_and_the_variable_of_a_layer_are_added() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = layer(folder.path());
        let mut found = codes::LAYER_CALL_FAILED.about("VK_LAYER_capture");
        add_switch(&mut found, &own, &Variables::default());
        assert_eq!((found.file.as_ref(), &found.variable), (Some(&own.manifest), &None));
    }

    #[test]
    fn a_program_tells_that_a_call_failed() {
        for (library, text, expected) in [
            (None, "free(): double free detected in tcache 2", false),
            (None, "terminate called: no save file", false),
            (None, "no vk_config, see vkquake.log", false),
            (None, "vkCreateSwapchainKHR failed", true),
            (None, "engine: error -3 (VK_ERROR_INITIALIZATION_FAILED)", true),
            (None, "Assertion `VkResult == 0' failed.", true),
            (Some("libvulkan_odd.so"), "open: VK_ERROR_INCOMPATIBLE_DRIVER", false),
        ] {
            let printed = Printed {
                library: library.map(String::from),
                text: text.into(),
            };
            assert_eq!(tells_failure(&[printed]), expected, "{text}");
        }
    }

    #[test]
    fn layers_are_suspects_if_a_program_ends_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut found = codes::PROGRAM_CRASHED.about("the program");
        suspect_for_abort(&mut found, &[], &Variables::default());
        assert!(found.advice.starts_with("Read the last message"), "{}", found.advice);
        suspect_for_abort(&mut found, &[layer(folder.path())], &Variables::default());
        assert!(found.findings[0].ends_with("VK_LAYER_capture"), "{:?}", found.findings);
        assert!(found.advice.contains("VKLT_NO_CAPTURE=1 PROGRAM"), "{}", found.advice);
    }
}
