//! The order of a settings file (LAY-154 to LAY-157, APP-252).

use rust_alloc::collections::BTreeSet;
use rust_alloc::vec::Vec;

use super::expand::Expansion;
use super::{Activation, EnabledBy, Request};
use crate::alloc::OutOfMemory;
use crate::discovery::implicit::ImplicitState;
use crate::discovery::layers::Layer;
use crate::env::Variable;
use crate::journal::{Journal, LogBits, Raw};

const WARN: LogBits = LogBits::WARN.with(LogBits::LAYER);

/// Walks the list once; for each layer the first test that decides wins.
pub(super) fn activate(request: &Request<'_>, journal: &Journal<'_>) -> Result<Activation, OutOfMemory> {
    let list = request.list;
    let environment = request.environment;
    let named = environment.items(Variable::InstanceLayers);
    if let Some(value) = environment.get(Variable::InstanceLayers) {
        journal.note(
            WARN,
            format_args!(
                "env var 'VK_INSTANCE_LAYERS' defined and adding layers: {}",
                Raw(&value)
            ),
        );
    }
    let named: BTreeSet<&[u8]> = named.iter().map(Vec::as_slice).collect();
    let application: BTreeSet<&[u8]> = request.application.iter().copied().collect();
    let mut expansion = Expansion::new(list, environment, &list.overriding, journal);
    for (index, layer) in list.layers.iter().enumerate() {
        if let Some(enabled_by) = reason(layer, request, &named, &application, journal) {
            expansion.add_again(index, enabled_by)?;
        }
    }
    Ok(expansion.finish())
}

/// Tests (2) to (7) of LAY-154; layers that are off are not in the list.
fn reason(
    layer: &Layer,
    request: &Request<'_>,
    named: &BTreeSet<&[u8]>,
    application: &BTreeSet<&[u8]>,
    journal: &Journal<'_>,
) -> Option<EnabledBy> {
    let list = request.list;
    let manifest = &layer.manifest;
    let name = &manifest.name;
    if layer.forced_on {
        return Some(EnabledBy::Settings);
    }
    if list.filters.disables_in_settings(name) {
        journal.note(
            WARN,
            format_args!(
                "Layer \"{name}\" forced disabled because name matches filter of env var 'VK_LOADER_LAYERS_DISABLE'."
            ),
        );
        return None;
    }
    if list.filters.enables(name) {
        journal.note(
            WARN,
            format_args!("Layer \"{name}\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'."),
        );
        return Some(EnabledBy::LayersEnable);
    }
    if named.contains(name.as_bytes()) {
        return Some(EnabledBy::InstanceLayers);
    }
    if application.contains(name.as_bytes()) {
        return Some(EnabledBy::Application);
    }
    if !manifest.implicit {
        return None;
    }
    let state = ImplicitState::of(manifest, request.environment, &list.filters, &list.overriding);
    state.note(manifest, journal);
    state.active.then_some(EnabledBy::Implicit)
}
