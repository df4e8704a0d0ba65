//! The state of the driver in this process: the last configuration, call counters, and the existing objects.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::Config;
use crate::system::{library_path, state_of};

/// State of the driver between calls.
pub(crate) struct State {
    path: PathBuf,
    text: String,
    /// Modification time and size of the configuration file before the driver last read it.
    seen: Option<(u64, u64)>,
    pub(crate) config: Arc<Config>,
    pub(crate) calls: HashMap<String, u32>,
    /// Objects that exist, each with its handle and its kind.
    pub(crate) live: BTreeMap<u64, &'static str>,
    /// Physical devices by instance and name, and queues by device and index, so that a query returns the same object again.
    pub(crate) children: HashMap<(u64, String), u64>,
    /// Names of the unknown functions, in the order of their slots.
    pub(crate) slots: Vec<String>,
    pub(crate) serial: u64,
    /// Maps the handle of an instance to the API version that the application requested for it.
    pub(crate) versions: HashMap<u64, u32>,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// Runs `body` on the state. `body` must not call code outside of the driver.
pub(crate) fn with<R>(body: impl FnOnce(&mut State) -> R) -> R {
    let mut guard: MutexGuard<'_, Option<State>> = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    body(guard.get_or_insert_with(State::load))
}

/// Frees all data before the library is unloaded, because no other code would free it.
pub(crate) fn end() {
    drop(STATE.lock().unwrap_or_else(PoisonError::into_inner).take());
}

impl State {
    fn load() -> Self {
        let mut state = State {
            path: library_path().with_extension("conf"),
            text: String::new(),
            seen: None,
            config: Arc::new(Config::parse("").expect("the empty text is valid")),
            calls: HashMap::new(),
            live: BTreeMap::new(),
            children: HashMap::new(),
            slots: Vec::new(),
            serial: 0,
            versions: HashMap::new(),
        };
        state.refresh();
        state
    }

    /// Reads the configuration again if it changed. If another process is writing the file at this time, the driver continues to use the
    /// old text. With the flag `settled`, the driver reads the file only once.
    pub(crate) fn refresh(&mut self) {
        if self.config.flag("settled") {
            return;
        }
        let seen = state_of(&self.path);
        if seen.is_some() && seen == self.seen {
            return;
        }
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            // A library without a configuration file acts as a driver without devices, which loaders must accept.
            Err(_) => return,
        };
        self.seen = seen;
        if text == self.text {
            return;
        }
        match Config::parse(&text) {
            Ok(config) => self.config = Arc::new(config),
            Err(error) => {
                eprintln!("mock driver: {}: {error}", self.path.display());
                std::process::abort();
            }
        }
        self.text = text;
    }
}
