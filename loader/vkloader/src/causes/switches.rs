//! Finds layers that one variable switches on and another one off. The variable that switches off takes precedence, without a message.

use super::origin;
use crate::manifests;
use crate::report::{Dropped, InactiveLayer, Report, codes, rank};
use crate::shell::word;
use crate::show;
use crate::variables::Variables;
use reasons::Code;
use std::path::Path;

/// Variable with patterns of layers that are switched on.
const ENABLE: &str = "VK_LOADER_LAYERS_ENABLE";
/// Variables with patterns of layers that count as not installed, and of exceptions.
const DISABLE: &str = "VK_LOADER_LAYERS_DISABLE";
const ALLOW: &str = "VK_LOADER_LAYERS_ALLOW";

/// Adds a finding for each implicit layer that a variable of the program switches on and another one switches off.
pub(super) fn find(report: &mut Report) {
    let Report {
        inactive,
        dropped,
        variables,
        ..
    } = report;
    let layers = inactive.iter();
    dropped.extend(layers.filter_map(|layer| switched_off(layer, variables)));
    let disabled = dropped
        .iter_mut()
        .filter(|one| one.code == Code::LayerDisabled.row().name);
    for one in disabled {
        let manifest = one.file.clone().unwrap_or_default();
        if let Some((wanting, wanted)) = wanting(&one.name, &manifest, variables) {
            one.advice = format!(
                "To get the layer: {ALLOW}={} PROGRAM, or: unset {DISABLE}",
                word(&one.name)
            );
            contradict(one, DISABLE.into(), (&wanting, &wanted));
        }
    }
}

/// Returns the finding about a layer whose own variable switches it off, although another variable asks for it.
fn switched_off(layer: &InactiveLayer, variables: &Variables) -> Option<Dropped> {
    let (wanting, wanted) = wanting(&layer.name, &layer.manifest, variables)?;
    if layer.code != Code::LayerSwitchedOff.row().name {
        return None;
    }
    let (variable, _) = manifests::own_switch(Path::new(&layer.manifest), &layer.name)?;
    let value = variables.get(&variable)?;
    let mut found = Dropped {
        subject: "layer".into(),
        code: layer.code.clone(),
        file: Some(layer.manifest.clone()),
        findings: [format!(
            "{variable} is '{value}': the layer is off whenever this variable exists, whatever its value"
        )]
        .into(),
        advice: format!("To get the layer: env -u {variable} PROGRAM, or: unset {variable}"),
        ..codes::LAYER_NO_INSTANCE.about(&layer.name)
    };
    contradict(&mut found, variable, (&wanting, &wanted));
    Some(found)
}

/// Adds to the finding about a layer that `variable` switches it off, although the variable `wanting` with the value `wanted` asks for it.
fn contradict(found: &mut Dropped, variable: String, (wanting, wanted): (&str, &str)) {
    found.reason = format!(
        "{wanting}={} asks for the layer, but {variable} switches it off.",
        word(wanted)
    );
    let by_whom = origin::of_value(wanting, wanted).map(|by_whom| format!("{wanting}: {by_whom}"));
    found.findings.extend(by_whom);
    // Other layers that the same word disables come after this one.
    found.rank = rank::ASKED_FOR.min(found.rank.saturating_sub(1));
    found.variable = Some(variable);
}

/// Returns the variable that asks for the layer called `layer`, and its value.
fn wanting(layer: &str, manifest: &str, variables: &Variables) -> Option<(String, String)> {
    let own = manifests::enabling_switch(Path::new(manifest), layer);
    let own = own.filter(|(name, value)| variables.get(name).as_ref() == Some(value));
    own.or_else(|| {
        let value = variables.get(ENABLE)?;
        // A pattern for all layers asks for none of them.
        let is_it = |pattern: &str| !pattern.trim_matches(['*', '~']).is_empty() && show::matches(pattern, layer);
        value.split(',').any(is_it).then(|| (ENABLE.into(), value.clone()))
    })
}
