//! Objects of the driver. Dispatchable objects begin with the word that is reserved for the loader (DRV-208). Handles of other objects are
//! numbers that contain the driver, the kind and a serial number.

use std::collections::HashMap;

use crate::{journal, state};

/// Value that a driver writes into the first word of a dispatchable object, before the loader replaces this word (DRV-208).
const ICD_LOADER_MAGIC: usize = 0x01CD_C0DE;

/// Kinds of dispatchable objects.
const DISPATCHABLE: [&str; 5] = ["instance", "physical_device", "device", "queue", "command_buffer"];

/// Dispatchable object of the driver.
#[repr(C)]
pub(crate) struct Object {
    loader_word: usize,
    /// Handle of the object from which this object was created.
    pub(crate) parent: u64,
    /// Name of the configured device to which the object belongs. The name is empty for an instance.
    pub(crate) device: String,
    /// Extensions that were enabled when the object was created.
    pub(crate) extensions: Vec<String>,
}

/// Creates a dispatchable object.
pub(crate) fn create(kind: &'static str, parent: u64, device: &str, extensions: Vec<String>) -> u64 {
    state::with(|state| {
        let loader_word = if state.config.flag("no_magic") {
            0
        } else {
            ICD_LOADER_MAGIC
        };
        let object = Box::new(Object {
            loader_word,
            parent,
            device: device.into(),
            extensions,
        });
        let handle = Box::into_raw(object) as u64;
        state.live.insert(handle, kind);
        handle
    })
}

/// Creates the handle of a non-dispatchable object from driver, kind and serial number.
pub(crate) fn number(kind: &'static str) -> u64 {
    state::with(|state| {
        state.serial += 1;
        let code = kind
            .bytes()
            .fold(0u64, |code, byte| (code * 31 + u64::from(byte)) & 0xffff);
        let handle = ((0xa0 + state.config.ordinal) << 56) | (code << 32) | state.serial;
        state.live.insert(handle, kind);
        handle
    })
}

/// Returns the object of a handle of the given kind. A handle that this driver did not create ends the process.
pub(crate) fn get(call: &'static str, kind: &'static str, handle: u64) -> &'static Object {
    expect(call, &[kind], handle);
    // SAFETY: a valid dispatchable handle is the address of an object that `create` returned, and that has not been destroyed.
    unsafe { &*(handle as *const Object) }
}

/// Ends the process unless `handle` is a live object of one of `kinds`.
pub(crate) fn expect(call: &'static str, kinds: &[&'static str], handle: u64) {
    let (config, kind) = state::with(|state| (state.config.clone(), state.live.get(&handle).copied()));
    if kind.is_none_or(|kind| !kinds.contains(&kind)) {
        journal::line(
            &config,
            &format!("FOREIGN {call}: {handle:#x} is not one of my {kinds:?}"),
        );
        eprintln!(
            "mock driver {}: {call}: {handle:#x} is not one of my {kinds:?}",
            config.name
        );
        std::process::abort();
    }
}

/// Destroys a dispatchable object.
pub(crate) fn destroy(handle: u64) {
    let (kind, config) = state::with(|state| (state.live.remove(&handle), state.config.clone()));
    let Some(kind) = kind else { return };
    // SAFETY: the handle came from `create`, and the table of objects contained it until this call.
    let object = unsafe { Box::from_raw(handle as *mut Object) };
    // DRV-210: the loader must not write to the first word of an instance or physical device of the driver.
    if ["instance", "physical_device"].contains(&kind) && ![0, ICD_LOADER_MAGIC].contains(&object.loader_word) {
        journal::line(&config, &format!("FOREIGN the first word of a {kind} was written to"));
    }
}

/// Destroys every object that is still alive when the library is unloaded.
pub(crate) fn end() {
    let left = state::with(|state| std::mem::take(&mut state.live));
    for (handle, kind) in left {
        if DISPATCHABLE.contains(&kind) {
            // SAFETY: the handle came from `create`, and the table of objects contained it until this call.
            drop(unsafe { Box::from_raw(handle as *mut Object) });
        }
    }
}

/// Destroys a non-dispatchable object of the given kind. Ignores NULL.
pub(crate) fn release(call: &'static str, kind: &'static str, handle: u64) {
    if handle != 0 {
        expect(call, &[kind], handle);
        state::with(|state| state.live.remove(&handle));
    }
}

/// Returns the child of `parent` with `key`. The first call creates the child, and later calls return the same child.
pub(crate) fn child(parent: u64, key: &str, make: impl FnOnce() -> u64) -> u64 {
    let place = (parent, String::from(key));
    if let Some(handle) = state::with(|state| state.children.get(&place).copied()) {
        return handle;
    }
    let made = make();
    let kept = state::with(|state| *state.children.entry(place).or_insert(made));
    // Another thread created the child object first.
    if kept != made {
        destroy(made);
    }
    kept
}

/// Destroys every child of `parent`.
pub(crate) fn destroy_children(parent: u64) {
    let gone: HashMap<(u64, String), u64> = state::with(|state| {
        let (gone, kept) = std::mem::take(&mut state.children)
            .into_iter()
            .partition(|((of, _), _)| *of == parent);
        state.children = kept;
        gone
    });
    for handle in gone.into_values() {
        destroy(handle);
    }
}

/// Returns a handle as text for the journal: for example `physical_device(gpu)` for a handle of this driver, and the number for any other
/// handle.
pub(crate) fn show(handle: u64) -> String {
    let kind = state::with(|state| state.live.get(&handle).copied());
    match kind {
        Some(kind) if DISPATCHABLE.contains(&kind) => {
            // SAFETY: a live dispatchable handle is the address of an object.
            let object = unsafe { &*(handle as *const Object) };
            if object.device.is_empty() {
                kind.into()
            } else {
                format!("{kind}({})", object.device)
            }
        }
        Some(kind) => format!("{kind}:{handle:#x}"),
        None => format!("{handle:#x}"),
    }
}
