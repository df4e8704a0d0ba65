//! Settings and layers, as the global queries and `vkCreateInstance` need them.

use discovery::activation::{active_implicit, sort_called_last_first};
use discovery::env::Environment;
use discovery::journal::{Journal, LogBits};
use discovery::layers::{DiscoveredLayers, Extent, discover};
use discovery::log;
use discovery::scan_cache::{Cached, ScanCache};
use discovery::search::Search;
use discovery::settings::{self, Settings};
use os::Mutex;
use os::memory::{OutOfMemory, shortage};
use rust_alloc::sync::Arc;
use rust_alloc::vec::Vec;

/// Settings that the last global command read (APP-243).
static SETTINGS: Mutex<Option<Arc<Settings>>> = Mutex::new(None);

/// Result of the last query for all layers.
static CONFIGURATION_ALL: ScanCache<Cached<Configuration>> = ScanCache::new();

/// Result of the last query that needed only implicit layers.
static CONFIGURATION_IMPLICIT: ScanCache<Cached<Configuration>> = ScanCache::new();

/// Returns the cache for the results of queries with this `extent`.
fn cache(extent: Extent) -> &'static ScanCache<Cached<Configuration>> {
    match extent {
        Extent::All => &CONFIGURATION_ALL,
        Extent::Implicit => &CONFIGURATION_IMPLICIT,
    }
}

/// Returns the settings that the last global command read, if any (APP-243).
pub(crate) fn settings_in_force() -> Option<Arc<Settings>> {
    SETTINGS.lock().clone()
}

/// Frees the settings and layers that the process keeps.
pub(crate) fn forget() {
    drop(SETTINGS.lock().take());
    CONFIGURATION_ALL.forget();
    CONFIGURATION_IMPLICIT.forget();
}

/// Current settings, and the layers that were found under these settings.
#[derive(Debug)]
pub(crate) struct Configuration {
    /// Settings in force, if there are any.
    pub settings: Option<Arc<Settings>>,
    /// All layers, or only those that are used even if no layer is requested by name.
    pub layers: DiscoveredLayers,
    /// Indices of the implicit layers that are active outside an instance (LAY-270, LAY-276). The layer that is called last comes first.
    pub active: Vec<usize>,
}

impl Configuration {
    /// Starts a global query: reads the settings file again (APP-60), makes the settings current, and looks for layers or reuses an earlier
    /// result.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn by_query(extent: Extent, journal: &mut Journal<'_>) -> Result<Arc<Cached<Self>>, OutOfMemory> {
        let slot = cache(extent);
        if let Some(found) = slot.current(journal.is_heard(), Cached::is_current) {
            publish_settings(found.settings.as_ref());
            return Ok(found);
        }
        let found = Arc::new(journal.record(|environment, journal| Self::look(extent, environment, journal))?);
        if found.is_cacheable() {
            slot.keep(&found, journal.is_heard());
        }
        Ok(found)
    }

    /// Returns the result of an earlier query, if the result is still valid and has all layers that the creation of an instance with this
    /// `extent` needs.
    pub(crate) fn cached(extent: Extent, journal: &Journal<'_>) -> Option<Arc<Cached<Self>>> {
        let cached = cache(Extent::All).current(journal.is_heard(), Cached::is_current);
        match extent {
            Extent::Implicit if cached.is_none() => {
                let enough = |found: &Self| required_extent(extent, found.settings.as_deref(), journal) == extent;
                cache(extent).current(journal.is_heard(), |found| enough(found) && found.is_current())
            }
            _ => cached,
        }
    }

    fn look(extent: Extent, environment: &Environment<'_>, journal: &mut Journal<'_>) -> Result<Self, OutOfMemory> {
        let search = Search::new(environment);
        let settings = refresh_settings(&search, journal)?;
        shortage::check()?;
        let layers = discover(extent, &search, settings.as_deref(), journal)?;
        let mut active = active_implicit(&layers, environment, journal)?;
        sort_called_last_first(&layers, &mut active, journal)?;
        Ok(Self {
            settings,
            layers,
            active,
        })
    }
}

/// Returns the extent of the search for layers if an instance needs `extent`. If a log sink is active or settings list layers, the search
/// includes all layers. After a smaller search, a second search might look for the skipped layers, and would ignore the settings.
pub(super) fn required_extent(extent: Extent, settings: Option<&Settings>, journal: &Journal<'_>) -> Extent {
    if journal.is_heard() || settings.is_some_and(|settings| settings.layers.is_some()) {
        Extent::All
    } else {
        extent
    }
}

/// Reads the settings file into the process-wide copy, and logs it if it has changed (APP-243).
fn refresh_settings(search: &Search<'_>, journal: &mut Journal<'_>) -> Result<Option<Arc<Settings>>, OutOfMemory> {
    let loaded = settings::load(search, journal)?.map(Arc::new);
    // Memory that outlives the call must not come from the emergency pool, which would then stay incomplete.
    shortage::check()?;
    let previous = publish_settings(loaded.as_ref());
    if let Some(settings) = loaded.as_ref().filter(|&new| previous.as_ref() != Some(new)) {
        settings.describe(journal);
    }
    Ok(loaded)
}

/// Stores the settings for the whole process. Returns the previous settings.
fn publish_settings(settings: Option<&Arc<Settings>>) -> Option<Arc<Settings>> {
    log::select_by_settings(settings.map_or(LogBits::NONE, |settings| settings.log_mask));
    core::mem::replace(&mut *SETTINGS.lock(), settings.cloned())
}
