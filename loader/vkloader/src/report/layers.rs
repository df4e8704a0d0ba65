//! Reports the layers of the last instance, and installed layers that are not in the chain of this instance.

use super::{ActiveLayer, Device, Dropped, Fact, Facts, Hidden, InactiveLayer, Kind, Report, blamed, codes, rank};
use crate::events::{Event, Moved, Record};
use crate::manifests;
use crate::names;
use crate::probe::Seen;
use crate::shell::word;
use crate::variables::Variables;
use reasons::Code;
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the layers of the last instance, starting at the program.
pub(super) fn active(records: &[&Record]) -> Vec<ActiveLayer> {
    let chain = records.iter().rev().find_map(|record| match &record.event {
        Event::Chain(chain) if chain.call == "vkCreateInstance" => Some(chain),
        _ => None,
    });
    let layers = chain.map_or(&[][..], |chain| &chain.layers);
    layers
        .iter()
        .map(|layer| ActiveLayer {
            name: layer.name.clone(),
            is_asked_for: layer.enabled_by == "application",
            enabled_by: layer.enabled_by.clone(),
            because: because(
                &layer.enabled_by,
                layer.implicit,
                manifests::enabling_switch(Path::new(&layer.manifest), &layer.name).as_ref(),
            ),
            order: order(records, &layer.name),
            manifest: layer.manifest.clone(),
            library: layer.library.clone(),
        })
        .collect()
}

fn because(word: &str, implicit: bool, switch: Option<&(String, String)>) -> String {
    match (word, implicit) {
        ("settings", _) => "the settings file".into(),
        ("implicit", _) => match switch {
            Some((name, value)) => format!("it is implicit, and {name}={value} switches it on"),
            None => "it is implicit, and nothing switches it off".into(),
        },
        ("application", _) => "the program".into(),
        ("meta-layer", _) => "a meta-layer that it is a part of".into(),
        (variable, _) => format!("the variable {variable}"),
    }
}

/// Returns `true` if a record describes the chain of an instance.
fn is_chain(record: &Record) -> bool {
    matches!(&record.event, Event::Chain(chain) if chain.call == "vkCreateInstance")
}

/// Returns `true` if the library built the chain of an instance.
pub(crate) fn has_chain(records: &[Record]) -> bool {
    records.iter().any(is_chain)
}

/// Returns a text that names the layer below which a declaration moved the layer called `name`, and the origin of the declaration.
/// Returns an empty text if no declaration moved the layer.
fn order(records: &[&Record], name: &str) -> String {
    let is_chain = |record: &&Record| is_chain(record);
    // The records of moved layers precede the record of their chain.
    let last = records.iter().rposition(is_chain).unwrap_or(0);
    let before = records[..last].iter().rposition(is_chain).unwrap_or(0);
    let moved = records[before..last].iter().find_map(|record| match &record.event {
        Event::Order(moved) if moved.layer == name => Some(moved),
        _ => None,
    });
    moved.map_or_else(String::new, |moved| {
        format!("below {}: {}", moved.below, declared(moved))
    })
}

/// Returns the file or variable that contains a declaration, and the text of the declaration.
fn declared(moved: &Moved) -> String {
    let path = moved.path.as_deref().unwrap_or_default();
    let by = match moved.by.as_str() {
        "settings" if !path.is_empty() => format!("layer_order in {path}"),
        "manifest" => format!("the order in {path}"),
        "application" => "the program's list of layers".into(),
        "settings" => "the list of layers in the settings file".into(),
        "meta-layer" => "the list of components of a meta-layer".into(),
        variable => format!("the variable {variable}"),
    };
    match &moved.declared {
        Some(words) => format!("{by} ({words})"),
        None => by,
    }
}

/// Returns the layers that the library kept but did not add to a chain.
pub(super) fn inactive(records: &[&Record], active: &[ActiveLayer], variables: &Variables) -> Vec<InactiveLayer> {
    let mut found: BTreeMap<String, InactiveLayer> = BTreeMap::new();
    let has_chain = records.iter().any(|record| is_chain(record));
    for record in records {
        match &record.event {
            Event::Decision(decision) if decision.subject == "layer" && decision.is_kept() => {
                let row = Code::LayerInactive.row();
                let unseen = codes::LAYER_NO_INSTANCE;
                let (code, reason, advice) = if has_chain {
                    (row.name, row.meaning, row.remedy)
                } else {
                    (unseen.name, unseen.meaning, unseen.remedy)
                };
                found.entry(decision.name.clone()).or_insert_with(|| InactiveLayer {
                    name: decision.name.clone(),
                    manifest: decision.path.clone(),
                    code: code.into(),
                    reason: reason.into(),
                    advice: advice.into(),
                });
            }
            Event::Layer(layer) => {
                if let (Some(known), Some(code)) = (found.get_mut(&layer.name), Code::of_name(&layer.code)) {
                    let variable = layer.variable.as_ref().map(|variable| format!(" ({variable})"));
                    known.code = layer.code.clone();
                    known.reason = with_variable(code.row().meaning, variable.as_deref());
                    known.advice = with_variable(code.row().remedy, variable.as_deref());
                    if code == Code::LayerNotSwitchedOn {
                        name_value(known, variables);
                    }
                }
            }
            _ => {}
        }
    }
    for layer in active {
        found.remove(&layer.name);
    }
    // A layer that was switched on, but whose library cannot be used, has a finding of its own.
    for record in records {
        if let Event::Decision(decision) = &record.event
            && decision.subject == "layer-library"
            && !decision.is_kept()
        {
            found.remove(&decision.name);
        }
    }
    found.into_values().collect()
}

/// Adds the reason and the remedy to a layer that is inactive because the variable that enables it has the wrong value.
fn name_value(layer: &mut InactiveLayer, variables: &Variables) {
    let Some((variable, wanted)) = manifests::enabling_switch(Path::new(&layer.manifest), &layer.name) else {
        return;
    };
    if let Some(value) = variables.get(&variable).filter(|value| *value != wanted) {
        layer.reason = format!("The layer is inactive, because {variable} is {value}, but must be {wanted}.");
        layer.advice = format!("To switch the layer on: {variable}={} PROGRAM", word(&wanted));
    }
}

/// Returns a finding for each layer that the user wants to switch on by a variable whose value has no effect.
pub(super) fn without_effect(inactive: &[InactiveLayer], variables: &Variables) -> Vec<Dropped> {
    let is_off = |value: &str| OFF.contains(&value.to_ascii_lowercase().as_str());
    let of = |layer: &InactiveLayer| {
        let (variable, wanted) = manifests::enabling_switch(Path::new(&layer.manifest), &layer.name)?;
        variables
            .get(&variable)
            .filter(|value| *value != wanted && !is_off(value))?;
        Some(Dropped {
            subject: "layer".into(),
            code: layer.code.clone(),
            file: Some(layer.manifest.clone()),
            reason: layer.reason.clone(),
            advice: layer.advice.clone(),
            variable: Some(variable),
            rank: rank::ASKED_FOR,
            ..codes::LAYER_NO_INSTANCE.about(&layer.name)
        })
    };
    let is_it = |layer: &&InactiveLayer| layer.code == Code::LayerNotSwitchedOn.row().name;
    inactive.iter().filter(is_it).filter_map(of).collect()
}

/// Inserts the name of a variable before the full stop of a sentence.
fn with_variable(sentence: &str, variable: Option<&str>) -> String {
    match (sentence.strip_suffix('.'), variable) {
        (Some(sentence), Some(variable)) => format!("{sentence}{variable}."),
        _ => sentence.into(),
    }
}

impl Report {
    /// Returns `true` if the first finding is about a process that ended in a call through layers, and the culprit is unknown.
    pub(crate) fn is_ended_in_unknown_layer(&self) -> bool {
        const CODES: [&str; 5] = [
            codes::PROGRAM_CRASHED.name,
            codes::PROGRAM_ENDED.name,
            codes::PROGRAM_EXITED.name,
            codes::PROGRAM_HUNG.name,
            codes::PROGRAM_KILLED.name,
        ];
        let is_unknown =
            |found: &Dropped| CODES.contains(&found.code.as_str()) && is_of_call(found) && found.set.is_none();
        self.dropped.first().is_some_and(is_unknown)
    }

    /// Returns `true` if the first finding is about a process that ended in a call of a driver through layers, and no stack shows the culprit.
    pub(crate) fn is_ended_below_layers(&self) -> bool {
        const CODES: [&str; 3] = [
            codes::PROGRAM_CRASHED.name,
            codes::PROGRAM_EXITED.name,
            codes::PROGRAM_HUNG.name,
        ];
        let is_of_driver = |found: &Dropped| {
            let is_layers = |layer: &ActiveLayer| found.name == layer.name || found.name == layer.library;
            CODES.contains(&found.code.as_str()) && found.set.is_some() && !self.layers.iter().any(is_layers)
        };
        // The stack of a crash shows more than a run without layers.
        let is_any = self.crash.is_none() && self.layers.iter().any(|layer| layer.name != MESAS);
        is_any && self.dropped.first().is_some_and(is_of_driver)
    }

    /// Returns `true` if another process ended the program in a call through layers. The call may have returned later.
    pub(crate) fn is_ended_by_another(&self) -> bool {
        let codes = [codes::PROGRAM_ENDED.name, codes::PROGRAM_KILLED.name];
        self.dropped
            .first()
            .is_some_and(|found| codes.contains(&found.code.as_str()))
    }

    /// Returns `true` if the process ended in a call through layers.
    pub(crate) fn is_ended_in_call(&self) -> bool {
        self.dropped.iter().any(is_of_call)
    }

    /// Names a layer in the first finding, because the process ends normally without that layer.
    pub(crate) fn blame_layer(&mut self, layer: &str) {
        let library = self
            .layers
            .iter()
            .find(|one| one.name == layer)
            .map(|one| one.library.clone());
        if let Some(found) = self.dropped.first_mut() {
            found.name = layer.into();
            found.is_general = false;
            found.findings.retain(|fact| !is_through(fact));
            found
                .findings
                .insert(0, format!("without {layer}, the same process ends normally"));
            let variables = controlling(layer, &self.variables);
            found.advice = if variables.is_empty() {
                super::ended::without(library.as_deref().unwrap_or(layer), WITHOUT, layer)
            } else {
                without(layer, &self.variables)
            };
            found.findings.extend(variables);
            found.set = None;
            found.file = library;
        }
    }
}

/// Returns `true` for a finding about the end of a process in a call through layers.
fn is_of_call(found: &Dropped) -> bool {
    found.findings.iter().any(is_through)
}

fn is_through(fact: &Fact) -> bool {
    matches!(fact.kind(), Kind::Through(_))
}

/// Values of variables with which users switch something off.
const OFF: [&str; 5] = ["", "0", "false", "no", "off"];

/// Kind of devices that are cards of their own.
pub(crate) const DISCRETE: &str = "discrete";

/// Mesa's layer, which selects a device.
pub(crate) const MESAS: &str = "VK_LAYER_MESA_device_select";

/// Variable of NVIDIA's layer that selects devices, and its value for NVIDIA's devices.
const OPTIMUS: &str = "__VK_LAYER_NV_optimus";
const ONLY_NVIDIA: &str = "NVIDIA_only";

/// Layers that change the list of devices. Each row has the beginning of the name, the remedy, and the variables that control the layer. Without
/// a remedy in the row, the remedy is to unset the variables.
const KNOWN: [(&str, Option<&str>, &[&str]); 3] = [
    (
        MESAS,
        None,
        &[
            "MESA_VK_DEVICE_SELECT",
            "MESA_VK_DEVICE_SELECT_FORCE_DEFAULT_DEVICE",
            "DRI_PRIME",
        ],
    ),
    (
        "VK_LAYER_AMD_switchable_graphics",
        Some("Choose one of AMD's drivers: AMD_VULKAN_ICD=RADV PROGRAM or AMD_VULKAN_ICD=AMDVLK PROGRAM"),
        &["AMD_VULKAN_ICD"],
    ),
    ("VK_LAYER_NV_optimus", None, &[OPTIMUS, "__NV_PRIME_RENDER_OFFLOAD"]),
];

/// Returns the remedy for a layer that changes the list of devices.
pub(super) fn without(layer: &str, variables: &Variables) -> String {
    let known = KNOWN.iter().find(|(name, ..)| layer.starts_with(name));
    let set: Vec<&str> = set_for(layer, variables).map(|(name, _)| name).collect();
    let unset = (!set.is_empty()).then(|| format!("To undo this: unset {}", set.join(" ")));
    let own = known.and_then(|(_, remedy, _)| remedy.map(String::from).or(unset));
    let word = word(layer);
    match (layer, own) {
        ("", _) => "To find out which, start the program without one layer after the other: VK_LOADER_LAYERS_DISABLE=LAYER PROGRAM".into(),
        (_, Some(own)) => {
            format!("{own}, or start the program without the layer: VK_LOADER_LAYERS_DISABLE={word} PROGRAM")
        }
        _ => format!("To start the program without the layer: VK_LOADER_LAYERS_DISABLE={word} PROGRAM"),
    }
}

/// Returns the variables that control a layer and are set for the program, with their values.
fn set_for(layer: &str, variables: &Variables) -> impl Iterator<Item = (&'static str, String)> {
    let known = KNOWN.iter().find(|(name, ..)| layer.starts_with(name));
    let names = known.map_or(&[][..], |(_, _, names)| names);
    names.iter().filter_map(|name| Some((*name, variables.get(name)?)))
}

/// Returns the variables that control a layer and are set for the program, each with its value.
fn controlling(layer: &str, variables: &Variables) -> Facts {
    set_for(layer, variables)
        .map(|(name, value)| Fact::new(Kind::Controlling(name), format!("{name} is {value}")))
        .collect()
}

/// Returns the variables in the findings about a device that a layer hides or moves.
pub(crate) fn controlling_in(found: &Dropped) -> Vec<&'static str> {
    let is_of_layer =
        [codes::DEVICE_HIDDEN_BY_LAYER.name, codes::DEVICE_MOVED_BY_LAYER.name].contains(&found.code.as_str());
    let name = |fact: &Fact| match fact.kind() {
        Kind::Controlling(name) => Some(*name),
        _ => None,
    };
    found.findings.iter().filter(|_| is_of_layer).filter_map(name).collect()
}

/// Returns `true` if the user asked for what a layer does: a variable that controls the layer is set, and the program keeps a discrete device.
fn is_asked_for(hidden: &Hidden, devices: &[Device], variables: &Variables) -> bool {
    let has_discrete = devices.iter().any(|device| device.is_usable && device.kind == DISCRETE);
    has_discrete && hidden.kind != DISCRETE && set_for(&hidden.by, variables).next().is_some()
}

/// Returns the beginning of the remedy for a device of NVIDIA that a value of [`OPTIMUS`] hides.
fn with_optimus(hidden: &Hidden, variables: &Variables) -> Option<String> {
    let is_nvidias = ["libGLX_nvidia", "libEGL_nvidia"]
        .iter()
        .any(|name| hidden.driver.contains(name));
    let value = variables
        .get(OPTIMUS)
        .filter(|value| is_nvidias && value != ONLY_NVIDIA)?;
    (!value.is_empty()).then(|| format!("To use the card: {OPTIMUS}={ONLY_NVIDIA} PROGRAM. "))
}

/// Returns the finding about a device that a layer hides. The finding is a side note if the user asked for that.
pub(super) fn hides(hidden: &Hidden, devices: &[Device], variables: &Variables) -> Dropped {
    let row = codes::DEVICE_HIDDEN_BY_LAYER;
    Dropped {
        rank: if is_asked_for(hidden, devices, variables) {
            rank::ASIDE
        } else {
            row.rank()
        },
        file: Some(hidden.driver.clone()).filter(|driver| !driver.is_empty()),
        reason: match hidden.by.as_str() {
            "" => "One of the active layers hides the device from the program.".into(),
            layer => format!("{layer} hides the device from the program."),
        },
        findings: controlling(&hidden.by, variables),
        advice: format!(
            "{}{}",
            with_optimus(hidden, variables).unwrap_or_default(),
            without(&hidden.by, variables)
        ),
        ..row.about(&hidden.name)
    }
}

/// Returns the finding about a layer that changed the order of the devices. The finding is a side note, unless the layer put another device
/// before a discrete one, because programs then draw with the slower device. `is_old` is `true` for a program that was made for Vulkan 1.0.
pub(super) fn moves(layer: &str, devices: &[Device], variables: &Variables, is_old: bool) -> Dropped {
    let mut found = codes::DEVICE_MOVED_BY_LAYER.about(layer);
    found.reason = format!("{layer} changed the order of the devices.");
    found.findings = controlling(layer, variables);
    found.advice = without(layer, variables);
    let Some((first, rest)) = devices.split_first().filter(|(first, _)| first.kind != DISCRETE) else {
        return found;
    };
    if let Some(card) = rest.iter().find(|device| device.is_usable && device.kind == DISCRETE) {
        let prime = variables
            .get("DRI_PRIME")
            .filter(|value| is_old && layer == MESAS && value != "0");
        let set = set_for(layer, variables).next();
        let by = set.map_or(layer.into(), |(name, value)| format!("{layer}, with {name}={value},"));
        found.reason = format!("{by} puts {} before the discrete {}.", first.name, card.name);
        found.rank = rank::CONSEQUENCE;
        if let Some(value) = prime {
            found.reason = format!(
                "{layer} puts {} before the discrete {} in spite of DRI_PRIME={value}.",
                first.name, card.name
            );
            let why =
                "the program asks for Vulkan 1.0, for which this layer does not find the card that DRI_PRIME means";
            found.findings = [why].into();
            found.advice = format!(
                "To start the program without the layer: {WITHOUT}={} PROGRAM",
                word(layer)
            );
        }
        if layer == MESAS {
            let choice = format!("MESA_VK_DEVICE_SELECT={:04x}:{:04x} PROGRAM", card.vendor, card.device);
            found.advice = format!("To draw with {}: {choice}. {}", card.name, found.advice);
        }
    }
    found
}

/// Adds findings about `layer`, which prevents the use of devices. `with` and `free` are the results of the probe with and without `layer`.
pub(crate) fn obstructed(report: &mut Report, layer: &str, with: &Seen, free: &Seen) {
    let mut found = match with.failed_call() {
        Some((call, code)) => vec![fails(layer, call, code, &report.variables)],
        None => hide_all(report, layer, free),
    };
    let usable: Vec<&str> = free.usable().map(|device| device.name.as_str()).collect();
    let is_asked_for = report.layers.iter().any(|own| own.name == layer && own.is_asked_for);
    let own = report.layers.iter().find(|own| own.name == layer);
    for dropped in &mut found {
        dropped
            .findings
            .push(format!("without the layer, a program can use {}", usable.join(", ")));
        dropped.set = Some((WITHOUT.into(), layer.into()));
        if let Some(own) = own {
            blamed::add_switch(dropped, own, &report.variables);
        }
        if is_asked_for {
            // If a variable disabled the layer, the program's request for the layer would fail, so the advice names no variable.
            dropped.advice = "Update the layer, or start the program without the option that asks for it.".into();
            dropped.set = None;
        }
    }
    // Removes findings about drivers that create the device without the layer, because these drivers work.
    report
        .dropped
        .retain(|one| one.code != codes::DEVICE_NOT_CREATED.name || !usable.contains(&one.name.as_str()));
    report.dropped.extend(found);
}

/// Variable that disables layers.
pub(crate) const WITHOUT: &str = "VK_LOADER_LAYERS_DISABLE";

fn fails(layer: &str, call: &str, code: i32, variables: &Variables) -> Dropped {
    Dropped {
        reason: format!("{call} fails with {layer}, but succeeds without it."),
        findings: [format!("{call} returned {}", names::result(code))].into(),
        advice: without(layer, variables),
        ..codes::LAYER_CALL_FAILED.about(layer)
    }
}

/// Records that a layer hides all devices.
fn hide_all(report: &mut Report, layer: &str, free: &Seen) -> Vec<Dropped> {
    let hidden = free.devices.iter().map(|device| Hidden {
        name: device.name.clone(),
        kind: device.kind.clone(),
        driver: String::new(),
        by_what: "layer".into(),
        by: layer.into(),
    });
    let hidden: Vec<Hidden> = hidden.collect();
    let found = hidden
        .iter()
        .map(|hidden| hides(hidden, &[], &report.variables))
        .collect();
    report.hidden.extend(hidden);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::of_other;

    #[test]
    fn a_device_that_a_variable_hides_on_purpose_is_a_side_note() {
        let device = |kind: &str, driver: &str| Device {
            kind: kind.into(),
            driver: driver.into(),
            is_usable: true,
            ..of_other(&crate::probe::Device::default(), "")
        };
        let found = |hidden: &Device, left: Device, value: &str| {
            let hidden = Hidden {
                name: "card".into(),
                kind: hidden.kind.clone(),
                driver: hidden.driver.clone(),
                by_what: "layer".into(),
                by: "VK_LAYER_NV_optimus".into(),
            };
            hides(&hidden, &[left], &Variables::with(OPTIMUS, value))
        };
        let card = || device(DISCRETE, "/lib/libGLX_nvidia.so.0");
        let other = || device("integrated", "/lib/libvulkan_intel.so");
        assert_eq!(found(&other(), card(), ONLY_NVIDIA).rank, rank::ASIDE);
        let found = found(&card(), other(), "non_NVIDIA_only");
        assert!(found.rank < rank::ASIDE);
        assert_eq!(found.findings, ["__VK_LAYER_NV_optimus is non_NVIDIA_only"]);
        let wanted = "To use the card: __VK_LAYER_NV_optimus=NVIDIA_only PROGRAM. ";
        assert!(found.advice.starts_with(wanted), "{}", found.advice);
    }
}
