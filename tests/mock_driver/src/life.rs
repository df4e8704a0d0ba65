//! Functions that run when the library is opened and closed. Each function writes a journal line, so that a test sees when the library was
//! opened and closed, and which objects still existed then.

use std::collections::BTreeMap;

use crate::{debug, journal, object, state, system};

system::at_load_and_unload!(loaded, unloaded);

extern "C" fn loaded() {
    let config = state::with(|state| state.config.clone());
    journal::line(&config, "load");
}

extern "C" fn unloaded() {
    let (config, counts) = state::with(|state| {
        let mut counts = BTreeMap::new();
        for kind in state.live.values() {
            *counts.entry(*kind).or_insert(0) += 1;
        }
        (state.config.clone(), counts)
    });
    let live: Vec<String> = counts.iter().map(|(kind, count)| format!("{kind}:{count}")).collect();
    journal::line(&config, &format!("unload live=[{}]", live.join(" ")));
    debug::end();
    object::end();
    drop(config);
    state::end();
}
