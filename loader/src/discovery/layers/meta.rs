//! Which meta-layers can be built from the layers that were found (LAY-160 to LAY-164).
//!
//! Meta-layers may contain each other. The walk is a depth-first search with an explicit stack, so neither a long chain
//! of them nor many that share components cost more than one visit each.

use super::decide;
use crate::journal::reason::LayerListReason;
use crate::journal::{Journal, LogBits, Verdict};
use crate::manifest::layer::{DeviceExtension, InstanceExtension};
use crate::manifest::{LayerManifest, Text};
use rust_alloc::vec::Vec;

/// What is known about a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Unseen,
    /// A meta-layer whose components are being looked at.
    Open,
    Valid,
    Invalid,
}

/// A meta-layer on the current path.
#[derive(Clone, Copy, Debug)]
struct Visit {
    layer: usize,
    next_component: usize,
}

/// What to do after a look at one component.
enum Step {
    /// It is fine.
    Next,
    /// It is a meta-layer that was not looked at yet.
    Enter(usize),
    Invalid(LayerListReason),
}

/// Removes meta-layers that cannot work, and completes the extensions of the others by those of their components.
pub(super) fn validate(layers: &mut Vec<LayerManifest>, journal: &mut Journal<'_>) {
    let mut states = vec![State::Unseen; layers.len()];
    for layer in 0..layers.len() {
        if layers[layer].components().is_some() && states[layer] == State::Unseen {
            visit(layer, layers, &mut states, journal);
        }
    }
    let mut states = states.into_iter();
    layers.retain(|_| states.next() != Some(State::Invalid));
}

fn visit(root: usize, layers: &mut [LayerManifest], states: &mut [State], journal: &mut Journal<'_>) {
    let mut path = vec![Visit {
        layer: root,
        next_component: 0,
    }];
    states[root] = State::Open;
    while let Some(top) = path.last_mut() {
        let layer = top.layer;
        let components = layers[layer].components().unwrap_or_default();
        let Some(component) = components.get(top.next_component) else {
            accept(layer, layers, states, journal);
            path.pop();
            continue;
        };
        match check(layer, top.next_component, component, layers, states) {
            Step::Next => top.next_component += 1,
            Step::Enter(nested) => {
                states[nested] = State::Open;
                path.push(Visit {
                    layer: nested,
                    next_component: 0,
                });
            }
            Step::Invalid(reason) => {
                reject(layer, reason, layers, states, journal);
                path.pop();
                reject_path(&mut path, layer, layers, states, journal);
            }
        }
    }
}

/// A meta-layer that failed takes those that contain it along.
fn reject_path(
    path: &mut Vec<Visit>,
    mut failed: usize,
    layers: &[LayerManifest],
    states: &mut [State],
    journal: &mut Journal<'_>,
) {
    while let Some(Visit { layer, .. }) = path.pop() {
        let component = layers[failed].name.clone();
        let reason = LayerListReason::ComponentInvalid { component };
        reject(layer, reason, layers, states, journal);
        failed = layer;
    }
}

/// The tests of LAY-161, in their order.
fn check(layer: usize, index: usize, component: &Text, layers: &[LayerManifest], states: &[State]) -> Step {
    let present = |&found: &usize| layers[found].name == *component && states[found] != State::Invalid;
    let Some(found) = (0..layers.len()).find(present) else {
        return Step::Invalid(LayerListReason::ComponentMissing {
            component: component.clone(),
            index,
        });
    };
    let (version, component_version) = (feature(&layers[layer]), feature(&layers[found]));
    if component_version < version {
        return Step::Invalid(LayerListReason::ComponentOlder {
            version,
            index,
            component_version,
        });
    }
    if layers[found].name == layers[layer].name {
        return Step::Invalid(LayerListReason::ListsItself { index });
    }
    match (layers[found].components(), states[found]) {
        (None, _) | (_, State::Valid | State::Invalid) => Step::Next,
        (_, State::Unseen) => Step::Enter(found),
        (_, State::Open) => Step::Invalid(LayerListReason::Recursive {
            component: component.clone(),
        }),
    }
}

/// Major and minor version; the patch does not matter.
fn feature(layer: &LayerManifest) -> (u32, u32) {
    (layer.api_version.major(), layer.api_version.minor())
}

fn reject(
    layer: usize,
    reason: LayerListReason,
    layers: &[LayerManifest],
    states: &mut [State],
    journal: &mut Journal<'_>,
) {
    states[layer] = State::Invalid;
    decide(&layers[layer], Verdict::Dropped(reason.into()), journal);
    journal.note(
        LogBits::DEBUG,
        format_args!(
            "Removing meta-layer {} from instance layer list since it appears invalid.",
            layers[layer].name
        ),
    );
}

/// All components of a meta-layer have passed.
fn accept(layer: usize, layers: &mut [LayerManifest], states: &mut [State], journal: &Journal<'_>) {
    states[layer] = State::Valid;
    let name = layers[layer].name.clone();
    let components = layers[layer].components().unwrap_or_default().to_vec();
    for component in &components {
        let present = |&found: &usize| layers[found].name == *component && states[found] != State::Invalid;
        let Some(found) = (0..layers.len()).find(present) else {
            continue;
        };
        if layers[found].components().is_some() {
            journal.note(
                LogBits::INFO,
                format_args!(
                    "verify_meta_layer_component_layers: Adding meta-layer {name} which also contains meta-layer \
                     {component}"
                ),
            );
        }
        add_instance_extensions(layer, found, layers, journal);
        add_device_extensions(layer, found, layers, journal);
    }
    journal.note(
        LogBits::INFO | LogBits::LAYER,
        format_args!(
            "Meta-layer \"{name}\" all {} component layers appear to be valid.",
            components.len()
        ),
    );
    for (index, component) in components.iter().enumerate() {
        journal.note(LogBits::LAYER, format_args!("  [{index}] {component}"));
    }
}

fn add_instance_extensions(layer: usize, component: usize, layers: &mut [LayerManifest], journal: &Journal<'_>) {
    let added: Vec<InstanceExtension> = layers[component].instance_extensions.clone();
    for extension in added {
        note_extension("instance", &layers[layer], &layers[component], &extension.name, journal);
        let known = &mut layers[layer].instance_extensions;
        if known.iter().all(|known| known.name != extension.name) {
            known.push(extension);
        }
    }
}

fn add_device_extensions(layer: usize, component: usize, layers: &mut [LayerManifest], journal: &Journal<'_>) {
    let added: Vec<DeviceExtension> = layers[component].device_extensions.clone();
    for extension in added {
        note_extension("device", &layers[layer], &layers[component], &extension.name, journal);
        let known = &mut layers[layer].device_extensions;
        if known.iter().all(|known| known.name != extension.name) {
            // Unknown commands are looked up in the layer that adds them, never in one that stands for it.
            let entrypoints = Vec::new();
            known.push(DeviceExtension {
                entrypoints,
                ..extension
            });
        }
    }
}

fn note_extension(
    kind: &str,
    layer: &LayerManifest,
    component: &LayerManifest,
    extension: &Text,
    journal: &Journal<'_>,
) {
    journal.note(
        LogBits::DEBUG,
        format_args!(
            "Meta-layer {} component layer {} adding {kind} extension {extension}",
            layer.name, component.name
        ),
    );
}
