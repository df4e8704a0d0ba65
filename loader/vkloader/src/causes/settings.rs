//! Completes findings with the settings file that the loader uses.

use super::overriding::kept;
use crate::events::Record;
use crate::manifests;
use crate::regular;
use crate::report::{Dropped, Report, codes, rank};
use crate::shell::word;
use reasons::Code;
use std::path::Path;

/// Adds a finding about each settings file that the loader uses, and completes the findings about layers that the file lists. `silent` is the
/// rank of a file that may hide devices.
pub(super) fn find(report: &mut Report, records: &[&Record], silent: u8) -> Vec<Dropped> {
    let mut found = active(report, records, silent);
    if let Some(settings) = kept(records, "settings").last() {
        leaves_out(report, &settings.name);
        names_nothing(&mut report.dropped, &settings.name);
        for one in found.iter_mut().filter(|one| one.name == settings.name) {
            only_missing(one, report);
        }
    }
    found
}

/// Returns a finding about each settings file that the loader uses.
fn active(report: &Report, records: &[&Record], silent: u8) -> Vec<Dropped> {
    let used = kept(records, "settings").filter(|_| !report.ignores_settings());
    used.map(|decision| Dropped {
        rank: if may_hide_devices(Path::new(&decision.name)) {
            silent
        } else {
            silent.max(rank::CONSEQUENCE)
        },
        ..codes::SETTINGS_ACTIVE.about(&decision.name)
    })
    .collect()
}

/// Completes the findings about layers that the settings file `settings` lists and leaves out. Only a side note if no variable asks for the
/// layer.
fn leaves_out(report: &mut Report, settings: &str) {
    let Report {
        dropped,
        layers,
        variables,
        ..
    } = report;
    let is_it = |one: &&mut Dropped| {
        one.code == "layer.listed-in-settings" && layers.iter().all(|layer| layer.name != one.name)
    };
    for one in dropped.iter_mut().filter(is_it) {
        let manifest = one.file.clone().unwrap_or_default();
        let switch = manifests::enabling_switch(Path::new(&manifest), &one.name);
        let set = switch.filter(|(name, _)| variables.nonempty(name).is_some());
        one.reason = format!("The settings file leaves the layer {} out.", one.name);
        one.findings.insert(0, format!("the settings file: {settings}"));
        one.advice = format!(
            "If this is unintended, switch the layer on in the program that wrote the settings file, such as Vulkan Configurator, or delete the \
             file: rm {}",
            word(settings)
        );
        match set {
            Some((name, _)) => one
                .findings
                .insert(1, format!("{name} is set, which asks for the layer")),
            None => one.rank = rank::ASIDE,
        }
    }
}

/// Names the settings file `settings` in findings about manifests that it lists and that do not exist.
fn names_nothing(dropped: &mut [Dropped], settings: &str) {
    for one in dropped.iter_mut().filter(|one| is_missing(one)) {
        one.findings.insert(0, format!("the settings file {settings} names it"));
        one.advice = format!(
            "Correct the path in the settings file with the program that wrote it, such as Vulkan Configurator, or delete the file: rm {}",
            word(settings)
        );
    }
}

/// Returns `true` for the finding about a manifest that a settings file lists and that does not exist.
fn is_missing(one: &Dropped) -> bool {
    one.source.as_deref() == Some("settings") && one.code == Code::FileNotFound.name()
}

/// Names the missing manifest in the finding about a settings file that permits only the drivers in its own list.
fn only_missing(found: &mut Dropped, report: &Report) {
    let mut text = regular::text(&found.name).unwrap_or_default();
    text.retain(|sign| !sign.is_whitespace());
    let is_exclusive = text.contains(&format!("\"{EXCLUSIVE}\":true"));
    let missing = report
        .dropped
        .iter()
        .find(|one| is_missing(one) && one.subject.starts_with("driver"));
    if let Some(missing) = missing.filter(|_| is_exclusive && report.drivers.is_empty()) {
        found.reason = format!(
            "A settings file permits only the drivers that it lists, and {} does not exist.",
            missing.name
        );
        found.advice.clone_from(&missing.advice);
    }
}

/// Member of a settings file that permits only the drivers in the list of the file.
const EXCLUSIVE: &str = "additional_drivers_use_exclusively";

/// Returns `true` if a settings file may hide drivers or devices. Most settings files only select layers.
fn may_hide_devices(settings: &Path) -> bool {
    const MEMBERS: [&str; 3] = [EXCLUSIVE, "device_configurations", "visible_devices"];
    let text = regular::text(settings);
    text.map_or(true, |text| MEMBERS.iter().any(|member| text.contains(member)))
}
