//! The usual scan: implicit layers, the override layer among them, explicit layers, and what is then removed.

use rust_alloc::collections::btree_map::{BTreeMap, Entry};
use rust_alloc::vec::Vec;

use super::overriding::{choose_override, note_displaced_layer_path};
use super::{DiscoveredLayers, Extent, Layer, LayerScan, drop_where, meta};
use crate::alloc::OutOfMemory;
use crate::discovery::implicit::ImplicitState;
use crate::discovery::search::{ManifestKind, Paths, find, override_places};
use crate::env::layer_filters::LayerFilters;
use crate::journal::reason::LayerListReason;
use crate::journal::{Journal, LogBits};
use crate::manifest::layer::{OverrideFields, read_layer_manifest};
use crate::manifest::{LayerManifest, Text};

impl LayerScan<'_> {
    /// Runs the steps in the order that decides what a later one can see.
    pub(super) fn regular(
        &self,
        extent: Extent,
        filters: LayerFilters,
        journal: &mut Journal<'_>,
    ) -> Result<DiscoveredLayers, OutOfMemory> {
        let implicit = self.search.places(ManifestKind::ImplicitLayer, true);
        let mut layers = read(ManifestKind::ImplicitLayer, &implicit, journal)?;
        choose_override(&mut layers, self.executable, journal);
        let overrides = self.active_override(&layers, &filters, journal);
        let with_explicit = extent == Extent::All || layers.iter().any(|layer| layer.components().is_some());
        if with_explicit {
            let explicit = self.explicit_places(overrides.as_ref(), journal);
            layers.append(&mut read(ManifestKind::ExplicitLayer, &explicit, journal)?);
        }
        meta::validate(&mut layers, journal);
        // Validation may have removed the override layer; then only the places it named have had an effect (LAY-176).
        let overrides = overrides.filter(|_| layers.iter().any(LayerManifest::is_override));
        if let Some(overrides) = &overrides {
            drop_blacklisted(&mut layers, &overrides.blacklisted_layers, journal);
        }
        drop_where(&mut layers, journal, |layer| {
            let dropped = filters.disables(&layer.name, layer.implicit) && !filters.enables(&layer.name);
            dropped.then_some(LayerListReason::Disabled.into())
        });
        drop_duplicates(&mut layers, journal);
        let overriding = match overrides.and_then(|_| layers.iter().find(|layer| layer.is_override())) {
            Some(layer) => layer.components().unwrap_or_default().to_vec(),
            None => Vec::new(),
        };
        let layers = layers.into_iter();
        Ok(DiscoveredLayers {
            layers: layers
                .map(|manifest| Layer {
                    manifest,
                    forced_on: false,
                })
                .collect(),
            ordered_by_settings: false,
            without_explicit: !with_explicit,
            off: Vec::new(),
            overriding,
            filters,
        })
    }

    /// What the override layer overrides, if there is one and it is active (LAY-174, LAY-179).
    fn active_override(
        &self,
        layers: &[LayerManifest],
        filters: &LayerFilters,
        journal: &Journal<'_>,
    ) -> Option<OverrideFields> {
        let layer = layers.iter().find(|layer| layer.is_override())?;
        let state = ImplicitState::of(layer, self.search.environment(), filters, &[]);
        state.note(layer, journal);
        state.active.then(|| layer.overrides.clone())
    }

    fn explicit_places(&self, overrides: Option<&OverrideFields>, journal: &Journal<'_>) -> Paths {
        let paths = overrides
            .map(|overrides| overrides.paths.as_slice())
            .unwrap_or_default();
        if paths.is_empty() {
            return self.search.places(ManifestKind::ExplicitLayer, true);
        }
        for path in paths {
            journal.note(
                LogBits::WARN | LogBits::LAYER,
                format_args!("Override layer has override path {path}"),
            );
        }
        note_displaced_layer_path(self.search.environment(), paths, journal);
        override_places(paths)
    }
}

/// The layers of all manifests in `places`.
fn read(kind: ManifestKind, places: &Paths, journal: &mut Journal<'_>) -> Result<Vec<LayerManifest>, OutOfMemory> {
    let implicit = kind == ManifestKind::ImplicitLayer;
    let mut layers = Vec::new();
    for file in find(kind, places, journal)? {
        let mut found = read_layer_manifest(&file.path, file.source, implicit, journal)?;
        layers.try_reserve(found.len())?;
        layers.append(&mut found);
    }
    Ok(layers)
}

fn drop_blacklisted(layers: &mut Vec<LayerManifest>, blacklist: &[Text], journal: &mut Journal<'_>) {
    drop_where(layers, journal, |layer| {
        let listed = !layer.is_override() && blacklist.contains(&layer.name);
        listed.then_some(LayerListReason::Blacklisted.into())
    });
}

/// Keeps the first layer of each name (LAY-31).
fn drop_duplicates(layers: &mut Vec<LayerManifest>, journal: &mut Journal<'_>) {
    let mut first: BTreeMap<&Text, &Text> = BTreeMap::new();
    let mut repeats = Vec::new();
    for (place, layer) in layers.iter().enumerate() {
        match first.entry(&layer.name) {
            Entry::Vacant(new) => drop(new.insert(&layer.manifest)),
            Entry::Occupied(kept) => repeats.push((place, Text::clone(kept.get()))),
        }
    }
    let (mut places, mut repeats) = (0.., repeats.into_iter().peekable());
    drop_where(layers, journal, |_| {
        let place = places.next();
        let (_, kept) = repeats.next_if(|(repeat, _)| Some(*repeat) == place)?;
        Some(LayerListReason::Duplicate { kept }.into())
    });
}
