//! The order without a settings file (LAY-140 to LAY-145, APP-91).

use rust_alloc::collections::BTreeSet;
use rust_alloc::vec::Vec;

use super::expand::Expansion;
use super::{Activation, EnabledBy, Request};
use crate::alloc::OutOfMemory;
use crate::discovery::implicit::ImplicitState;
use crate::env::Variable;
use crate::journal::{Journal, LogBits, Raw};

/// The four steps: implicit layers, `VK_INSTANCE_LAYERS`, the enable filter, the application.
pub(super) fn activate(request: &Request<'_>, journal: &Journal<'_>) -> Result<Activation, OutOfMemory> {
    let Request {
        list,
        environment,
        application,
    } = *request;
    let named = environment.items(Variable::InstanceLayers);
    let mut expansion = Expansion::new(list, environment, &list.overriding, journal);
    add_implicit(request, &named, &mut expansion, journal)?;
    add_named(request, &named, &mut expansion, journal)?;
    for (index, layer) in list.layers.iter().enumerate() {
        let name = &layer.manifest.name;
        if !layer.manifest.implicit && list.filters.enables(name) && !expansion.has(name) {
            journal.note(
                LogBits::WARN | LogBits::LAYER,
                format_args!("Layer \"{name}\" forced enabled due to env var 'VK_LOADER_LAYERS_ENABLE'"),
            );
            expansion.add(index, EnabledBy::LayersEnable)?;
        }
    }
    for index in application.iter().filter_map(|name| list.position(name)) {
        expansion.add(index, EnabledBy::Application)?;
    }
    Ok(expansion.finish())
}

fn add_implicit<'a>(
    request: &Request<'a>,
    named: &[Vec<u8>],
    expansion: &mut Expansion<'a>,
    journal: &Journal<'_>,
) -> Result<(), OutOfMemory> {
    let list = request.list;
    let named: BTreeSet<&[u8]> = named.iter().map(Vec::as_slice).collect();
    for (index, layer) in list.layers.iter().enumerate() {
        let manifest = &layer.manifest;
        // A layer named in the variable is placed where the variable says.
        if !manifest.implicit || named.contains(manifest.name.as_bytes()) {
            continue;
        }
        let state = ImplicitState::of(manifest, request.environment, &list.filters, &list.overriding);
        state.note(manifest, journal);
        if state.active {
            expansion.add(index, EnabledBy::Implicit)?;
        }
    }
    Ok(())
}

fn add_named(
    request: &Request<'_>,
    named: &[Vec<u8>],
    expansion: &mut Expansion<'_>,
    journal: &Journal<'_>,
) -> Result<(), OutOfMemory> {
    let Some(value) = request.environment.get(Variable::InstanceLayers) else {
        return Ok(());
    };
    journal.note(
        LogBits::WARN | LogBits::LAYER,
        format_args!(
            "env var 'VK_INSTANCE_LAYERS' defined and adding layers \"{}\"",
            Raw(&value)
        ),
    );
    for name in named {
        match request.list.position(name) {
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
