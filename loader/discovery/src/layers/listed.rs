//! Layers that the settings file lists, and their position among other layers (LAY-150 to LAY-153, APP-250 to APP-254).

use alloc::vec::Vec;

use super::{DiscoveredLayers, decide, drop_where};
use crate::index::{Key, NameIndex};
use crate::journal::reason::{FileKind, FileReason, LayerListReason};
use crate::journal::{Decision, Journal, Reason, Source, Subject, Verdict};
use crate::manifest::LayerManifest;
use crate::manifest::layer::read_layer_manifest;
use crate::settings::{Control, LayerEntry};
use crate::text::{Text, has_json_name};
use os::memory::{Grow, OutOfMemory, shortage};

/// Layers of the file's entries, in the order of the entries, and the position for layers that the file does not list.
#[derive(Debug, Default)]
pub(super) struct Listed {
    layers: Vec<LayerManifest>,
    forced_on: Vec<bool>,
    /// Index of layers by name and library.
    known: NameIndex,
    unordered_at: Option<usize>,
}

impl Listed {
    /// Returns `true` if a listed layer is a meta-layer. The components of a meta-layer need not be listed (LAY-152).
    pub(super) fn has_meta(&self) -> bool {
        self.layers.iter().any(|layer| layer.components().is_some())
    }

    /// Reads the manifest that one entry names.
    fn add(&mut self, entry: &LayerEntry, journal: &mut Journal<'_>) -> Result<(), OutOfMemory> {
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
        let mut found = Vec::new();
        read_layer_manifest(&entry.path, Source::Settings, entry.implicit, &mut found, journal)?;
        for manifest in found {
            let key = Key::of(&[&manifest.name, library(&manifest)]);
            match self.refusal(&manifest, key, entry) {
                Some(reason) => decide(&manifest, Verdict::Dropped(reason), journal),
                None => {
                    self.known.add(key, self.layers.len())?;
                    self.layers.try_push(manifest)?;
                    self.forced_on.try_push(entry.control == Control::On)?;
                }
            }
        }
        Ok(())
    }

    fn refusal(&self, manifest: &LayerManifest, key: Key, entry: &LayerEntry) -> Option<Reason> {
        if manifest.name != entry.name {
            return Some(LayerListReason::NotListedInSettings.into());
        }
        let same = |place: usize| {
            let known = &self.layers[place];
            known.name == manifest.name && known.library_path() == manifest.library_path()
        };
        let known = self.known.find(key, same);
        known.is_some().then_some(LayerListReason::ListedTwice.into())
    }
}

/// Returns the path of a layer's library; empty for a meta-layer.
fn library(manifest: &LayerManifest) -> &[u8] {
    manifest.library_path().map_or(b"", |path| path.as_bytes())
}

/// Reads the manifests of all entries. Skips entries that switch a layer off.
pub(super) fn read(entries: &[LayerEntry], journal: &mut Journal<'_>) -> Result<Listed, OutOfMemory> {
    let mut listed = Listed::default();
    for entry in entries {
        match entry.control {
            Control::Off => {}
            Control::Unordered => listed.unordered_at = listed.unordered_at.or(Some(listed.layers.len())),
            Control::On | Control::Auto => listed.add(entry, journal)?,
        }
        shortage::check()?;
    }
    Ok(listed)
}

/// Inserts the layers of the regular scan at the settings file's marker for unlisted layers, except layers that an entry names.
pub(super) fn combine(
    entries: &[LayerEntry],
    listed: Listed,
    regular: DiscoveredLayers,
    journal: &mut Journal<'_>,
) -> Result<DiscoveredLayers, OutOfMemory> {
    let mut unlisted = regular.layers;
    if !unlisted.is_empty() {
        drop_named(entries, &mut unlisted, journal)?;
    }
    let Listed {
        mut layers,
        mut forced_on,
        unordered_at,
        known: _,
    } = listed;
    // Without a marker for unlisted layers, the regular scan did not run, so `unlisted` is empty.
    let at = unordered_at.unwrap_or(layers.len());
    let behind = layers.len() - at;
    layers.try_room(unlisted.len())?;
    forced_on.try_room(unlisted.len())?;
    layers.append(&mut unlisted);
    os::rotate_left(&mut layers[at..], behind);
    forced_on.resize(layers.len(), false);
    os::rotate_left(&mut forced_on[at..], behind);
    // If the list has no override layer, the components that an override layer named have no effect.
    let is_overridden = layers.iter().any(LayerManifest::is_override);
    let mut off = Vec::new();
    for entry in entries.iter().filter(|entry| entry.control == Control::Off) {
        off.try_push(Text::try_new(&entry.name)?)?;
    }
    Ok(DiscoveredLayers {
        layers,
        forced_on,
        ordered_by_settings: true,
        without_explicit: regular.without_explicit,
        off,
        overriding: if is_overridden {
            regular.overriding
        } else {
            Default::default()
        },
        filters: regular.filters,
        order: regular.order,
    })
}

/// Drops layers with the name of an entry.
fn drop_named(
    entries: &[LayerEntry],
    layers: &mut Vec<LayerManifest>,
    journal: &mut Journal<'_>,
) -> Result<(), OutOfMemory> {
    let mut named = NameIndex::with_room(entries.len())?;
    for (place, entry) in entries.iter().enumerate() {
        if entry.control != Control::Unordered {
            named.add(Key::of(&[&entry.name]), place)?;
        }
    }
    drop_where(layers, journal, |layer| {
        let entry = named.find(Key::of(&[&layer.name]), |place| entries[place].name == layer.name);
        entry.is_some().then_some(LayerListReason::ListedInSettings.into())
    });
    Ok(())
}
