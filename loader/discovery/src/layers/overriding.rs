//! The override layer: the choice of its manifest, and the layers that it removes from the list (LAY-64, LAY-170 to LAY-175).

use super::drop_where;
use crate::env::{Environment, Variable};
use crate::journal::reason::LayerListReason;
use crate::journal::{Journal, LogBits};
use crate::manifest::LayerManifest;
use crate::search::Executable;
use crate::text::Text;
use alloc::vec::Vec;

const INFO: LogBits = LogBits::INFO.with(LogBits::LAYER);

/// Keeps at most one override layer: the first one for `executable`, or else the first one for all executables. If the executable is
/// unknown, keeps all (LAY-171).
pub(super) fn choose_override(layers: &mut Vec<LayerManifest>, executable: &Executable, journal: &mut Journal<'_>) {
    let overrides = || layers.iter().filter(|layer| layer.is_override());
    if overrides().next().is_none() {
        return;
    }
    let Some(executable) = executable.path() else {
        return;
    };
    let for_us = |layer: &LayerManifest| layer.overrides.app_keys.contains(executable);
    let mut used = false;
    if overrides().any(for_us) {
        drop_where(layers, journal, |layer| {
            let replaced = layer.is_override() && (used || !for_us(layer));
            used |= layer.is_override() && for_us(layer);
            replaced.then_some(LayerListReason::OverrideShadowed.into())
        });
        journal.note(INFO, format_args!("Using the override layer for app key {executable}"));
        return;
    }
    drop_where(layers, journal, |layer| {
        if !layer.is_override() {
            return None;
        }
        if !layer.overrides.app_keys.is_empty() {
            let executable = executable.clone();
            return Some(LayerListReason::OtherExecutable { executable }.into());
        }
        let repeated = core::mem::replace(&mut used, true);
        repeated.then_some(LayerListReason::SecondGlobalOverride.into())
    });
    if used {
        journal.note(INFO, format_args!("Using the global override layer"));
    }
}

/// Warns a user whose `VK_LAYER_PATH` has no effect because of the override layer.
pub(super) fn note_displaced_layer_path(environment: &Environment<'_>, paths: &[Text], journal: &Journal<'_>) {
    let Some(value) = environment.get(Variable::LayerPath) else {
        return;
    };
    let value = Text::from(value);
    journal.note(
        INFO,
        format_args!(
            "Ignoring VK_LAYER_PATH. The Override layer is active and has override paths set, which takes priority. \
             VK_LAYER_PATH is set to {value}"
        ),
    );
    for path in paths {
        journal.note(INFO, format_args!("   {path}"));
    }
}
