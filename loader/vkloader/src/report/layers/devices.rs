//! Layers that change the list of devices, or make a call fail.

use crate::names;
use crate::probe::Seen;
use crate::report::{Device, Dropped, Fact, Facts, Hidden, Kind, Report, blamed, codes, rank};
use crate::shell::word;
use crate::variables::Variables;

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
pub(in crate::report) fn without(layer: &str, variables: &Variables) -> String {
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
pub(super) fn controlling(layer: &str, variables: &Variables) -> Facts {
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
pub(in crate::report) fn hides(hidden: &Hidden, devices: &[Device], variables: &Variables) -> Dropped {
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
pub(in crate::report) fn moves(layer: &str, devices: &[Device], variables: &Variables, is_old: bool) -> Dropped {
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
