//! The order of active layers without a settings file (LAY-140 to LAY-145, APP-91).

use super::expand::Expansion;
use super::items::Items;
use super::{Activation, EnabledBy, Request};
use crate::env::Variable;
use crate::implicit::ImplicitState;
use crate::journal::{Journal, LogBits};
use os::Raw;
use os::memory::OutOfMemory;

/// Activates layers in four steps: implicit layers, `VK_INSTANCE_LAYERS`, the enable filter, the application's layers.
pub(super) fn activate(request: &Request<'_>, journal: &Journal<'_>) -> Result<Activation, OutOfMemory> {
    let Request {
        list,
        environment,
        application,
    } = *request;
    let value = environment.get(Variable::InstanceLayers);
    let named = Items::of(value.as_deref())?;
    let mut expansion = Expansion::new(list, environment, Some(&list.overriding), journal)?;
    add_implicit(request, &named, &mut expansion, journal)?;
    if let Some(value) = &value {
        add_named(value, &named, &mut expansion, journal)?;
    }
    for (index, layer) in list.layers.iter().enumerate() {
        let name = &layer.name;
        if !layer.implicit && list.filters.enables(name) && !expansion.has(name) {
            journal.note(
                LogBits::WARN | LogBits::LAYER,
                format_args!("Layer \"{name}\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'"),
            );
            expansion.add(index, EnabledBy::LayersEnable)?;
        }
    }
    for name in application {
        if let Some(index) = expansion.position(name)? {
            expansion.add(index, EnabledBy::Application)?;
        }
    }
    Ok(expansion.finish())
}

fn add_implicit<'a>(
    request: &Request<'a>,
    named: &Items<'_>,
    expansion: &mut Expansion<'a>,
    journal: &Journal<'_>,
) -> Result<(), OutOfMemory> {
    let list = request.list;
    for (index, manifest) in list.layers.iter().enumerate() {
        // A layer that `VK_INSTANCE_LAYERS` names has the position that this variable defines, so `add_named` adds it.
        if !manifest.implicit || named.has(&manifest.name) {
            continue;
        }
        let state = ImplicitState::of(manifest, request.environment, &list.filters, Some(&list.overriding));
        state.note(manifest, journal);
        if state.active {
            expansion.add(index, EnabledBy::Implicit)?;
        }
    }
    Ok(())
}

fn add_named(
    value: &[u8],
    named: &Items<'_>,
    expansion: &mut Expansion<'_>,
    journal: &Journal<'_>,
) -> Result<(), OutOfMemory> {
    journal.note(
        LogBits::WARN | LogBits::LAYER,
        format_args!(
            "env var 'VK_INSTANCE_LAYERS' defined and adding layers \"{}\"",
            Raw(value)
        ),
    );
    for name in named.iter() {
        match expansion.position(name)? {
            Some(index) => expansion.add(index, EnabledBy::InstanceLayers)?,
            None => journal.note(
                LogBits::ERROR | LogBits::LAYER,
                format_args!(
                    "Layer \"{}\" was not found but was requested by env var VK_INSTANCE_LAYERS!",
                    Raw(name)
                ),
            ),
        }
    }
    Ok(())
}
