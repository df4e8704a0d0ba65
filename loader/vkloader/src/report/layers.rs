//! Reports the layers of the last instance, and installed layers that are not in the chain of this instance.

mod devices;

use devices::controlling;
pub(crate) use devices::{DISCRETE, MESAS, WITHOUT, controlling_in, obstructed};
pub(super) use devices::{hides, moves, without};

use super::{ActiveLayer, Dropped, Fact, InactiveLayer, Kind, Report, codes, rank};
use crate::events::{Event, Moved, Record};
use crate::manifests;
use crate::shell::word;
use crate::variables::Variables;
use reasons::Code;
use std::collections::BTreeMap;
use std::path::Path;

/// Values of variables with which users switch something off.
const OFF: [&str; 5] = ["", "0", "false", "no", "off"];

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
