//! Order of layers by declaration (LAY-330 to LAY-339).
//!
//! Users and manifests may declare that one layer is nearer to the application than another. [`sort`] applies the declarations to a list of
//! layers that was decided before. [`sort`] activates no layer, and returns immediately if there is no declaration. If declarations
//! contradict each other, the stronger one takes precedence: see [`By`].

mod declare;
mod graph;
mod report;
mod words;

use super::{ChosenLayer, EnabledBy};
use crate::journal::{Journal, LogBits};
use crate::layers::DiscoveredLayers;
use crate::text::Text;
use alloc::vec::Vec;
use declare::Declarations;
use os::memory::{Grow, OutOfMemory};
use promises::limits::MAX_ORDERED_LAYERS;

/// Author of a declaration about the order of layers. The author whose declarations take precedence comes first.
#[derive(Clone, Copy, Debug)]
enum By<'a> {
    /// The order of equal names: if a settings file lists a name twice, the loader first tries the library of the layer that is nearest to
    /// the driver (LAY-157).
    EqualNames,
    /// The application, by the order of `ppEnabledLayerNames`.
    Application,
    /// `VK_LOADER_LAYERS_ORDER`.
    Variable,
    /// `layer_order` in the settings file with this path.
    Settings(&'a Text),
    /// The order of `VK_INSTANCE_LAYERS`, of the layers in a settings file, or of the components of meta-layers.
    List(EnabledBy),
    /// `order` in the manifest with this path.
    Manifest(&'a Text),
}

/// Purpose of the list of layers that is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The call chain of an instance.
    Instance,
    /// The order in which pre-instance functions are called.
    PreInstance,
}

/// Sorts layers by the declarations of users and manifests. `chain` lists the layers from the application to the driver. Returns `true` if
/// a layer moved.
///
/// # Errors
/// Memory ran out.
pub(super) fn sort(
    list: &DiscoveredLayers,
    chain: &mut [ChosenLayer],
    purpose: Purpose,
    journal: &Journal<'_>,
) -> Result<bool, OutOfMemory> {
    let says_nothing = |layer: &ChosenLayer| list.layers[layer.index].order.is_empty();
    if list.order.is_empty() && chain.iter().all(says_nothing) {
        return Ok(false);
    }
    sort_declared(list, chain, purpose, journal)
}

/// Sorts the layers for [`sort`], if there are declarations about their order.
#[cold]
#[inline(never)]
fn sort_declared(
    list: &DiscoveredLayers,
    chain: &mut [ChosenLayer],
    purpose: Purpose,
    journal: &Journal<'_>,
) -> Result<bool, OutOfMemory> {
    if purpose == Purpose::Instance {
        report::note_useless(list, journal);
    }
    if chain.len() > MAX_ORDERED_LAYERS {
        journal.note(
            LogBits::WARN | LogBits::LAYER,
            format_args!("Layer order: no order is applied to more than {MAX_ORDERED_LAYERS} layers"),
        );
        return Ok(false);
    }
    let declarations = Declarations::of(list, chain)?;
    let sorted = declarations.graph.sorted()?;
    report::contradictions(list, chain, &declarations, journal)?;
    let moves = declarations.graph.moves(&sorted)?;
    report::moves(list, chain, &declarations, &moves, purpose, journal);
    let mut before = Vec::new();
    before.try_exact_room(chain.len())?;
    before.extend_from_slice(chain);
    for (layer, &place) in chain.iter_mut().zip(&sorted) {
        *layer = before[place];
    }
    Ok(!moves.is_empty())
}

/// Sorts the layers that have pre-instance functions. `active` has their indices in the order in which the layers were found. The loader
/// calls the last layer first, so the order from the application to the driver is reversed.
///
/// # Errors
/// Memory ran out.
pub fn sort_called_last_first(
    list: &DiscoveredLayers,
    active: &mut [usize],
    journal: &Journal<'_>,
) -> Result<(), OutOfMemory> {
    let says_nothing = |&place: &usize| list.layers[place].order.is_empty();
    if list.order.is_empty() && active.iter().all(says_nothing) {
        return Ok(());
    }
    let intercepts = |&place: &usize| list.layers[place].has_pre_instance_functions();
    let mut chain = Vec::new();
    for &index in active.iter().rev().filter(|place| intercepts(place)) {
        let enabled_by = EnabledBy::Implicit;
        chain.try_push(ChosenLayer { index, enabled_by })?;
    }
    sort(list, &mut chain, Purpose::PreInstance, journal)?;
    let slots = active.iter_mut().rev().filter(|place| intercepts(place));
    for (slot, layer) in slots.zip(chain) {
        *slot = layer.index;
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests;
