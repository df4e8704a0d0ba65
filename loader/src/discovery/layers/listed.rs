//! Layers that the settings file lists (LAY-150 to LAY-153, APP-250 to APP-254).

use rust_alloc::collections::BTreeSet;
use rust_alloc::vec::Vec;

use super::{DiscoveredLayers, Layer, decide, drop_where};
use crate::alloc::OutOfMemory;
use crate::journal::reason::{FileKind, FileReason, LayerListReason};
use crate::journal::{Decision, Journal, Reason, Source, Subject, Verdict};
use crate::manifest::layer::read_layer_manifest;
use crate::manifest::{LayerManifest, Text, has_json_name};
use crate::settings::{Control, LayerEntry};

/// The layers of the entries, in their order, and the place where layers that are not listed go.
#[derive(Debug, Default)]
pub(super) struct Listed {
    layers: Vec<Layer>,
    unordered_at: Option<usize>,
}

impl Listed {
    /// Whether any of them may have layers as components that are not listed (LAY-152).
    pub(super) fn has_meta(&self) -> bool {
        self.layers.iter().any(|layer| layer.manifest.components().is_some())
    }
}

/// Reads the manifests of all entries that are not off.
pub(super) fn read(entries: &[LayerEntry], journal: &mut Journal<'_>) -> Result<Listed, OutOfMemory> {
    let mut listed = Listed::default();
    for entry in entries {
        match entry.control {
            Control::Off => {}
            Control::Unordered => listed.unordered_at = listed.unordered_at.or(Some(listed.layers.len())),
            Control::On | Control::Auto => read_entry(entry, &mut listed.layers, journal)?,
        }
    }
    Ok(listed)
}

fn read_entry(entry: &LayerEntry, layers: &mut Vec<Layer>, journal: &mut Journal<'_>) -> Result<(), OutOfMemory> {
    if !has_json_name(&entry.path) {
        journal.decide(Decision {
            subject: Subject::LayerManifest,
            name: entry.path.clone(),
            path: Text::default(),
            verdict: Verdict::Dropped(FileReason::NotJsonName(FileKind::Layer).into()),
            source: Source::Settings,
        });
        return Ok(());
    }
    for manifest in read_layer_manifest(&entry.path, Source::Settings, entry.implicit, journal)? {
        match refusal(&manifest, entry, layers) {
            Some(reason) => decide(&manifest, Verdict::Dropped(reason), journal),
            None => {
                layers.try_reserve(1)?;
                layers.push(Layer {
                    manifest,
                    forced_on: entry.control == Control::On,
                });
            }
        }
    }
    Ok(())
}

fn refusal(manifest: &LayerManifest, entry: &LayerEntry, layers: &[Layer]) -> Option<Reason> {
    if manifest.name != entry.name {
        return Some(LayerListReason::NotListedInSettings.into());
    }
    let same = |known: &Layer| {
        known.manifest.name == manifest.name && known.manifest.library_path() == manifest.library_path()
    };
    layers.iter().any(same).then_some(LayerListReason::ListedTwice.into())
}

/// Puts the layers of the usual scan at the marker, without those that any entry names.
pub(super) fn combine(
    entries: &[LayerEntry],
    listed: Listed,
    regular: DiscoveredLayers,
    journal: &mut Journal<'_>,
) -> DiscoveredLayers {
    let named = entries.iter().filter(|entry| entry.control != Control::Unordered);
    let names: BTreeSet<&Text> = named.map(|entry| &entry.name).collect();
    let mut unlisted: Vec<LayerManifest> = regular.layers.into_iter().map(|layer| layer.manifest).collect();
    drop_where(&mut unlisted, journal, |layer| {
        names
            .contains(&layer.name)
            .then_some(LayerListReason::ListedInSettings.into())
    });
    let unlisted = unlisted.into_iter().map(|manifest| Layer {
        manifest,
        forced_on: false,
    });
    let Listed {
        mut layers,
        unordered_at,
    } = listed;
    let at = unordered_at.unwrap_or(layers.len());
    layers.splice(at..at, unlisted);
    // Without the override layer itself nothing says what it lists.
    let overriding = match layers.iter().any(|layer| layer.manifest.is_override()) {
        true => regular.overriding,
        false => Vec::new(),
    };
    let off = entries.iter().filter(|entry| entry.control == Control::Off);
    DiscoveredLayers {
        layers,
        ordered_by_settings: true,
        without_explicit: regular.without_explicit,
        off: off.map(|entry| entry.name.clone()).collect(),
        overriding,
        filters: regular.filters,
    }
}
