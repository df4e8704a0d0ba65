//! Completes findings with the settings file that the loader uses.

use super::overriding::kept;
use crate::events::Record;
use crate::manifests;
use crate::report::{Dropped, Report, codes, rank};
use crate::shell::word;
use reasons::Code;
use std::path::Path;

/// Adds a finding about each settings file that the loader uses, and completes the findings about layers that the file lists. `silent` is the
/// rank of a file that may hide devices.
pub(super) fn find(report: &mut Report, records: &[&Record], silent: u8) -> Vec<Dropped> {
    let found = active(report, records, silent);
    if let Some(settings) = kept(records, "settings").last() {
        leaves_out(report, &settings.name);
        names_nothing(&mut report.dropped, &settings.name);
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
    let is_it = |one: &&mut Dropped| one.source.as_deref() == Some("settings") && one.code == Code::FileNotFound.name();
    for one in dropped.iter_mut().filter(is_it) {
        one.findings.insert(0, format!("the settings file {settings} names it"));
        one.advice = format!(
            "Correct the path in the settings file with the program that wrote it, such as Vulkan Configurator, or delete the file: rm {}",
            word(settings)
        );
    }
}

/// Returns `true` if a settings file may hide drivers or devices. Most settings files only select layers.
fn may_hide_devices(settings: &Path) -> bool {
    const MEMBERS: [&str; 3] = [
        "additional_drivers_use_exclusively",
        "device_configurations",
        "visible_devices",
    ];
    let text = std::fs::read_to_string(settings);
    text.map_or(true, |text| MEMBERS.iter().any(|member| text.contains(member)))
}
