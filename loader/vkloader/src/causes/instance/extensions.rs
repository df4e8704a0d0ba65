//! Names the instance extension that a program requested, and the drivers and layers that may have it.

use super::{between, missing, to_install};
use crate::causes::{REPLACING, usual_manifests};
use crate::manifests;
use crate::report::{Dropped, Report, rank};
use reasons::rank::OTHER;
use std::path::Path;

/// Texts before and after the name of an extension in an error. The first error is about an extension that no driver has, and the second
/// one about an extension that the loader does not know.
const UNSUPPORTED: [&str; 2] = ["Instance extension ", " not supported by available ICDs"];
const UNKNOWN: [&str; 2] = ["Extension ", " not found in list of known instance extensions"];

/// Remedy for an extension that the loader does not know. The loader hides such an extension from programs even if a driver has the
/// extension.
const OF_UNKNOWN: &str = "Correct the name of the extension in the program, or update the loader, which does not know it. Extensions of devices belong \
    to vkCreateDevice.";

/// Adds to the finding the name of the extension that a program requested. Also adds the drivers and layers that may have the extension but
/// are not in use.
pub(super) fn name(found: &mut Dropped, report: &Report) {
    let named = |texts: [&str; 2]| {
        let mut errors = report.errors.iter();
        errors.find_map(|error| between(error, texts[0], texts[1]))
    };
    let (name, is_known) = match (named(UNSUPPORTED), named(UNKNOWN)) {
        (Some(name), _) => (name, true),
        (None, Some(name)) => (name, false),
        (None, None) => return,
    };
    found.name = name.into();
    let kept = report.kept.iter().map(String::as_str);
    let drivers: Vec<&str> = kept.filter(|path| path.contains(".so")).collect();
    let left_out = left_out_with(name, is_known, report);
    let which = if left_out.is_empty() {
        "no driver or layer has"
    } else {
        "no driver or layer in use has"
    };
    found.reason = format!("The program asked for {name}, which {which}, so it got no instance.");
    if let Some((first, has)) = left_out.first() {
        found.advice = format!("{} {has}. {}", first.name, first.advice);
        found.variable.clone_from(&first.variable);
    } else if let Some(install) = layer_with(name).and_then(to_install) {
        found.advice = format!(
            "Only a layer has this extension. {install}; or start the program without the option that asks for it."
        );
    } else if !is_known {
        found.advice = OF_UNKNOWN.into();
    } else if !drivers.is_empty() {
        found.advice = format!("{}{}", missing::update(&drivers), instead(name));
        only_some(found, name, report);
    }
    let words = left_out
        .iter()
        .map(|(one, has)| format!("left out, and {has}: {}", one.in_short()));
    found.findings.extend(words);
    if is_known && !drivers.is_empty() {
        let words = format!("drivers without it: {}", drivers.join(", "));
        found.findings.push(words);
    }
}

/// Puts first the remedy for a variable that names drivers, if others are installed in the usual folders.
fn only_some(found: &mut Dropped, extension: &str, report: &Report) {
    let is_set = |name: &&&str| report.variables.nonempty(name).is_some();
    let Some(&variable) = REPLACING.iter().find(is_set) else {
        return;
    };
    let named = report.variables.get(variable).unwrap_or_default();
    let is_other = |manifest: &String| !named.split(':').any(|path| path == manifest);
    let others: Vec<String> = usual_manifests().into_iter().filter(is_other).collect();
    if let Some(first) = others.first() {
        let words = format!("{variable} leaves out drivers that may have {extension}, such as that of {first}");
        found.findings.insert(0, words);
        found.variable = Some(variable.into());
        found.advice = format!(
            "Let the loader search all drivers: unset {variable}. If that does not help: {}",
            found.advice
        );
    }
}

/// Returns the end of the remedy for an extension that the installed drivers lack: what works without the extension.
fn instead(extension: &str) -> &'static str {
    match extension {
        "VK_EXT_headless_surface" => {
            ", because newer drivers may have the extension; or let the program draw to an image without a surface, or to a display \
             such as Xvfb."
        }
        _ if extension.ends_with("_surface") => {
            ", or run the program with another window system, because the drivers do not support this one."
        }
        _ => {
            ", because newer drivers may have the extension; or start the program without the option that asks for it."
        }
    }
}

/// Returns the layer that has an instance extension which no driver has.
fn layer_with(extension: &str) -> Option<&'static str> {
    const OF_VALIDATION: [&str; 3] = [
        "VK_EXT_validation_features",
        "VK_EXT_validation_flags",
        "VK_EXT_layer_settings",
    ];
    OF_VALIDATION
        .contains(&extension)
        .then_some("VK_LAYER_KHRONOS_validation")
}

/// Returns findings, each with the phrase that the report uses. The findings are about layers that have an instance extension, and about
/// drivers that may have this extension. None of these layers and drivers is in use. The finding with the smallest rank comes first.
/// `is_known` is `true` if the loader knows the extension, so that it would show the extension of a driver.
fn left_out_with<'a>(extension: &str, is_known: bool, report: &'a Report) -> Vec<(&'a Dropped, &'static str)> {
    let is_broken = |one: &Dropped| (rank::BROKEN..OTHER).contains(&one.rank);
    let is_driver =
        |one: &Dropped| is_known && one.subject.starts_with("driver") && (one.variable.is_some() || is_broken(one));
    let is_layer = |one: &Dropped| one.subject.starts_with("layer") && manifest_has(one.file.as_deref(), extension);
    let mut found: Vec<(&Dropped, &str)> = Vec::new();
    for one in &report.dropped {
        if is_layer(one) {
            found.push((one, "has the extension"));
        } else if is_driver(one) {
            found.push((one, "may have the extension"));
        }
    }
    found.sort_by_key(|(one, _)| one.rank);
    found
}

/// Returns `true` if the manifest of a layer lists an instance extension.
fn manifest_has(path: Option<&str>, extension: &str) -> bool {
    let manifest = path.filter(|path| path.ends_with(".json"));
    let content = manifest.and_then(|path| manifests::read(Path::new(path)));
    let Some(content) = content else { return false };
    let is_it = |one: &serde_json::Value| one.get("name").is_some_and(|name| name == extension);
    let mut lists = manifests::layers(&content).filter_map(|layer| layer.get("instance_extensions")?.as_array());
    lists.any(|list| list.iter().any(is_it))
}
