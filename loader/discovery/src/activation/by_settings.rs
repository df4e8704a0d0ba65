//! The order of active layers with a settings file (LAY-154 to LAY-157, APP-252).

use super::expand::Expansion;
use super::items::Items;
use super::{Activation, EnabledBy, Request};
use crate::env::Variable;
use crate::implicit::ImplicitState;
use crate::journal::{Journal, LogBits};
use crate::manifest::LayerManifest;
use os::Raw;
use os::memory::OutOfMemory;

const WARN: LogBits = LogBits::WARN.with(LogBits::LAYER);

/// Activates the layers of the settings file in one pass. For each layer, the first test with a result decides.
pub(super) fn activate(request: &Request<'_>, journal: &Journal<'_>) -> Result<Activation, OutOfMemory> {
    let list = request.list;
    let environment = request.environment;
    let value = environment.get(Variable::InstanceLayers);
    let named = Items::of(value.as_deref())?;
    if let Some(value) = &value {
        journal.note(
            WARN,
            format_args!("env var 'VK_INSTANCE_LAYERS' defined and adding layers: {}", Raw(value)),
        );
    }
    let application = Items::these(request.application.iter().copied())?;
    let mut expansion = Expansion::new(list, environment, Some(&list.overriding), journal)?;
    for (index, layer) in list.layers.iter().enumerate() {
        let forced_on = list.forced_on.get(index).is_some_and(|&forced_on| forced_on);
        if let Some(enabled_by) = reason(layer, forced_on, request, &named, &application, journal) {
            expansion.add_again(index, enabled_by)?;
        }
    }
    Ok(expansion.finish())
}

/// Runs the tests (2) to (7) of LAY-154 for a layer. Test (1) is not needed, because the list of discovered layers does not contain layers
/// that the settings file switches off.
fn reason(
    manifest: &LayerManifest,
    forced_on: bool,
    request: &Request<'_>,
    named: &Items<'_>,
    application: &Items<'_>,
    journal: &Journal<'_>,
) -> Option<EnabledBy> {
    let list = request.list;
    let name = &manifest.name;
    if forced_on {
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
    if named.has(name) {
        return Some(EnabledBy::InstanceLayers);
    }
    if application.has(name) {
        return Some(EnabledBy::Application);
    }
    if !manifest.implicit {
        return None;
    }
    let state = ImplicitState::of(manifest, request.environment, &list.filters, Some(&list.overriding));
    state.note(manifest, journal);
    state.active.then_some(EnabledBy::Implicit)
}
