//! What the global queries and `vkCreateInstance` need to know of settings and layers.

use crate::alloc::{OutOfMemory, reserve};
use crate::discovery::layers::{DiscoveredLayers, Extent, discover};
use crate::discovery::search::Search;
use crate::env::Environment;
use crate::journal::Journal;
use crate::recall::{Kept, record};
use crate::settings::{self, Settings};
use crate::state;
use core::sync::atomic::Ordering;
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

/// The settings in force, and the layers that were found under them.
#[derive(Debug)]
pub struct Found {
    /// The settings, if there are any.
    pub settings: Option<Arc<Settings>>,
    /// The layers, all of them or only those that matter without a layer name.
    pub layers: DiscoveredLayers,
    /// Places of the implicit layers that are active outside an instance (LAY-270, LAY-276).
    pub active: Vec<usize>,
}

impl Found {
    /// What a global query starts with: reads the settings file anew (APP-60), puts it in force, and looks for layers, or
    /// recalls what that gave before.
    ///
    /// # Errors
    /// Only when memory runs out.
    pub fn by_query(extent: Extent, journal: &mut Journal<'_>) -> Result<Arc<Kept<Self>>, OutOfMemory> {
        let slot = state::found(extent);
        if let Some(found) = slot.recall(journal, Kept::holds) {
            put_in_force(found.settings.as_ref());
            return Ok(found);
        }
        let found = Arc::new(record(journal, |environment, journal| {
            Self::look(extent, environment, journal)
        })?);
        if found.can_hold() {
            slot.keep(&found, journal);
        }
        Ok(found)
    }

    /// What an earlier query found, where it says enough for a creation that needs layers of this extent, and still holds.
    pub fn recalled(extent: Extent, journal: &Journal<'_>) -> Option<Arc<Kept<Self>>> {
        let recalled = state::found(Extent::All).recall(journal, Kept::holds);
        match extent {
            Extent::Implicit if recalled.is_none() => {
                let enough = |found: &Self| widened(extent, found.settings.as_deref(), journal) == extent;
                state::found(extent).recall(journal, |found| enough(found) && found.holds())
            }
            _ => recalled,
        }
    }

    fn look(extent: Extent, environment: &Environment<'_>, journal: &mut Journal<'_>) -> Result<Self, OutOfMemory> {
        let search = Search::new(environment);
        let settings = refresh_settings(&search, journal)?;
        reserve::check()?;
        let layers = discover(extent, &search, settings.as_deref(), journal)?;
        let active = layers.active_implicit(environment, journal)?;
        Ok(Self {
            settings,
            layers,
            active,
        })
    }
}

/// The extent of the layers to look for when an instance needs `extent`. Whoever listens, which settings may say too, is
/// told of all of them. What was not looked for may be looked for later, and then without settings.
pub(super) fn widened(extent: Extent, settings: Option<&Settings>, journal: &Journal<'_>) -> Extent {
    match journal.is_heard() || settings.is_some_and(|settings| settings.layers.is_some()) {
        true => Extent::All,
        false => extent,
    }
}

/// Reads the settings file into the process-wide copy, and tells about it when it is another than before (APP-243).
fn refresh_settings(search: &Search<'_>, journal: &mut Journal<'_>) -> Result<Option<Arc<Settings>>, OutOfMemory> {
    let loaded = settings::load(search, journal)?.map(Arc::new);
    // What is kept beyond the call must not come from the reserve, which would never be whole again.
    reserve::check()?;
    let previous = put_in_force(loaded.as_ref());
    if let Some(settings) = loaded.as_ref().filter(|&new| previous.as_ref() != Some(new)) {
        settings.describe(journal);
    }
    Ok(loaded)
}

/// Makes settings the process-wide ones. Returns those before.
fn put_in_force(settings: Option<&Arc<Settings>>) -> Option<Arc<Settings>> {
    let mask = settings.map_or(0, |settings| settings.log_mask.word());
    state::SETTINGS_LOG_MASK.store(mask, Ordering::Relaxed);
    core::mem::replace(&mut *state::SETTINGS.lock(), settings.cloned())
}
