//! The regular scan: finds implicit layers with the override layer, then explicit layers, and removes the filtered ones.

use alloc::vec::Vec;

use super::overriding::{choose_override, note_displaced_layer_path};
use super::{DiscoveredLayers, Extent, LayerScan, UserOrder, drop_where, meta};
use crate::env::layer_filters::LayerFilters;
use crate::implicit::ImplicitState;
use crate::index::{Key, NameIndex};
use crate::journal::reason::LayerListReason;
use crate::journal::{Journal, LogBits};
use crate::manifest::layer::{OverrideFields, read_layer_manifest};
use crate::manifest::{LayerManifest, Names};
use crate::search::{ManifestKind, Paths, find, override_places};
use crate::text::Text;
use os::memory::{Grow, OutOfMemory, shortage};

impl LayerScan<'_> {
    /// Runs the steps of the scan in order. Each step sees only the layers that earlier steps kept.
    pub(super) fn regular(
        &self,
        extent: Extent,
        filters: LayerFilters,
        journal: &mut Journal<'_>,
    ) -> Result<DiscoveredLayers, OutOfMemory> {
        let implicit = self.search.places(ManifestKind::ImplicitLayer, true, journal)?;
        let mut layers = Vec::new();
        read(ManifestKind::ImplicitLayer, &implicit, &mut layers, journal)?;
        choose_override(&mut layers, self.executable, journal);
        let overrides = self.active_override(&layers, &filters, journal);
        let blacklist = overrides
            .map(|overrides| Names::of(&overrides.blacklisted_layers))
            .transpose()?;
        let with_explicit = extent == Extent::All || layers.iter().any(|layer| layer.components().is_some());
        if with_explicit {
            let explicit = self.explicit_places(overrides, journal)?;
            read(ManifestKind::ExplicitLayer, &explicit, &mut layers, journal)?;
        }
        meta::validate(&mut layers, journal)?;
        // Validation may have removed the override layer. In that case, only the folders that it named have had an effect (LAY-176).
        let blacklist = blacklist.filter(|_| layers.iter().any(LayerManifest::is_override));
        if let Some(blacklist) = &blacklist {
            drop_blacklisted(&mut layers, blacklist, journal);
        }
        drop_where(&mut layers, journal, |layer| {
            let dropped = filters.disables(&layer.name, layer.implicit) && !filters.enables(&layer.name);
            dropped.then(|| {
                let pattern = filters.disabling(&layer.name, layer.implicit);
                LayerListReason::Disabled { pattern }.into()
            })
        });
        drop_duplicates(&mut layers, journal)?;
        let overriding = blacklist.and_then(|_| layers.iter().find(|layer| layer.is_override()));
        Ok(DiscoveredLayers {
            overriding: Names::of(overriding.and_then(LayerManifest::components).unwrap_or_default())?,
            layers,
            forced_on: Vec::new(),
            ordered_by_settings: false,
            without_explicit: !with_explicit,
            off: Vec::new(),
            filters,
            order: UserOrder::default(),
        })
    }

    /// Returns the fields of the active override layer; `None` if no override layer is active (LAY-174, LAY-179).
    fn active_override<'l>(
        &self,
        layers: &'l [LayerManifest],
        filters: &LayerFilters,
        journal: &Journal<'_>,
    ) -> Option<&'l OverrideFields> {
        let layer = layers.iter().find(|layer| layer.is_override())?;
        let state = ImplicitState::of(layer, self.search.environment(), filters, None);
        state.note(layer, journal);
        state.active.then_some(&layer.overrides)
    }

    fn explicit_places(&self, overrides: Option<&OverrideFields>, journal: &Journal<'_>) -> Result<Paths, OutOfMemory> {
        let paths = overrides
            .map(|overrides| overrides.paths.as_slice())
            .unwrap_or_default();
        if paths.is_empty() {
            return self.search.places(ManifestKind::ExplicitLayer, true, journal);
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

/// Adds the layers of all manifests that the search found in `places`.
fn read(
    kind: ManifestKind,
    places: &Paths,
    layers: &mut Vec<LayerManifest>,
    journal: &mut Journal<'_>,
) -> Result<(), OutOfMemory> {
    let implicit = kind == ManifestKind::ImplicitLayer;
    for file in find(kind, places, journal)?.found {
        read_layer_manifest(&file.path, file.source, implicit, layers, journal)?;
        shortage::check()?;
    }
    Ok(())
}

fn drop_blacklisted(layers: &mut Vec<LayerManifest>, blacklist: &Names, journal: &mut Journal<'_>) {
    drop_where(layers, journal, |layer| {
        let listed = !layer.is_override() && blacklist.has(&layer.name);
        listed.then_some(LayerListReason::Blacklisted.into())
    });
}

/// Drops layers whose name an earlier layer has (LAY-31).
fn drop_duplicates(layers: &mut Vec<LayerManifest>, journal: &mut Journal<'_>) -> Result<(), OutOfMemory> {
    let mut first = NameIndex::with_room(layers.len())?;
    let mut repeats = Vec::new();
    for (place, layer) in layers.iter().enumerate() {
        let key = Key::of(&[&layer.name]);
        match first.find(key, |known| layers[known].name == layer.name) {
            None => first.add(key, place)?,
            Some(known) => repeats.try_push((place, Text::try_new(&layers[known].manifest)?))?,
        }
    }
    if repeats.is_empty() {
        return Ok(());
    }
    let (mut places, mut repeats) = (0.., repeats.into_iter().peekable());
    drop_where(layers, journal, |_| {
        let place = places.next();
        let (_, kept) = repeats.next_if(|(repeat, _)| Some(*repeat) == place)?;
        Some(LayerListReason::Duplicate { kept }.into())
    });
    Ok(())
}
