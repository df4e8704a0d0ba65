//! The layers of a scan (LAY-10 to LAY-33, LAY-120 to LAY-127, LAY-150 to LAY-156, LAY-160 to LAY-182).
//!
//! [`LayerScan::run`] returns the layers that an application may see, in the order of discovery or of the settings file.
//! [`activation`](super::activation) decides which of them become active.

mod listed;
mod meta;
mod order;
mod overriding;
mod regular;

use super::truncated::note_truncated;
use crate::env::layer_filters::LayerFilters;
use crate::journal::{Decision, Journal, Reason, Subject, Verdict};
use crate::manifest::{LayerManifest, Names};
use crate::search::Executable;
use crate::search::Search;
use crate::settings::{Control, Settings};
use crate::text::Text;
use alloc::vec::Vec;
use os::memory::OutOfMemory;

pub use order::UserOrder;

/// Inputs of a scan for layers.
#[derive(Clone, Copy, Debug)]
pub struct LayerScan<'a> {
    /// Folders to search, and filters.
    pub search: &'a Search<'a>,
    /// Settings. If the settings list layers, the list replaces the search.
    pub settings: Option<&'a Settings>,
    /// The running executable. An override layer may be for this executable only.
    pub executable: &'a Executable,
}

/// Searches for layers for the running executable, without a cache; see [`LayerScan`].
///
/// # Errors
/// Memory ran out.
pub fn discover(
    extent: Extent,
    search: &Search<'_>,
    settings: Option<&Settings>,
    journal: &mut Journal<'_>,
) -> Result<DiscoveredLayers, OutOfMemory> {
    let executable = Executable::running();
    let scan = LayerScan {
        search,
        settings,
        executable: &executable,
    };
    let found = scan.run(extent, journal);
    executable.note(journal);
    found
}

/// The layers of one scan.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DiscoveredLayers {
    /// The layers that can be enumerated and enabled, in the order of enumeration. The extensions of a valid meta-layer include those of
    /// its components (LAY-164).
    pub layers: Vec<LayerManifest>,
    /// For each layer, `true` if the settings file enables it regardless of other variables and lists; empty without a settings file.
    pub forced_on: Vec<bool>,
    /// `true` if the order of `layers` is also the order of the chain (LAY-154).
    pub ordered_by_settings: bool,
    /// `true` if the scan skipped explicit layers ([`Extent::Implicit`]).
    pub without_explicit: bool,
    /// Names of layers that the settings file switches off (APP-68). These layers are not in `layers`.
    pub off: Vec<Text>,
    /// The components of the active override layer; empty if no override layer is active (LAY-130 step 5).
    pub overriding: Names,
    /// The filters in force during the scan.
    pub filters: LayerFilters,
    /// The declarations of the user about the order of layers.
    pub order: UserOrder,
}

impl DiscoveredLayers {
    /// Returns the first layer whose name is exactly `name`.
    pub fn find(&self, name: &[u8]) -> Option<&LayerManifest> {
        self.reported().find(|layer| layer.name == *name)
    }

    /// Returns the layers in the order of enumeration (LAY-320).
    pub fn reported(&self) -> impl ExactSizeIterator<Item = &LayerManifest> {
        self.layers.iter()
    }

    /// Returns `true` if an application may request the layer called `name` (LAY-144).
    pub fn can_be_requested(&self, name: &[u8]) -> bool {
        self.find(name).is_some()
    }

    /// Returns `true` if the settings file disables the layer called `name` (APP-68).
    pub fn is_off(&self, name: &[u8]) -> bool {
        self.off.iter().any(|off| *off == *name)
    }

    /// Returns the layers at the indices in `places`.
    pub fn at<'a>(&'a self, places: &'a [usize]) -> impl Iterator<Item = &'a LayerManifest> {
        places.iter().map(|&index| &self.layers[index])
    }

    /// Returns the index in [`DiscoveredLayers::layers`] of the first layer whose name is exactly `name`.
    pub fn position(&self, name: &[u8]) -> Option<usize> {
        self.layers.iter().position(|layer| layer.name == *name)
    }
}

/// The layers that a scan looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All layers.
    All,
    /// Layers that are needed if no caller requests a layer by name: implicit layers, and the explicit layers that meta-layers may have as
    /// components (LAY-274, LAY-322).
    Implicit,
}

impl LayerScan<'_> {
    /// Finds the layers that `extent` includes. Reports dropped layers to the journal.
    pub fn run(&self, extent: Extent, journal: &mut Journal<'_>) -> Result<DiscoveredLayers, OutOfMemory> {
        let filters = LayerFilters::read(self.search.environment());
        filters
            .truncated()
            .for_each(|variable| note_truncated(variable, journal));
        let entries = self.settings.and_then(|settings| settings.layers.as_deref());
        let mut list = match entries {
            None => self.regular(extent, filters, journal)?,
            Some(entries) => {
                let listed = listed::read(entries, journal)?;
                let extent = if listed.has_meta() { Extent::All } else { extent };
                let regular = if entries.iter().any(|entry| entry.control == Control::Unordered) {
                    self.regular(extent, filters, journal)?
                } else {
                    DiscoveredLayers {
                        filters,
                        ..DiscoveredLayers::default()
                    }
                };
                listed::combine(entries, listed, regular, journal)?
            }
        };
        list.order = UserOrder::read(self.search.environment(), self.settings)?;
        for layer in &list.layers {
            journal.keep(|| decision(layer, Verdict::Kept));
        }
        Ok(list)
    }
}

fn decide(layer: &LayerManifest, verdict: Verdict, journal: &mut Journal<'_>) {
    journal.decide(decision(layer, verdict));
}

fn decision(layer: &LayerManifest, verdict: Verdict) -> Decision {
    Decision {
        subject: Subject::Layer,
        name: layer.name.clone(),
        path: layer.manifest.clone(),
        verdict,
        source: layer.source,
    }
}

/// Drops the layers for which `reason` returns a reason.
fn drop_where(
    layers: &mut Vec<LayerManifest>,
    journal: &mut Journal<'_>,
    mut reason: impl FnMut(&LayerManifest) -> Option<Reason>,
) {
    layers.retain(|layer| match reason(layer) {
        None => true,
        Some(reason) => {
            decide(layer, Verdict::Dropped(reason), journal);
            false
        }
    });
}

#[cfg(all(test, unix))]
mod tests;
