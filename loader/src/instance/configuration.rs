//! What the global queries and `vkCreateInstance` need to know of settings and layers.

use crate::alloc::{OutOfMemory, shortage};
use crate::discovery::layers::{DiscoveredLayers, Extent, discover};
use crate::discovery::search::Search;
use crate::env::Environment;
use crate::journal::Journal;
use crate::scan_cache::{Cached, record};
use crate::settings::{self, Settings};
use crate::state;
use core::sync::atomic::Ordering;
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

/// The settings in force, and the layers that were found under them.
#[derive(Debug)]
pub struct Configuration {
    /// The settings, if there are any.
    pub settings: Option<Arc<Settings>>,
    /// The layers, all of them or only those that matter without a layer name.
    pub layers: DiscoveredLayers,
    /// Places of the implicit layers that are active outside an instance (LAY-270, LAY-276).
    pub active: Vec<usize>,
}

impl Configuration {
    /// What a global query starts with: reads the settings file anew (APP-60), puts it in force, and looks for layers, or
    /// recalls what that gave before.
    ///
    /// # Errors
    /// Only when memory runs out.
    pub fn by_query(extent: Extent, journal: &mut Journal<'_>) -> Result<Arc<Cached<Self>>, OutOfMemory> {
        let slot = state::configuration(extent);
        if let Some(found) = slot.current(journal, Cached::is_current) {
            publish_settings(found.settings.as_ref());
            return Ok(found);
        }
        let found = Arc::new(record(journal, |environment, journal| {
            Self::look(extent, environment, journal)
        })?);
        if found.is_cacheable() {
            slot.keep(&found, journal);
        }
        Ok(found)
    }

    /// What an earlier query found, where it says enough for a creation that needs layers of this extent, and still holds.
    pub fn cached(extent: Extent, journal: &Journal<'_>) -> Option<Arc<Cached<Self>>> {
        let cached = state::configuration(Extent::All).current(journal, Cached::is_current);
        match extent {
            Extent::Implicit if cached.is_none() => {
                let enough = |found: &Self| required_extent(extent, found.settings.as_deref(), journal) == extent;
                state::configuration(extent).current(journal, |found| enough(found) && found.is_current())
            }
            _ => cached,
        }
    }

    fn look(extent: Extent, environment: &Environment<'_>, journal: &mut Journal<'_>) -> Result<Self, OutOfMemory> {
        let search = Search::new(environment);
        let settings = refresh_settings(&search, journal)?;
        shortage::check()?;
        let layers = discover(extent, &search, settings.as_deref(), journal)?;
        let active = layers.active_implicit(environment, journal)?;
        Ok(Self {
            settings,
            layers,
            active,
        })
    }
}

/// The extent of the layers to look for when an instance needs `extent`. A log sink that listens, as settings may ask for too, is
/// told of all of them. What was not looked for may be looked for later, and then without settings.
pub(super) fn required_extent(extent: Extent, settings: Option<&Settings>, journal: &Journal<'_>) -> Extent {
    match journal.is_heard() || settings.is_some_and(|settings| settings.layers.is_some()) {
        true => Extent::All,
        false => extent,
    }
}

/// Reads the settings file into the process-wide copy, and tells about it when it is another than before (APP-243).
fn refresh_settings(search: &Search<'_>, journal: &mut Journal<'_>) -> Result<Option<Arc<Settings>>, OutOfMemory> {
    let loaded = settings::load(search, journal)?.map(Arc::new);
    // What is kept beyond the call must not come from the emergency pool, which would never be whole again.
    shortage::check()?;
    let previous = publish_settings(loaded.as_ref());
    if let Some(settings) = loaded.as_ref().filter(|&new| previous.as_ref() != Some(new)) {
        settings.describe(journal);
    }
    Ok(loaded)
}

/// Makes settings the process-wide ones. Returns those before.
fn publish_settings(settings: Option<&Arc<Settings>>) -> Option<Arc<Settings>> {
    let mask = settings.map_or(0, |settings| settings.log_mask.word());
    state::SETTINGS_LOG_MASK.store(mask, Ordering::Relaxed);
    core::mem::replace(&mut *state::SETTINGS.lock(), settings.cloned())
}
